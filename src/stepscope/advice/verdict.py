"""The one sentence: which regime, by which numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from stepscope.schema.report import Regime, Verdict
from stepscope.units import format_frac, format_ms, ns_to_ms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.advice.base import Context
    from stepscope.schema.report import Finding

LEAST_SHARE = 0.2
"""A part that holds less of the steady step does not name the regime."""

MOST_UNKNOWN = 0.5
"""When more of the step is of unknown cause, the trace cannot carry a verdict."""

MOST_STARTUP = 0.5
"""A window without steps of which more is start-up holds no steady step."""

REGIMES: dict[str, Regime] = {
    "input": "input",
    "communication": "communication",
    "copy": "copy",
    "sync": "sync",
    "host": "host",
    "allocator": "memory",
    "other_rank": "straggler",
    "other": "host",
}
"""Part to regime; compute (and forward, backward, optimizer) and unknown name none."""

_COMPUTE = ("compute", "forward", "backward", "optimizer")


class _Mean(Struct, frozen=True, eq=False):
    """Parts of the mean steady step over all ranks.

    Attributes:
        shares: Part to share of that step.
        step_ns: Its length.
        where: The denominator in words, with numbers left open.
        has_device: Whether the parts are those of a device timeline.
    """

    shares: dict[str, float]
    step_ns: float
    where: str
    has_device: bool

    def words(self, part: str) -> str:
        """Share and time of a part with its denominator."""
        share = self.shares[part]
        part_ms, step_ms = ns_to_ms(share * self.step_ns), ns_to_ms(self.step_ns)
        return f"{format_frac(share)} {self.where} ({format_ms(part_ms)} of {format_ms(step_ms)})"

    @property
    def compute(self) -> float:
        """Share of everything that counts as computing."""
        return sum(self.shares.get(part, 0.0) for part in _COMPUTE)


def verdict_of(contexts: Sequence[Context], findings: Sequence[Finding]) -> Verdict:
    """The verdict over all ranks; see the module's constants for the thresholds."""
    usable = [c for c in contexts if c.results.facts.usable and c.steady_count]
    cannot = _about_the_data(contexts) or _about_the_steps(contexts, usable)
    if cannot is not None:
        return cannot
    mean = _mean(usable)
    if mean.shares.get("unknown", 0.0) >= MOST_UNKNOWN:
        return Verdict(regime="not-recorded", sentence=_unknown_sentence(mean))
    part = max(REGIMES, key=lambda name: mean.shares.get(name, 0.0))
    if mean.shares.get(part, 0.0) < LEAST_SHARE:
        regime: Regime = "compute" if findings else "healthy"
        return Verdict(regime=regime, sentence=_compute_sentence(mean, part, regime))
    if part == "host" and _held_back(findings):
        return Verdict(
            regime="sync",
            sentence="Calls that wait for the GPU keep the program from running ahead of it: for "
            f"{mean.words(part)} the GPU has nothing to do until the program has launched the next work."
            + _startup_beside(usable),
        )
    regime = _regime(part, contexts)
    sentence = _part_sentence(mean, part, regime, contexts) + _startup_beside(usable)
    return Verdict(regime=regime, sentence=sentence)


def _held_back(findings: Sequence[Finding]) -> bool:
    """Whether by the replay a synchronisation explains why the device waits for the host."""
    regimes = {finding.regime for finding in findings if finding.gain is not None}
    return "sync" in regimes and "host" not in regimes


def _about_the_data(contexts: Sequence[Context]) -> Verdict | None:
    """Verdicts that come before all others; they need every rank to be so."""
    facts = [context.results.facts for context in contexts]
    if all(f.gpu_recorded is False for f in facts):
        calls = sum(f.call_count for f in facts)
        what = f"{calls:,} calls to the device" if calls else "operators that run on a GPU"
        return Verdict(
            regime="not-recorded",
            sentence=f"The GPU side was not recorded: {what} and no kernel are in the trace, so nothing can be "
            "said about how the GPU spends its time.",
        )
    if not any(f.usable for f in facts):
        return Verdict(
            regime="not-recorded",
            sentence="Nothing was recorded that could be diagnosed: no PyTorch operator and no device work "
            "lies in the recorded window.",
        )
    if all(
        f.gpu_recorded is None and f.listed_device is not None and f.operator_count for f in facts
    ):
        device = facts[0].listed_device or "A GPU"
        count = sum(f.operator_count for f in facts)
        return Verdict(
            regime="device-unused",
            sentence=f"{device} is there, but all {count:,} recorded operators ran on the CPU and nothing was launched "
            "to the GPU.",
        )
    return None


def _about_the_steps(contexts: Sequence[Context], usable: Sequence[Context]) -> Verdict | None:
    """Verdicts where the data is good but holds no steady step that could be judged."""
    if not usable or all(
        not c.has_steps and c.results.startup.share >= MOST_STARTUP for c in usable
    ):
        return _startup(contexts)
    return _launches_lost(usable) if all(c.loses_launches for c in usable) else None


def _startup(contexts: Sequence[Context]) -> Verdict:
    length = max(float(c.results.spread.durations_ns.sum()) for c in contexts)
    return Verdict(
        regime="startup",
        sentence=f"The recorded {format_ms(ns_to_ms(length))} hold mostly start-up (first calls, loading of kernels, "
        "compilation), so that nothing can be said about a steady step; record later.",
    )


def _startup_beside(contexts: Sequence[Context]) -> str:
    """A warning where a window without steps holds much start-up beside the rest."""
    share = max((c.results.startup.share for c in contexts if not c.has_steps), default=0.0)
    if share < LEAST_SHARE:
        return ""
    return f" {format_frac(share)} of the recorded time is start-up, so the steady state may look different."


