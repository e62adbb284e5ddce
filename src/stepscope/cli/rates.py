"""The options that say which rates and which plan to price; several commands take them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import OptionError

if TYPE_CHECKING:
    import argparse

    from stepscope.cost.options import CostOptions

DESCRIPTION = "each also as STEPSCOPE_PRICE, _CORE_PRICE, _CURRENCY, _ELECTRICITY, _PUE, _GRID, _SITE, _DEVICE, _WATTS"
OPTIONS = {"host": "--host-overhead"}
"""Where an option is not called like its field."""


def add_plan(parser: argparse.ArgumentParser) -> None:
    """Declare what a report needs to price a plan: how often, and where a trace does not tell, how long."""
    plan = parser.add_argument_group("the plan whose cost the report tells")
    plan.add_argument("--runs", type=int, default=1, metavar="N", help="how many such runs")
    plan.add_argument("--hours", type=float, metavar="H", help="hours that one of them takes")
    plan.add_argument("--gpus", type=int, metavar="N", help="devices in one of them")
    plan.add_argument("--device", metavar="NAME", help="for instance H100")
    add_rates(parser)


def add_rates(parser: argparse.ArgumentParser) -> None:
    """Declare the rates."""
    rates = parser.add_argument_group("rates", DESCRIPTION)
    rates.add_argument("--price", type=float, metavar="AMOUNT", help="price of a device hour")
    rates.add_argument(
        "--core-price",
        type=float,
        metavar="AMOUNT",
        help="price of a core hour, for runs without a device",
    )
    rates.add_argument("--currency", metavar="CODE", help="EUR or USD (default: the price's)")
    rates.add_argument("--electricity", metavar="X", help="price of a kWh, or a country such as NL")
    rates.add_argument("--pue", metavar="X", help="a ratio, or cluster, or laptop")
    rates.add_argument("--grid", metavar="X", help="grams CO2e a kWh, or a country such as NL")
    rates.add_argument(
        "--host-overhead",
        dest="host",
        type=float,
        metavar="SHARE",
        help="host's power as a share of the GPUs'",
    )
    rates.add_argument("--site", metavar="NAME", help="a site, a TOML file, or none")
    rates.add_argument("--partition", metavar="NAME", help="a partition of the site")
    rates.add_argument(
        "--rates", type=Path, action="append", default=[], metavar="FILE", help="rates of your own"
    )


def options_of(args: argparse.Namespace) -> CostOptions:
    """What was stated, with everything that the command has no option for left out."""
    from msgspec.structs import fields

    from stepscope.cost.options import CostOptions

    stated = {
        field.name: getattr(args, field.name)
        for field in fields(CostOptions)
        if hasattr(args, field.name)
    }
    return CostOptions(**{**stated, "rates": tuple(args.rates)})


def words_of(options: CostOptions) -> tuple[str, ...]:
    """The same as arguments for a process in another folder; files are named by their whole path."""
    from msgspec.structs import fields

    words: list[str] = []
    for field in fields(options):
        value = getattr(options, field.name)
        if field.name == "origins" or value is None or value == field.default:
            continue
        name = OPTIONS.get(field.name, f"--{field.name.replace('_', '-')}")
        for one in value if isinstance(value, tuple) else (value,):
            text = str(one)
            is_file = isinstance(one, Path) or text.endswith(".toml")
            # With an equals sign, because a name may begin with a dash.
            words.append(f"{name}={Path(text).absolute() if is_file else text}")
    return tuple(words)


def checked_words(options: CostOptions) -> tuple[str, ...]:
    """The same, after another process has tried to price with them: a run may not end before it is told.

    In another process, because nothing that pricing needs may come into the one that trains.

    Raises:
        OptionError: The rates or the plan cannot be.
    """
    from stepscope.cost.options import CostOptions, with_environment

    words = words_of(options)
    if with_environment(options, os.environ) == CostOptions():
        return words
    line = [sys.executable, "-m", "stepscope", "cost", "--hours=1", *words]
    tried = subprocess.run(line, capture_output=True, text=True, check=False)  # noqa: S603
    if tried.returncode:
        raise OptionError(tried.stderr.strip().removeprefix("stepscope: "))
    return words
