"""Finds out where steps begin and end, from what optimizers and loaders do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.record.anchor import Anchor

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.schema.run_folder import StepOrigin

PATIENT_CALLS = 64
"""With an optimizer that has not stepped yet, so many calls of a model are taken for what comes before training."""


class StepFinder:
    """Tells the events that are step boundaries from all others.

    A step ends with the step of an optimizer, so it holds what follows the one before it, the wait
    for the loader, forward, backward and the optimizer. Until an optimizer has stepped, every batch
    begins a step, so that inference has steps too, and without a loader every call of the model does.
    A user who marks steps by hand overrules all.

    Attributes:
        source: What steps are found by now.
        thread: The thread that trains; ``None`` before the first event.
        only: The optimizer of which each step ends a step of training, because there was no other; else 0.
        repeats: Steps of that one that were not told to :meth:`optimizer_stepped`, until its next call.
    """

    def __init__(self) -> None:
        self.source: StepOrigin = "none"
        self.thread: int | None = None
        self.only = self.repeats = 0
        self._optimizers = Anchor("last")
        self._loaders = Anchor("first")
        self._models = Anchor("first")
        self._calls = 0

    def optimizer_stepped(self, key: int, thread: int, *, may_move: bool) -> tuple[bool, bool]:
        """An optimizer has stepped.

        Args:
            key: Which one.
            thread: The thread that it happened on.
            may_move: Whether another thread than before may become the one that trains.

        Returns:
            Whether a step ends here, and whether steps from now on are of another kind than before.
        """
        if self.source == "manual":
            return False, False
        if self.repeats:
            self._optimizers.saw(self.repeats)
            self.repeats = 0
        if thread != self.thread:
            if self.source == "optimizer" and not may_move:
                return False, False
            self.thread = thread
        is_new = self.source != "optimizer"
        self.source = "optimizer"
        ends = self._optimizers.sees(key)
        self.only = self._optimizers.only
        return ends, is_new or self._optimizers.changed

    def loader_begins(self, key: int, thread: int) -> tuple[bool, bool]:
        """A batch was asked for; the same two answers."""
        if self.source in ("manual", "optimizer"):
            return False, False
        if self.thread is None:
            self.thread = thread
        if thread != self.thread:
            return False, False
        is_new = self.source != "dataloader"
        self.source = "dataloader"
        begins = self._loaders.sees(key)
        return begins, is_new or self._loaders.changed

    def forward_begins(
        self, key: int, thread: int, *, trains: Callable[[], bool]
    ) -> tuple[bool, bool]:
        """A module was called from outside of all others; the same two answers.

        Args:
            key: Which one.
            thread: The thread that it happened on.
            trains: Tells whether there is an optimizer, whose first step is waited for a while.
        """
        if self.source not in ("none", "forward"):
            return False, False
        if self.source == "none":
            self._calls += 1
            if self._calls <= PATIENT_CALLS and trains():
                return False, False
        if self.thread is None:
            self.thread = thread
        if thread != self.thread:
            return False, False
        is_new = self.source == "none"
        self.source = "forward"
        begins = self._models.sees(key)
        return begins, is_new or self._models.changed

    def marked(self, thread: int) -> tuple[bool, bool]:
        """The user has marked the end of a step; the same two answers."""
        is_new = self.source != "manual"
        self.source, self.thread, self.only = "manual", thread, 0
        return True, is_new

    def marks_steps(self, key: int) -> bool:
        """Whether steps are found by this loader."""
        return self.source == "dataloader" and self._loaders.key == key
