"""Runs of which only step times are known: who is named, by what, and when nobody is."""

from __future__ import annotations

import random

import pytest

from stepscope.errors import InputError
from stepscope.job.light import light_report
from stepscope.report.light_text import light_text
from stepscope.schema.light import EXACT_STEPS, LIGHT_NAME, load_light
from tests.job.light_made import made_run, own_parts, write_rank
from tests.known import known


def slowed(late, part, us, when=lambda _: True):
    """What ranks do when one is slower in a part of some steps."""

    def doing(rank, number):
        parts = own_parts()
        if rank == late and when(number):
            parts[part] = parts.get(part, 0) + us
        return parts

    return doing


@pytest.mark.parametrize("width", [1, 16])
@pytest.mark.parametrize("ranks", [2, 8])
@pytest.mark.parametrize(
    ("part", "cause"),
    [
        ("input", "input"),
        ("forward", "compute"),
        ("backward", "compute"),
        ("optimizer", "compute"),
        ("host", "host"),
        ("apart", "evaluation or checkpoint"),
    ],
)
def test_the_late_rank_and_its_cause_are_named(tmp_path, part, cause, ranks, width):
    made_run(tmp_path, ranks, 800, slowed(1, part, 6_000), width=width)
    report = light_report(tmp_path)
    late = known(report.straggler)
    assert (late.rank, late.is_named, late.cause, report.cause) == (1, True, part, cause)
    assert late.pattern == "constant"
    assert report.excess_ms[part] == pytest.approx(6.0, rel=0.1)
    assert late.loss_ms == pytest.approx(6.0, rel=0.1)
    assert report.cannot_tell == ()


def test_every_rank_has_the_same_length_and_is_told_by_its_waiting(tmp_path):
    made_run(tmp_path, 2, 400, slowed(0, "input", 6_000))
    first, second = light_report(tmp_path).ranks
    assert first.mean_ms == second.mean_ms
    assert first.parts_ms["sync"] < 1 < second.parts_ms["sync"]
    assert sum(first.parts_ms.values()) == pytest.approx(first.mean_ms)


@pytest.mark.parametrize("ranks", [2, 8])
def test_nobody_is_named_where_all_are_alike(tmp_path, ranks):
    made_run(tmp_path, ranks, 2000, lambda *_: own_parts())
    late = light_report(tmp_path).straggler
    assert late is None or not late.is_named


@pytest.mark.parametrize("seed", range(5))
def test_nobody_is_named_where_ranks_are_late_by_turns(tmp_path, seed):
    draw = random.Random(seed)
    turns = [draw.randrange(4) for _ in range(600)]
    doing = lambda rank, number: own_parts(host=9_000 if turns[number] == rank else 1_000)  # noqa: E731
    made_run(tmp_path, 4, 600, doing, seed=seed)
    report = light_report(tmp_path)
    assert not known(report.straggler).is_named
    assert report.cause is None
    assert known(report.waiting_ms) > 5
    assert "no rank stands out" in light_text(report)


def test_nobody_is_named_for_a_part_of_the_run(tmp_path):
    made_run(tmp_path, 2, 800, slowed(1, "host", 9_000, lambda number: 300 <= number < 500))
    assert not known(light_report(tmp_path).straggler).is_named


def test_a_rank_that_is_slow_from_some_step_on_is_named(tmp_path):
    made_run(tmp_path, 2, 800, slowed(1, "forward", 9_000, lambda number: number >= 390))
    late = known(light_report(tmp_path).straggler)
    assert (late.rank, late.is_named, late.cause) == (1, True, "forward")


def test_a_rank_that_becomes_slower_drifts(tmp_path):
    doing = lambda rank, number: own_parts(input=rank * number * 20)  # noqa: E731
    made_run(tmp_path, 2, 800, doing)
    late = known(light_report(tmp_path).straggler)
    assert (late.rank, late.is_named, late.pattern) == (1, True, "drifting")


