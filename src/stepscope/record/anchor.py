"""Which of several optimizers or loaders marks the steps."""

from __future__ import annotations

from typing import Literal

RARE = 8
"""An optimizer that steps more than so many times less often than another does not mark the steps."""

SILENCE = 32
"""After so many events of others since its last one, an anchor is given up."""


class Anchor:
    """Picks the one key whose events are the steps, from a stream of events.

    With two optimizers in turn (a GAN) one cycle is one step, so the key with the fewest events
    counts, unless it is rare. Among equals it is the last of the cycle for optimizers, whose events
    end a step, and the first for loaders, whose events begin one.

    Args:
        among_equals: ``last`` or ``first``.

    Attributes:
        key: The key that marks steps; ``None`` before the first event.
        changed: Whether the last event made another key the anchor, so that steps timed until then
            are not of the same kind.
    """

    def __init__(self, among_equals: Literal["last", "first"]) -> None:
        self._sign = -1 if among_equals == "last" else 1
        self._counts: dict[int, int] = {}
        self._silence = 0
        self.key: int | None = None
        self.changed = False

    def sees(self, key: int) -> bool:
        """Take an event in; whether it marks a step."""
        self.changed = False
        if key == self.key and len(self._counts) == 1:
            self._counts[key] += 1
            return True
        return self._choose(key)

    @property
    def only(self) -> int:
        """The key that marks steps as long as there was no other; else 0."""
        return self.key if self.key is not None and len(self._counts) == 1 else 0

    def saw(self, times: int) -> None:
        """Take in so many events of the key that was the only one at the time."""
        if self.key is not None:
            self._counts[self.key] += times

    def _choose(self, key: int) -> bool:
        self._silence = 0 if key == self.key or self.key is None else self._silence + 1
        if self._silence > SILENCE:
            self._counts, self._silence = {}, 0
        self._counts[key] = self._counts.get(key, 0) + 1
        most = max(self._counts.values())
        order = {known: position for position, known in enumerate(self._counts)}
        best = min(
            (known for known, count in self._counts.items() if (count + 1) * RARE >= most),
            key=lambda known: (self._rank(known, most), self._sign * order[known]),
        )
        self.changed = self.key is not None and best != self.key
        self.key = best
        return key == best

    def _rank(self, key: int, most: int) -> int:
        # A cycle that is under way counts one key once more than the others: that is no difference.
        count = self._counts[key]
        return count if count < most - 1 else most
