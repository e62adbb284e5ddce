"""From the rows of all watchers of a run to its summary: nodes, devices once each, energy."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from stepscope._version import __version__
from stepscope.schema.cost import Estimate
from stepscope.schema.notice import Notice
from stepscope.schema.watch_summary import WatchSummary
from stepscope.watch.device_use import devices_of
from stepscope.watch.energy import host_energy, no_energy
from stepscope.watch.node_use import node_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from stepscope.watch.store import Watched


def summarise(watched: Sequence[Watched]) -> WatchSummary:
    """The summary of a run, without findings.

    Args:
        watched: Its watchers, at least one.
    """
    first = min(watched, key=lambda one: (one.start.task, one.start.time_ns))
    by_node: dict[str, list[Watched]] = {}
    for one in watched:
        by_node.setdefault(one.start.node, []).append(one)
    ends = [one.end for one in watched if one.end is not None]
    # The job's status is its worst, as srun tells it: a signal before any status, the highest of those.
    signals = [end.signal for end in ends if end.signal is not None]
    statuses = [end.exit_status for end in ends if end.exit_status is not None]
    began = min(one.start.time_ns for one in watched)
    started = datetime.fromtimestamp(began / 1e9, tz=timezone.utc)
    return WatchSummary(
        stepscope_version=__version__,
        command=first.start.command,
        job_id=first.start.job_id,
        partition=first.start.partition,
        interactive=first.start.interactive,
        time_limit_s=first.start.time_limit_s,
        started=started.isoformat(timespec="seconds"),
        wall_s=max(one.wall_s for one in watched),
        exit_status=max(statuses, default=None),
        signal=signals[0] if signals else None,
        complete=len(ends) == len(watched) >= first.start.tasks,
        nodes=tuple(node_of(node, some) for node, some in by_node.items()),
        devices=devices_of(watched),
        host_energy=all_hosts(by_node.values()),
        own_cpu_s=sum(end.own_cpu_s for end in ends) if ends else None,
        own_rss_bytes=max((end.own_rss_bytes for end in ends), default=None),
        notices=notices_of(watched, first.start.tasks),
    )


def all_hosts(nodes: Iterable[Sequence[Watched]]) -> Estimate:
    """Processor and memory energy of all nodes; not known when one node's is not."""
    each = [node_energy(some) for some in nodes]
    for one in each:
        if one.value is None:
            return one
    if len(each) == 1:
        return each[0]
    value, low, high = (
        sum(end for one in each if (end := getattr(one, name)) is not None)
        for name in ("value", "low", "high")
    )
    how = f"sum of {len(each)} nodes; the first: {each[0].how}"
    return Estimate(value=value, low=low, high=high, unit="J", basis="attributed", how=how)


def node_energy(some: Sequence[Watched]) -> Estimate:
    """One node's: meters are read by every watcher there and counted once, shares of all are added."""
    with_meters = [one for one in some if one.meters]
    if not with_meters:
        return no_energy(meter_notice(some))
    each = [host_energy(one.meters, one.hosts) for one in with_meters]
    if len(each) == 1:
        return each[0]
    known = [one for one in each if one.value is not None]
    for one in each:
        if one.value is None:
            return one
    top = max(one.high for one in known if one.high is not None)
    value = min(sum(one.value for one in known if one.value is not None), top)
    low = min(sum(one.low for one in known if one.low is not None), top)
    return Estimate(
        value=value,
        low=low,
        high=top,
        unit="J",
        basis="attributed",
        how=f"{len(known)} tasks; {known[0].how}",
    )


def meter_notice(some: Sequence[Watched]) -> str:
    """Why a node has no meters."""
    for one in some:
        for notice in one.notices:
            if notice.code == "no-rapl":
                return notice.text
    return "this node has no energy counter that we may read"


def notices_of(watched: Sequence[Watched], tasks: int) -> tuple[Notice, ...]:
    """What could not be seen, each once, and watchers that are missing or were killed."""
    texts: dict[tuple[str, str], int] = {}
    for one in watched:
        for notice in one.notices:
            key = (notice.code, notice.text)
            texts[key] = texts.get(key, 0) + 1
    found = [Notice(code=code, count=count, text=text) for (code, text), count in texts.items()]
    unfinished = [one for one in watched if one.end is None]
    if unfinished:
        names = ", ".join(f"{one.start.node} task {one.start.task}" for one in unfinished)
        text = f"still running, or ended without a word: {names}; figures go up to the last sample"
        found.append(Notice(code="unfinished", count=len(unfinished), text=text))
    if len(watched) < tasks:
        text = f"{tasks - len(watched)} of {tasks} tasks left no samples"
        found.append(Notice(code="missing-tasks", count=tasks - len(watched), text=text))
    return tuple(found)
