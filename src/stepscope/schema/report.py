"""The Report: one saved, versioned document from which every rendering starts.

Field names and units are a public promise, written down as a JSON Schema in
``docs/reference/report.schema.json``. Durations that people read are milliseconds (``_ms``) or
microseconds (``_us``) as floats; shares are between 0 and 1 (``_frac``). ``None`` always means "not
measured", with the reason in ``health.notices`` or in the ``*_reason`` field beside it.
"""

from __future__ import annotations

from msgspec import Struct, field

from stepscope.schema.cost import (
    CostReport,
    EnergyCost,
    Estimate,
    FindingWaste,
    PublishedFigure,
    RateUsed,
    RunCost,
)
from stepscope.schema.gain import Gain
from stepscope.schema.job_report import (
    BucketRow,
    CollectiveRow,
    HostClock,
    JobReport,
    LateRow,
    OutlierRow,
    OverlapRow,
    PathShare,
    PipelineReport,
    StageRow,
    StragglerRow,
)
from stepscope.schema.loader import (
    BatchTimes,
    FunctionRow,
    LoaderReport,
    PlaceRow,
    WorkerRow,
)
from stepscope.schema.notice import Notice
from stepscope.schema.path_report import PathKernel, PathReport
from stepscope.schema.rank_report import (
    CopyRow,
    Gpu,
    Lane,
    MemoryPeak,
    RankReport,
    Span,
    Steps,
    Timeline,
)
from stepscope.schema.run_time import RunParts
from stepscope.schema.source_lines import LineRow, SourceLines
from stepscope.schema.use_report import PhaseSpan, RunEnergy, StepSpan, UseReport, UseTrack
from stepscope.schema.vocabulary import (
    DEVICE_PARTS,
    HOST_PARTS,
    OVERVIEW_PARTS,
    PATH_PARTS,
    Confidence,
    Regime,
    Severity,
    StepSource,
)

__all__ = [
    "DEVICE_PARTS",
    "HOST_PARTS",
    "OVERVIEW_PARTS",
    "PATH_PARTS",
    "SCHEMA_VERSION",
    "BatchTimes",
    "BucketRow",
    "CollectiveRow",
    "Confidence",
    "CopyRow",
    "CostReport",
    "EnergyCost",
    "Estimate",
    "Evidence",
    "Finding",
    "FindingWaste",
    "FunctionRow",
    "Gain",
    "Gpu",
    "Health",
    "HostClock",
    "JobReport",
    "KernelRow",
    "Lane",
    "LateRow",
    "LineRow",
    "LoaderReport",
    "MemoryPeak",
    "Notice",
    "OperatorRow",
    "OutlierRow",
    "OverlapRow",
    "PathKernel",
    "PathReport",
    "PathShare",
    "PhaseSpan",
    "PipelineReport",
    "PlaceRow",
    "PublishedFigure",
    "RankReport",
    "RateUsed",
    "Recording",
    "Regime",
    "Report",
    "RunCost",
    "RunEnergy",
    "RunParts",
    "Severity",
    "SourceLines",
    "Span",
    "StageRow",
    "StepSource",
    "StepSpan",
    "Steps",
    "StragglerRow",
    "Timeline",
    "UseReport",
    "UseTrack",
    "Verdict",
    "WorkerRow",
]

SCHEMA_VERSION = 1


class Health(Struct, frozen=True, kw_only=True):
    """What the trace can carry.

    Attributes:
        usable: Whether any verdict about a bottleneck can rest on it.
        gpu_recorded: Whether device work was recorded; ``None`` when no device was in use.
        notices: Everything noticed, most important first.
    """

    usable: bool
    gpu_recorded: bool | None
    notices: tuple[Notice, ...] = ()


class Verdict(Struct, frozen=True, kw_only=True):
    """The one sentence.

    Attributes:
        regime: What limits the step.
        sentence: The same in words, with its numbers and their denominators.
    """

    regime: Regime
    sentence: str


class Evidence(Struct, frozen=True, kw_only=True):
    """A measured value behind a finding.

    Attributes:
        name: What it is, with its denominator ("loader wait per step").
        value: Number or text; ``None`` when not measured.
        unit: As ``units.format_value`` takes it.
    """

    name: str
    value: float | str | None
    unit: str


class Finding(Struct, frozen=True, kw_only=True):
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


class KernelRow(Struct, frozen=True, kw_only=True):
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


class OperatorRow(Struct, frozen=True, kw_only=True):
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


class Recording(Struct, frozen=True, kw_only=True):
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
        run: Where the wall time of the whole run goes; ``None`` where it was not recorded.
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
    run: RunParts | None = None


class Report(Struct, frozen=True, kw_only=True):
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
        job: Present where several ranks could be compared.
        use: Utilisation and energy over time; ``None`` for traces alone and runs that were not watched.
        seen: Mistakes that the samples of the run show.
        cost: Money, energy and carbon; ``None`` where neither the run's length nor a rate was given.
        loaders: DataLoaders seen from inside, by rank and first use; empty for traces of somebody else.
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
    job: JobReport | None = None
    loaders: tuple[LoaderReport, ...] = field(default=())
    use: UseReport | None = None
    seen: tuple[Finding, ...] = field(default=())
    cost: RunCost | None = None
