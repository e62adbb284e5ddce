"""What a run that has been watched or recorded tells about its cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from stepscope.cost.span import Span, known, not_known, of_estimate
from stepscope.errors import InputError
from stepscope.schema.run_folder import is_run_folder, load_run
from stepscope.schema.samples import SAMPLES_FOLDER, SUMMARY_NAME
from stepscope.schema.watch_summary import WatchSummary
from stepscope.units import NS_PER_S
from stepscope.watch.closing import summary_of, with_accounting

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.schema.cost import Basis, Estimate
    from stepscope.schema.run_folder import RunFolder
    from stepscope.schema.watch_summary import DeviceUse


class RunFacts(Struct, frozen=True, kw_only=True):
    """One run as it was, before it is multiplied.

    Attributes:
        source: Where this was read.
        seconds: How long the devices were allocated.
        gpus: Devices allocated; 0 for a run without any.
        cores: Cores allocated, of all nodes; 0 where nothing says how many.
        device: What the driver calls them; ``""`` when not recorded.
        devices: Energy of all devices, in joules.
        host: Energy of the job's share of CPU and memory, in joules.
        idle_frac: Share of the allocated time in which the devices were idle, or the cores of a run without
            a device; ``None`` when not measured.
        idle_of: What that is a share of.
    """

    source: str
    seconds: float
    gpus: int
    device: str
    devices: Estimate
    host: Estimate
    idle_frac: float | None
    idle_of: str = "allocated time"
    cores: float = 0.0


def read_facts(path: Path) -> RunFacts:
    """The facts of a run folder: from its samples, else its ``watch.json``, else what the recorder saw.

    Raises:
        InputError: None of them is there, or it cannot be read.
    """
    summary = read_summary(path)
    if path.is_dir() and is_run_folder(path):
        return facts_of_run(load_run(path), summary, str(path))
    if summary is not None:
        return facts_of(summary, str(path))
    raise InputError(
        "there is no watch.json, so nothing says how long the run took",
        path=str(path),
        way_out="run it with `stepscope watch -- COMMAND`, or state --gpus and --hours",
    )


def read_summary(path: Path) -> WatchSummary | None:
    """The summary of a watched run, made anew where its samples are there; ``None`` when it was not watched.

    Raises:
        InputError: What is there cannot be read.
    """
    if any((path / SAMPLES_FOLDER).glob("*.jsonl")):
        return with_accounting(summary_of(path))
    place = path / SUMMARY_NAME if path.is_dir() else path
    try:
        return msgspec.json.decode(place.read_bytes(), type=WatchSummary)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=str(place)) from error
    except msgspec.DecodeError as error:
        raise InputError(f"is not a summary of a watched run: {error}", path=str(place)) from error


def facts_of_run(run: RunFolder, summary: WatchSummary | None, source: str) -> RunFacts:
    """The facts of a recorded run: from its samples, and devices that no sampler saw from the recorder.

    Raises:
        InputError: It was not watched and never ended, so that its time is not known.
    """
    if summary is None:
        return facts_of_recording(run, source)
    facts = facts_of(summary, source)
    seen = recorded_devices(run)
    if facts.gpus or not seen:
        return facts
    why = "no sampler could ask the devices"
    return replace(
        facts,
        gpus=seen,
        devices=not_known("J", why),
        idle_frac=None,
        idle_of="allocated time",
    )


def recorded_devices(run: RunFolder) -> int:
    """Ranks that used a device, each of which is taken to have had one."""
    recordings = [rank.recording for rank in run.ranks if rank.recording is not None]
    return sum(recording.device != "cpu" for recording in recordings)


def facts_of_recording(run: RunFolder, source: str) -> RunFacts:
    """The facts of a run that was recorded and not watched: its time and devices, no energy.

    Raises:
        InputError: The run never ended, so that its time is not known.
    """
    if run.manifest.wall_ns is None:
        raise InputError(
            "the run did not end, so nothing says how long it took",
            path=source,
            way_out="state --gpus and --hours",
        )
    why = "the run was recorded but not watched"
    return RunFacts(
        source=source,
        seconds=run.manifest.wall_ns / NS_PER_S,
        gpus=recorded_devices(run),
        device="",
        devices=not_known("J", why),
        host=not_known("J", why),
        idle_frac=None,
    )


def facts_of(summary: WatchSummary, source: str) -> RunFacts:
    """The facts of a summary."""
    names = sorted({device.name for device in summary.devices})
    busy = [device.busy_frac for device in summary.devices if device.busy_frac is not None]
    if not summary.devices:
        return facts_of_cores(summary, source)
    return RunFacts(
        source=source,
        seconds=summary.wall_s,
        gpus=len(summary.devices),
        device=names[0] if len(names) == 1 else "",
        devices=device_sum(summary.devices),
        host=summary.host_energy,
        cores=sum(node.cores for node in summary.nodes),
        idle_frac=1 - sum(busy) / len(busy) if busy and len(busy) == len(summary.devices) else None,
    )


def facts_of_cores(summary: WatchSummary, source: str) -> RunFacts:
    """The facts of a run without a device, whose idle time is that of its cores."""
    held = sum(node.cores * node.wall_s for node in summary.nodes)
    used = sum(node.cpu_s for node in summary.nodes)
    return RunFacts(
        source=source,
        seconds=summary.wall_s,
        gpus=0,
        device="",
        devices=device_sum(()),
        host=summary.host_energy,
        cores=sum(node.cores for node in summary.nodes),
        idle_frac=max(1 - used / held, 0.0) if held > 0 else None,
        idle_of="time of the allocated cores",
    )


def device_sum(devices: tuple[DeviceUse, ...]) -> Estimate:
    """Energy of all devices; not known when one's is not. Its basis is the weakest of theirs."""
    if not devices:
        return not_known("J", "the run had no device")
    total = Span(0, 0, 0)
    order: tuple[Basis, ...] = ("measured", "attributed", "modelled")
    weakest = 0
    for device in devices:
        span = of_estimate(device.energy)
        if span is None:
            return not_known("J", f"{device.uuid}: {device.energy.how}")
        total = total + span
        weakest = max(weakest, order.index(device.energy.basis))
    how = f"{len(devices)} device(s), {devices[0].energy.how}"
    return known(total, "J", order[weakest], how)
