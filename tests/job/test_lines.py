"""Samples of the training thread's stack laid over the trace of the same window."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from stepscope.analysis import sync
from stepscope.job.digest import digest_of
from stepscope.job.lines import samples_of, source_lines, with_lines
from stepscope.schema.stack_file import CodeLine, SampledStacks, Stack, stack_path, write_stacks
from stepscope.trace.model import Window
from tests.analysis.made import US, call, kernel, note, op, trace

MAIN = CodeLine("/x/train.py", "<module>", 20, "step(batch)", True)
ITEM = CodeLine("/x/train.py", "step", 7, "print(loss.item())", True)
LOG = CodeLine("/x/log.py", "log", 3, "json.dump(state, file)", True)
MODEL = CodeLine("/x/train.py", "step", 5, "loss = model(batch)", True)
CODE = (MAIN, ITEM, LOG, MODEL)
STACKS = (
    Stack((0, 1), ""),
    Stack((0, 2), "json.dump"),
    Stack((0, 3), "torch.nn.functional.linear"),
)


def sampled(*seen):
    """Samples as pairs of a time in microseconds and the number of a stack."""
    at, numbers = zip(*seen, strict=True)
    return SampledStacks(
        begin_ns=0,
        pause_ns=1_000_000,
        cost_ns=50_000,
        own=1,
        code=CODE,
        stacks=STACKS,
        at_ns=tuple(time * US for time in at),
        stack=tuple(numbers),
    )


def recorded(folder, made, *seen):
    """A trace whose recorder has left these samples."""
    path = Path(folder) / "trace-0.pt.trace.json.gz"
    write_stacks(stack_path(path), sampled(*seen))
    windows = tuple(Window(str(path), one.start_ns, one.end_ns) for one in made.windows)
    return replace(made, windows=windows)


def some(made):
    samples = samples_of(made)
    assert samples is not None
    return samples


def on_host():
    """Two steps of 1,000 us on the CPU: 400 of forward, 600 of Python; no operator before the first."""
    hosts = []
    for start in (1000, 2000):
        hosts += [
            note(f"ProfilerStep#{start}", start, start + 1000),
            op("aten::mm", start, start + 400),
        ]
    return trace(hosts, steps=[(1000, 2000), (2000, 3000)], window=(0, 3000))


def waiting():
    """Two steps with an item() and a boolean index, each a call that blocks for 100 us."""
    hosts, devices = [], []
    for start in (1000, 2000):
        hosts += [
            note(f"ProfilerStep#{start}", start, start + 1000),
            op("aten::item", start + 100, start + 210),
            call("cudaStreamSynchronize", start + 110, start + 210),
            op("aten::nonzero", start + 500, start + 610),
            call("cudaStreamSynchronize", start + 510, start + 610),
        ]
        devices += [kernel(start + 50, start + 200), kernel(start + 450, start + 600)]
    return trace(hosts, devices, steps=[(1000, 2000), (2000, 3000)], window=(0, 3000))


def test_time_of_lines_alone_and_with_what_they_call(tmp_path):
    made = recorded(
        tmp_path, on_host(),
        (500, 1), (1200, 2), (1500, 1), (2000, 1), (2200, 2), (2500, 1), (3000, 1),
    )  # fmt: skip
    samples = some(made)
    # The first lies before the steps, the last at their end.
    assert samples.at_ns.tolist() == [1200 * US, 1500 * US, 2000 * US, 2200 * US, 2500 * US]
    assert samples.weight_ns.tolist() == [700 * US, 300 * US, 500 * US, 200 * US, 300 * US]
    found = source_lines(made, samples)
    by_line = {row.line: row for row in found.rows}
    log, model, main = by_line[3], by_line[5], by_line[20]
    assert log.self_frac == pytest.approx(0.55)
    assert log.self_ms == pytest.approx(0.55)
    assert (log.part, log.inner, log.samples) == ("other", "json.dump", 3)
    assert (model.part, model.inner) == ("forward", "torch.nn.functional.linear")
    assert model.self_frac == pytest.approx(0.45)
    assert (main.self_frac, main.samples, main.part) == (0, 0, None)
    assert main.total_frac == pytest.approx(1)
    assert [row.line for row in found.rows] == [3, 5, 20]
    assert (found.samples, found.pause_ms, found.cost_ms) == (5, 1.0, 0.05)


def test_the_line_behind_each_blocking_call_is_that_of_the_samples_in_it(tmp_path):
    seen = [(1150, 0), (1160, 0), (1550, 2), (2150, 0), (2300, 1), (2550, 2)]
    made = recorded(tmp_path, waiting(), *seen)
    before = sync.run(made)
    assert [one.line for one in before.culprits] == [None, None]
    by_operator = {one.operator: one.line for one in with_lines(before, some(made)).culprits}
    assert by_operator == {
        "aten::item": "/x/train.py(7): print(loss.item())",
        "aten::nonzero": "/x/train.py(5): loss = model(batch)",
    }


@pytest.mark.parametrize(
    "seen",
    [[(1150, 0), (1250, 1)], [(1150, 0), (1160, 1), (1170, 2), (2150, 1), (2160, 0), (2170, 2)]],
    ids=["one sample", "as many for others"],
)
def test_no_line_is_named_for_a_call_without_a_clear_one(tmp_path, seen):
    made = recorded(tmp_path, waiting(), *seen)
    item = next(
        one
        for one in with_lines(sync.run(made), some(made)).culprits
        if one.operator == "aten::item"
    )
    assert item.line is None


def test_a_line_that_the_profiler_recorded_stays(tmp_path):
    made = recorded(tmp_path, waiting(), (1150, 2), (1160, 2))
    before = sync.run(made)
    culprits = tuple(replace(one, line="train.py(1): f") for one in before.culprits)
    after = with_lines(replace(before, culprits=culprits), some(made))
    assert {one.line for one in after.culprits} == {"train.py(1): f"}


def test_without_samples_or_a_shared_clock_there_are_no_lines(tmp_path):
    assert samples_of(on_host()) is None
    made = recorded(tmp_path, on_host(), (1500, 1))
    assert samples_of(replace(made, meta=replace(made.meta, clock="relative"))) is None
    assert samples_of(recorded(tmp_path, on_host(), (500, 1))) is None


def test_the_digest_of_a_rank_holds_them_and_keeps_no_call(tmp_path):
    made = recorded(tmp_path, waiting(), (1150, 0), (2150, 0))
    digest = digest_of(made)
    assert digest.report.lines is not None
    assert digest.report.lines.rows[0].text == ITEM.text
    assert digest.results.sync.culprits[0].line is not None
    assert digest.results.sync.calls == ()
    assert digest_of(waiting()).report.lines is None
