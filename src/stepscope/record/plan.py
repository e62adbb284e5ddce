"""How many steps to wait for, to time and to profile."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.units import NS_PER_S

EARLY_WARMUP = 1
EARLY_CLEAN = 2
EARLY_ACTIVE = 2
"""A first short window after so few steps (and the first one) makes sure that a script of six steps leaves a trace."""

PATIENCE_STEPS = 40
PATIENCE_NS = 60 * NS_PER_S
"""Steps that have not settled after so many or so long are taken as they are."""

SETTLED_FRAC = 0.2
"""Steps have settled when the medians of the last three and of the three before differ by less."""

CLEAN_LATER = 20
"""So many steps after the window are timed as clean ones too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the user asked for; ``None`` lets the length of the steps decide.

    Attributes:
        warmup: Steps to leave out at the beginning, at least until steps have settled when ``None``.
        clean: Steps to time without any profiler before the window.
        active: Steps in the window.
        stop: Whether to end the script after the window.
    """

    warmup: int | None = None
    clean: int | None = None
    active: int | None = None
    stop: bool = False

    def warmup_for(self, step_ns: float) -> int:
        """Steps to leave out, given their typical length so far: fewer when they are long."""
        return self.warmup if self.warmup is not None else _fitting(20, step_ns, least=2, most=5)

    def clean_for(self, step_ns: float) -> int:
        """Steps to time, given their typical length so far."""
        return self.clean if self.clean is not None else _fitting(30, step_ns, least=3, most=10)

    def active_for(self, step_ns: float) -> int:
        """Steps to profile, given their typical length so far: more when they are tiny."""
        if self.active is not None:
            return self.active
        if step_ns < 0.005 * NS_PER_S:
            return 20
        return _fitting(20, step_ns, least=2, most=5)


def _fitting(seconds: float, step_ns: float, *, least: int, most: int) -> int:
    """How many steps fit into so many seconds, within bounds."""
    return max(least, min(most, int(seconds * NS_PER_S / max(step_ns, 1.0))))
