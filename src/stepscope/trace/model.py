"""A loaded trace: checked tables of int64 nanoseconds and what is known about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import polars as pl

    from stepscope.schema.notice import Notice
    from stepscope.schema.report import StepSource
    from stepscope.trace.process_groups import ProcessGroup


class Device(Struct, frozen=True):
    """A device that the trace's header lists.

    Attributes:
        number: Its id in the header.
        name: Its name; ``""`` when the header leaves it out.
        multiprocessors: Number of SMs or compute units; ``None`` when not given.
        compute_capability: For instance ``(8, 0)``; ``None`` for other vendors than NVIDIA.
        memory_bytes: Its memory; ``None`` when not given.
        warp_size: Threads in a warp (64 on AMD); ``None`` when not given.
        max_threads_per_multiprocessor: ``None`` when not given.
    """

    number: int
    name: str
    multiprocessors: int | None
    compute_capability: tuple[int, int] | None
    memory_bytes: int | None
    warp_size: int | None
    max_threads_per_multiprocessor: int | None


class Window(Struct, frozen=True):
    """A stretch of time that was recorded.

    Attributes:
        path: The file it was read from.
        start_ns: Start of its first event.
        end_ns: End of its last event.
    """

    path: str
    start_ns: int
    end_ns: int


class TraceMeta(Struct, frozen=True):
    """What the header and the names of the files say.

    Attributes:
        rank: Rank of the process; ``None`` when nothing tells it.
        rank_source: ``distributed-info``, ``collective``, ``file-name`` or ``none``.
        world_size: Ranks in the job; ``None`` when not given.
        backend: ``nccl``, ``gloo``, ...; ``None`` when not given.
        host_name: ``None`` when not given.
        devices: Devices that the header lists, used or not.
        clock: ``epoch`` when times are nanoseconds since 1970, ``relative`` when their origin is unknown.
        flags: Recording options that were on, for instance ``with_stack``, ``profile_memory``.
        groups: Process groups that the header lists.
    """

    rank: int | None
    rank_source: str
    world_size: int | None
    backend: str | None
    host_name: str | None
    devices: tuple[Device, ...]
    clock: str
    flags: frozenset[str]
    groups: tuple[ProcessGroup, ...] = ()


class Trace(Struct, frozen=True):
    """One rank: all its windows in one set of tables.

    Attributes:
        meta: What the header says.
        host: Table ``schema.tables.HOST``.
        device: Table ``schema.tables.DEVICE``; empty when no device work was recorded.
        memory: Table ``schema.tables.MEMORY``; empty when memory was not recorded.
        steps: Table ``schema.tables.STEPS``; empty when no steps could be told apart.
        step_source: What the steps were found by; ``window`` when there are none.
        windows: The recorded stretches in order of time, at least one.
        usable: Whether a verdict about a bottleneck can rest on it (see ``trace.health``).
        gpu_recorded: Whether device work was recorded; ``None`` when no device was in use.
        notices: What was repaired, dropped, missing or odd, each with a count.
    """

    meta: TraceMeta
    host: pl.DataFrame
    device: pl.DataFrame
    memory: pl.DataFrame
    steps: pl.DataFrame
    step_source: StepSource
    windows: tuple[Window, ...]
    usable: bool
    gpu_recorded: bool | None
    notices: tuple[Notice, ...]
