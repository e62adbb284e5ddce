"""The rank that the others wait for: how often, since when, by what, and what it costs the job."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stepscope.job.blame import Blame
    from stepscope.job.digest import RankDigest
    from stepscope.trace.intervals import Bools, Floats, Ints

SHARE_OF_TWO, SHARE_OF_MANY = 0.75, 0.55
"""Of the waiting, a rank must have caused at least this much to be named: of two ranks one always has half."""

CHANCE = 0.05
"""A rank is not named when ranks that are late by chance alone would show as much more often than this."""

FAR = 10.0
"""Lateness of so many times the uncertainty of the clocks is no noise, however seldom it occurs."""

LEAST_STEPS = 3
"""Lateness in fewer steps is told, but no rank is named for it."""

MOSTLY = 0.75
"""A rank that is the last in this share of the steps is always late."""

SELDOM = 0.25
"""A rank that is the last in less than this share of the steps is not named."""

TREND = 0.8
"""From this rank correlation of lateness and step number on, lateness drifts."""

LEAST_DRIFT = 0.2
"""Beside the trend, the mean of one half must differ by this share from that of the other."""

LEAST_TREND_STEPS = 6

SLIGHT = 0.1
"""A step in which the rank is late by less than this share of its worst is not counted."""

MORE_CALLS = 1.02
"""More blocking calls than this share of the others' are a reason of their own."""

CAUSE_SHARE = 0.4
"""A part explains lateness when it holds at least this share of what the rank did longer than the others."""


class Straggler(Struct, frozen=True):
    """The rank that caused most of the waiting.

    Attributes:
        place: Its position.
        share: Its share (its host's, where ``node`` is set) of all waiting by late arrivals, 0 to 1.
        times: How many collectives it made wait.
        wait_ns: What the others waited for it, summed over ranks.
        loss_ns: What the job loses by it: how much later it came than the next, in groups of few ranks in
            proportion.
        steps: Steps in which it was to blame, of ``all_steps``; both 0 without steps.
        pattern: ``constant``, ``drifting``, ``irregular`` or ``once``; ``unknown`` without steps.
        excess_ns: What it did longer than the others, by part, longest first, only what is longer.
        cause: The part that explains most of it; ``None`` where none does.
        node: Its host, where several ranks of this host and no others are late; else ``None``.
        is_named: Whether the data carry that it is this rank, see the module's constants.
        first_ns: How much of its lateness is first calls (loading of kernels, set-up, compilation), which
            a steady step does not make.
    """

    place: int
    share: float
    times: int
    wait_ns: int
    loss_ns: int
    steps: int
    all_steps: int
    pattern: str
    excess_ns: tuple[tuple[str, int], ...]
    cause: str | None
    node: str | None
    is_named: bool
    first_ns: int = 0


def straggler_of(
    ranks: Sequence[RankDigest], found: Blame, steps: Sequence[int], uncertainty_ns: int
) -> Straggler | None:
    """The rank to which most of the waiting goes back; ``None`` where nobody was late.

    Args:
        ranks: The ranks by position.
        found: Late arrivals.
        steps: Numbers of the steady steps.
        uncertainty_ns: Of the aligned clocks.
    """
    hosts = [one.host_name for one in ranks]
    return judged(found, hosts, steps, uncertainty_ns, lambda at: _blocks_no_more(ranks, at))


def judged(
    found: Blame,
    hosts: Sequence[str | None],
    steps: Sequence[int],
    uncertainty_ns: int | None,
    blocks_no_more: Callable[[int], bool],
    chance: float = CHANCE,
) -> Straggler | None:
    """The rank to which most of the waiting goes back; ``None`` where nobody was late.

    Args:
        found: Late arrivals.
        hosts: The ranks' machines by position.
        steps: Numbers of the steady steps.
        uncertainty_ns: Of the clocks that lateness is told from; ``None`` where it is told without clocks, and only
            chance stands against it.
        blocks_no_more: Whether the rank at a position makes no more blocking calls than the others.
        chance: See :data:`CHANCE`.
    """
    if not len(found.culprit):
        return None
    caused = np.bincount(found.culprit, found.wait_ns, len(hosts)).astype(np.float64)
    place = int(caused.argmax())
    share = float(caused[place] / caused.sum()) if caused.sum() else 0.0
    mine = found.culprit == place
    longer = _longer(found, place, as_host=blocks_no_more(place))
    node = _node(hosts, caused)
    loss_ns = found.loss_ns[mine]
    if node is not None:
        # Its ranks are late together, so that the margin to the next says nothing.
        at_node = np.array([host == node for host in hosts])
        share = float(caused[at_node].sum() / caused.sum())
        mine = at_node[found.culprit]
        loss_ns = found.late_ns[mine]
    per_step = _per_step(loss_ns, found.step[mine], steps)
    late_steps = int(_is_late(per_step).sum())
    needed = SHARE_OF_TWO if len(hosts) == 2 else SHARE_OF_MANY
    often = not steps or (
        late_steps >= min(LEAST_STEPS, len(steps)) and late_steps >= SELDOM * len(steps)
    )
    return Straggler(
        place=place,
        share=share,
        times=int(mine.sum()),
        wait_ns=int(found.wait_ns[mine].sum()),
        loss_ns=int(loss_ns.sum()),
        steps=late_steps,
        all_steps=len(steps),
        pattern=_pattern(per_step),
        excess_ns=longer,
        cause=_largest(longer),
        node=node,
        is_named=share >= needed
        and often
        and int(mine.sum()) >= LEAST_STEPS
        and (_is_far(found, mine, uncertainty_ns) or _by_chance(found, mine, len(hosts)) < chance),
        first_ns=0 if found.first_ns is None else int(found.first_ns[mine].sum()),
    )