def test_a_rank_that_is_late_now_and_then_is_irregular(tmp_path):
    draw = random.Random(0)
    chosen = {number for number in range(800) if draw.random() < 0.5}
    made_run(tmp_path, 2, 800, slowed(1, "input", 9_000, chosen.__contains__))
    late = known(light_report(tmp_path).straggler)
    assert (late.rank, late.is_named, late.pattern) == (1, True, "irregular")
    assert late.steps < late.all_steps


def test_one_very_long_step_hides_no_late_rank(tmp_path):
    steady = slowed(1, "forward", 6_000)

    def doing(rank, number):
        parts = steady(rank, number)
        return {**parts, "host": 5_000_000} if (rank, number) == (1, 333) else parts

    made_run(tmp_path, 2, 800, doing)
    report = light_report(tmp_path)
    assert (known(report.straggler).rank, known(report.straggler).is_named) == (1, True)
    assert report.cause == "compute"
    # What the job loses holds the long step in full: 5 s over 790 steps.
    assert known(report.straggler).loss_ms == pytest.approx(6.0 + 5000 / 790, rel=0.1)


def test_small_lateness_is_not_worth_a_name(tmp_path):
    made_run(tmp_path, 2, 800, slowed(1, "forward", 600))
    late = known(light_report(tmp_path).straggler)
    assert not late.is_named
    assert 0 < late.share <= 1


def test_an_accelerator_hides_who_computes_longer(tmp_path):
    made_run(tmp_path, 2, 800, slowed(1, "forward", 9_000), device="cuda")
    report = light_report(tmp_path)
    assert report.straggler is None
    assert "record a trace" in report.cannot_tell[0]
    assert "Not told" in light_text(report)


def test_on_an_accelerator_a_rank_that_waits_for_data_is_named(tmp_path):
    made_run(tmp_path, 2, 800, slowed(1, "input", 9_000), device="cuda")
    report = light_report(tmp_path)
    assert (known(report.straggler).rank, known(report.straggler).is_named, report.cause) == (
        1,
        True,
        "input",
    )


def test_ranks_that_do_not_meet_are_not_compared(tmp_path):
    made_run(tmp_path / "a", 1, 400, lambda *_: own_parts(), sync=0)
    made_run(tmp_path / "b", 1, 400, lambda *_: own_parts(forward=9_000), sync=0)
    for rank, name in enumerate("ab"):
        rows = known(load_light(tmp_path / name / "rank0" / LIGHT_NAME)).rows
        write_rank(tmp_path / "both", rank, 2, rows)
    report = light_report(tmp_path / "both")
    assert report.straggler is None
    assert "No waiting in collectives" in report.cannot_tell[0]


def test_ranks_whose_steps_differ_in_length_are_not_compared(tmp_path):
    made_run(tmp_path / "a", 1, 400, lambda *_: own_parts())
    made_run(tmp_path / "b", 1, 400, lambda *_: own_parts(forward=9_000))
    for rank, name in enumerate("ab"):
        rows = known(load_light(tmp_path / name / "rank0" / LIGHT_NAME)).rows
        write_rank(tmp_path / "both", rank, 2, rows)
    report = light_report(tmp_path / "both")
    assert report.straggler is None
    assert "differ in length" in report.cannot_tell[0]


def test_few_steps_name_nobody(tmp_path):
    made_run(tmp_path, 2, 15, slowed(1, "input", 50_000))
    report = light_report(tmp_path)
    assert report.straggler is None
    assert report.cannot_tell == (
        "The ranks have 5 steady steps in common, too few to call one late.",
    )


