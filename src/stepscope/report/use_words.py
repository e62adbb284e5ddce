"""Words for what a run used and drew, shared by terminal and page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from stepscope.report.run_words import WORDS
from stepscope.schema.run_time import RUN_PARTS
from stepscope.units import format_bytes, format_energy, format_frac, format_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stepscope.schema.cost import Estimate
    from stepscope.schema.use_report import TrackKind, UseReport, UseTrack

LABELS: Final[Mapping[TrackKind, str]] = {
    "cpu": "CPU",
    "memory": "memory",
    "reads": "reads",
    "gpu-busy": "busy",
    "gpu-working": "working",
    "gpu-tensor": "tensor cores",
    "gpu-memory": "memory",
    "gpu-power": "power",
}
OVER_DEVICES: Final[tuple[tuple[TrackKind, str], ...]] = (
    ("gpu-busy", "busy"),
    ("gpu-working", "working"),
    ("gpu-power", "drawing"),
)
NOT_MEASURED: Final = (
    "not measured: a trace holds no samples; stepscope profile takes them beside the run"
)


def value(amount: float | None, unit: str) -> str:
    """A quantity with its unit."""
    if amount is None:
        return "not measured"
    if unit == "bytes/s":
        return f"{format_bytes(amount)}/s"
    return format_value(amount, unit)


def device_names(use: UseReport) -> dict[str, str]:
    """A short name for each device, by UUID: its place among the devices of the job."""
    found = dict.fromkeys(track.device for track in use.tracks if track.device)
    return {uuid: f"GPU {place}" for place, uuid in enumerate(found)}


def track_name(track: UseTrack, use: UseReport) -> str:
    """What a track is of; the node is named where there are several."""
    label = LABELS[track.kind]
    if track.device:
        return f"{device_names(use)[track.device]} {label}"
    several = len({one.node for one in use.tracks}) > 1
    return f"{track.node} {label}" if several else label[:1].upper() + label[1:]


def parts_seen(use: UseReport) -> tuple[str, ...]:
    """Parts of the run in which something was sampled, in their order."""
    return tuple(part for part in RUN_PARTS if any(part in track.by_part for track in use.tracks))


def part_label(part: str) -> str:
    """A part of the run in words."""
    return next((word.label for name, word in WORDS.items() if name == part), part)


def use_sentence(use: UseReport) -> str:
    """The whole run in one line: cores, devices, memory."""
    said = [_cores(use), *_devices(use), *_memory(use)]
    return "; ".join(text for text in said if text)


def _cores(use: UseReport) -> str:
    """Cores in use over all nodes."""
    tracks = [track for track in use.tracks if track.kind == "cpu"]
    means = [track.mean for track in tracks if track.mean is not None]
    if not means:
        return ""
    limits = [track.limit for track in tracks if track.limit is not None]
    of = f" of {sum(limits):g}" if len(limits) == len(tracks) else ""
    steps = [track.by_part["steps"] for track in tracks if "steps" in track.by_part]
    inside = f", {sum(steps):.2f} in steps" if len(steps) == len(tracks) else ""
    return f"CPU {sum(means):.2f}{of} cores{inside}"


def _devices(use: UseReport) -> list[str]:
    """Busy, working and draw, as means over devices."""
    count = len(device_names(use))
    if not count:
        return []
    said = []
    for kind, word in OVER_DEVICES:
        tracks = [track for track in use.tracks if track.kind == kind]
        means = [track.mean for track in tracks if track.mean is not None]
        if means:
            mean = sum(means) / len(means)
            said.append(f"{word} {value(mean, tracks[0].unit)}")
    name = "GPU" if count == 1 else f"mean of {count} GPUs"
    return [f"{name} {', '.join(said)}"] if said else []


def _memory(use: UseReport) -> list[str]:
    """Peak of host memory, and the largest of the devices'."""
    host = [track.peak for track in use.tracks if track.kind == "memory" and track.peak]
    device = [track.peak for track in use.tracks if track.kind == "gpu-memory" and track.peak]
    said = [f"memory {format_bytes(sum(host))} at most"] if host else []
    return said + ([f"GPU memory {format_bytes(max(device))} at most"] if device else [])


def energy_sentence(use: UseReport) -> str:
    """What was drawn, of what, and how that is known; why not, where it is not."""
    energy = use.energy
    parts = [
        f"{name} {amount(estimate)}"
        for name, estimate in (("devices", energy.devices), ("host", energy.host))
        if estimate.value is not None
    ]
    if not parts:
        has_devices = bool(device_names(use))
        return f"not known: {(energy.devices if has_devices else energy.host).how}"
    if energy.per_step.value is not None:
        parts.append(f"{format_energy(energy.per_step.value)} a step")
    if energy.per_sample.value is not None:
        parts.append(f"{format_energy(energy.per_sample.value)} a sample")
    return "; ".join(parts)


def amount(estimate: Estimate) -> str:
    """An energy with its basis."""
    if estimate.value is None:
        return "not known"
    return f"{format_energy(estimate.value)} ({estimate.basis})"


class EnergyRow(Struct, frozen=True):
    """A line of the table of energy.

    Attributes:
        name: What it is of.
        value, ends: The figure and its range in words; no ends without a range.
        basis, how: How it is known.
    """

    name: str
    value: str
    ends: str
    basis: str
    how: str


def energy_rows(use: UseReport) -> tuple[EnergyRow, ...]:
    """Devices, host, a step and a sample."""
    energy = use.energy
    return tuple(
        _row(name, estimate)
        for name, estimate in (
            ("devices", energy.devices),
            ("host, the job's share", energy.host),
            ("a step", energy.per_step),
            ("a sample", energy.per_sample),
        )
    )


def _row(name: str, estimate: Estimate) -> EnergyRow:
    if estimate.value is None:
        return EnergyRow(name, "not known", "", "not known", estimate.how)
    ends = ""
    if estimate.low is not None and estimate.high is not None and estimate.low < estimate.high:
        ends = f"{format_energy(estimate.low)} to {format_energy(estimate.high)}"
    return EnergyRow(name, format_energy(estimate.value), ends, estimate.basis, estimate.how)


def watching_sentence(use: UseReport) -> str:
    """What watching took, and how the clocks were brought together."""
    text = f"Sampled every {use.interval_s:.2g} s in the median; {use.alignment}."
    if use.own_cpu_s is not None and use.own_frac is not None:
        text += f" Watching took {use.own_cpu_s:.2g} s of CPU time, {format_frac(use.own_frac)} of a core."
    return text
