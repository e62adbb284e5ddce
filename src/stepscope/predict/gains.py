"""Every gain that is predicted for one rank, in one frozen result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from stepscope.predict import change, matrix
from stepscope.predict.buckets import in_buckets
from stepscope.predict.calibrate import calibrated, clean_ns, waits_count
from stepscope.predict.classes import ClassGain, Kind, class_gains
from stepscope.predict.excerpt import excerpt
from stepscope.predict.graph import ALLOCATOR, COMMUNICATION, INPUT, TO_DEVICE
from stepscope.predict.link import copies_at_link_speed
from stepscope.predict.own_work import python_gain
from stepscope.predict.path import path_of
from stepscope.predict.pipeline import Pipeline, Plan
from stepscope.predict.recompile import Recompiled, recompiled
from stepscope.predict.replay import replay
from stepscope.predict.source import Setting, Source, Staging, source_of
from stepscope.predict.staging import with_less_waiting
from stepscope.predict.together import arriving_together
from stepscope.predict.whatif import Outcome, error_frac, gain, is_withheld, outcome

if TYPE_CHECKING:
    from stepscope.analysis.results import Results
    from stepscope.predict.graph import Graph
    from stepscope.predict.replay import Replay
    from stepscope.schema.path_report import PathReport
    from stepscope.schema.report import Gain
    from stepscope.trace.intervals import Ints
    from stepscope.trace.model import Trace

WORKERS = (1, 2, 4, 8)
"""Numbers of loader workers in the table, beside the best one and twice as many."""

MOST_ALLOCATOR = 0.01
"""Share of the time in the driver's allocator from which synchronisations are not all that waits."""


class WorkersGain(Struct, frozen=True):
    """What a number of loader workers would gain.

    Attributes:
        workers: How many.
        gain: The gain.
    """

    workers: int
    gain: Gain


class Gains(Struct, frozen=True, kw_only=True):
    """What changes would gain. A gain is ``None`` where it is withheld or where there is nothing to change.

    Attributes:
        error_frac: Median error of the unchanged replay over the steady steps.
        withheld: Why no replay is used, as a sentence; ``""`` when it is.
        path: The critical path of the steady steps; ``None`` when withheld or not asked for.
        no_path: Why there is none where it was asked for, without a full stop; ``""`` where there is.
        input: The next batch is always there; where the time to make one is known, with the best number of
            workers, kept between epochs.
        workers: By number of loader workers and nothing else changed, when the time to make a batch is known.
        plan: How many workers are best, and why; ``None`` where that is not known.
        staging: The data set's files lie on the file system on which a read of copies was measured.
        staged: That measurement; ``None`` where none was made.
        sync: No call waits for the device, copies to it apart.
        copy: Copies to the device come from pinned memory (low end) and also overlap (high end).
        overlap: Copies to the device overlap, at their speed.
        launch: Operators and launches cost the host nothing (low end), nor does the Python between them (high end).
        python: The program's own work in long pauses between operators is gone (see ``python_gain``).
        allocator: Calls of the device's allocator cost nothing.
        communication: All communication but the last bucket of each step is hidden, or all is, or
            messages are half as long, whatever gains least and most.
        together: No rank waits for another in a collective; ``None`` also where ranks cannot be compared.
            On the rank that comes last it is small: the gain of the job is that of the others.
        tensor_cores: Matrix products use Tensor Cores, within the device's roofline.
        classes: Kinds of work that a known change shortens or removes.
        recompiled: Compilation in steady steps, and the gain without it.
        restart: Workers live on between epochs; ``None`` where they do, or nobody saw them.
        packed: The data set lies in few large files, so that half of the waiting for storage goes, or all.
    """

    error_frac: float
    withheld: str
    path: PathReport | None = None
    no_path: str = ""
    input: Gain | None = None
    workers: tuple[WorkersGain, ...] = ()
    plan: Plan | None = None
    staging: Gain | None = None
    staged: Staging | None = None
    sync: Gain | None = None
    copy: Gain | None = None
    overlap: Gain | None = None
    launch: Gain | None = None
    python: Gain | None = None
    allocator: Gain | None = None
    communication: Gain | None = None
    together: Gain | None = None
    tensor_cores: Gain | None = None
    classes: tuple[ClassGain, ...] = ()
    recompiled: Recompiled | None = None
    restart: Gain | None = None
    packed: Gain | None = None

    def of_class(self, kind: Kind) -> ClassGain | None:
        """The work of one kind; ``None`` without any."""
        return next((one for one in self.classes if one.kind == kind), None)

    @property
    def workers_needed(self) -> int | None:
        """How many workers are best."""
        return None if self.plan is None else self.plan.workers


