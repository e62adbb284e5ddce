"""A gain: what a change would make of the step, as a range."""

from __future__ import annotations

from msgspec import Struct


class Gain(Struct, frozen=True, kw_only=True):
    """What a change would gain, as a range.

    Attributes:
        low, high: Speed-up ratios, at least 1.
        unit: Always ``ratio``.
        step_ms_low, step_ms_high: The step time that it means.
        basis: ``replay``, ``pipeline-model``, ``roofline``, ``run-account``, ``bound`` or ``experiment``.
    """

    low: float
    high: float
    unit: str
    step_ms_low: float
    step_ms_high: float
    basis: str
