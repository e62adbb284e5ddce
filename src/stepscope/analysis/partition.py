"""Where each step's time goes: exclusive parts that sum to the step exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.schema.report import DEVICE_PARTS
from stepscope.trace.covers import part_covers
from stepscope.trace.scope import scope_of

if TYPE_CHECKING:
    from stepscope.trace.intervals import Bools, Ints
    from stepscope.trace.model import Trace


class Partition(Struct, frozen=True, eq=False):
    """Parts of every step.

    Attributes:
        parts: ``DEVICE_PARTS`` with a device timeline, else ``HOST_PARTS``.
        ns: Nanoseconds, shape ``(steps, parts)``; one row per window when there are no steps. Each row
            sums to the length of its step exactly.
        is_steady: Rows that steady figures rest on, shape ``(steps,)``.
    """

    parts: tuple[str, ...]
    ns: Ints
    is_steady: Bools

    @property
    def has_device(self) -> bool:
        """Whether the parts are those of a device timeline."""
        return self.parts == DEVICE_PARTS

    def steady_ns(self, part: str) -> int:
        """Time of one part over the steady steps; 0 for a part that this trace cannot have."""
        return (
            int(self.ns[self.is_steady, self.parts.index(part)].sum()) if part in self.parts else 0
        )

    def share(self, part: str) -> float | None:
        """Share of one part of the steady steps; ``None`` when no steady step remains."""
        whole = int(self.ns[self.is_steady].sum())
        return self.steady_ns(part) / whole if whole else None


def run(trace: Trace) -> Partition:
    """Splits every step into its parts; see ``DEVICE_PARTS`` and ``HOST_PARTS``."""
    scope, covers = scope_of(trace), part_covers(trace)
    return Partition(covers.parts, covers.measure(scope.bounds), scope.is_steady)


ANALYSIS = Analysis("partition", run, "Where each step's time goes, in exclusive parts.")
