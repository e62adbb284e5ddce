"""The short way of the recorder: what nearly every step and every batch of a long run goes through, and pays for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.record.loaders import ROLE_EVERY
from stepscope.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.record.marks import Marks

MOST_EVENTS = 2 * ROLE_EVERY
LATEST_NS = NS_PER_S // 4
"""Usual steps are counted together when so many events are noted, or after so long."""

BATCH = 3
"""So many figures are noted of a batch; of a step there are fewer or more."""


class Usual:
    """What hooks look at to tell usual steps and batches, and where they note them.

    In a step of some milliseconds the model and its data push everything else out of the processor's caches, so that
    a step pays for each object that it touches rather than for what is computed. So hooks only append to one list.

    Attributes:
        loader: Identity of the iterator whose batches are usual; else 0.
        optimizer: Identity of the optimizer whose steps are usual; else 0.
        thread: The thread in which they are.
        is_inside: Whether a usual batch is being fetched.
        heard: Set when an optimizer has stepped where hooks run: inside a compiled function that is no news.
        due_ns: When what is noted has to be counted.
        numbers: Whether the iterator numbers its batches.
        noted: Of a batch when it was asked for, when it was there and its number; of a step when it ended, when the
            recorder had noted it, and its four parts where those are timed.
        marks: Where the parts of a step are summed; ``None`` where they are not.
        asked: Gets the iterator of a batch that is not usual.
        returned: Gets it with whether there was a batch.
        ended: Gets the iterator of a usual batch that did not come, and when it was asked for.
        stepped: Gets the optimizer of a step that is not usual.
        counts: Called when what is noted is to be counted.
    """

    __slots__ = (
        "asked",
        "counts",
        "due_ns",
        "ended",
        "heard",
        "is_inside",
        "loader",
        "marks",
        "noted",
        "numbers",
        "optimizer",
        "returned",
        "stepped",
        "thread",
    )

    def __init__(
        self,
        asked: Callable[[object], None],
        returned: Callable[[object, bool], None],
        ended: Callable[[object, int], None],
        stepped: Callable[[object], None],
        counts: Callable[[], None],
    ) -> None:
        self.loader = self.optimizer = self.thread = self.due_ns = 0
        self.is_inside = self.heard = self.numbers = False
        self.noted: list[tuple[int, ...]] = []
        self.marks: Marks | None = None
        self.asked, self.returned, self.ended = asked, returned, ended
        self.stepped, self.counts = stepped, counts