def test_the_ranks_of_one_machine_are_late_together(tmp_path):
    doing = lambda rank, _: own_parts(host=9_000 if rank in (2, 3) else 1_000)  # noqa: E731
    made_run(tmp_path / "raw", 6, 400, doing)
    for rank in range(6):
        rows = known(load_light(tmp_path / "raw" / f"rank{rank}" / LIGHT_NAME)).rows
        write_rank(tmp_path / "run", rank, 6, rows, host=f"node{rank // 2}")
    late = known(light_report(tmp_path / "run").straggler)
    assert (late.node, late.is_named) == ("node1", True)


def test_a_rank_that_died_is_said_and_the_rest_is_compared(tmp_path):
    made_run(tmp_path, 4, 800, slowed(1, "input", 6_000), ended=[(3, 500)])
    report = light_report(tmp_path)
    (said,) = report.notices
    assert said.startswith("Rank 3 on node01 ended without a word after step 500, ")
    assert (known(report.straggler).rank, known(report.straggler).is_named) == (1, True)
    assert report.compared_steps == 491
    assert [rank.ended for rank in report.ranks] == [True, True, True, False]


def test_a_rank_without_steps_is_missing(tmp_path):
    made_run(tmp_path, 4, 800, slowed(1, "input", 6_000))
    (tmp_path / "rank2" / LIGHT_NAME).write_text("")
    report = light_report(tmp_path)
    assert report.notices == ("1 of 4 ranks left no steps: 2.",)
    assert known(report.straggler).rank == 1


def test_a_job_that_was_killed_is_said(tmp_path):
    made_run(tmp_path, 2, 800, lambda *_: own_parts(), ended=[(0, 799), (1, 799)])
    assert light_report(tmp_path).notices == (
        "No rank came to its end: the job was killed, or it is still running.",
    )


def test_a_folder_without_steps(tmp_path):
    with pytest.raises(InputError, match="no rank of this run left a whole step"):
        light_report(tmp_path)


def test_rows_of_different_widths_fit_into_each_other(tmp_path):
    made_run(tmp_path / "fine", 2, 4096, slowed(1, "input", 6_000), width=8)
    made_run(tmp_path / "coarse", 2, 4096, slowed(1, "input", 6_000), width=64)
    for rank, name in enumerate(("coarse", "fine")):
        rows = known(load_light(tmp_path / name / f"rank{rank}" / LIGHT_NAME)).rows
        write_rank(tmp_path / "run", rank, 2, rows)
    report = light_report(tmp_path / "run")
    # The first block holds first-call work.
    assert report.compared_steps == 4096 - 64
    assert (known(report.straggler).rank, known(report.straggler).all_steps) == (1, 4096 - 64)


def test_the_slowest_step_is_told_with_its_part(tmp_path):
    doing = lambda rank, number: own_parts(input=90_000 if (rank, number) == (1, 777) else 0)  # noqa: E731
    made_run(tmp_path, 2, 1000, doing, width=16)
    report = light_report(tmp_path)
    slow = report.slowest[0]
    assert (slow.rank, slow.number, slow.part) == (1, 777, "input")
    assert slow.ms == pytest.approx(106.5, rel=0.03)
    assert "step 777 took 1" in light_text(report)


def test_steps_that_become_longer_have_a_trend(tmp_path):
    made_run(tmp_path, 1, EXACT_STEPS, lambda _, number: own_parts(host=1_000 + 10 * number))
    (rank,) = light_report(tmp_path).ranks
    assert rank.trend_frac == pytest.approx(0.4, abs=0.1)
    assert "longer at the end than at the beginning" in light_text(light_report(tmp_path))


def test_foreign_text_cannot_drive_the_terminal(tmp_path):
    made_run(tmp_path / "raw", 2, 400, slowed(1, "input", 6_000))
    for rank in range(2):
        rows = known(load_light(tmp_path / "raw" / f"rank{rank}" / LIGHT_NAME)).rows
        write_rank(tmp_path / "run", rank, 2, rows, host="n\x1b[31m", complete=rank == 0)
    text = light_text(light_report(tmp_path / "run"))
    assert "\x1b" not in text
    assert "n\\x1b[31m" in text
