"""Which rates a plan uses: the user's word first, then the site's, then the built-in tables'."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from stepscope.cost.options import number
from stepscope.cost.rates import stated
from stepscope.cost.sites import detect_site, find_site
from stepscope.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stepscope.cost.options import CostOptions
    from stepscope.cost.rates import RateBook
    from stepscope.cost.sites import SiteRates
    from stepscope.schema.cost import RateUsed
    from stepscope.schema.site import Partition

CURRENCIES = ("EUR", "USD")
EU_MEMBERS = frozenset(
    {
        "AT",
        "BE",
        "BG",
        "CY",
        "CZ",
        "DE",
        "DK",
        "EE",
        "ES",
        "FI",
        "FR",
        "GR",
        "HR",
        "HU",
        "IE",
        "IT",
        "LT",
        "LU",
        "LV",
        "MT",
        "NL",
        "PL",
        "PT",
        "RO",
        "SE",
        "SI",
        "SK",
        "EU",
    }
)


class Chosen(Struct, frozen=True, kw_only=True):
    """The rates of a plan; ``None`` where there is none.

    Attributes:
        device: Key of the device in the tables; ``""`` when none was stated or none fits.
        currency: What money is told in.
        price: Of a device hour, or of a core hour where the run has no device.
        watts: Power limit of the device, or its stated mean draw (then ``watts_stated``).
        watts_stated: Whether the user stated the mean draw.
        draw: Share of the power limit that training draws.
        host: Host's share.
        pue, grid, electricity, exchange: See :class:`~stepscope.cost.options.CostOptions`.
        site: The site, ``None`` for none.
        partition: Its partition.
    """

    device: str
    currency: str
    price: RateUsed | None
    watts: RateUsed | None
    watts_stated: bool
    draw: RateUsed
    host: RateUsed
    pue: RateUsed
    grid: RateUsed
    electricity: RateUsed | None
    exchange: RateUsed
    site: SiteRates | None
    partition: Partition | None

    def used(self) -> tuple[RateUsed, ...]:
        """Every rate, in the order in which figures use them."""
        draw = None if self.watts_stated or self.watts is None else self.draw
        moneys = {rate.unit[:3] for rate in (self.price, self.electricity) if rate is not None}
        exchange = self.exchange if moneys - {self.currency} else None
        rates = (
            self.price,
            exchange,
            self.watts,
            draw,
            self.host,
            self.pue,
            self.electricity,
            self.grid,
        )
        return tuple(rate for rate in rates if rate is not None)


def choose(options: CostOptions, book: RateBook, environ: Mapping[str, str]) -> Chosen:
    """The rates that a plan uses.

    Raises:
        OptionError: A name that no table holds.
    """
    site = chosen_site(options, environ)
    partition = chosen_partition(options, site, book)
    name = options.device or (partition.device if partition else "")
    device = book.device(name) if name else ""
    country = chosen_country(options, book, site)
    price = None if not device else book.find("price", device)
    currency = (options.currency or (price.unit[:3] if price else "EUR")).upper()
    if currency not in CURRENCIES:
        raise OptionError(f"--currency is one of {', '.join(CURRENCIES)}, not {currency!r}")
    if options.price is not None:
        unit = f"{currency} per GPU-hour"
        price = stated("price", device, options.price, unit, options.origin("price"))
    watts = None if not device else book.find("power", device)
    if options.watts is not None:
        watts = stated("power", device, options.watts, "W", options.origin("watts"))
    host = must_find(book, "host", "overhead")
    if options.host is not None:
        host = stated("host", "", options.host, "share of GPU power", options.origin("host"))
    return Chosen(
        device=device,
        currency=currency,
        price=price,
        watts=watts,
        watts_stated=options.watts is not None,
        draw=must_find(book, "draw", "training"),
        host=host,
        pue=chosen_pue(options, book, site),
        grid=chosen_grid(options, book, country),
        electricity=chosen_electricity(options, book, country, currency),
        exchange=must_find(book, "exchange", "EUR"),
        site=site,
        partition=partition,
    )


def without_device(chosen: Chosen, options: CostOptions, book: RateBook) -> Chosen:
    """The same for a run that has no device: cores are priced, and nothing of a device is used."""
    price = must_find(book, "core", "hour")
    if options.core_price is not None:
        unit = f"{chosen.currency} per core-hour"
        origin = options.origin("core_price")
        price = stated("core", "hour", options.core_price, unit, origin)
    return replace(chosen, price=price, watts=None)


def must_find(book: RateBook, kind: str, key: str) -> RateUsed:
    """The rate of that kind and key.

    Raises:
        OptionError: No table holds it.
    """
    rate = book.find(kind, key)
    if rate is None:
        raise OptionError(
            f"there is no {kind} rate {key!r}; there are {', '.join(book.keys(kind))}"
        )
    return rate


def chosen_site(options: CostOptions, environ: Mapping[str, str]) -> SiteRates | None:
    """The stated site, else the one whose cluster this is."""
    if options.site is None:
        return detect_site(environ)
    return None if options.site.lower() == "none" else find_site(options.site)


def chosen_partition(
    options: CostOptions, site: SiteRates | None, book: RateBook
) -> Partition | None:
    """The stated partition, else the site's first whose device is the stated one.

    Raises:
        OptionError: The site has no such partition, or a partition was stated without a site.
    """
    if options.partition is not None:
        if site is None:
            raise OptionError("--partition needs a --site")
        found = site.site.partition(options.partition)
        if found is None and site.site.core_partition(options.partition) is None:
            names = ", ".join(
                [part.name for part in site.site.partitions]
                + [part.name for part in site.site.core_partitions]
            )
            raise OptionError(
                f"{site.site.name} has no partition {options.partition!r}; it has {names}"
            )
        return found
    if site is None or not options.device:
        return None
    wanted = book.device(options.device) or options.device
    return next((part for part in site.site.partitions if part.device == wanted), None)


def chosen_country(options: CostOptions, book: RateBook, site: SiteRates | None) -> str:
    """Country of the stated grid, else of the site; ``""`` when neither is known."""
    if options.grid is not None and book.find("grid", options.grid) is not None:
        return options.grid.upper()
    return site.site.country if site is not None else ""


def chosen_grid(options: CostOptions, book: RateBook, country: str) -> RateUsed:
    """Grid intensity: stated number or key, else the country's, else the world's."""
    if options.grid is not None and not options.grid.isalpha():
        value = number(options.grid, "--grid")
        return stated("grid", "", value, "gCO2e per kWh", options.origin("grid"))
    if options.grid is not None:
        return must_find(book, "grid", options.grid)
    return book.find("grid", country) or must_find(book, "grid", "WORLD")


def chosen_pue(options: CostOptions, book: RateBook, site: SiteRates | None) -> RateUsed:
    """PUE: stated number or key, else the site's, else a cluster's.

    Raises:
        OptionError: It is below 1, which cannot be.
    """
    if options.pue is None:
        published = None if site is None else book.find("pue", site.site.name) or site.pue
        if published is not None:
            return published
        return must_find(book, "pue", "cluster")
    if options.pue.isalpha():
        return must_find(book, "pue", options.pue)
    value = number(options.pue, "--pue")
    if value < 1:
        raise OptionError(f"a PUE is at least 1, not {value}")
    return stated("pue", "", value, "ratio", options.origin("pue"))


def chosen_electricity(
    options: CostOptions, book: RateBook, country: str, currency: str
) -> RateUsed | None:
    """Price of a kWh: stated number or key, else the country's, else the EU's for its members.

    Where no country is known the EU's is taken too; for another country without a price: ``None``.
    """
    if options.electricity is not None and not options.electricity.isalpha():
        value = number(options.electricity, "--electricity")
        unit = f"{currency} per kWh"
        return stated("electricity", "", value, unit, options.origin("electricity"))
    if options.electricity is not None:
        return must_find(book, "electricity", options.electricity)
    known = book.find("electricity", country)
    if known is None and (country in EU_MEMBERS or country in {"", "WORLD"}):
        return must_find(book, "electricity", "EU")
    return known
