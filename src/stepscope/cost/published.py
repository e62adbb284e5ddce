"""Published estimates beside ours, with the inputs that make the difference."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from stepscope.cost.options import YEAR_HOURS
from stepscope.cost.toml_file import read_toml
from stepscope.schema.cost import PublishedFigure
from stepscope.units import J_PER_MWH, S_PER_HOUR

if TYPE_CHECKING:
    from stepscope.schema.cost import EnergyCost, Estimate


class Entry(msgspec.Struct, forbid_unknown_fields=True):
    """A published estimate and its inputs; 0 stands for "not part of it"."""

    work: str
    flops: float
    flops_per_second: float
    watts: float
    pue: float
    price: float
    energy_mwh: float
    money_usd: float
    gpu_years: float
    source: str
    explains: str

    def device_hours(self) -> float:
        """Device hours that its inputs give."""
        return self.flops / self.flops_per_second / S_PER_HOUR

    def reproduced_mwh(self) -> float:
        """Energy that its inputs give: hours x watts x PUE."""
        return self.device_hours() * self.watts * self.pue / 1e6


def entries() -> tuple[Entry, ...]:
    """All published estimates that come with stepscope."""
    path = Path(str(files("stepscope.cost"))) / "tables" / "published.toml"
    return tuple(msgspec.convert(read_toml(path)["published"], list[Entry]))


def beside(
    flops: float, flops_per_second: float, energy: EnergyCost, money: Estimate, pue: float
) -> tuple[PublishedFigure, ...]:
    """Published figures of the same work, to one per cent of its operations.

    Args:
        flops: Operations of the plan.
        flops_per_second: What one device sustains in the plan.
        energy: Our energy.
        money: Our rent.
        pue: Our PUE.
    """
    rows: list[PublishedFigure] = []
    hours = flops / flops_per_second / S_PER_HOUR
    for entry in entries():
        if abs(flops / entry.flops - 1) > 0.01:
            continue
        if entry.gpu_years:
            rows.append(figure(entry, "gpu-years", entry.gpu_years, hours / YEAR_HOURS, "years"))
        if entry.money_usd and money.unit == "USD":
            rows.append(figure(entry, "money", entry.money_usd, money.value, "USD"))
        if entry.energy_mwh:
            total = energy.total.value
            ours = None if total is None else total / J_PER_MWH
            why = why_energy(entry, flops_per_second, total, hours, pue)
            rows.append(
                PublishedFigure(
                    work=entry.work,
                    quantity="energy",
                    published=entry.energy_mwh,
                    ours=ours,
                    unit="MWh",
                    source=entry.source,
                    why=why,
                )
            )
    return tuple(rows)


def figure(
    entry: Entry, quantity: str, published: float, ours: float | None, unit: str
) -> PublishedFigure:
    """A row for time or money."""
    return PublishedFigure(
        work=entry.work,
        quantity="money" if quantity == "money" else "gpu-years",
        published=published,
        ours=ours,
        unit=unit,
        source=entry.source,
        why=f"it takes {entry.explains}",
    )


def why_energy(
    entry: Entry, flops_per_second: float, total: float | None, hours: float, pue: float
) -> str:
    """Which factors lead from the published energy to ours; their product is the quotient of the two."""
    if total is None:
        return f"it takes {entry.explains}"
    watts = total / (hours * S_PER_HOUR) / pue
    times = (entry.flops_per_second / flops_per_second) * (watts / entry.watts) * (pue / entry.pue)
    return (
        f"it takes {entry.explains}. Ours is {times:.2f} times that: "
        f"{entry.flops_per_second / flops_per_second:.2f} x from the throughput "
        f"({flops_per_second / 1e12:g} against {entry.flops_per_second / 1e12:g} TFLOP/s), "
        f"{watts / entry.watts:.2f} x from the power of a device with its host "
        f"({watts:.0f} against {entry.watts:.0f} W), "
        f"{pue / entry.pue:.2f} x from the PUE ({pue:g} against {entry.pue:g})"
    )
