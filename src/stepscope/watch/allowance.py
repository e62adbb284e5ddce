"""When something dear may be done again."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_SHARE = 0.002
"""What is dear is done so seldom that it takes no more than this share of a core."""

CREDIT_S = 0.04
"""So much may be spent in advance, because most of a program's memory is taken in its first seconds."""


class Allowance:
    """Lets something be done when it is due and when what it has cost until now allows it.

    Args:
        credit_s: Processor seconds that may be spent before any share has been earned.
        share: Of a core, of all the time since the first.
    """

    def __init__(self, credit_s: float = 0.0, share: float = MOST_SHARE) -> None:
        self._credit_s, self._share = credit_s, share
        self._spent_s = 0.0
        self._due_s = 0.0

    def allows(self, at_s: float) -> bool:
        """Whether it may be done now, in seconds since the first."""
        return at_s >= self._due_s and self._spent_s <= self._credit_s + at_s * self._share

    @contextmanager
    def spending(self, at_s: float, again_in_s: float) -> Iterator[None]:
        """Does it, notes what this thread spends on it, and lets it be due again later."""
        start = time.thread_time()
        try:
            yield
        finally:
            self._spent_s += time.thread_time() - start
            self._due_s = at_s + again_in_s
