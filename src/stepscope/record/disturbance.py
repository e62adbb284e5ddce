"""Tells steps that hold something else than training from those that do not."""

from __future__ import annotations


class Disturbance:
    """Whether the step under way was disturbed, for instance by an evaluation, and whether that counts.

    Attributes:
        is_there: Whether something else is known to have run since the step began.
    """

    def __init__(self) -> None:
        self.is_there = False
        self._steps = 0

    def start_over(self) -> None:
        """Steps of another kind begin."""
        self.is_there = False
        self._steps = 0

    def counts(self, steps_seen: int) -> bool:
        """Whether the step that ends is told apart; where half of the steps hold it, that is what training is like."""
        if not self.is_there or 2 * self._steps > steps_seen + 4:
            return False
        self._steps += 1
        return True
