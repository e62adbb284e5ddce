"""The only conversions and formatters of units.

Times are int64 nanoseconds inside; what people read is made here and nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

NS_PER_US = 1_000
NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000
S_PER_HOUR = 3600.0
J_PER_KWH = 3.6e6
J_PER_MWH = 3.6e9


def ns_to_ms(ns: float) -> float:
    """Nanoseconds to milliseconds."""
    return ns / NS_PER_MS


def ns_to_us(ns: float) -> float:
    """Nanoseconds to microseconds."""
    return ns / NS_PER_US


def format_ms(ms: float) -> str:
    """A duration in milliseconds as people read it: three significant digits and a fitting unit."""
    if ms != 0 and abs(ms) < 0.9995e-3:
        return f"{_three(ms * 1e6)} ns"
    if ms != 0 and abs(ms) < 0.9995:
        return f"{_three(ms * 1e3)} µs"
    if abs(ms) < 9999.5:
        return f"{_three(ms)} ms"
    seconds = ms / 1e3
    if seconds < 600:
        return f"{_three(seconds)} s"
    if seconds < 36_000:
        return f"{_three(seconds / 60)} min"
    return f"{_three(seconds / 3600)} h"


def format_frac(frac: float) -> str:
    """A share between 0 and 1 as per cent; small shares keep one digit, tiny ones say so."""
    percent = frac * 100
    if percent == 0:
        return "0 %"
    if abs(percent) < 0.1:
        return "<0.1 %" if percent > 0 else ">-0.1 %"
    return f"{percent:.1f} %" if abs(percent) < 9.95 else f"{percent:.0f} %"


def format_bytes(count: float) -> str:
    """A number of bytes with a decimal unit (kB, MB, GB, TB)."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if abs(size) < 999.5:
            return f"{size:.0f} {unit}" if unit == "B" else f"{_three(size)} {unit}"
        size /= 1000
    return f"{_three(size)} TB"


def format_value(value: float | str | None, unit: str) -> str:
    """A value with its unit as it stands in evidence; ``None`` reads "not measured".

    Units that evidence uses: ``ms``, ``us``, ``frac``, ``bytes``, ``count``, ``GB/s``, ``text`` and
    any other word, which is printed behind the number.
    """
    if value is None:
        return "not measured"
    if isinstance(value, str) or unit == "text":
        return str(value)
    formatter = _FORMATTERS.get(unit)
    return formatter(value) if formatter else f"{_three(value)} {unit}".rstrip()


def _three(value: float) -> str:
    """Three significant digits, never in exponent form, thousands kept whole."""
    magnitude = abs(value)
    if magnitude >= 99.95:
        return f"{value:.0f}"
    if magnitude >= 9.995:
        return f"{value:.1f}"
    return f"{value:.2f}"


def format_energy(joules: float) -> str:
    """An energy in joules as people pay for it: mJ, J below 1 Wh, then Wh, kWh, MWh, GWh."""
    if joules != 0 and abs(joules) < 0.09995:
        return f"{_three(joules * 1e3)} mJ"
    if abs(joules) < J_PER_KWH / 1000:
        return f"{_three(joules)} J"
    hours = joules / J_PER_KWH * 1000
    for unit in ("Wh", "kWh", "MWh"):
        if abs(hours) < 999.5:
            return f"{_three(hours)} {unit}"
        hours /= 1000
    return f"{_three(hours)} GWh"


def format_hours(hours: float) -> str:
    """Device hours: whole above a hundred, three significant digits below."""
    return f"{_grouped(hours)} GPU-hours"


def format_core_hours(hours: float) -> str:
    """Hours of CPU cores: whole above a hundred, three significant digits below."""
    return f"{_grouped(hours)} core-hours"


def format_mass(grams: float) -> str:
    """A mass in grams: g, kg, then tonnes."""
    if abs(grams) < 999.5:
        return f"{_three(grams)} g"
    if abs(grams) < 999_500:
        return f"{_three(grams / 1e3)} kg"
    return f"{_grouped(grams / 1e6)} t"


def format_money(amount: float, currency: str) -> str:
    """An amount: two decimals below 100, whole with separators below a million, then millions."""
    if abs(amount) >= 1e6:
        return f"{_three(amount / 1e6)} million {currency}"
    if abs(amount) < 99.995:
        digits = 2 if abs(amount) >= 0.01 or amount == 0 else 5
        return f"{amount:.{digits}f} {currency}"
    return f"{amount:,.0f} {currency}"


def _grouped(value: float) -> str:
    """Three significant digits, or whole with thousands separated."""
    return f"{value:,.0f}" if abs(value) >= 99.95 else _three(value)


_FORMATTERS: dict[str, Callable[[float], str]] = {
    "ms": format_ms,
    "us": lambda us: format_ms(us / 1e3),
    "frac": format_frac,
    "bytes": format_bytes,
    "count": lambda count: f"{count:,.0f}",
}
