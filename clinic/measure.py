"""From cases to rows: what is found, what is predicted, and what the fix really gains."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import stepscope
from clinic.case import Row
from stepscope.advice.input_plan import BEST_WORKERS
from stepscope.schema.run_folder import load_run
from stepscope.trace import load

if TYPE_CHECKING:
    from clinic.case import Made, Program
    from stepscope.schema.report import Report
    from stepscope.testing import TraceBuilder

PROGRAMS = Path(__file__).with_name("programs")
READ, LONG = 10, 40
"""Steps of a trace that is read, and of one that is measured, in which start and end weigh little."""

RECORDINGS = 2
"""Recordings of each program; the one with the shortest steps counts, as the one that others disturbed least."""

REPEATS = 4
"""Timed runs of each program and its twin, by turns; of each the fastest counts. With two of each, one and the same gain was
measured as 1.29 to 1.47 on a virtual machine, which is wider than what is predicted; with four, as 1.35 to 1.38."""


def of_made(case: Made) -> Row:
    """Builds both traces and reads the planted one."""
    with tempfile.TemporaryDirectory() as folder:
        read = _write(case.build(is_fixed=False, steps=READ), Path(folder) / "read")
        report = stepscope.analyze([read])
        measured = None
        if case.code:
            both = [
                _write(case.build(is_fixed=fixed, steps=LONG), Path(folder) / f"fixed-{fixed}")
                for fixed in (False, True)
            ]
            measured = _step_ns(both[0]) / _step_ns(both[1])
    return _row(case, "GPU trace", report, measured)


def of_program(case: Program) -> Row:
    """Records the planted program with ``stepscope profile``, and times both without it by turns."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [_record(case, Path(folder) / f"run{number}") for number in range(RECORDINGS)]
        report = stepscope.analyze([min(runs)[1]])
        measured = None
        if case.code:
            both: dict[bool, list[float]] = {False: [], True: []}
            for _ in range(REPEATS):
                for is_fixed, times in both.items():
                    times.append(_time(case, Path(folder) / "times", report, is_fixed=is_fixed))
            measured = min(both[False]) / min(both[True])
    return _row(case, "CPU run", report, measured)


def _row(case: Made | Program, where: str, report: Report, measured: float | None) -> Row:
    found = tuple(finding.code for finding in report.findings)
    gain = report.findings[0].gain if report.findings else None
    low, high = (gain.low, gain.high) if gain else (None, None)
    return Row(case.name, case.plant, case.code, where, found, low, high, measured)


def _write(traces: tuple[TraceBuilder, ...], folder: Path) -> Path:
    folder.mkdir()
    for rank, trace in enumerate(traces):
        trace.write(folder / f"rank{rank}.pt.trace.json")
    return folder


def _step_ns(folder: Path) -> float:
    """From the first step to the end of all work, for each step; of several ranks the slowest."""
    spans = []
    for trace in load([str(folder)]):
        ends = [
            table["end_ns"].to_numpy().max() for table in (trace.host, trace.device) if len(table)
        ]
        spans.append(float(max(ends) - trace.steps["start_ns"].to_numpy()[0]) / len(trace.steps))
    return max(spans)


def _record(case: Program, run: Path) -> tuple[float, Path]:
    """Median step without a profiler, and the run folder."""
    command = [sys.executable, "-m", "stepscope", "profile", "--no-analyze", "--stop"]
    _call([*command, "--out", str(run), *_script(case, is_fixed=False)])
    recording = load_run(run).ranks[0].recording
    step_ns = recording.clean_step_ns if recording else None
    return step_ns or float("inf"), run


def _script(case: Program, *, is_fixed: bool) -> list[str]:
    return [str(PROGRAMS / case.script), *case.arguments, *(["--fixed"] if is_fixed else [])]


def _time(case: Program, times: Path, report: Report, *, is_fixed: bool) -> float:
    """Mean length of a step, ns, as the program itself writes it; the twin follows the report's number of workers."""
    told = {"CLINIC_TIMES": str(times), **_workers(report)}
    _call([sys.executable, *_script(case, is_fixed=is_fixed)], **told)
    return float(times.read_text(encoding="utf-8"))


def _workers(report: Report) -> dict[str, str]:
    """The number that the first finding recommends and predicts for, as the programs read it; empty without one."""
    evidence = report.findings[0].evidence if report.findings else ()
    known = [str(one.value) for one in evidence if one.name == BEST_WORKERS]
    return {"CLINIC_WORKERS": known[0]} if known else {}


def _call(command: list[str], **environment: str) -> None:
    subprocess.run(
        command, check=True, capture_output=True, timeout=300, env={**os.environ, **environment}
    )
