"""One rank's part of the Report; see ``schema.report`` for its units and what ``None`` means."""

from __future__ import annotations

from msgspec import Struct

from stepscope.schema.path_report import PathReport  # noqa: TC001  (likewise)
from stepscope.schema.source_lines import SourceLines  # noqa: TC001  (likewise)
from stepscope.schema.vocabulary import StepSource  # noqa: TC001  (the JSON decoder resolves it)


class Steps(Struct, frozen=True, kw_only=True):
    """Training steps of one rank.

    Attributes:
        count: Number of steps, start-up and partial ones included; 0 when none could be told apart.
        source: What they were found by; ``window`` when none could be told apart.
        mean_ms, median_ms, p95_ms: Over all steps; over the window when there is none.
        steady_mean_ms: Mean without start-up steps; ``None`` when no steady step remains.
        steady_count: Number of steps in it.
        durations_ms: One per step, in order; the window's length when there is none.
        startup: One per step: whether it is start-up.
        partial: One per step: whether the window cuts it.
        outliers: Positions in ``durations_ms`` of steady steps far from the median.
    """

    count: int
    source: StepSource
    mean_ms: float
    median_ms: float
    p95_ms: float
    steady_mean_ms: float | None
    steady_count: int
    durations_ms: tuple[float, ...]
    startup: tuple[bool, ...]
    partial: tuple[bool, ...]
    outliers: tuple[int, ...]


class Gpu(Struct, frozen=True, kw_only=True):
    """Figures of the devices that a rank used.

    Attributes:
        busy_ms: Union of all kernels, copies and sets in the file, summed over devices.
        busy_frac: Busy time inside the steps (else the window) over their length, averaged over devices.
        sm_efficiency_frac: Estimated SM efficiency inside the steps; ``None`` where not recorded.
        occupancy_frac: Estimated achieved occupancy, weighted by duration; ``None`` where not recorded.
        tensor_core_frac: Share of kernel time in kernels that use Tensor Cores (matrix cores); ``None``
            where kernels of the vendor cannot be told apart by name.
        kernel_count: Kernels in the file.
        mean_kernel_us: Their mean duration.
        tail_ms: Device work after the last step, as a union of intervals.
    """

    busy_ms: float | None
    busy_frac: float | None
    sm_efficiency_frac: float | None
    occupancy_frac: float | None
    tensor_core_frac: float | None
    kernel_count: int
    mean_kernel_us: float | None
    tail_ms: float | None


class CopyRow(Struct, frozen=True, kw_only=True):
    """Copies of one kind.

    Attributes:
        direction: HtoD, DtoH, DtoD, PtoP or HtoH, or the name where the kind is not known.
        memory: ``pageable``, ``pinned`` or ``device``; ``None`` where not recorded.
        count, total_ms: How many and their summed duration.
        bytes: Bytes moved; ``None`` where not recorded.
        bandwidth_gb_s: Bytes over duration in 1e9 bytes a second; ``None`` where not recorded.
    """

    direction: str
    memory: str | None
    count: int
    total_ms: float
    bytes: int | None
    bandwidth_gb_s: float | None


class MemoryPeak(Struct, frozen=True, kw_only=True):
    """Peak memory of one device or of the host, as the allocator recorded it.

    Attributes:
        device: ``cpu`` or for instance ``cuda:0``.
        allocated_bytes: Highest total allocated.
        reserved_bytes: Highest total reserved; ``None`` where not recorded.
        capacity_bytes: The device's memory; ``None`` where not known.
        growth_bytes_per_step: Slope of the lowest total of each steady step; ``None`` below three steps.
    """

    device: str
    allocated_bytes: int
    reserved_bytes: int | None
    capacity_bytes: int | None
    growth_bytes_per_step: float | None


class Span(Struct, frozen=True, kw_only=True):
    """A bar in the timeline.

    Attributes:
        name: Foreign text.
        start_us: Microseconds after the start of the shown step.
        duration_us: Microseconds.
        depth: Nesting level, 0 outermost.
        kind: One of HOST_KINDS or DEVICE_KINDS, ``communication`` for communication kernels.
    """

    name: str
    start_us: float
    duration_us: float
    depth: int
    kind: str


class Lane(Struct, frozen=True, kw_only=True):
    """A row of the timeline: a host thread or a device stream.

    Attributes:
        label: For instance ``thread 4711`` or ``GPU 0 stream 7``.
        is_device: Whether it is a stream.
        spans: Bars in order of start.
        hidden: Bars left out because they are too short to see.
    """

    label: str
    is_device: bool
    spans: tuple[Span, ...]
    hidden: int = 0


class Timeline(Struct, frozen=True, kw_only=True):
    """One step, bar by bar.

    Attributes:
        step: The step's number, ``None`` for the window.
        duration_ms: Its length.
        lanes: Threads first, then streams.
    """

    step: int | None
    duration_ms: float
    lanes: tuple[Lane, ...]


class RankReport(Struct, frozen=True, kw_only=True):
    """One rank's story.

    Attributes:
        rank: Its number; ``None`` when the trace does not say.
        device: Name of the device that it used, ``cpu`` when none.
        files: Trace files it was read from, one per window.
        steps: See :class:`Steps`.
        parts_ms: Exclusive parts of the mean step (of the window without steps), summing to it; keys are
            ``DEVICE_PARTS`` or ``HOST_PARTS``.
        steady_parts_ms: The same over steady steps; ``None`` when no steady step remains.
        step_parts_ms: The same for every step, in order.
        overview_ms: The classic overview of the mean step, keys ``OVERVIEW_PARTS``.
        gpu: Device figures; ``None`` without device work.
        loader_wait_ms: Time waiting for the DataLoader, over the file.
        loader_waits: Number of waits.
        copies: Copies by kind.
        memory: Peaks, where memory was recorded.
        timeline: A typical step; ``None`` where nothing can be drawn.
        lines: Lines of code that hold the time; ``None`` where the recorder has not sampled the stack.
        path: The critical path of the steady steps; ``None`` where it is not known.
        path_reason: Why it is not, without a full stop; ``""`` where it is.
    """

    rank: int | None
    device: str
    files: tuple[str, ...]
    steps: Steps
    parts_ms: dict[str, float]
    steady_parts_ms: dict[str, float] | None
    step_parts_ms: tuple[dict[str, float], ...]
    overview_ms: dict[str, float]
    gpu: Gpu | None
    loader_wait_ms: float
    loader_waits: int
    copies: tuple[CopyRow, ...] = ()
    memory: tuple[MemoryPeak, ...] = ()
    timeline: Timeline | None = None
    lines: SourceLines | None = None
    path: PathReport | None = None
    path_reason: str = ""
