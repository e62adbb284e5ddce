"""What the step times of a whole run tell without any trace: ``light.json``.

Times are means over steady steps, in milliseconds. Parts are those of ``schema.light.ALL_PARTS``.
"""

from __future__ import annotations

from msgspec import Struct

# At run time too: readers of the document resolve these annotations.
from stepscope.schema.job_report import StragglerRow  # noqa: TC001

LIGHT_REPORT_VERSION = 1


class SlowStep(Struct, frozen=True, kw_only=True):
    """One of the slowest steps.

    Attributes:
        rank: Where it was timed.
        number: Number of the step.
        ms: Its length.
        part: The part that was longest beyond its mean; ``None`` where none stands out.
        part_ms: Length of that part; ``None`` likewise.
    """

    rank: int
    number: int
    ms: float
    part: str | None
    part_ms: float | None


class LightRank(Struct, frozen=True, kw_only=True):
    """One process.

    Attributes:
        rank: Its number.
        host: The machine.
        device: ``cpu`` or the kind of accelerator; ``None`` when it ended before that was known.
        steps: Steps that were timed.
        last_step: Number of the last one.
        ended: Whether its recorder could finish.
        seconds: From its first step to the end of its last.
        mean_ms, median_ms: Length of a step.
        parts_ms: Parts of the mean step; they sum to it.
        trend_frac: How much longer steps are in the last quarter of its time than in the first, 0.1 for 10 %;
            ``None`` with too few steps.
    """

    rank: int
    host: str
    device: str | None
    steps: int
    last_step: int
    ended: bool
    seconds: float
    mean_ms: float
    median_ms: float
    parts_ms: dict[str, float]
    trend_frac: float | None


class LightReport(Struct, frozen=True, kw_only=True):
    """A run in light mode.

    Attributes:
        schema_version: Version of this document's form.
        stepscope_version: Version of the program that wrote it.
        path: The run folder.
        world_size: Processes that the job should have.
        ranks: Those that left steps, by rank.
        slowest: The slowest steps of all, longest first.
        compared_steps: Steady steps that all ranks have and that were compared; 0 for one rank.
        waiting_ms: What a rank waits for others a step, mean over ranks; ``None`` where that is not seen.
        straggler: The rank that the others wait for most; ``None`` where nobody is late.
        cause: What it does longer, as one of ``input``, ``compute``, ``host``, ``evaluation or checkpoint``;
            ``None`` where nothing stands out or nobody is named.
        excess_ms: What the named rank does longer than the median of the others, a step, by part.
        notices: What is odd about the run, in sentences: ranks that died or are missing.
        cannot_tell: What the data do not carry, in sentences.
    """

    schema_version: int = LIGHT_REPORT_VERSION
    stepscope_version: str
    path: str
    world_size: int
    ranks: tuple[LightRank, ...]
    slowest: tuple[SlowStep, ...]
    compared_steps: int
    waiting_ms: float | None
    straggler: StragglerRow | None
    cause: str | None
    excess_ms: dict[str, float]
    notices: tuple[str, ...] = ()
    cannot_tell: tuple[str, ...] = ()