def _launches_lost(contexts: Sequence[Context]) -> Verdict:
    launches = [c.results.launches for c in contexts]
    count = sum(one.count for one in launches)
    lost = round(sum((one.unanswered_frac or 0.0) * one.count for one in launches))
    return Verdict(
        regime="not-recorded",
        sentence=f"{lost:,} of {count:,} launches have no work in the trace (captured into a graph, or lost by the "
        "profiler), so that nothing can be said about how the GPU spends its time.",
    )


def _mean(contexts: Sequence[Context]) -> _Mean:
    """Mean over ranks of each rank's mean steady step; ranks of the other kind of timeline are left out."""
    has_device = any(c.results.partition.has_device for c in contexts)
    alike = [c.results.partition for c in contexts if c.results.partition.has_device is has_device]
    rows = np.array([p.ns[p.is_steady].mean(axis=0) for p in alike])
    mean = rows.mean(axis=0)
    step = float(mean.sum())
    steps = sum(c.steady_count for c in contexts)
    if contexts[0].has_steps:
        where = "of the steady step" if steps == 1 else f"of the mean of {steps} steady steps"
    else:
        where = (
            "of the recorded window" if steps == 1 else f"of the mean of {steps} recorded windows"
        )
    shares = {
        part: float(ns) / step if step else 0.0
        for part, ns in zip(alike[0].parts, mean, strict=True)
    }
    if has_device:
        paused = float(
            np.mean([c.pauses or 0.0 for c in contexts if c.results.partition.has_device])
        )
        shares["pauses"] = min(paused, shares["unknown"])
        shares["unknown"] -= shares["pauses"]
    ranks = f" over {len(alike)} ranks" if len(alike) > 1 else ""
    return _Mean(shares, step, where + ranks, has_device)


def _regime(part: str, contexts: Sequence[Context]) -> Regime:
    """From one rank alone nobody can be called late."""
    waiting = contexts[0].waiting
    late = waiting is not None and waiting.is_most
    if part in ("communication", "other_rank"):
        return "straggler" if late else "communication"
    return REGIMES[part]


def _part_sentence(mean: _Mean, part: str, regime: Regime, contexts: Sequence[Context]) -> str:
    words = mean.words(part)
    idle = "the GPU stands idle" if mean.has_device else "nothing is trained"
    single = contexts[0].results.loader.is_single_process is True
    program = (
        "Python and PyTorch's operators"
        if mean.has_device
        else "Python and code outside PyTorch's operators"
    )
    sentences = {
        "input": f"The program waits for its data: for {words} {idle} until the DataLoader delivers the next batch"
        + (" (it has no worker processes)." if single else "."),
        "host": f"The GPU waits for the program: for {words} it has nothing to do because {program} have not "
        "launched the next work yet."
        if mean.has_device
        else f"The program itself takes the time: {words} goes to {program}.",
        "sync": f"The program waits for the GPU and then the GPU for the program: for {words} the GPU stands idle "
        "after a call that made the host wait for it.",
        "copy": f"Copies take the time: for {words} the GPU does nothing but move data.",
        "memory": f"Getting memory takes the time: for {words} the GPU stands idle while the driver allocates or frees.",
        "communication": f"Communication takes the time: for {words} ranks exchange data with no computing beside it"
        + _transfer_or_waiting(contexts),
        "straggler": f"Ranks wait for each other: {words} is communication, and most of the time in collectives is "
        f"waiting for {_late(contexts)}.",
    }
    return sentences[regime]


def _late(contexts: Sequence[Context]) -> str:
    waiting = contexts[0].waiting
    return (
        (f"rank {waiting.late_rank}" if waiting.node is None else f"the ranks of {waiting.node}")
        if waiting and waiting.is_named and waiting.late_share > 0.5
        else "whichever rank comes last"
    )


def _transfer_or_waiting(contexts: Sequence[Context]) -> str:
    waiting, world = contexts[0].waiting, contexts[0].results.facts.world_size
    if waiting is not None:
        return f"; {format_frac(waiting.share)} of the time in collectives is waiting for the last rank."
    ranks = f"{len(contexts)} of {world} ranks" if world else "the ranks recorded"
    return f"; whether that is transfer or waiting for a late rank cannot be told from {ranks}."


def _compute_sentence(mean: _Mean, largest: str, regime: Regime) -> str:
    what = "The GPU computes" if mean.has_device else "PyTorch computes"
    step = format_ms(ns_to_ms(mean.step_ns))
    head = f"{what} for {format_frac(mean.compute)} {mean.where} ({step})"
    if regime == "healthy":
        return f"Nothing to fix here: {head[0].lower() if head.startswith('The') else head[0]}{head[1:]}, and no rule found waste."
    unknown = mean.shares.get("unknown", 0.0)
    if unknown >= LEAST_SHARE:
        return f"{head}; for {format_frac(unknown)} it is idle and the trace does not say why."
    paused = mean.shares.get("pauses", 0.0)
    if paused >= LEAST_SHARE:
        return (
            f"{head}; for {format_frac(paused)} it pauses between kernels that are already queued."
        )
    other = format_frac(mean.shares.get(largest, 0.0))
    return f"{head}, so computing limits the step; the largest other part ({_NAMES[largest]}) holds {other}."


def _unknown_sentence(mean: _Mean) -> str:
    return (
        f"For {mean.words('unknown')} the GPU shows no work and the trace does not say why, so that no bottleneck can "
        "be named; part of the work was probably not recorded."
    )


_NAMES = {
    "input": "waiting for data",
    "communication": "communication",
    "copy": "copies",
    "sync": "idle after synchronisation",
    "host": "waiting for the program",
    "allocator": "memory allocation",
    "other_rank": "waiting for other ranks",
    "other": "Python and the rest",
}
