"""In which form a made trace is written: layout, clock, container, spelling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Layout = Literal[
    "kineto-2021",
    "kineto-2025",
    "kineto-2026",
    "python-lines",
    "json-line",
    "json-compact",
    "json-indent",
    "event-list",
    "bare-list",
]
"""Who wrote the file.

``kineto-2021``: kineto up to March 2025, several fields a line, the clock's base behind the events.
``kineto-2025``: until March 2026, the base before them.
``kineto-2026``: since April 2026, one field a line, metadata events first.
``python-lines``: PyTorch's exporter in Python, one event a line.
``json-line``, ``json-compact``, ``json-indent``: a trace that was loaded and dumped again by Python, on
one line, without any blank, or indented by two.
``event-list``: the exporter of ``torch.autograd.profiler``: a list of host events without categories, times
counted from the start of the window. It drops process ids, threads' names and all device work.
``bare-list``: the events alone, without the object around them.
"""

Clock = Literal["epoch-us", "epoch-decimal", "relative"]
"""How times are written, always in microseconds.

``epoch-us``: whole microseconds since 1970 (until early 2024), so that times are cut to microseconds.
``epoch-decimal``: with decimals, since 1970 (spring of 2024).
``relative``: with decimals, counted from ``baseTimeNanoseconds`` (since May 2024).
"""

Container = Literal["plain", "gzip", "gzip-members"]
"""Plain text, one gzip member, or many members, which a gzip file may consist of."""

KeyOrder = Literal["written", "sorted", "reversed"]
"""Order of an object's keys; kineto's layouts have their own order and take no other."""

EventOrder = Literal["written", "time", "reversed"]
"""Order of the events: in blocks as PyTorch writes them, by time, or back to front."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The form of a trace file.

    Attributes:
        layout: See :data:`Layout`.
        clock: See :data:`Clock`.
        container: See :data:`Container`.
        key_order: See :data:`KeyOrder`.
        event_order: See :data:`EventOrder`.
        old_names: Write the categories and arguments of 2021 (``Kernel``, ``Operator``, ``external id``).
        text_threads: Write thread ids as text, as in 2021 (``"25738"``, ``"stream 7"``).
        flows: Write the arrows from launches to device work.
        header_last: Write all other keys behind the events.
    """

    layout: Layout = "kineto-2026"
    clock: Clock = "relative"
    container: Container = "plain"
    key_order: KeyOrder = "written"
    event_order: EventOrder = "written"
    old_names: bool = False
    text_threads: bool = False
    flows: bool = True
    header_last: bool = False


ERAS: tuple[tuple[str, Form], ...] = (
    (
        "2021",
        Form(layout="kineto-2021", clock="epoch-us", old_names=True, text_threads=True),
    ),
    ("2023", Form(layout="kineto-2021", clock="epoch-us")),
    ("spring-2024", Form(layout="kineto-2021", clock="epoch-decimal")),
    ("2024", Form(layout="kineto-2021")),
    ("2025", Form(layout="kineto-2025")),
    ("2026", Form(layout="kineto-2026")),
    ("python-exporter", Form(layout="python-lines")),
)
"""The forms that PyTorch itself has written, oldest first."""
