"""Lines of code in the finding about the program's own time."""

from __future__ import annotations

from msgspec.structs import replace

from stepscope.advice import host_between
from stepscope.schema.source_lines import LineRow, SourceLines
from tests.advice.made import context

ROW = LineRow(
    file="/x/train.py", line=9, function="step", text="loss.backward()", is_users=True, samples=9, self_ms=0.35,
    self_frac=0.3, total_ms=0.3, total_frac=0.3, part="other", inner="torch.autograd.graph._engine_run_backward",
)  # fmt: skip


def finding(seen):
    found = host_between.find(seen)
    assert found is not None
    return found


def test_the_line_that_holds_most_of_the_programs_time_is_named():
    row = LineRow(
        file="/x/train.py", line=9, function="step", text="log(x)", is_users=True, samples=9, self_ms=0.25,
        self_frac=0.3, total_ms=0.3, total_frac=0.3, part="other", inner="json.dump",
    )  # fmt: skip
    rows = (
        replace(row, line=8, part="forward", self_ms=0.9),
        replace(row, line=7, samples=4, self_ms=0.8),
        row,
    )
    lines = SourceLines(samples=30, pause_ms=1.0, cost_ms=1.0, rows=rows)
    found = finding(replace(context({"other": 0.4}, on_host=True), lines=lines))
    named = {one.name: one.value for one in found.evidence}
    assert named["line that holds most of it"] == "/x/train.py(9): log(x)"
    assert named["time of that line per steady step"] == 0.25
    assert "Most of it is spent at line 9 of train.py, in json.dump:" in found.action
    less = replace(lines, rows=(replace(row, self_ms=0.1),))
    long = context({"other": 0.4}, on_host=True, spread={"median_ns": 9_000_000.0})
    found = finding(replace(long, lines=less))
    assert found.action.startswith("The largest piece of it is spent at line 9")
    without = finding(context({"other": 0.4}, on_host=True))
    assert "line that holds most of it" not in {one.name for one in without.evidence}


def test_steps_that_are_tiny_are_not_told_to_log_less():
    lines = SourceLines(samples=30, pause_ms=1.0, cost_ms=1.0, rows=())
    seen = context({"other": 0.4}, on_host=True, spread={"median_ns": 900_000.0})
    found = finding(replace(seen, lines=lines))
    assert "The step is so short" in found.action
    assert found.snippet == ""
    calling = SourceLines(samples=30, pause_ms=1.0, cost_ms=1.0, rows=(ROW,))
    found = finding(replace(seen, lines=calling))
    assert "The step is so short" in found.action
    assert "line that holds most of it" not in {one.name for one in found.evidence}
    longer = context({"other": 0.4}, on_host=True, spread={"median_ns": 9_000_000.0})
    for other in (replace(longer, lines=lines), seen):
        assert "The step is so short" not in finding(other).action
