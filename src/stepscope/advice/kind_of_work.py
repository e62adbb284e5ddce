"""The shape that several rules share: a kind of work holds a share of the step, and the replay without it gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.advice.base import Rule, severity
from stepscope.schema.report import Evidence, Finding
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from stepscope.advice.base import Context
    from stepscope.predict import ClassGain, Kind
    from stepscope.schema.report import Confidence, Gain, Regime


class KindOfWork(Struct, frozen=True, kw_only=True):
    """What to look for, from when on, and what to say.

    Attributes:
        kind: The kind of work that was replayed.
        what: It in words, as the evidence names it.
        least_share: Of the steady step that it must hold, on the host or on the device.
        least_gain: Of which the replay must be sure.
        least_kernels: Pieces of device work in a step.
        on_host: Whether it is what the host does in a range, with the device's work beside it.
        confidence: How sure the rule is.
        action, snippet: As of the finding.
    """

    kind: Kind
    what: str
    least_share: float
    least_gain: float
    least_kernels: int = 1
    on_host: bool = False
    confidence: Confidence
    action: str
    snippet: str


def rule_of(
    code: str,
    regime: Regime,
    title: str,
    work: KindOfWork,
    doc: str,
    explained_by: tuple[str, ...] = ("REC004",),
) -> Rule:
    """The rule that finds a kind of work, with the gain of the replay without it."""

    def find(context: Context) -> Finding | None:
        own = context.gains.of_class(work.kind)
        share = _share(context, own)
        if own is None or share is None or share < work.least_share:
            return None
        if own.gain.low < work.least_gain or own.kernels < work.least_kernels:
            return None
        return Finding(
            code=code,
            regime=regime,
            severity=severity(share),
            title=title,
            evidence=(
                Evidence(name=f"{work.what}, share {context.where}", value=share, unit="frac"),
                *(_on_host(context, own) if work.on_host else _on_device(context, own)),
            ),
            action=work.action,
            snippet=work.snippet,
            confidence=work.confidence,
            share_frac=share,
        )

    def gain(context: Context) -> Gain | None:
        own = context.gains.of_class(work.kind)
        return None if own is None else own.gain

    return Rule(code, regime, title, find, doc, explained_by=explained_by, gain=gain)


def _share(context: Context, own: ClassGain | None) -> float | None:
    """Share of the steady step; where host and device both have a part in it, the larger counts."""
    if own is None or not context.steady_count or not context.steady_ns:
        return None
    return max(own.host_ns, own.work_ns) * context.steady_count / context.steady_ns


def _on_host(context: Context, own: ClassGain) -> tuple[Evidence, ...]:
    each = context.each
    return (
        Evidence(name=f"host in it {each}", value=ns_to_ms(own.host_ns), unit="ms"),
        Evidence(
            name=f"device work that it launches {each}", value=ns_to_ms(own.work_ns), unit="ms"
        ),
        Evidence(name=f"kernels that it launches {each}", value=own.kernels, unit="count"),
    )


def _on_device(context: Context, own: ClassGain) -> tuple[Evidence, ...]:
    each = context.each
    return (
        Evidence(name=f"their time {each}", value=ns_to_ms(own.work_ns), unit="ms"),
        Evidence(name=f"how many {each}", value=own.kernels, unit="count"),
        Evidence(name="longest such kernel", value=own.name, unit="text"),
    )
