"""How much of what was recorded is start-up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.trace import intervals as iv
from stepscope.trace.scope import scope_of
from stepscope.trace.startup import first_calls

if TYPE_CHECKING:
    from stepscope.trace.model import Trace


class Startup(Struct, frozen=True):
    """Start-up in the recorded time.

    Attributes:
        ns: Length of the start-up steps; without steps, the time of first calls in the windows while no
            device worked: context creation, compilation, launches of a millisecond and more, in which the
            driver loads the kernel's code, and the set-up of communicators in a first collective.
        recorded_ns: Length of all steps, without steps of all windows.
        steps: Number of start-up steps.
    """

    ns: int
    recorded_ns: int
    steps: int

    @property
    def share(self) -> float:
        """Start-up over the recorded time."""
        return self.ns / self.recorded_ns if self.recorded_ns else 0.0


def run(trace: Trace) -> Startup:
    """Start-up steps where there are steps, else first calls."""
    scope = scope_of(trace)
    lengths = scope.lengths_ns
    marked = int(lengths[scope.is_startup].sum())
    first = 0 if scope.are_steps else iv.total(iv.intersect(first_calls(trace), scope.set))
    return Startup(marked + first, int(lengths.sum()), int(scope.is_startup.sum()))


ANALYSIS = Analysis("startup", run, "Start-up steps and first calls in the recorded time.")
