"""Steps that were timed beside a watch: read, told, and used by the rules."""

import pytest
from msgspec.structs import replace

from stepscope.schema.light import EXACT_STEPS
from stepscope.schema.run_folder import STEPS_HEADER, StepRow
from stepscope.watch.during import During
from stepscope.watch.during.figures import per_step
from stepscope.watch.steps import steps_of
from stepscope.watch.summary import summarise
from stepscope.watch.summary_text import step_lines
from tests.job.light_made import made_run, own_parts
from tests.known import known
from tests.watch.rows import watched


def late_input(rank, number):
    """Rank 1 waits for data a quarter of the time, and once for very long."""
    if rank == 0:
        return own_parts()
    return own_parts(input=90_000 if number == 700 else 5_000)


@pytest.fixture
def summary(tmp_path):
    made_run(tmp_path, 2, 1000, late_input)
    return replace(summarise([watched()]), steps=steps_of(tmp_path))


def test_the_steps_of_all_ranks(summary):
    use = summary.steps
    assert (use.ranks, use.steps, use.slowest_step) == (2, 1000, 700)
    assert use.median_ms == pytest.approx(21.5, rel=0.02)
    assert use.slowest_ms == pytest.approx(106.5, rel=0.02)
    assert use.per_s == pytest.approx(46.3, rel=0.02)
    # Half of the ranks wait 5 of 21.5 ms.
    assert use.wait_frac == pytest.approx(0.117, rel=0.05)


def test_the_summary_tells_them(summary):
    first, second = step_lines(summary)
    assert first.startswith("Steps    1,000 of training, 46.")
    assert "slowest 10" in first
    assert "(step 700 on rank 1)" in first
    assert "wait for the DataLoader" in second
    assert step_lines(replace(summary, steps=None)) == []


def test_memory_that_grows_is_told_by_the_step(summary):
    growth = 2e6 * summary.steps.per_s
    nodes = tuple(replace(node, rss_growth_bytes_per_s=growth) for node in summary.nodes)
    grown = replace(summary, nodes=nodes)
    assert "memory grows by 2.00 MB a step" in step_lines(grown)[1]
    assert per_step(During(summary=grown, steps=1000), growth) == pytest.approx(2e6)


def test_steps_that_become_longer_are_told(tmp_path):
    made_run(tmp_path, 1, EXACT_STEPS, lambda _, number: own_parts(host=1_000 + 10 * number))
    told = step_lines(replace(summarise([watched()]), steps=steps_of(tmp_path)))
    assert "longer at the end than at the beginning" in told[0]
    assert "on rank" not in told[0]


def test_rules_judge_by_what_steps_waited(summary, tmp_path):
    seen = During.of(summary, tmp_path / "elsewhere")
    assert (seen.steps, seen.wait_frac) == (1000, summary.steps.wait_frac)


def test_steps_of_a_full_recording_are_read_too(tmp_path):
    own = tmp_path / "rank0"
    own.mkdir()
    rows = [StepRow(n, "later", n * 10**7, 10**7, 2 * 10**6) for n in range(200)]
    (own / "steps.csv").write_text(STEPS_HEADER + "".join(row.line() for row in rows))
    use = known(steps_of(tmp_path))
    assert (use.ranks, use.steps, use.median_ms) == (1, 200, 10.0)
    assert use.wait_frac == pytest.approx(0.2)


def test_a_folder_without_steps_has_none(tmp_path):
    assert steps_of(tmp_path) is None