def gains(
    trace: Trace, results: Results, setting: Setting | None = None, *, with_path: bool = False
) -> Gains:
    """Replays one rank unchanged and with one thing changed at a time; of a long trace, a typical stretch.

    Args:
        trace: The rank's tables.
        results: The analyses of the same trace.
        setting: What its recorder measured; ``None`` for a trace of somebody else.
        with_path: Whether ``path`` is worked out too, which no rule asks for.
    """
    if trace.gpu_recorded is False:
        why = "the GPU side was not recorded"
        return Gains(error_frac=0.0, withheld=why, no_path=why if with_path else "")
    setting = setting or Setting()
    trace = excerpt(trace).trace
    base, error, why = _explained(trace)
    if base is None:
        return Gains(error_frac=error, withheld=why, no_path=why if with_path else "")
    other = calibrated(base, setting, pauses=False)
    base = calibrated(base, setting)
    found = replace(_predicted(trace, results, base, other, setting), error_frac=error)
    return _with_path(found, trace, results, base, setting) if with_path else found


def _with_path(
    found: Gains, trace: Trace, results: Results, base: Replay, setting: Setting
) -> Gains:
    """The same with the critical path, or with the reason why there is none."""
    if not results.partition.has_device:
        return replace(found, no_path="nothing ran on a device beside the training thread")
    if results.launches.are_mostly_lost:
        return replace(found, no_path="most launches have no work in the trace")
    path = path_of(trace, base, clean_ns(setting))
    why = "" if path else "more than a third of what the steps wait for was not recorded"
    return replace(found, path=path, no_path=why)


def together_gain(trace: Trace, shortest_ns: Ints, setting: Setting | None = None) -> Gain | None:
    """What one rank gains when no rank waits for another in a collective, and nothing else.

    Args:
        trace: The rank's tables.
        shortest_ns: What ``together.shortest_calls`` gives for the rank.
        setting: As :func:`gains` takes it.
    """
    if trace.gpu_recorded is False:
        return None
    part = excerpt(trace)
    moves = trace.device.get_column("is_communication").to_numpy().astype(np.bool_)
    base, _, _ = _explained(part.trace)
    if base is None:
        return None
    base = calibrated(base, setting or Setting())
    return _of(base, arriving_together(part.trace, base.graph, shortest_ns[part.kept[moves]]))


def _explained(trace: Trace) -> tuple[Replay | None, float, str]:
    """The unchanged replay, its error, and why it is none where it does not explain the trace."""
    base = replay(trace)
    error = error_frac(base)
    if not base.graph.are_steps and not len(base.graph.launch):
        return None, error, "the window holds neither steps nor launches"
    if is_withheld(base):
        why = "replaying the recorded steps without any change does not give their length back"
        return None, error, why
    return base, error, ""


def _predicted(
    trace: Trace, results: Results, base: Replay, other: Replay, setting: Setting
) -> Gains:
    """All gains that one rank alone tells, given its replays as it is without the profiler (see ``python_gain``)."""
    graph = base.graph
    source = source_of(trace, graph, setting)
    line = Pipeline(base, source, _spread(setting)) if source is not None else None
    plan = line.plan() if line else None
    return Gains(
        error_frac=0.0,
        withheld="",
        input=_input(base, line, plan),
        workers=_workers(base, line, plan.workers, restarts=setting.restarts)
        if line and plan
        else (),
        plan=plan,
        staging=_staging(base, source, setting),
        staged=setting.staging,
        sync=_sync(base),
        copy=_copy(trace, base),
        overlap=_of(base, change.copies_overlapped(graph)) if _has_copies(graph) else None,
        launch=_launch(base),
        python=python_gain(trace, base, other),
        allocator=_of(base, change.without_gaps(graph, ALLOCATOR))
        if graph.gaps[:, ALLOCATOR].any()
        else None,
        communication=_communication(trace, base),
        tensor_cores=_tensor_cores(trace, results, base),
        classes=class_gains(trace, base),
        recompiled=recompiled(trace, base),
        restart=_restart(base, setting),
        packed=_packed(base, source),
    )


