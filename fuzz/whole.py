"""What must hold of the report on a trace, however damaged its file is."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.invariants import hold
from stepscope import api
from stepscope.errors import StepscopeError
from stepscope.report import saved

if TYPE_CHECKING:
    from stepscope.schema.report import Report


def check_report(path: str, *, html: bool) -> None:
    """Diagnoses a file as the command does, in every form that a report has.

    Args:
        path: The file.
        html: Whether the page is made as well, which takes longest.

    Raises:
        BrokenInvariantError: Something that must hold does not.
    """
    try:
        report = api.analyze([path])
    except StepscopeError as error:
        hold(error.exit_status == 2, f"exit status {error.exit_status}")
        return
    api.print_report(report, io.StringIO())
    hold(saved.decode(saved.encode(report)) == report, "a report that JSON does not give back")
    _check_findings(report)
    _check_paths(report)
    if html:
        api.save_html(report, Path(path).with_suffix(".html"))


def _check_findings(report: Report) -> None:
    for finding in report.findings:
        share, gain = finding.share_frac, finding.gain
        hold(share is None or 0 <= share <= 1, f"{finding.code} concerns {share} of the step")
        if gain is not None:
            hold(1 <= gain.low <= gain.high, f"{finding.code} gains {gain.low} to {gain.high}")
            hold(0 <= gain.step_ms_low <= gain.step_ms_high, f"{finding.code}: steps of its gain")
    shares = [row.share for row in report.kernels] + [row.share for row in report.operators]
    hold(all(0 <= share <= 1 for share in shares), "a share that is none")


def _check_paths(report: Report) -> None:
    for rank in report.ranks:
        path = rank.path
        if path is None:
            continue
        parts = path.parts_ms.values()
        hold(path.step_ms > 0 and min(parts) >= 0, "a part of a critical path below 0")
        off = abs(sum(parts) - path.step_ms)
        hold(off <= 1e-6 * path.step_ms, f"a critical path whose parts are {off} ms off")
        hold(all(0 < row.frac <= 1 for row in path.kernels), "a kernel's share of it that is none")
