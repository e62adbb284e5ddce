"""Hears when the last gradient of a backward pass is there: from then on a rank waits for the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope.record.marks import Marks

MOST_PARAMETERS = 20_000
"""Models with more are not asked for their last gradient."""

MOST_OPTIMIZERS = 4
"""Nor the models of more optimizers than this."""


class ArrivalHook:
    """Finds the parameter of each optimizer whose gradient comes last, and listens to that one alone.

    For one step all parameters are listened to. Adding a hook changes neither gradients nor their order.

    Args:
        marks: Takes the time, and tells the parameter.

    Attributes:
        settled: Optimizers about which nothing more is to be found out.
    """

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._asked: dict[int, dict[int, Any]] = {}
        self.settled: set[int] = set()

    def stepped(self, optimizer: Any) -> None:
        """An optimizer has stepped: ask its parameters, or keep the one that came last."""
        number = id(optimizer)
        handles = self._asked.get(number)
        if handles is None:
            if len(self._asked) == MOST_OPTIMIZERS:
                self.settled.add(number)
                return
            handles = self._asked[number] = self._ask(optimizer)
        elif self._marks.last in handles:
            for key in [key for key in handles if key != self._marks.last]:
                handles.pop(key).remove()
        if len(handles) < 2:
            self.settled.add(number)

    def remove(self) -> None:
        """Stop listening."""
        for handles in self._asked.values():
            for handle in handles.values():
                handle.remove()
        self._asked.clear()

    def _ask(self, optimizer: Any) -> dict[int, Any]:
        parameters = [
            one
            for group in optimizer.param_groups
            for one in group["params"]
            if one.requires_grad and one.is_leaf
        ]
        if len(parameters) > MOST_PARAMETERS:
            return {}
        # Nothing in it can fail, and the backward pass waits for it: no guard.
        arrives = self._marks.arrives
        return {id(one): one.register_post_accumulate_grad_hook(arrives) for one in parameters}
