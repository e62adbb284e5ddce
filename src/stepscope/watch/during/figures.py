"""Figures that several mistakes of a watched run need."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.schema.report import Severity
    from stepscope.schema.watch_summary import NodeUse
    from stepscope.watch.during.seen import During

FAR_OFF_S = 30 * 24 * 3600.0


def cores_used(node: NodeUse) -> float:
    """Cores in use on average."""
    return node.cpu_s / node.wall_s if node.wall_s > 0 else 0.0


def limit_of(node: NodeUse) -> int | None:
    """The cgroup's limit, else the machine's memory."""
    return node.memory_limit_bytes or node.machine_memory_bytes


def per_step(seen: During, growth: float) -> float | None:
    """Growth a step; ``None`` where steps are not known."""
    use = seen.summary.steps
    if use is not None and use.per_s:
        # The run's start and end hold no steps.
        return growth / use.per_s
    return growth * seen.summary.wall_s / seen.steps if seen.steps else None


def how_soon(left_s: float | None) -> Severity:
    """High when memory runs out within a day."""
    return "high" if left_s is not None and left_s < 24 * 3600 else "medium"


def runs_out(left_s: float | None) -> str:
    """When memory runs out, in words."""
    if left_s is None or left_s > FAR_OFF_S:
        return ""
    if left_s < 3600:
        return f" and runs out in {left_s / 60:.0f} minutes"
    return f" and runs out in {left_s / 3600:.1f} hours"
