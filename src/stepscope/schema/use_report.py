"""What a run used while it was recorded, over time: samples laid beside the run's phases and steps."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from stepscope.schema.cost import Estimate  # noqa: TC001  (the JSON decoder resolves it)

TrackKind = Literal[
    "cpu",
    "memory",
    "reads",
    "gpu-busy",
    "gpu-working",
    "gpu-tensor",
    "gpu-memory",
    "gpu-power",
]


class UseTrack(Struct, frozen=True, kw_only=True):
    """One quantity of a node or a device over the run.

    Attributes:
        kind: ``cpu``: cores in use, as CPU time over time. ``memory``: resident memory of the processes, the
            most in each stretch. ``reads``: bytes read through calls a second. ``gpu-busy``: share of the time
            in which some kernel ran. ``gpu-working``: activity of the multiprocessors. ``gpu-tensor``: that of
            the tensor cores. ``gpu-memory``: in use, the most in each stretch. ``gpu-power``: draw.
        node: The node.
        device: UUID of the device; ``""`` for the node itself.
        unit: ``cores``, ``bytes``, ``bytes/s``, ``frac`` or ``W``.
        limit: What there is of it: allocated cores, the memory limit, the power limit; ``None`` where unknown.
        mean: Over the time that was sampled.
        peak: The highest stretch.
        values: One per stretch of the axis; ``None`` where nothing was sampled.
        by_part: Mean in each part of the run, keys from ``RUN_PARTS``; parts without samples are left out.
    """

    kind: TrackKind
    node: str
    device: str
    unit: str
    limit: float | None
    mean: float | None
    peak: float | None
    values: tuple[float | None, ...]
    by_part: dict[str, float]


class PhaseSpan(Struct, frozen=True, kw_only=True):
    """A stretch of the run that belongs to one part.

    Attributes:
        part: One of ``RUN_PARTS``.
        start_s, end_s: Seconds after the script's first line.
    """

    part: str
    start_s: float
    end_s: float


class StepSpan(Struct, frozen=True, kw_only=True):
    """Neighbouring training steps.

    Attributes:
        first, last: Numbers of the first and the last of them, counted from 0.
        start_s, end_s: Seconds after the script's first line.
        mean_ms: Their mean length.
        kind: What the recorder called them, for instance ``profiled``; ``mixed`` for several kinds.
    """

    first: int
    last: int
    start_s: float
    end_s: float
    mean_ms: float
    kind: str


class RunEnergy(Struct, frozen=True, kw_only=True):
    """What the run drew.

    Attributes:
        devices: Joules of all devices of the job.
        host: Joules of processors and memory that are the job's share.
        per_step: Joules a training step, over the time of the steps that were run without the profiler.
        per_sample: Joules a sample of the training data.
        scope: Whose energy a step's and a sample's is: ``devices and host``, ``devices`` or ``host``; ``""`` where
            it is not known.
        steps: Steps in ``per_step``.
        samples_per_step: Samples that all ranks take in a step; ``None`` where a loader does not tell.
    """

    devices: Estimate
    host: Estimate
    per_step: Estimate
    per_sample: Estimate
    steps: int
    samples_per_step: float | None
    scope: str = ""


class UseReport(Struct, frozen=True, kw_only=True):
    """Utilisation and energy of a run that was watched while it was recorded.

    Attributes:
        rank: Whose phases and steps these are.
        start_s: Where the axis begins, in seconds after the script's first line.
        stretch_s: Length of a stretch of the axis.
        stretches: How many there are.
        interval_s: Median time between two samples.
        alignment: How samples and steps were brought onto one clock, in a sentence.
        phases: The parts of the run in order; empty where the recorder did not tell.
        steps: Training steps in order, neighbours joined where they are many.
        tracks: Quantities over time, nodes first.
        energy: What the run drew.
        own_cpu_s: CPU time that watching took; ``None`` where a watcher was killed.
        own_frac: The same as a share of one core.
    """

    rank: int
    start_s: float
    stretch_s: float
    stretches: int
    interval_s: float
    alignment: str
    phases: tuple[PhaseSpan, ...]
    steps: tuple[StepSpan, ...]
    tracks: tuple[UseTrack, ...]
    energy: RunEnergy
    own_cpu_s: float | None
    own_frac: float | None
