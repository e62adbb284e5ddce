"""Heat or a power brake holds the clocks back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During


def find(seen: During) -> Finding | None:
    """Heat or a power brake holds the clocks back."""
    worst = max(
        (device for device in seen.devices if device.throttled_frac is not None),
        key=lambda device: device.throttled_frac or 0.0, default=None,
    )  # fmt: skip
    if not seen.is_judged or worst is None or (worst.throttled_frac or 0) <= 0.05:
        return None
    return Finding(
        code="WA006", regime="compute", severity="medium", confidence="high",
        title=f"a GPU's clocks were held back: {', '.join(worst.throttle_reasons)}",
        evidence=(
            Evidence(name="samples with clocks held back", value=worst.throttled_frac, unit="frac"),
            Evidence(name="device", value=worst.uuid, unit="text"),
        ),
        action="That is the machine's fault, not the program's: tell the operators which node and device.",
    )  # fmt: skip


MISTAKE: Mistake[During] = Mistake(
    "WA006",
    "clocks held back",
    "thermal or power-brake bits in more than 5 % of the samples; our threshold",
    "NVML documentation",
    find,
)
