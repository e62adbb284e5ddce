"""Utilisation, energy and money put into a Report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from stepscope.cost.facts import RunFacts, facts_of_run, read_summary
from stepscope.cost.options import CostOptions, with_environment
from stepscope.cost.plan import price_plan
from stepscope.cost.span import not_known
from stepscope.cost.waste import step_time, waste_of
from stepscope.errors import InputError
from stepscope.schema.cost import FindingWaste, RunCost
from stepscope.schema.notice import Notice
from stepscope.units import S_PER_HOUR
from stepscope.watch.store import read_watched
from stepscope.watch.use import use_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stepscope.schema.cost import CostReport, Estimate
    from stepscope.schema.report import Report
    from stepscope.schema.run_folder import RunFolder
    from stepscope.schema.watch_summary import WatchSummary

AN_HOUR = "an hour of such steps"
CHANGING = frozenset({"unfinished", "missing-tasks"})
"""Notices of a watch that change what its figures mean; the others say why an energy is not known."""


def with_use_and_cost(
    report: Report, run: RunFolder | None, options: CostOptions, environ: Mapping[str, str]
) -> Report:
    """The report with what its run used and costs.

    Traces alone hold no energy; they are priced by the hour of their steps where a rate was asked for.

    Args:
        report: The report.
        run: The run folder that it was made from; ``None`` for traces.
        options: Plan and rates.
        environ: The environment, which may hold rates.

    Raises:
        OptionError: Rates that cannot be.
        InputError: A file of rates cannot be read.
    """
    summary = None
    if run is not None:
        try:
            summary = read_summary(run.path)
        except InputError as error:
            # Samples that cannot be read are no reason to tell nothing about the traces.
            report = with_notices(
                report, (Notice(code="samples-unreadable", count=1, text=str(error)),)
            )
    facts = facts_of_trace(report) if run is None else facts_or_none(run, summary)
    if run is not None and summary is not None and facts is not None:
        report = with_use(report, run, summary, facts)
    asked = with_environment(options, environ) != CostOptions()
    if facts is None or (run is None and (not asked or not facts.gpus)):
        return report
    return replace(report, cost=run_cost(report, facts, options, environ))


def with_use(report: Report, run: RunFolder, summary: WatchSummary, facts: RunFacts) -> Report:
    """The report with utilisation and energy."""
    notices = tuple(notice for notice in summary.notices if notice.code in CHANGING)
    try:
        use = use_of(run, read_watched(run.path), facts.devices, facts.host)
    except InputError:
        # Only a summary was kept.
        use = None
    return replace(with_notices(report, notices), use=use, seen=summary.findings)


def with_notices(report: Report, notices: tuple[Notice, ...]) -> Report:
    """The report with more to know about its data; what was said already is not said again."""
    told = {(notice.code, notice.text) for notice in report.health.notices}
    new = tuple(notice for notice in notices if (notice.code, notice.text) not in told)
    return replace(report, health=replace(report.health, notices=(*report.health.notices, *new)))


def run_cost(
    report: Report, facts: RunFacts, options: CostOptions, environ: Mapping[str, str]
) -> RunCost:
    """What the run, the plan and each finding cost."""
    one = price_plan(replace(options, runs=1, hours=None, gpus=None), environ, facts)
    has_plan = options.runs > 1 or options.hours is not None or options.gpus is not None
    plan = price_plan(options, environ, facts) if has_plan else None
    time = step_time(report)
    return RunCost(
        run=one,
        plan=plan,
        findings=tuple(
            FindingWaste(
                code=finding.code,
                rank=finding.rank,
                run=waste_of(finding, paid(one, facts), time),
                plan=None if plan is None else waste_of(finding, paid(plan, facts), time),
            )
            for finding in report.findings
        ),
    )


def paid(one: CostReport, facts: RunFacts) -> Estimate:
    """What is paid for devices that a finding leaves idle."""
    if facts.gpus:
        return one.money
    # Loading, computing and waiting share the cores, so a part of a step is not idle cores.
    return not_known(one.money.unit, "the run had no device that could have been idle")


def facts_or_none(run: RunFolder, summary: WatchSummary | None) -> RunFacts | None:
    """The run's facts; ``None`` when nothing says how long it took."""
    try:
        return facts_of_run(run, summary, str(run.path))
    except InputError:
        return None


def facts_of_trace(report: Report) -> RunFacts:
    """An hour of the steps that were recorded, on the devices that recorded them."""
    ranks = [rank for rank in report.ranks if rank.gpu is not None]
    names = {rank.device for rank in ranks}
    busy = [rank.gpu.busy_frac for rank in ranks if rank.gpu is not None]
    known = [frac for frac in busy if frac is not None]
    can_tell = bool(report.health.gpu_recorded) and len(known) == len(ranks) > 0
    why = "a trace measures no energy"
    return RunFacts(
        source=AN_HOUR,
        seconds=S_PER_HOUR,
        gpus=len(ranks),
        device=names.pop() if len(names) == 1 else "",
        devices=not_known("J", why),
        host=not_known("J", why),
        idle_frac=1 - sum(known) / len(known) if can_tell else None,
        idle_of="time of the recorded steps",
    )
