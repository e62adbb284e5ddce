"""How many steps to wait for, to time and to profile."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.units import NS_PER_S

EARLY_WARMUP = 1
EARLY_CLEAN = 2
EARLY_ACTIVE = 2
"""A first short window after so few steps (and the first one) makes sure that a script of six steps leaves a trace."""

DETAIL_ACTIVE = 2
"""Steps of the detailed window, which is slow and large."""

PATIENCE_STEPS = 40
PATIENCE_NS = 60 * NS_PER_S
"""Steps that have not settled after so many or so long are taken as they are."""

SETTLED_FRAC = 0.2
"""Steps have settled when the medians of the last three and of the three before differ by less."""

MOST_CLEAN = 200
"""So many clean steps are kept while the size of the first trace is waited for."""

CLEAN_LATER = 20
"""So many steps after the window are timed as clean ones too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the user asked for; ``None`` lets the length of the steps decide.

    Attributes:
        warmup: Steps to leave out at the beginning, at least until steps have settled when ``None``.
        clean: Steps to time without any profiler before the window.
        most_clean: So many at most when their length decides.
        active: Steps in the window.
        stop: Whether to end the script after the window.
        detail: Whether a second window with shapes, memory and stacks follows the first.
        every_s: Seconds after a window until the next one; ``None`` for one window.
        max_steps: Most steps in a window.
        max_seconds: A window is closed after so long.
        max_megabytes: Most that a window's trace may take on disk, as far as the early window lets it estimate.
        light: Whether steps are only timed, all of them, and no profiler ever runs.
    """

    warmup: int | None = None
    clean: int | None = None
    most_clean: int = 10
    active: int | None = None
    stop: bool = False
    detail: bool = False
    every_s: float | None = None
    max_steps: int | None = None
    max_seconds: float = 120.0
    max_megabytes: float | None = None
    light: bool = False

    def warmup_for(self, step_ns: float) -> int:
        """Steps to leave out, given their typical length so far: fewer when they are long."""
        return self.warmup if self.warmup is not None else _fitting(20, step_ns, least=2, most=5)

    def clean_for(self, step_ns: float) -> int:
        """Steps to time, given their typical length so far."""
        return (
            self.clean
            if self.clean is not None
            else _fitting(30, step_ns, least=3, most=self.most_clean)
        )

    def active_for(self, step_ns: float, bytes_per_step: float | None = None) -> int:
        """Steps to profile: more when they are tiny, fewer where a budget asks for it, never none.

        Args:
            step_ns: Their typical length so far.
            bytes_per_step: What a step of an earlier window took on disk; ``None`` when not known.
        """
        if self.active is not None:
            steps = self.active
        elif step_ns < 0.005 * NS_PER_S:
            steps = 20
        else:
            steps = _fitting(20, step_ns, least=2, most=5)
        limits = [self.max_steps, int(self.max_seconds * NS_PER_S / max(step_ns, 1.0))]
        if self.max_megabytes is not None and bytes_per_step:
            limits.append(int(self.max_megabytes * 1e6 / bytes_per_step))
        return max(1, min([steps, *(limit for limit in limits if limit is not None)]))


def _fitting(seconds: float, step_ns: float, *, least: int, most: int) -> int:
    """How many steps fit into so many seconds, within bounds."""
    return max(least, min(most, int(seconds * NS_PER_S / max(step_ns, 1.0))))
