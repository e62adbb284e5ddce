"""Generated jobs of many ranks, with clocks that differ by up to 50 ms among hosts: truth is found again."""

from __future__ import annotations

import pytest

from stepscope import analyze
from tests.job.made import Made, build, write

CAUSES = {
    "input": "waits for its data",
    "compute": "computes on the device",
    "host": "Python and launches",
}


def compared(report):
    """What the report says about the job."""
    assert report.job is not None
    return report.job


def late_in(report):
    """The rank that caused most of the waiting."""
    found = compared(report).straggler
    assert found is not None
    return found


def straggler(report):
    found = [one for one in report.findings if one.code == "SG001"]
    return found[0] if found else None


@pytest.mark.parametrize("kind", CAUSES)
def test_the_slow_rank_of_eight_and_its_cause_are_named(tmp_path, kind):
    report = analyze([write(Made(8, per_host=2, slow=(5,), kind=kind), tmp_path)])
    finding = straggler(report)
    assert finding is not None
    assert finding.rank == 5
    assert CAUSES[kind] in finding.action
    late = late_in(report)
    assert (late.rank, late.steps, late.all_steps, late.pattern) == (5, 6, 6, "constant")
    assert late.loss_ms == pytest.approx(10, abs=0.5)
    assert late.host == "node02"


def test_clocks_are_aligned_and_their_uncertainty_is_stated(tmp_path):
    report = analyze([write(Made(8, per_host=2, slow=(5,), kind="host"), tmp_path)])
    offsets = [clock.offset_ms for clock in compared(report).clocks]
    assert len(offsets) == 4
    assert offsets[0] == 0
    assert max(offsets) - min(offsets) > 10, "the clocks did differ"
    assert compared(report).clock_uncertainty_ms < 0.01


def test_nobody_is_named_when_nobody_is_slow(tmp_path):
    report = analyze([write(Made(8, per_host=2), tmp_path)])
    assert straggler(report) is None
    late = compared(report).straggler
    assert late is None or not late.is_named


def test_lateness_that_grows_is_called_drifting(tmp_path):
    job = Made(4, slow=(1,), kind="compute", slow_ms=tuple(range(2, 26, 2)), steps=12)
    assert late_in(analyze([write(job, tmp_path)])).pattern == "drifting"


def test_lateness_in_a_few_steps_is_called_irregular(tmp_path):
    job = Made(4, slow=(1,), kind="host", slow_ms=(0, 0, 25), steps=12)
    late = late_in(analyze([write(job, tmp_path)]))
    assert (late.rank, late.pattern, late.steps) == (1, "irregular", 4)


def test_a_slow_host_is_named_when_its_ranks_are_late_together(tmp_path):
    job = Made(8, per_host=2, slow=(4, 5), kind="compute", steps=8)
    late = late_in(analyze([write(job, tmp_path)]))
    assert late.node == "node02"
    assert late.is_named
    assert late.loss_ms == pytest.approx(10, abs=1)


def test_a_rank_that_waited_in_another_group_is_not_to_blame(tmp_path):
    report = analyze([write(Made(8, per_host=4, slow=(3,), kind="compute", pairs=True), tmp_path)])
    late = late_in(report)
    assert (late.rank, late.is_named, late.cause) == (3, True, "compute")
    assert {row.ranks for row in compared(report).collectives} == {2, 8}
    assert late.loss_ms == pytest.approx(10, abs=0.5), (
        "its partner, whom it held up, hides none of it"
    )
    finding = straggler(report)
    assert finding is not None
    assert finding.rank == 3


def test_bandwidth_is_that_of_the_transfer_alone(tmp_path):
    report = analyze([write(Made(4, per_host=2, slow=(1,), kind="host"), tmp_path)])
    (row,) = compared(report).collectives
    assert row.kind == "all-reduce"
    # 100 MB over the 2.05 ms between the last arrival and the end.
    assert row.algorithm_gb_s == pytest.approx(100e6 / 2.05e6, rel=0.02)
    assert row.bus_gb_s == pytest.approx(row.algorithm_gb_s * 2 * 3 / 4)


def test_collectives_outside_the_marked_steps_are_compared_all_the_same(tmp_path):
    job = Made(4, slow=(1,), kind="host")
    for number, trace in enumerate(build(job)):
        text = trace.text()
        for step in range(job.steps):
            text = text.replace(f'ProfilerStep#{step}"', f'other {step}"')
        (tmp_path / f"rank{number}.pt.trace.json").write_text(text)
    late = late_in(analyze([tmp_path]))
    assert (late.rank, late.is_named) == (1, True)


def test_missing_ranks_make_it_abstain(tmp_path):
    write(Made(4, slow=(1,), kind="host"), tmp_path)
    (tmp_path / "rank3.pt.trace.json").unlink()
    report = analyze([tmp_path])
    assert straggler(report) is None
    assert compared(report).straggler is None
    assert any("not there in full" in text for text in compared(report).cannot_tell)


@pytest.mark.slow
@pytest.mark.parametrize("world", [64, 512])
def test_one_slow_rank_among_many_is_named(tmp_path, world):
    job = Made(world, slow=(world - 3,), kind="input", steps=4)
    report = analyze([write(job, tmp_path)])
    finding = straggler(report)
    assert finding is not None
    assert finding.rank == world - 3
    assert late_in(report).cause == "input"
    assert compared(report).clock_uncertainty_ms < 0.01
    assert len(compared(report).clocks) == world // 8
