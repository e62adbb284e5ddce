"""The book of rates: dated values with their sources, which files and the user override."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec import Struct

from stepscope.cost.toml_file import read_toml
from stepscope.errors import InputError
from stepscope.schema.cost import RateUsed

TABLES = ("prices.toml", "power.toml", "grid.toml")
KINDS = (
    "price",
    "electricity",
    "exchange",
    "core",
    "person",
    "power",
    "draw",
    "host",
    "pue",
    "grid",
)


class RateEntry(msgspec.Struct, forbid_unknown_fields=True):
    """A rate as it stands in a file; ``low`` and ``high`` are ``value`` where they are left out."""

    value: float
    unit: str
    date: str
    source: str
    low: float | None = None
    high: float | None = None
    checked: bool = True


class RateBook(Struct, frozen=True):
    """Rates by kind and key; a later one replaces an earlier one."""

    rates: tuple[RateUsed, ...]

    def find(self, kind: str, key: str) -> RateUsed | None:
        """The rate of that kind whose key is this one, in any case of letters."""
        for rate in reversed(self.rates):
            if rate.kind == kind and rate.key.upper() == key.upper():
                return rate
        return None

    def keys(self, kind: str) -> tuple[str, ...]:
        """All keys of a kind, sorted."""
        return tuple(sorted({rate.key for rate in self.rates if rate.kind == kind}))

    def device(self, name: str) -> str:
        """The key under which a device's rates stand, from what a driver or a person calls it.

        ``NVIDIA H100 80GB HBM3`` gives ``H100``; the longest key that stands as a whole word wins.
        ``""`` when no key fits.
        """
        found = [
            key
            for key in {*self.keys("power"), *self.keys("price")}
            if re.search(rf"(?<![A-Z0-9]){spaced(key)}(?![0-9A-Z])", name.upper())
        ]
        return max(found, key=len, default="")


def spaced(key: str) -> str:
    """A pattern for a key in which a space may be missing."""
    return r"\s*".join(re.escape(word) for word in key.upper().split())


def read_rates(path: Path, origin: str) -> tuple[RateUsed, ...]:
    """The rates of one file, in the form of the built-in ones: a table ``[kind.key]`` for each.

    Raises:
        InputError: The file cannot be read, is not TOML, or holds something that is not a rate.
    """
    rates = []
    for kind, table in read_toml(path).items():
        if kind not in KINDS:
            known = ", ".join(KINDS)
            raise InputError(
                f"there is no kind of rate {kind!r}",
                path=str(path),
                way_out=f"the kinds are {known}",
            )
        if not isinstance(table, dict):
            raise InputError("is not a table of rates", path=str(path), place=f"[{kind}]")
        rates += [rate_of(kind, key, entry, path, origin) for key, entry in table.items()]
    return tuple(rates)


def rate_of(kind: str, key: str, entry: object, path: Path, origin: str) -> RateUsed:
    """One checked rate.

    Raises:
        InputError: A field is missing or of the wrong type, or the range does not hold the value.
    """
    place = f"[{kind}.{key}]"
    try:
        read = msgspec.convert(entry, RateEntry)
    except msgspec.ValidationError as error:
        raise InputError(f"is not a rate: {error}", path=str(path), place=place) from error
    low = read.value if read.low is None else read.low
    high = read.value if read.high is None else read.high
    if not 0 <= low <= read.value <= high:
        raise InputError(
            f"the range {low} to {high} does not hold {read.value}", path=str(path), place=place
        )
    if kind in {"price", "electricity", "person"} and read.unit[:4] not in {"EUR ", "USD "}:
        raise InputError("the unit must start with EUR or USD", path=str(path), place=place)
    return RateUsed(
        kind=kind,
        key=key,
        value=read.value,
        low=low,
        high=high,
        unit=read.unit,
        date=read.date,
        source=read.source,
        checked=read.checked,
        origin=origin,
    )


def load_book(extra: tuple[Path, ...] = ()) -> RateBook:
    """The built-in rates, and then those of the user's files, which win in their order."""
    folder = Path(str(files("stepscope.cost"))) / "tables"
    rates: tuple[RateUsed, ...] = ()
    for name in TABLES:
        rates += read_rates(folder / name, "built-in")
    for path in extra:
        rates += read_rates(path, f"file {path}")
    return RateBook(rates)


def stated(kind: str, key: str, value: float, unit: str, origin: str) -> RateUsed:
    """A rate that the user stated: exact, without a date, from them."""
    return RateUsed(
        kind=kind,
        key=key,
        value=value,
        low=value,
        high=value,
        unit=unit,
        date="",
        source="stated by you",
        checked=True,
        origin=origin,
    )
