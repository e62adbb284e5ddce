"""What the user states about a plan, from the command line and, where that is silent, the environment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import fields, replace

from stepscope.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

YEAR_HOURS = 8760.0
"""Hours in the year that GPU-years are counted in."""


class CostOptions(Struct, frozen=True, kw_only=True):
    """A plan as stated; everything but ``runs`` may be left out.

    Attributes:
        gpus: Devices in a run.
        hours: Hours that one run takes.
        runs: How many runs.
        flops: Floating-point operations of one run, all devices together.
        flops_per_second: What one device sustains.
        device: Name of the device, as a driver or a person says it.
        watts: Mean draw of one device.
        idle: Share of the allocated time in which the devices idle, 0 to 1.
        cores, memory_gib: What one run's allocation holds, for sites that charge by the largest share.
        price: Price of a device hour, in ``currency``.
        core_price: Price of a core hour, in ``currency``, for runs without a device.
        currency: What money is told in, ``EUR`` or ``USD``.
        electricity: Price of a kWh in ``currency``, or a key of the table such as ``NL``.
        pue: Ratio, or a key of the table such as ``laptop``.
        grid: Grams a kWh, or a key of the table such as ``NL``.
        host: Host's draw as a share of the devices'.
        site: Name of a site, or a TOML file; ``none`` for none.
        partition: Partition of the site; without it the first whose device fits.
        rates: Files of rates, later ones win.
        origins: Names of the fields that came from the environment.
    """

    gpus: int | None = None
    hours: float | None = None
    runs: int = 1
    flops: float | None = None
    flops_per_second: float | None = None
    device: str | None = None
    watts: float | None = None
    idle: float | None = None
    cores: int | None = None
    memory_gib: float | None = None
    price: float | None = None
    core_price: float | None = None
    currency: str | None = None
    electricity: str | None = None
    pue: str | None = None
    grid: str | None = None
    host: float | None = None
    site: str | None = None
    partition: str | None = None
    rates: tuple[Path, ...] = ()
    origins: tuple[str, ...] = ()

    def origin(self, name: str) -> str:
        """Where a stated field came from."""
        return "environment" if name in self.origins else "command line"


FROM_ENVIRONMENT = {
    "price": "STEPSCOPE_PRICE",
    "core_price": "STEPSCOPE_CORE_PRICE",
    "currency": "STEPSCOPE_CURRENCY",
    "electricity": "STEPSCOPE_ELECTRICITY",
    "pue": "STEPSCOPE_PUE",
    "grid": "STEPSCOPE_GRID",
    "host": "STEPSCOPE_HOST_OVERHEAD",
    "watts": "STEPSCOPE_WATTS",
    "site": "STEPSCOPE_SITE",
    "device": "STEPSCOPE_DEVICE",
}
"""Environment variables that speak where the command line is silent; ``STEPSCOPE_RATES`` names files."""

NUMBERS = ("price", "core_price", "host", "watts")


def with_environment(options: CostOptions, environ: Mapping[str, str]) -> CostOptions:
    """The options with what the environment adds; its files of rates come before the command line's.

    Raises:
        OptionError: A variable that must be a number is none.
    """
    taken: dict[str, object] = {}
    for name, variable in FROM_ENVIRONMENT.items():
        text = environ.get(variable, "").strip()
        if text and getattr(options, name) is None:
            taken[name] = number(text, variable) if name in NUMBERS else text
    paths = tuple(Path(part) for part in environ.get("STEPSCOPE_RATES", "").split(":") if part)
    return check_options(
        replace(
            options,
            **taken,
            rates=paths + options.rates,
            origins=tuple(taken),
        )
    )


def number(text: str, name: str) -> float:
    """A finite number that is at least 0.

    Raises:
        OptionError: The text is none.
    """
    try:
        value = float(text)
    except ValueError as error:
        raise OptionError(f"{name} must be a number, not {text!r}") from error
    if not 0 <= value < float("inf"):
        raise OptionError(f"{name} must be a finite number that is at least 0, not {text!r}")
    return value


def check_options(options: CostOptions) -> CostOptions:
    """The same options.

    Raises:
        OptionError: Values that cannot be, or that contradict each other.
    """
    for field in fields(options):
        value = getattr(options, field.name)
        if isinstance(value, (int, float)):
            number(str(value), f"--{field.name.replace('_', '-')}")
    if options.runs < 1 or (options.gpus is not None and options.gpus < 1):
        raise OptionError("--runs and --gpus must be at least 1")
    if options.idle is not None and options.idle > 1:
        raise OptionError(f"--idle is a share between 0 and 1, not {options.idle}")
    if (options.flops is None) != (options.flops_per_second is None):
        raise OptionError("--flops and --flops-per-second are only of use together")
    if options.flops_per_second == 0:
        raise OptionError("--flops-per-second must be above 0")
    if options.flops is not None and options.hours is not None:
        raise OptionError("state either --hours or --flops with --flops-per-second, not both")
    return options
