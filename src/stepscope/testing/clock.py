"""Nanoseconds to the text that a trace holds, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.testing.form import Clock

PERIOD_NS = 7_889_238_000_000_000
"""Kineto's bases are multiples of a quarter of a year."""


@dataclass(frozen=True, slots=True)
class ClockText:
    """Writes times as one era wrote them.

    Attributes:
        clock: The era.
        keeps_zeros: Whether ``34.0`` is written ``34.000``, as kineto does; Python's json drops zeros.
        origin_ns: What times are counted from.
    """

    clock: Clock
    keeps_zeros: bool
    origin_ns: int

    def time(self, ns: int) -> str:
        """A point in time, in microseconds."""
        return self._microseconds(self.read(ns))

    def duration(self, start_ns: int, end_ns: int) -> str:
        """A duration in microseconds; in whole ones it is that between the two times as written."""
        return self._microseconds(self.kept(end_ns) - self.kept(start_ns))

    def read(self, ns: int) -> int:
        """The nanoseconds that a reader gets back who knows no origin."""
        return self.kept(ns) - self.origin_ns

    def kept(self, ns: int) -> int:
        """What remains of a point in time once written: whole microseconds in the oldest era."""
        return ns - ns % 1000 if self.clock == "epoch-us" else ns

    def _microseconds(self, ns: int) -> str:
        if self.clock == "epoch-us":
            return str(ns // 1000)
        sign, whole, rest = "-" if ns < 0 else "", abs(ns) // 1000, abs(ns) % 1000
        text = f"{sign}{whole}.{rest:03d}"
        if self.keeps_zeros:
            return text
        text = text.rstrip("0")
        return text + "0" if text.endswith(".") else text


def base_ns(start_ns: int) -> int:
    """The base that kineto counts from in a window that starts then."""
    return start_ns - start_ns % PERIOD_NS
