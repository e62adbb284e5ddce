"""Has all ranks of a job record the same steps, so that each collective of a window is there on every rank.

Ranks judge by themselves when their steps have settled, and noise lets them judge differently. So the first
rank says with which step its window begins, some steps ahead, and the others open theirs with it. The
word goes through the store by which the ranks found each other: no collective is added to the training.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from stepscope.units import NS_PER_S

AHEAD_NS = NS_PER_S // 3
LEAST_AHEAD, MOST_AHEAD = 2, 20
"""The word is given so long ahead, in steps within these bounds, because hosts run ahead of their devices."""

PATIENCE = 60
"""A rank that wants a window waits for the first rank's word for so many steps, and then goes on alone."""


@dataclass(frozen=True, slots=True)
class Start:
    """What the first rank says.

    Attributes:
        first: Number of the step with which the window is opened or prepared.
        steps: Steps of the window.
    """

    first: int
    steps: int


class Peers:
    """The other ranks of this process's job; with none, every wish is granted at once."""

    def __init__(self) -> None:
        self._kind = self._window = self._waited = 0
        self._start: Start | None = None
        self._is_alone = False

    def start_over(self) -> None:
        """Steps from now on are of another kind, on all ranks."""
        self._kind, self._window = self._kind + 1, 0
        self._forget()

    def taken(self) -> None:
        """The window that was agreed on is open."""
        self._window += 1
        self._forget()

    def start(self, number: int, wish: int | None, step_ns: float) -> Start | None:
        """With which step the window begins; ``None`` while nobody has said so.

        Args:
            number: The step that begins now.
            wish: Steps of the window that this rank would open now; ``None`` while it wants none.
            step_ns: Length of a step.
        """
        alone = Start(number, wish) if wish is not None else None
        if self._start is not None or self._is_alone:
            return self._start or alone
        found = _rank_and_store()
        if found is None:
            return alone
        rank, store = found
        key = f"stepscope/{self._kind}/{self._window}"
        try:
            if rank == 0 and wish is not None:
                ahead = max(LEAST_AHEAD, min(MOST_AHEAD, int(AHEAD_NS / max(step_ns, 1.0))))
                self._start = Start(number + ahead, wish)
                store.set(key, f"{self._start.first} {wish}")
            elif rank and store.check([key]):
                first, steps = store.get(key).split()
                self._start = Start(int(first), int(steps))
        except RuntimeError:
            # The first rank, which keeps the store, has gone.
            self._is_alone = True
            return alone
        if self._start is None and wish is not None:
            self._waited += 1
            self._is_alone = self._waited > PATIENCE
        return self._start

    def _forget(self) -> None:
        self._start, self._waited = None, 0


def _rank_and_store() -> tuple[int, Any] | None:
    """This process's rank and the job's store; ``None`` where there is one process only."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    if distributed.get_world_size() < 2:
        return None
    from torch.distributed import distributed_c10d

    # PyTorch has no public name for it; without this one, ranks choose by themselves.
    store = getattr(distributed_c10d, "_get_default_store", None)
    return None if store is None else (distributed.get_rank(), store())