def _of(base: Replay, *graphs: Graph, basis: str = "replay") -> Gain | None:
    return gain(base, [outcome(base, graph) for graph in graphs], basis)


def _spread(setting: Setting) -> float | None:
    """Uncertainty of the mean step of a recorded run; ``None`` where the replayed steps must tell."""
    clean = setting.clean
    return clean.error_frac if clean is not None and waits_count(clean) else None


def _input(base: Replay, line: Pipeline | None, plan: Plan | None) -> Gain | None:
    """With enough workers where the pipeline is known, else with a batch that is always there."""
    if not base.graph.gaps[:, INPUT].any():
        return None
    if line is not None and plan is not None:
        row = line.row(plan.workers)
        return gain(base, [row.best, row.worst], "pipeline-model")
    free = change.without_input(base.graph)
    return _of(base, free)


def _restart(base: Replay, setting: Setting) -> Gain | None:
    """An epoch's first batch comes as soon as making it takes, or half of what it takes longer is saved."""
    first, epoch = setting.first_wait_ns, setting.epoch_batches
    if first is None or epoch is None or not setting.workers or not setting.work_ns:
        return None
    extra = max(first - float(np.mean(setting.work_ns)), 0.0) / epoch
    now = outcome(base, base.graph)
    ways = [Outcome(max(now.step_ns - extra * part, 1.0), now.spread_frac) for part in (0.5, 1.0)]
    return gain(base, ways, "pipeline-model")


def _packed(base: Replay, source: Source | None) -> Gain | None:
    ways = with_less_waiting(base, source, (0.0, 0.5)) if source is not None else []
    return gain(base, ways, "pipeline-model") if ways else None


def _staging(base: Replay, source: Source | None, setting: Setting) -> Gain | None:
    if source is None or setting.staging is None:
        return None
    ways = with_less_waiting(base, source, setting.staging.ratios)
    return gain(base, ways, "pipeline-model") if ways else None


def _workers(base: Replay, line: Pipeline, best: int, *, restarts: bool) -> tuple[WorkersGain, ...]:
    rows = [line.row(workers, restarts=restarts) for workers in sorted({*WORKERS, best, 2 * best})]
    made = [(row.workers, gain(base, [row.best, row.worst], "pipeline-model")) for row in rows]
    return tuple(WorkersGain(workers, one) for workers, one in made if one is not None)


def _sync(base: Replay) -> Gain | None:
    """``None`` too where the allocator calls the driver: giving memory back waits for the device as well."""
    calls = change.synchronisations(base.graph)
    allocator = base.graph.gaps[:, ALLOCATOR].sum() / max(base.measured_ns.sum(), 1)
    if not calls.any() or allocator > MOST_ALLOCATOR:
        return None
    return _of(base, change.without_waiting(base.graph, calls))


def _has_copies(graph: Graph) -> bool:
    return bool((graph.sort == TO_DEVICE).any())


def _copy(trace: Trace, base: Replay) -> Gain | None:
    if not _has_copies(base.graph):
        return None
    pinned = copies_at_link_speed(trace, base.graph)
    return _of(base, change.copies_pinned(pinned), change.copies_overlapped(base.graph))


def _launch(base: Replay) -> Gain | None:
    if not len(base.graph.launch):
        return None
    return _of(
        base,
        change.launches_free(base.graph, python=False),
        change.launches_free(base.graph, python=True),
    )


def _communication(trace: Trace, base: Replay) -> Gain | None:
    graph = base.graph
    moves = graph.sort == COMMUNICATION
    if not moves.any():
        return None
    return _of(
        base,
        change.communication_hidden(in_buckets(trace, graph), last_stays=True),
        change.communication_hidden(graph, last_stays=False),
        change.faster(graph, moves, 2.0),
    )


def _tensor_cores(trace: Trace, results: Results, base: Replay) -> Gain | None:
    peak = matrix.peak_ratio(results.facts.compute_capability)
    work = matrix.plain_matrix_work(trace, base.graph)
    if peak is None or not work.any():
        return None
    slow = change.faster(base.graph, work, matrix.MEMORY_RATIO)
    return _of(base, slow, change.faster(base.graph, work, peak), basis="roofline")
