"""Memory of a device grows without end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.units import format_bytes
from stepscope.watch.during.figures import how_soon, per_step, runs_out
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """Memory of a device grows without end."""
    if not seen.is_judged:
        return None
    for device in seen.devices:
        growth = device.memory_growth_bytes_per_s
        if growth is None or device.memory_last_bytes is None:
            continue
        left = (
            None
            if device.memory_bytes is None
            else (device.memory_bytes - device.memory_last_bytes) / growth
        )
        return Finding(
            code="WA027", regime="memory", severity=how_soon(left), confidence="medium",
            title=f"memory of a GPU grows by {format_bytes(growth * 60)} a minute{runs_out(seen, left)}",
            evidence=(
                Evidence(name="growth a minute", value=growth * 60, unit="bytes"),
                Evidence(name="growth a step", value=per_step(seen, growth), unit="bytes"),
                Evidence(name="in use at the end", value=device.memory_last_bytes, unit="bytes"),
                Evidence(name="device", value=device.uuid, unit="text"),
            ),
            action="Tensors with their graph are kept in each step: detach what you store, free what you cache.",
            snippet="losses.append(loss.detach())",
        )  # fmt: skip
    return None


MISTAKE: Mistake[During] = Mistake(
    "WA027",
    "device memory grows",
    "the same for a device's memory",
    "-",
    find,
)
