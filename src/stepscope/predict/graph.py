"""A recorded stretch of training as a graph that can be replayed.

Host events are compressed to *anchors*: calls that launch device work, calls that wait for the device,
and the bounds of steps. What lies between two anchors is a *gap*, split by what the thread did in it.
Device work hangs on the anchor that launched it, on the work before it on its stream, and on work of
other streams that it waits for. A million events become some ten thousand anchors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    from stepscope.trace.intervals import Bools, Ints

NONE = -1

LAUNCH, WAIT, WAIT_ALL, MARK = 0, 1, 2, 3
"""Kinds of anchors: launches device work and goes on; waits for one piece of device work (a blocking
copy for its own); waits for all device work launched before; the bound of a step."""

INPUT, ALLOCATOR, OPERATOR, PAUSE, REST = 0, 1, 2, 3, 4
"""Columns of ``gaps``: waiting for the DataLoader, calls of the device's allocator, operators, long pauses
in which none of these ran, and the rest, which is mostly PyTorch's own Python between operators."""

COMPUTE, COMMUNICATION, TO_DEVICE, OTHER_COPY = 0, 1, 2, 3
"""Sorts of device work: kernels, communication, copies from host to device, other copies and sets."""


class Graph(Struct, frozen=True, eq=False):
    """What is replayed. Anchors are in order of their start, device work in order of its launch.

    Attributes:
        kind: Kind of each anchor, shape ``(anchors,)``.
        origin: Measured start of each anchor, ns; used where it follows no other.
        returned: Measured end of each anchor, ns.
        is_main: Whether it lies on the training thread.
        after: Anchor at whose end the gap before this one begins, ``NONE`` for the first of a thread.
        gaps: Time between the two, ns, shape ``(anchors, 5)``; the columns are named above.
        own: Time of the call itself without waiting, ns.
        wait: Row of the device work that a ``WAIT`` waits for, ``NONE`` when it waits for nothing.
        post: From the end of that work to the return of the call, ns.
        upto: Device work that is launched by the end of each anchor, counted from the first.
        sort: Sort of each piece of device work, shape ``(work,)``.
        stream: Number of its stream, counted from 0 over all devices.
        length: Its duration, ns.
        launch: Anchor that launched it, ``NONE`` where that was not recorded.
        lag: From the start of the launching call to its earliest start, ns.
        space: Between the end of the work before it on its stream and its start, ns.
        needs: Work on another stream that must end first, ``NONE`` for none.
        begun: Measured start, ns; used where the launch was not recorded.
        table_row: Row in the trace's table ``device``.
        starts, ends: Anchors at which each step starts and ends, shape ``(steps,)``.
        is_steady: Steps that predictions rest on, shape ``(steps,)``.
        are_steps: Whether they are steps; windows otherwise.
        depth: Launches that the driver queues before a launching call waits; 0 for no known limit.
    """

    kind: Ints
    origin: Ints
    returned: Ints
    is_main: Bools
    after: Ints
    gaps: Ints
    own: Ints
    wait: Ints
    post: Ints
    upto: Ints
    sort: Ints
    stream: Ints
    length: Ints
    launch: Ints
    lag: Ints
    space: Ints
    needs: Ints
    begun: Ints
    table_row: Ints
    starts: Ints
    ends: Ints
    is_steady: Bools
    are_steps: bool
    depth: int

    @property
    def step_of_anchor(self) -> Ints:
        """Position of the step that each anchor lies in, ``NONE`` outside all; shape ``(anchors,)``."""
        place = np.arange(len(self.kind), dtype=np.int64)
        step = np.searchsorted(self.starts, place, side="right") - 1
        inside = (step >= 0) & (place <= self.ends[step])
        return np.where(inside, step, NONE).astype(np.int64)

    @property
    def step_of_work(self) -> Ints:
        """Position of the step in which each piece of work was launched, ``NONE`` outside all."""
        if not len(self.launch):
            return self.launch
        step = np.where(self.launch == NONE, NONE, self.step_of_anchor[self.launch])
        return step.astype(np.int64)
