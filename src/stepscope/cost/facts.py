"""What a run that has been watched tells about its cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from stepscope.cost.span import Span, known, not_known, of_estimate
from stepscope.errors import InputError
from stepscope.schema.run_folder import is_run_folder, load_run
from stepscope.schema.watch_summary import WatchSummary
from stepscope.units import NS_PER_S

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.schema.cost import Basis, Estimate
    from stepscope.schema.run_folder import RunFolder
    from stepscope.schema.watch_summary import DeviceUse

SUMMARY_NAME = "watch.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """One run as it was, before it is multiplied.

    Attributes:
        source: Where this was read.
        seconds: How long the devices were allocated.
        gpus: Devices allocated; 0 for a run without any.
        device: What the driver calls them; ``""`` when not recorded.
        devices: Energy of all devices, in joules.
        host: Energy of the job's share of CPU and memory, in joules.
        idle_frac: Share of the allocated time in which the devices were idle; ``None`` when not measured.
    """

    source: str
    seconds: float
    gpus: int
    device: str
    devices: Estimate
    host: Estimate
    idle_frac: float | None


def read_facts(path: Path) -> RunFacts:
    """The facts of a run folder: from its ``watch.json``, else how long the recorder saw it run.

    Raises:
        InputError: Neither is there, or it cannot be read.
    """
    place = path / SUMMARY_NAME if path.is_dir() else path
    if path.is_dir() and not place.is_file() and is_run_folder(path):
        return facts_of_recording(load_run(path), str(path))
    try:
        summary = msgspec.json.decode(place.read_bytes(), type=WatchSummary)
    except FileNotFoundError as error:
        raise InputError(
            "there is no watch.json, so nothing says how long the run took",
            path=str(path),
            way_out="run it with `stepscope watch -- COMMAND`, or state --gpus and --hours",
        ) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=str(place)) from error
    except msgspec.DecodeError as error:
        raise InputError(f"is not a summary of a watched run: {error}", path=str(place)) from error
    return facts_of(summary, str(path))


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
    ranks = [rank for rank in run.ranks if rank.recording is not None]
    gpus = sum(rank.recording.device != "cpu" for rank in ranks if rank.recording is not None)
    why = "the run was recorded but not watched"
    return RunFacts(
        source=source,
        seconds=run.manifest.wall_ns / NS_PER_S,
        gpus=gpus,
        device="",
        devices=not_known("J", why),
        host=not_known("J", why),
        idle_frac=None,
    )


def facts_of(summary: WatchSummary, source: str) -> RunFacts:
    """The facts of a summary."""
    names = sorted({device.name for device in summary.devices})
    busy = [device.busy_frac for device in summary.devices if device.busy_frac is not None]
    return RunFacts(
        source=source,
        seconds=summary.wall_s,
        gpus=len(summary.devices),
        device=names[0] if len(names) == 1 else "",
        devices=device_sum(summary.devices),
        host=summary.host_energy,
        idle_frac=1 - sum(busy) / len(busy) if busy and len(busy) == len(summary.devices) else None,
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
