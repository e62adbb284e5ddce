"""A small share of the clinic: the planted cause is named first, and its gain lies in the range."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from clinic import made, measure, run_for_real, table
from clinic.case import Program, Row
from clinic.measure import PROGRAMS, of_made

from stepscope.advice.input_plan import BEST_WORKERS
from stepscope.schema.report import Evidence

CASES = {case.name: case for case in (*made.CASES, *made.HEALTHY)}


@pytest.mark.parametrize("name", ["item-every-step", "copy-in-the-way", "late-rank"])
def test_a_planted_cause_is_named_and_its_gain_predicted(name):
    row = of_made(CASES[name])
    assert row.is_named, row.found
    assert row.is_held, (row.low, row.measured, row.high)
    assert row.width is not None
    assert row.width < 1.3


@pytest.mark.parametrize("case", made.HEALTHY, ids=lambda case: case.name)
def test_nothing_is_found_on_a_healthy_run(case):
    assert of_made(case).found == ()


def test_there_are_enough_cases_with_one_name_each():
    real = (*run_for_real.CASES, *run_for_real.HEALTHY)
    assert len({*CASES, *(case.name for case in real)}) == len(CASES) + len(real)
    assert len(made.CASES) + len(run_for_real.CASES) >= 24
    assert len(made.HEALTHY) + len(run_for_real.HEALTHY) >= 4
    for planted in (*made.CASES, *run_for_real.CASES):
        assert planted.code
    for healthy in (*made.HEALTHY, *run_for_real.HEALTHY):
        assert not healthy.code


def test_every_program_is_there():
    for case in (*run_for_real.CASES, *run_for_real.HEALTHY):
        assert (PROGRAMS / case.script).is_file()
    page = Path(__file__).parent.parent / "docs" / "explanation" / "clinic.md"
    text = page.read_text(encoding="utf-8")
    assert all(f"| {name} |" in text for name in CASES)


def test_a_twin_has_the_workers_that_were_recommended(tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "PROGRAMS", tmp_path)
    (tmp_path / "twin.py").write_text(
        "import os, sys\n"
        "told = (os.environ.get('CLINIC_WORKERS', '6'), '1')['--fixed' not in sys.argv]\n"
        "open(os.environ['CLINIC_TIMES'], 'w').write(told)\n",
        encoding="utf-8",
    )
    case = Program("twin", "", "IN001", "twin.py")
    told = report_with(Evidence(name=BEST_WORKERS, value=3, unit="count"))
    timed = [
        measure._time(case, tmp_path / "times", report, is_fixed=fixed)
        for report, fixed in ((told, True), (told, False), (report_with(), True))
    ]
    assert timed == [3, 1, 6]


def report_with(*evidence):
    """What the clinic reads of a report."""
    return SimpleNamespace(findings=[SimpleNamespace(evidence=evidence)])


def row(code="IN001", found=("IN001",), low=1.1, high=1.2, measured=1.15):
    return Row("a", "b", code, "GPU trace", found, low, high, measured)


def test_totals_count_misses():
    rows = [
        row(),
        row(found=("SY001", "IN001")),
        row(measured=1.3),
        row(low=None, high=None),
        row(code="", found=(), low=None, high=None, measured=None),
        row(code="", found=("SY001",), measured=None),
    ]
    assert table.totals(rows) == [
        "- 3 of 4 planted causes are named first.",
        "- 1 of 2 healthy runs have no finding.",
        "- 2 of 4 measured gains lie in the predicted range, 1 have no range.",
        "- The median range is 1.09 wide (high over low).",
    ]
    assert "(missed)" in table.lines(rows)[3]
