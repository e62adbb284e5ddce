"""What the names of host events mean: waits for data, blocking calls, allocator calls, launches, collectives.

The one place where the analyses learn it. Names are matched once per distinct name, never once per
event, because a trace of a million events has a few thousand names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.trace.loader_names import LOADER_WAIT
from stepscope.trace.matching import distinct

if TYPE_CHECKING:
    import polars as pl

    from stepscope.trace.intervals import Bools

CALLS = ("runtime", "driver")
"""Kinds of host events that are calls into the device's runtime or driver."""

RANGES = ("operator", "annotation", "other")
"""Kinds under which files of different eras give ranges that PyTorch itself names."""

_SUFFIX = r"(_v\d+|_ptsz|_spt)*"

PYTHON_LOADER = r"torch[/\\.]utils[/\\.]data[/\\.]dataloader\.py\(\d+\): __next__$"
"""A wait for the DataLoader as a Python frame; used only when no range was recorded, because both nest."""

BLOCKING = (
    r"^((cuda|hip)(Stream|Device|Event|Ctx)Synchronize|cu(Stream|Ctx|Event)Synchronize"
    r"|(cuda|hip)Memcpy(2D|3D|ToSymbol|FromSymbol|HtoD|DtoH|DtoD|WithStream|Peer)?"
    r"|cuMemcpy(HtoD|DtoH|DtoD|2D|3D)?"
    r"|synchronize|synchronizeStream|(ze|ur)\w*(HostSynchronize|QueueSynchronize|QueueFinish|EventWait))"
    + _SUFFIX
    + "$"
)
"""Calls that return only when the device has reached a point."""

DEVICE_SYNCHRONIZE = r"^(cuda|hip)DeviceSynchronize|^cuCtxSynchronize|^synchronize$"
"""The call with which the profiler itself ends a window."""

COPY_CALL = r"^(cuda|hip|cu)Memcpy"
"""Calls that copy; an "asynchronous" one blocks all the same when the host's memory is pageable."""

ALLOCATOR = (
    r"^((cuda|hip)(Ext)?(Malloc|Free|HostAlloc|HostMalloc|HostFree|HostRegister|HostUnregister)\w*"
    r"|cuMem(Create|Map|Unmap|Release|SetAccess|Address\w+|Alloc\w*|Free\w*|Host\w+)"
    + _SUFFIX
    + r")$"
)
"""Calls that get memory from the device or give it back."""

LAUNCH = (
    r"^((cuda|hip|cu)(Ext|Hcc)?(Module)?Launch(Cooperative)?(Multi)?Kernel\w*|(cuda|hip|cu)GraphLaunch\w*"
    r"|hipExtLaunch\w*|zeCommandListAppendLaunch\w*|ur?EnqueueKernelLaunch\w*|aclrtLaunch\w*|runFunction\b.*)"
)
"""Calls that launch a kernel or a graph of kernels."""

GRAPH_LAUNCH = "GraphLaunch"
"""A launch with this in its name replays a graph."""

COLLECTIVE = r"^(gloo|nccl|mpi|ucc|hccl|xccl):|^c10d::|^_?c10d_functional::|^record_param_comms$"
"""Collectives as the host sees them."""

HOST_TRANSFER = r"^(gloo|mpi|ucc):"
"""Collectives that the host itself carries out, so that their range is the transfer and the waiting."""

BACKWARD = r"^autograd::engine::evaluate_function|Backward\d*$|^torch::autograd::|^## backward ##$"
"""The backward pass."""

ENGINE = r"^autograd::engine::|^torch::autograd::|^[A-Z]\w*Backward\d*$"
"""Ranges of the autograd engine, which hold the operators and hooks that do the work."""

OPTIMIZER = r"^Optimizer\.|^## (optimizer|zero_grad) ##$"
"""The optimizer's step and its zeroing of gradients."""

FORWARD_RANGE = r"^## forward ##$"
"""The forward pass where the program marks it."""

PROFILER_STEP = r"^ProfilerStep\s*#\s*(\d{1,18})\b"
"""The profiler's step."""


def matching(frame: pl.DataFrame, pattern: str, kinds: tuple[str, ...]) -> Bools:
    """For each row of ``host``, whether its kind is one of ``kinds`` and its name matches."""
    found = distinct(frame, "name").matches(pattern)
    return found & of_kind(frame, *kinds) if found.any() else found


def of_kind(frame: pl.DataFrame, *kinds: str) -> Bools:
    """For each row, whether its kind is one of those given."""
    return distinct(frame, "kind").is_in(kinds)


def operators(frame: pl.DataFrame) -> Bools:
    """For each row of ``host``, whether it is an operator and not a range that old files call one."""
    named = f"(?:{LOADER_WAIT})|{OPTIMIZER}|{PROFILER_STEP}|^## .* ##$"
    return of_kind(frame, "operator") & ~matching(frame, named, ("operator",))


def loader_waits(frame: pl.DataFrame) -> Bools:
    """For each row of ``host``, whether it is a wait for the DataLoader."""
    found = matching(frame, LOADER_WAIT, RANGES)
    return found if found.any() else matching(frame, PYTHON_LOADER, ("python",))
