"""Utilisation and energy of a recorded run from its samples, on one axis with phases and steps."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from stepscope.schema.use_report import RunEnergy, UseReport
from stepscope.watch import axis as clock
from stepscope.watch.step_energy import energy_per_sample, energy_per_step, samples_per_step
from stepscope.watch.tracks import Placed, devices_in, tracks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.schema.cost import Estimate
    from stepscope.schema.run_folder import RankFolder, RankRecording, RunFolder
    from stepscope.watch.store import Watched


def use_of(
    run: RunFolder, watched: Sequence[Watched], devices: Estimate, host: Estimate
) -> UseReport | None:
    """What the run used over time; ``None`` where nothing was sampled twice or no rank was recorded.

    Args:
        run: The run folder, whose first rank with steps gives phases and steps.
        watched: Its watchers.
        devices: Energy of all devices.
        host: Energy of the job's share of processors and memory.
    """
    rank = shown_rank(run)
    sampled = [one for one in watched if len(one.hosts) >= 2]
    if rank is None or rank.recording is None or not sampled:
        return None
    recording = rank.recording
    zero = clock.zero_of(recording)
    placed = [Placed(one, clock.offset_s(one.start, recording, zero)) for one in sampled]
    interval = interval_of(sampled[0])
    axis = clock.axis_of(zero, *ends_of(placed), interval)
    phases = clock.phase_spans(recording, axis)
    steps = clock.undisturbed(rank)
    count = sum(row.count for row in steps)
    samples, why = samples_per_step(run)
    per_step, scope = energy_per_step(devices_in(placed), placed, clock.joined(steps, axis), count)
    own = [one.end.own_cpu_s for one in watched if one.end is not None]
    own_s = sum(own) if len(own) == len(watched) else None
    return UseReport(
        rank=rank.rank,
        start_s=axis.start_s,
        stretch_s=axis.stretch_s,
        stretches=axis.stretches,
        interval_s=interval,
        alignment=alignment_of(placed, recording),
        phases=phases,
        steps=clock.step_spans(rank.steps, axis),
        tracks=tracks_of(placed, axis, phases),
        energy=RunEnergy(
            devices=devices,
            host=host,
            per_step=per_step,
            per_sample=energy_per_sample(per_step, samples, why),
            steps=count,
            samples_per_step=samples,
            scope=scope,
        ),
        own_cpu_s=own_s,
        own_frac=None if own_s is None else own_s / max(sum(one.wall_s for one in watched), 1e-9),
    )


def shown_rank(run: RunFolder) -> RankFolder | None:
    """The rank whose phases and steps are shown: the first that has clean steps, else the first recorded.

    The same rank as that whose account of the run the report shows.
    """
    ranks = [rank for rank in run.ranks if rank.recording is not None]
    ranks.sort(
        key=lambda rank: (rank.recording is None or not rank.recording.clean_steps_ns, rank.rank)
    )
    return ranks[0] if ranks else None


def interval_of(watched: Watched) -> float:
    """Median time between two samples of the processes."""
    gaps = [after.at_s - before.at_s for before, after in pairwise(watched.hosts)]
    return max(median(gaps), 0.01)


def ends_of(placed: Sequence[Placed]) -> tuple[float, float]:
    """The first and the last sample of the processes on the axis."""
    firsts = [one.watched.hosts[0].at_s + one.offset_s for one in placed]
    lasts = [one.watched.hosts[-1].at_s + one.offset_s for one in placed]
    return min(firsts), max(lasts)


def alignment_of(placed: Sequence[Placed], recording: RankRecording) -> str:
    """How the clocks were brought together."""
    same = all(clock.is_one_machine(one.watched.start, recording) for one in placed)
    return clock.OWN_CLOCK if same else clock.WALL_CLOCK
