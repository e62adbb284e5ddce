"""The arithmetic behind a number of loader workers, for a reader who wants to check it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence
from stepscope.units import format_ms, format_value, ns_to_ms

if TYPE_CHECKING:
    from stepscope.predict import Plan

BEST_WORKERS = "loader workers that are best"
"""Name of the evidence that recommends a number."""


def arithmetic_of(plan: Plan | None) -> str:
    """How the number follows from what was measured, as sentences; ``""`` without one."""
    if plan is None:
        return ""
    ratio = plan.making_ns / max(plan.training_ns, 1.0)
    text = (
        f"One process makes a batch in {_time(plan.making_ns)}, training without waiting takes "
        f"{_time(plan.training_ns)}: {ratio:.1f} workers would just keep up, {_workers(plan.keep_up)} with a "
        "quarter in reserve."
    )
    if plan.fit is not None and plan.workers == plan.fit < plan.keep_up:
        return (
            f"{text} But the batches of no more than {_workers(plan.fit)} fit into half of the shared memory that is "
            "free (/dev/shm): enlarge it (docker run --shm-size), or make batches smaller."
        )
    if plan.room is not None and plan.workers == plan.room < plan.keep_up:
        return (
            f"{text} But each takes {format_value(plan.each_bytes, 'bytes')} of its own, and the memory of the job had "
            f"{format_value(plan.left_bytes, 'bytes')} left for more: no more than {_workers(plan.room)} fit."
        )
    if plan.cores is None or plan.cores_ns is None or plan.workers >= plan.keep_up:
        return text
    share = 1.0 if plan.computing_frac is None else plan.computing_frac
    return (
        f"{text} But making a batch computes {share:.0%} of its time, and {_cores(plan.cores)} shared by workers and "
        f"training allow{'s' if plan.cores == 1 else ''} no step under {_time(plan.cores_ns)}: more than "
        f"{_workers(plan.workers)} would only take turns on them."
    )


def evidence_of_plan(plan: Plan | None) -> tuple[Evidence, ...]:
    """The same as figures."""
    if plan is None:
        return ()
    memory = Evidence(name="memory of one worker's own", value=plan.each_bytes, unit="bytes")
    return (
        Evidence(name="making a batch in one process", value=ns_to_ms(plan.making_ns), unit="ms"),
        Evidence(name="a step that never waits", value=ns_to_ms(plan.training_ns), unit="ms"),
        Evidence(name=BEST_WORKERS, value=plan.workers, unit="count"),
        *([memory] if plan.each_bytes is not None else []),
    )


def _time(ns: float) -> str:
    return format_ms(ns_to_ms(ns))


def _workers(count: int) -> str:
    return f"{count} worker{'' if count == 1 else 's'}"


def _cores(count: int) -> str:
    return f"{'the one core' if count == 1 else f'the {count} cores'}"
