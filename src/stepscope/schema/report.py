"""The Report: one saved, versioned document from which every rendering starts.

Field names and units are a public promise, written down as a JSON Schema in
``docs/reference/report.schema.json``. Durations that people read are milliseconds (``_ms``) or
microseconds (``_us``) as floats; shares are between 0 and 1 (``_frac``). ``None`` always means "not
measured", with the reason in ``health.notices`` or in the ``*_reason`` field beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

SCHEMA_VERSION = 1

Regime = Literal[
    "input",
    "host",
    "sync",
    "copy",
    "compute",
    "communication",
    "straggler",
    "memory",
    "startup",
    "device-unused",
    "not-recorded",
    "healthy",
]
Severity = Literal["high", "medium", "low"]
Confidence = Literal["high", "medium", "low"]
StepSource = Literal[
    "profiler-step", "annotation", "optimizer", "dataloader", "repetition", "window"
]

DEVICE_PARTS = (
    "compute",
    "communication",
    "copy",
    "input",
    "sync",
    "host",
    "allocator",
    "other_rank",
    "unknown",
)
"""Parts of a step with a device timeline, in the order in which they are shown."""

HOST_PARTS = ("input", "forward", "backward", "optimizer", "communication", "other")
"""Parts of a step without a device timeline."""

OVERVIEW_PARTS = (
    "kernel",
    "memcpy",
    "memset",
    "communication",
    "runtime",
    "dataloader",
    "cpu_exec",
    "other",
)
"""The classic overview of the TensorBoard plugin, as an exclusive cover in this order of priority."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something about the data that a reader must know.

    Attributes:
        code: Stable word, for instance ``gpu-not-recorded``.
        count: How many events, files or steps it is about.
        text: One sentence.
        rank: The rank that it is about, ``None`` for all.
    """

    code: str
    count: int
    text: str
    rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What the trace can carry.

    Attributes:
        usable: Whether any verdict about a bottleneck can rest on it.
        gpu_recorded: Whether device work was recorded; ``None`` when no device was in use.
        notices: Everything noticed, most important first.
    """

    usable: bool
    gpu_recorded: bool | None
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The one sentence.

    Attributes:
        regime: What limits the step.
        sentence: The same in words, with its numbers and their denominators.
    """

    regime: Regime
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyRow:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPeak:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """One step, bar by bar.

    Attributes:
        step: The step's number, ``None`` for the window.
        duration_ms: Its length.
        lanes: Threads first, then streams.
    """

    step: int | None
    duration_ms: float
    lanes: tuple[Lane, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankReport:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A measured value behind a finding.

    Attributes:
        name: What it is, with its denominator ("loader wait per step").
        value: Number or text; ``None`` when not measured.
        unit: As ``units.format_value`` takes it.
    """

    name: str
    value: float | str | None
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What a change would gain, as a range.

    Attributes:
        low, high: Speed-up ratios, at least 1.
        unit: Always ``ratio``.
        step_ms_low, step_ms_high: The step time that it means.
        basis: ``replay``, ``pipeline-model``, ``roofline``, ``bound`` or ``experiment``.
    """

    low: float
    high: float
    unit: str
    step_ms_low: float
    step_ms_high: float
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something to change.

    Attributes:
        code: Stable code of the rule, never reused, for instance ``IN001``.
        regime: The regime that it belongs to.
        severity: How much of the step it holds.
        title: One line.
        evidence: The measured values that it rests on.
        action: What to try, in sentences.
        snippet: The lines of code that people change; ``""`` when there are none.
        confidence: How sure the rule is.
        share_frac: Share of the steady step that it concerns, for ranking; ``None`` when not a share.
        gain: Predicted or measured gain; ``None`` when none is claimed.
        rank: The rank that it was found on; ``None`` for all.
    """

    code: str
    regime: Regime
    severity: Severity
    title: str
    evidence: tuple[Evidence, ...]
    action: str
    snippet: str = ""
    confidence: Confidence
    share_frac: float | None = None
    gain: Gain | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRow:
    """All launches of one kernel name.

    Attributes:
        name: Foreign text, never cut here.
        count, total_ms, mean_us: Launches, summed duration, mean duration.
        share: Of the summed duration of all kernels, 0 to 1.
        is_communication: Whether it moves data between ranks.
        uses_tensor_cores: ``None`` where the name does not tell.
    """

    name: str
    count: int
    total_ms: float
    mean_us: float
    share: float
    is_communication: bool = False
    uses_tensor_cores: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRow:
    """All calls of one operator with the same input shapes.

    Attributes:
        name: Foreign text, never cut here.
        input_dims: Shapes as JSON text; ``None`` when shapes were not recorded.
        count: Calls.
        total_ms: Summed host duration; calls inside a call of the same operator are not counted twice.
        self_ms: Host time that is not in operators inside it.
        mean_us: ``total_ms`` over ``count``.
        share: ``self_ms`` over the self time of all operators, 0 to 1.
        device_ms: Summed duration of the device work launched inside it; ``None`` without a device.
    """

    name: str
    input_dims: str | None = None
    count: int
    total_ms: float
    self_ms: float
    mean_us: float
    share: float
    device_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What the recorder measured beside the trace; absent for traces that somebody else recorded.

    Attributes:
        command: The command line of the script.
        exit_status: The script's own; ``None`` while unknown.
        clean_steps: Number of steps timed without any profiler.
        clean_step_ms: Their median; ``None`` when there was none.
        profiled_step_ms: Median of the profiled steps.
        inflation_frac: How much longer a step takes under the profiler than without, 0.1 for 10 %.
        own_cost_ms: Time that stepscope itself took in the training thread outside the window.
        stop_ms: Time that stopping the profiler took.
        clean_durations_ms: The steps timed without any profiler, one by one, after warm-up.
    """

    command: tuple[str, ...]
    exit_status: int | None
    clean_steps: int
    clean_step_ms: float | None
    profiled_step_ms: float | None
    inflation_frac: float | None
    own_cost_ms: float | None
    stop_ms: float | None
    clean_durations_ms: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that was found out about a run.

    Attributes:
        schema_version: Version of this document's form.
        stepscope_version: Version of the program that wrote it.
        created: When, ISO 8601 with time zone.
        paths: What was analysed.
        health: What the data can carry.
        verdict: The one sentence.
        ranks: One per rank, never empty.
        findings: Most important first.
        kernels: All kernels, longest total first, over all ranks.
        operators: All operators, longest self time first, over all ranks.
        recording: Present for runs that stepscope recorded.
    """

    schema_version: int = SCHEMA_VERSION
    stepscope_version: str
    created: str
    paths: tuple[str, ...]
    health: Health
    verdict: Verdict
    ranks: tuple[RankReport, ...]
    findings: tuple[Finding, ...] = ()
    kernels: tuple[KernelRow, ...] = field(default=())
    operators: tuple[OperatorRow, ...] = field(default=())
    recording: Recording | None = None
