"""What the trace says about its setting: which rank, which device, what was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.trace import call_names

if TYPE_CHECKING:
    from stepscope.trace.model import Device, Trace


class Facts(Struct, frozen=True):
    """The setting of one rank.

    Attributes:
        rank: ``None`` when nothing tells it.
        world_size: Ranks of the job; ``None`` when not given.
        backend: Of torch.distributed; ``None`` when not given.
        device: Name of the device that did the work, ``cpu`` when none did.
        listed_device: Name of the first device of the header, used or not; ``""`` without a name,
            ``None`` when the header lists none.
        compute_capability: Of the device that did the work; ``None`` for other vendors than NVIDIA.
        has_tensor_cores: Whether it has Tensor Cores or matrix cores; ``None`` when that is not known.
        operator_count: Operators recorded.
        call_count: Calls of the device's runtime and driver recorded.
        gpu_recorded: As in the trace: ``None`` when no device was in use.
        usable: Whether a verdict can rest on the trace.
        has_stacks: Whether Python frames were recorded.
        has_shapes: Whether input shapes were recorded.
    """

    rank: int | None
    world_size: int | None
    backend: str | None
    device: str
    listed_device: str | None
    compute_capability: tuple[int, int] | None
    has_tensor_cores: bool | None
    operator_count: int
    call_count: int
    gpu_recorded: bool | None
    usable: bool
    has_stacks: bool
    has_shapes: bool


def run(trace: Trace) -> Facts:
    """Reads the header and counts what was recorded."""
    meta, host = trace.meta, trace.host
    used = _used_device(trace)
    listed = meta.devices[0].name if meta.devices else None
    return Facts(
        rank=meta.rank,
        world_size=meta.world_size,
        backend=meta.backend,
        device=_name(trace, used),
        listed_device=listed,
        compute_capability=used.compute_capability if used else None,
        has_tensor_cores=_has_tensor_cores(used) if used else None,
        operator_count=int(np.count_nonzero(call_names.operators(host))),
        call_count=int(np.count_nonzero(call_names.of_kind(host, *call_names.CALLS))),
        gpu_recorded=trace.gpu_recorded,
        usable=trace.usable,
        has_stacks=bool(call_names.of_kind(host, "python").any()),
        has_shapes=host.get_column("input_dims").null_count() < len(host),
    )


def _used_device(trace: Trace) -> Device | None:
    """The header's entry for the device with most work; AMD numbers agents, so the first one stands in."""
    if trace.gpu_recorded is None or not trace.meta.devices:
        return None
    if len(trace.device):
        spent = trace.device["end_ns"] - trace.device["start_ns"]
        sums = trace.device.select("device", spent=spent).group_by("device").sum().sort("spent")
        number = sums["device"][-1]
        for device in trace.meta.devices:
            if device.number == number:
                return device
    return trace.meta.devices[0]


def _name(trace: Trace, used: Device | None) -> str:
    if used is not None:
        return used.name or f"GPU {used.number} (name not recorded)"
    return "GPU (name not recorded)" if len(trace.device) or trace.gpu_recorded is False else "cpu"


def _has_tensor_cores(device: Device) -> bool | None:
    """Volta and later have them, the GTX 16 series apart; so have AMD's Instinct from MI100 on."""
    if device.compute_capability is not None:
        return device.compute_capability >= (7, 0) and "GTX 16" not in device.name
    return True if " MI" in device.name.upper() else None


ANALYSIS = Analysis("facts", run, "Rank, device and what was recorded.")
