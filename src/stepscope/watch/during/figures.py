"""Figures that several mistakes of a watched run need."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.schema.report import Severity
    from stepscope.schema.watch_summary import NodeUse
    from stepscope.watch.during.seen import During

SECONDS_A_DAY = 24 * 3600.0
FAR_OFF_S = 7 * SECONDS_A_DAY
"""For what is farther off nobody wants the time of day."""


def cores_used(node: NodeUse) -> float:
    """Cores in use on average."""
    return node.cpu_s / node.wall_s if node.wall_s > 0 else 0.0


def limit_of(node: NodeUse) -> int | None:
    """The cgroup's limit, else the machine's memory."""
    return node.memory_limit_bytes or node.machine_memory_bytes


def room_of(node: NodeUse) -> int | None:
    """Memory that the processes can still grow by: up to the cgroup's limit, and no more than the node has left."""
    limit = limit_of(node)
    rooms = [
        room
        for room in (
            None if limit is None else limit - node.rss_last_bytes,
            node.available_last_bytes,
        )
        if room is not None
    ]
    return max(min(rooms), 0) if rooms else None


def per_step(seen: During, growth: float) -> float | None:
    """Growth a step; ``None`` where steps are not known."""
    use = seen.summary.steps
    if use is not None and use.per_s:
        # The run's start and end hold no steps.
        return growth / use.per_s
    return growth * seen.summary.wall_s / seen.steps if seen.steps else None


def how_soon(left_s: float | None) -> Severity:
    """High when memory runs out within a day."""
    return "high" if left_s is not None and left_s < SECONDS_A_DAY else "medium"


def runs_out(seen: During, left_s: float | None) -> str:
    """When memory runs out, in words: of a run that goes on with the time of day, of one that has ended how much later."""
    if left_s is None:
        return ""
    left_s = max(left_s, 0.0)
    if seen.summary.complete:
        return f" and would have run out {length(left_s)} later"
    if left_s > FAR_OFF_S:
        return f" and runs out in {length(left_s)}"
    began = datetime.fromisoformat(seen.summary.started)
    moment = (began + timedelta(seconds=seen.summary.wall_s + left_s)).astimezone()
    day = "" if left_s < SECONDS_A_DAY else "%d %B "
    return f" and runs out in {length(left_s)}, at about {moment.strftime(day + '%H:%M')}"


def length(seconds: float) -> str:
    """A time in the unit that people use for it."""
    if seconds < 2 * 3600:
        return f"{seconds / 60:.0f} minutes"
    if seconds < 2 * SECONDS_A_DAY:
        return f"{seconds / 3600:.1f} hours"
    return f"{seconds / SECONDS_A_DAY:,.0f} days"
