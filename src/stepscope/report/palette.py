"""One palette for terminal and page.

The hues are those of Okabe and Ito (https://jfly.uni-koeln.de/color/), which people with any common
form of colour blindness can tell apart, with brown and two greys added. Waste has warm colours, work
has blue ones. No rendering relies on colour alone: every bar stands beside its name and its value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

BLUE: Final = "#0072B2"
SKY: Final = "#56B4E9"
GREEN: Final = "#009E73"
YELLOW: Final = "#F0E442"
ORANGE: Final = "#E69F00"
VERMILION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
BROWN: Final = "#9C755F"
GREY: Final = "#8C8C8C"
LIGHT_GREY: Final = "#BAB0AC"

PARTS: Final[Mapping[str, str]] = {
    "compute": BLUE,
    "communication": PURPLE,
    "copy": SKY,
    "input": VERMILION,
    "sync": ORANGE,
    "host": YELLOW,
    "allocator": BROWN,
    "other_rank": GREEN,
    "unknown": GREY,
    "forward": BLUE,
    "backward": SKY,
    "optimizer": GREEN,
    "other": GREY,
}
"""Parts of a step, with a device or without one."""

OVERVIEW: Final[Mapping[str, str]] = {
    "kernel": BLUE,
    "memcpy": SKY,
    "memset": BROWN,
    "communication": PURPLE,
    "runtime": ORANGE,
    "dataloader": VERMILION,
    "cpu_exec": YELLOW,
    "other": GREY,
}
"""Rows of the classic overview."""

PATH: Final[Mapping[str, str]] = {
    "compute": BLUE,
    "communication": PURPLE,
    "copies": SKY,
    "latency": LIGHT_GREY,
    "launches": ORANGE,
    "operators": YELLOW,
    "python": GREEN,
    "pauses": BROWN,
    "input": VERMILION,
    "allocator": BROWN,
    "profiler": GREY,
    "unexplained": GREY,
}
"""Parts of a critical path."""

TRACKS: Final[Mapping[str, str]] = {
    "cpu": SKY,
    "memory": GREY,
    "reads": ORANGE,
    "gpu-busy": BLUE,
    "gpu-working": GREEN,
    "gpu-tensor": PURPLE,
    "gpu-memory": BROWN,
    "gpu-power": VERMILION,
}
"""Quantities of the run over time."""

RUN: Final[Mapping[str, str]] = {
    "startup": ORANGE,
    "steps": BLUE,
    "evaluation": GREEN,
    "checkpoint": PURPLE,
    "between": YELLOW,
    "exit": GREY,
    "stepscope": BROWN,
}
"""Parts of the whole run."""

KINDS: Final[Mapping[str, str]] = {
    "operator": SKY,
    "annotation": LIGHT_GREY,
    "runtime": ORANGE,
    "driver": YELLOW,
    "python": BROWN,
    "kernel": BLUE,
    "accelerator": BLUE,
    "memcpy": GREEN,
    "memset": BROWN,
    "communication": PURPLE,
    "other": GREY,
}
"""Kinds of bars in the timeline."""


def part(name: str) -> str:
    """The colour of a part of a step; a name that this version does not know is grey."""
    return PARTS.get(name, GREY)


def path(name: str) -> str:
    """The colour of a part of a critical path; a name that this version does not know is grey."""
    return PATH.get(name, GREY)


def overview(name: str) -> str:
    """The colour of a row of the classic overview."""
    return OVERVIEW.get(name, GREY)


def track(name: str) -> str:
    """The colour of a quantity of the run over time."""
    return TRACKS.get(name, GREY)


def run_part(name: str) -> str:
    """The colour of a part of the whole run."""
    return RUN.get(name, GREY)


def kind(name: str) -> str:
    """The colour of a kind of bar in the timeline."""
    return KINDS.get(name, GREY)


SHADES: Final = 3
"""Bars of one kind in the timeline take turns in so many shades, so that neighbours can be told apart."""


def shades(colour: str) -> tuple[str, ...]:
    """A colour as it is, a little lighter and a little darker."""
    return colour, _mixed(colour, 255, 0.22), _mixed(colour, 0, 0.12)


def ink(colour: str) -> str:
    """Black or white, whichever has the better contrast on a colour (WCAG 2.2, relative luminance)."""
    red, green, blue = (_linear(int(colour[i : i + 2], 16) / 255) for i in (1, 3, 5))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    # The contrasts (L + 0.05) / 0.05 with black and 1.05 / (L + 0.05) with white are equal at 0.179.
    return "#000000" if luminance > 0.179 else "#ffffff"


def _linear(channel: float) -> float:
    """A channel of sRGB, 0 to 1, as linear light."""
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def _mixed(colour: str, other: int, weight: float) -> str:
    """``#rrggbb`` with some white (255) or black (0) in it."""
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(c + (other - c) * weight):02x}" for c in channels)
