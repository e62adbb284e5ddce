"""Each rule fires, keeps silent just below its threshold, without its data, and on a healthy run."""

from __future__ import annotations

import ast
import pkgutil
from importlib import import_module
from typing import get_args

import pytest

from stepscope import advice
from stepscope.advice import RULES
from stepscope.advice.findings import findings_of
from stepscope.schema.report import Confidence, Regime, Severity
from stepscope.units import format_value
from tests.advice.cases import CASES
from tests.advice.made import context, without_steady_steps

NOT_RULES = {
    "base",
    "findings",
    "input_cause",
    "input_plan",
    "kind_of_work",
    "part_of_run",
    "verdict",
}
HEADINGS = (
    "What it does:",
    "Why it costs:",
    "Example:",
    "What to try:",
    "When this is wrong:",
    "References:",
)
each = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)


def codes(found):
    return {finding.code for finding in found}


@each
def test_it_fires(rule):
    finding = rule.find(CASES[rule.code].fires)
    assert finding is not None
    assert rule.code in codes(findings_of([CASES[rule.code].fires]))


@each
def test_it_is_silent_just_below_its_threshold(rule):
    assert rule.find(CASES[rule.code].below) is None


@each
def test_missing_data_gives_no_finding(rule):
    assert rule.find(CASES[rule.code].missing) is None


@each
def test_a_healthy_run_gives_no_finding(rule):
    assert rule.find(context()) is None


@each
def test_without_a_steady_step_nothing_but_start_up_is_claimed(rule):
    assert (rule.find(without_steady_steps()) is not None) == (rule.code == "ST001")


@each
def test_a_finding_is_complete(rule):
    finding = rule.find(CASES[rule.code].fires)
    assert (finding.code, finding.regime, finding.title) == (rule.code, rule.regime, rule.title)
    assert finding.severity in get_args(Severity)
    assert finding.regime in get_args(Regime)
    assert finding.confidence in get_args(Confidence)
    assert finding.action.endswith(".")
    assert "  " not in finding.action
    assert finding.gain is None
    assert len(finding.evidence) >= 2
    assert all(format_value(one.value, one.unit) for one in finding.evidence)
    shares = [one for one in finding.evidence if one.unit == "frac"]
    assert all("share" in one.name for one in shares if one.name != "estimated achieved occupancy")


@each
def test_the_page_has_all_headings_in_order(rule):
    places = [rule.doc.find(f"\n{heading}\n") for heading in HEADINGS]
    assert -1 not in places
    assert places == sorted(places)


def test_every_module_of_the_folder_is_listed_once():
    names = {module.name for module in pkgutil.iter_modules(advice.__path__)} - NOT_RULES
    modules = [import_module(f"stepscope.advice.{name}") for name in sorted(names)]
    assert {module.RULE.code for module in modules} == {rule.code for rule in RULES}
    assert len(RULES) == len(names)


def test_codes_are_unique_and_explanations_exist():
    every = [rule.code for rule in RULES]
    assert len(set(every)) == len(every)
    assert {code for rule in RULES for code in rule.explained_by} <= set(every)
    assert set(CASES) == set(every)


@each
def test_a_snippet_of_python_can_be_parsed(rule):
    snippet = rule.find(CASES[rule.code].fires).snippet
    if rule.code in {"AL001", "IN003", "IN005", "RC001", "TH001", "TH002"} or not snippet:
        return
    lines = snippet.rstrip()
    for attempt in (lines, f"{lines}\n    pass", f"f(\n{lines}\n)"):
        try:
            ast.parse(attempt)
        except SyntaxError:
            continue
        return
    pytest.fail(f"no Python: {snippet}")