def _is_far(found: Blame, mine: Bools, uncertainty_ns: int | None) -> bool:
    """Whether lateness is far beyond what the clocks leave uncertain."""
    return (
        uncertainty_ns is not None
        and float(np.median(found.spread_ns[mine])) >= FAR * uncertainty_ns
    )


def _is_late(per_step: Floats) -> Bools:
    """Steps whose lateness counts beside the longest."""
    late: Bools = per_step > SLIGHT * per_step.max(initial=0.0)
    return late


def _per_step(loss_ns: Ints, step: Ints, steps: Sequence[int]) -> Floats:
    out = np.zeros(len(steps))
    column = {number: at for at, number in enumerate(steps)}
    for loss, number in zip(loss_ns.tolist(), step.tolist(), strict=True):
        if number in column:
            out[column[number]] += loss
    return out


def _pattern(per_step: Floats) -> str:
    if not len(per_step):
        return "unknown"
    late = _is_late(per_step)
    if late.sum() <= 1 < len(per_step):
        return "once"
    if len(per_step) >= LEAST_TREND_STEPS and late.mean() >= 0.5:
        order = np.argsort(np.argsort(per_step, kind="stable"), kind="stable")
        trend = float(np.corrcoef(order, np.arange(len(per_step)))[0, 1])
        half = len(per_step) // 2
        first, second = per_step[:half].mean(), per_step[-half:].mean()
        if abs(trend) >= TREND and abs(second - first) >= LEAST_DRIFT * max(first, second):
            return "drifting"
    return "constant" if late.mean() >= MOSTLY else "irregular"


def _by_chance(found: Blame, mine: Bools, ranks: int) -> float:
    """How likely some rank comes last so often when every rank of a group comes last equally often."""
    many, count = len(mine), int(mine.sum())
    sharing = len(np.unique(found.culprit[mine]))
    equal = min(sharing / float(found.size[mine].min()), 0.99)
    # In logarithms, because the factors leave the range of a float from a thousand calls on.
    tail = sum(
        math.exp(
            math.lgamma(many + 1)
            - math.lgamma(k + 1)
            - math.lgamma(many - k + 1)
            + k * math.log(equal)
            + (many - k) * math.log1p(-equal)
        )
        for k in range(count, many + 1)
    )
    return min(tail * ranks, 1.0)


def _blocks_no_more(ranks: Sequence[RankDigest], place: int) -> bool:
    """Whether the rank makes no more blocking calls than the others."""
    calls = [sum(one.count for one in rank.results.sync.culprits) for rank in ranks]
    others = float(np.median([count for at, count in enumerate(calls) if at != place]))
    return calls[place] <= MORE_CALLS * others


def _longer(found: Blame, place: int, *, as_host: bool) -> tuple[tuple[str, int], ...]:
    """From the late arrivals of the rank itself, not of those that it held up in turn.

    A blocking call explains the idle time after it up to its own length. Where all ranks make the same
    calls, what a rank is longer idle after them goes back to what its host does then.
    """
    own = (found.culprit == place) & (found.last == place)
    sums = found.excess_ns[own].sum(axis=0)
    if as_host and "sync" in found.parts:
        sums[found.parts.index("host")] += sums[found.parts.index("sync")]
        sums[found.parts.index("sync")] = 0
    pairs = [(part, int(ns)) for part, ns in zip(found.parts, sums, strict=True) if ns > 0]
    return tuple(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


def cause_of(parts: Sequence[str], excess_ns: Ints) -> str | None:
    """The part that explains one late arrival; ``None`` where none does."""
    pairs = [(part, int(ns)) for part, ns in zip(parts, excess_ns.tolist(), strict=True) if ns > 0]
    return _largest(tuple(sorted(pairs, key=lambda pair: (-pair[1], pair[0]))))


def _largest(longer: tuple[tuple[str, int], ...]) -> str | None:
    total = sum(ns for _, ns in longer)
    if not total or longer[0][1] < CAUSE_SHARE * total or longer[0][0] == "unknown":
        return None
    return longer[0][0]


def _node(hosts: Sequence[str | None], caused: Floats) -> str | None:
    """The host whose ranks are late together, each about as often as the other."""
    if None in hosts or len(set(hosts)) < 2 or not caused.sum():
        return None
    by_host: dict[str | None, list[float]] = {}
    for host, wait in zip(hosts, caused.tolist(), strict=True):
        by_host.setdefault(host, []).append(wait)
    host, waits = max(by_host.items(), key=lambda pair: sum(pair[1]))
    alone = sum(waits) >= MOSTLY * caused.sum()
    several = sum(1 for wait in waits if wait >= 0.1 * sum(waits))
    return host if alone and several >= 2 else None
