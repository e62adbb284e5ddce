"""What a training step draws: the energy of the time of steps, from curves of energy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.schema.cost import Estimate
from stepscope.watch.energy import device_curve, host_curve, no_energy
from stepscope.watch.summary import meter_notice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.schema.cost import Basis
    from stepscope.schema.run_folder import RunFolder
    from stepscope.watch.energy import Drawn
    from stepscope.watch.tracks import DeviceRows, Placed

LEAST_COVERED = 0.9
"""Steps of which less was sampled tell nothing."""
LEAST_SECONDS = 2.0
"""So long steps must have run in all: drivers renew their counters every tenth of a second."""
WEAKEST: tuple[Basis, ...] = ("measured", "attributed", "modelled", "not-known")

Stretches = list[tuple[float, float]]


class Part(Struct, frozen=True):
    """What one device or one node drew in the time of steps; a curve that is not known says why."""

    joules: float
    error_j: float
    basis: Basis
    how: str


def energy_per_step(
    devices: Sequence[DeviceRows], placed: Sequence[Placed], steps: Stretches, count: int
) -> tuple[Estimate, str]:
    """Joules a step, of all devices and of the hosts as far as these are known, and whose energy that is.

    Args:
        devices: Every device once.
        placed: All watchers.
        steps: The time of steps on the axis.
        count: How many steps that is.
    """
    if not count:
        return no_energy("no step ran without the profiler after start-up"), ""
    seconds = sum(end - start for start, end in steps)
    if seconds < LEAST_SECONDS:
        return no_energy(
            f"steps took {seconds:.2g} s in all; samples tell their energy from {LEAST_SECONDS:g} s on"
        ), ""
    of_devices = [
        in_steps(device_curve(one.start, one.rows), one.offset_s, steps, one.start.slice_frac)
        for one in devices
    ]
    of_hosts = host_parts(placed, steps)
    for part in of_devices or of_hosts:
        if part.basis == "not-known":
            return no_energy(part.how), ""
    known = [part for part in (*of_devices, *of_hosts) if part.basis != "not-known"]
    lacks = next((part.how for part in of_hosts if part.basis == "not-known"), "")
    what = "devices and host" if of_devices and not lacks else "devices" if of_devices else "host"
    how = f"{what} over {seconds:.3g} s of {count:,} steps without the profiler; {known[0].how}"
    if lacks:
        how += f"; the host's is not in it: {lacks}"
    joules, error = (sum(getattr(part, name) for part in known) for name in ("joules", "error_j"))
    a_step = Estimate(
        value=joules / count,
        low=max(joules - error, 0.0) / count,
        high=(joules + error) / count,
        unit="J",
        basis=max((part.basis for part in known), key=WEAKEST.index),
        how=how,
    )
    return a_step, what


def host_parts(placed: Sequence[Placed], steps: Stretches) -> list[Part]:
    """What the nodes' hosts drew for the job; meters of a node are read by all its watchers, shares are each one's."""
    metered = [one for one in placed if one.watched.meters]
    if not metered:
        return [Part(0.0, 0.0, "not-known", meter_notice([one.watched for one in placed]))]
    return [
        in_steps(host_curve(one.watched.meters, one.watched.hosts), one.offset_s, steps)
        for one in metered
    ]


def in_steps(drawn: Drawn, offset_s: float, steps: Stretches, share: float = 1.0) -> Part:
    """What was drawn in the time of steps; what was not sampled of it is taken to be like the rest."""
    if drawn.basis == "not-known":
        return Part(0.0, 0.0, "not-known", drawn.how)
    curve = drawn.curve.shifted(offset_s)
    seconds = sum(end - start for start, end in steps)
    covered = sum(curve.covered(start, end) for start, end in steps)
    if covered < LEAST_COVERED * seconds:
        return Part(0.0, 0.0, "not-known", "too little of the steps was sampled")
    joules = sum(curve.between(start, end) for start, end in steps) * seconds / covered
    basis: Basis = "attributed" if share < 1 and drawn.basis == "measured" else drawn.basis
    total = curve.total
    # A counter's ends are off by as much for a part of the run as for all of it; shares of power are not.
    error = drawn.error_j if total <= 0 else max(drawn.error_j * joules / total, drawn.error_j / 2)
    return Part(joules * share, error * share, basis, drawn.how)


def energy_per_sample(per_step: Estimate, samples: float | None, why: str) -> Estimate:
    """Joules a sample.

    Args:
        per_step: Joules a step.
        samples: Samples in a step; ``None`` where that is not known.
        why: The reason then.
    """
    if per_step.value is None or per_step.low is None or per_step.high is None:
        return no_energy(per_step.how)
    if samples is None:
        return no_energy(why)
    return Estimate(
        value=per_step.value / samples,
        low=per_step.low / samples,
        high=per_step.high / samples,
        unit="J",
        basis=per_step.basis,
        how=f"energy a step over {samples:,.6g} samples a step",
    )


def samples_per_step(run: RunFolder) -> tuple[float | None, str]:
    """Samples that all ranks take in a step, from the batch sizes of their training loaders, or why not.

    Several ranks take different samples only where a sampler deals them out; else nobody can tell.
    """
    recordings = [rank.recording for rank in run.ranks if rank.recording is not None]
    total = 0.0
    for recording in recordings:
        training = [use for use in recording.loaders if use.role == "training" and use.batches]
        if not training or not recording.steps_seen:
            return None, "no loader that feeds training was seen"
        for use in training:
            if use.batch_size is None:
                return None, "a training loader does not tell its batch size"
            if recording.world_size > 1 and not deals_out(use.sampler):
                return (
                    None,
                    f"whether ranks take different samples is not known of {use.sampler or 'its sampler'}",
                )
            total += use.batch_size * batches_per_step(use.batches, recording.steps_seen)
    if not recordings or not total:
        return None, "no loader that feeds training was seen"
    return total * recordings[0].world_size / len(recordings), ""


def deals_out(sampler: str) -> bool:
    """Whether a sampler of that class gives each rank its own samples."""
    return any(word in sampler for word in ("Distributed", "Shard"))


def batches_per_step(batches: int, steps: int) -> float:
    """How many batches a step takes; whole numbers but for the first and the last step, which are cut."""
    ratio = batches / steps
    return float(round(ratio)) if ratio >= 0.75 else ratio
