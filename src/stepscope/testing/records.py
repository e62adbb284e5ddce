"""What a made trace consists of, before it has the form of any writer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Category = Literal[
    "cpu_op",
    "user_annotation",
    "python_function",
    "cuda_runtime",
    "cuda_driver",
    "kernel",
    "gpu_memcpy",
    "gpu_memset",
    "gpu_user_annotation",
    "cuda_sync",
    "overhead",
]

HOST_KIND: Mapping[Category, str] = {
    "cpu_op": "operator",
    "user_annotation": "annotation",
    "python_function": "python",
    "cuda_runtime": "runtime",
    "cuda_driver": "driver",
    "overhead": "other",
}
DEVICE_KIND: Mapping[Category, str] = {
    "kernel": "kernel",
    "gpu_memcpy": "memcpy",
    "gpu_memset": "memset",
}


@dataclass(frozen=True, slots=True)
class Span:
    """Something with a start and an end.

    Attributes:
        category: The event's category as PyTorch spells it today.
        name: Any text.
        pid, tid: Process and thread; for device work, device and stream.
        start_ns, end_ns: Nanoseconds since 1970.
        args: The event's arguments, by the names that PyTorch uses today.
    """

    category: Category
    name: str
    pid: int
    tid: int
    start_ns: int
    end_ns: int
    args: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemoryEvent:
    """An allocation (bytes above 0) or the end of one.

    Attributes:
        pid, tid: The thread that asked.
        time_ns: Nanoseconds since 1970.
        args: Arguments by the names that PyTorch uses.
    """

    pid: int
    tid: int
    time_ns: int
    args: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Flow:
    """One end of an arrow from a forward operator to the backward operator that belongs to it.

    Attributes:
        is_start: Whether it is the forward end.
        number: Ties the two ends together.
        pid, tid, time_ns: Where the end stands: the start of an operator.
    """

    is_start: bool
    number: int
    pid: int
    tid: int
    time_ns: int


@dataclass(frozen=True, slots=True)
class Recording:
    """Everything that one process recorded in one window.

    Attributes:
        header: The keys beside ``traceEvents``, clock and display apart.
        pid: The process.
        threads: Thread id to its name.
        devices: Number of devices in the header.
        start_ns, end_ns: The window.
        spans, memory, flows: The events in the order in which they were made.
    """

    header: Mapping[str, object]
    pid: int
    threads: Mapping[int, str]
    devices: int
    start_ns: int
    end_ns: int
    spans: tuple[Span, ...]
    memory: tuple[MemoryEvent, ...]
    flows: tuple[Flow, ...]
