"""The comparison of ranks, in the terminal and in the page."""

from __future__ import annotations

import io

import pytest
from msgspec.structs import replace

from stepscope.report import saved
from stepscope.report.html import render
from stepscope.report.html.heat import MOST_STEPS, heat_of
from stepscope.report.job_words import straggler_words
from stepscope.report.terminal import print_report
from stepscope.schema.report import (
    BucketRow,
    CollectiveRow,
    HostClock,
    JobReport,
    LateRow,
    OutlierRow,
    OverlapRow,
    PathShare,
    PipelineReport,
    StageRow,
    StragglerRow,
)
from tests.report import examples

HOSTILE = "<script>alert(1)</script>\x1b[31m[red]"

STRAGGLER = StragglerRow(
    rank=1,
    is_named=True,
    host="node01",
    device="NVIDIA A100",
    node=None,
    share=0.97,
    times=12,
    steps=6,
    all_steps=6,
    pattern="constant",
    loss_ms=10.2,
    loss_frac=0.31,
    cause="input",
    comparison="",
)


def job(ranks=3, steps=4, group="0", straggler=STRAGGLER):
    return JobReport(
        ranks=tuple(range(ranks)),
        steps=tuple(range(steps)),
        wait_ms=tuple((0.0,) * steps if rank == 1 else (10.0,) * steps for rank in range(ranks)),
        own_ms=tuple((30.0,) * steps if rank == 1 else (20.0,) * steps for rank in range(ranks)),
        clocks=(
            HostClock(host="node00", ranks=2, offset_ms=0.0),
            HostClock(host="node01", ranks=1, offset_ms=42.0),
        ),
        clock_uncertainty_ms=0.02,
        collectives=(
            CollectiveRow(
                group=group,
                description="",
                kind="all-reduce",
                ranks=ranks,
                count=4,
                waiting_ms=80.0,
                transfer_ms=8.0,
                exposed_ms=80.0,
                longest_ms=2.1,
                longest_waiting_ms=10.0,
                bytes=400_000_000,
                algorithm_gb_s=48.8,
                bus_gb_s=65.1,
            ),
        ),
        late=(
            LateRow(
                step=2,
                kind="all-reduce",
                group=group,
                rank=2,
                culprit=1,
                late_ms=10.1,
                cause="input",
            ),
        ),
        outliers=(OutlierRow(rank=1, part="input", ms=10.0, median_ms=0.1),),
        path=(PathShare(rank=1, share=0.9), PathShare(rank=None, share=0.1)),
        straggler=straggler,
        cannot_tell=("3 calls have no partner on another rank.",),
        overlap=(
            OverlapRow(
                group=group,
                description="",
                ranks=ranks,
                calls=2.0,
                ms=20.0,
                exposed_ms=5.0,
                hidden_frac=0.75,
            ),
        ),
        buckets=tuple(
            BucketRow(
                group=group,
                description="",
                kind="all-reduce",
                number=number,
                of=2,
                bytes=25_000_000,
                ms=10.0,
                exposed_ms=exposed,
                waiting_ms=None,
                hidden_frac=1 - exposed / 10,
            )
            for number, exposed in ((1, 1.0), (2, 4.0))
        ),
        pipeline=PipelineReport(
            share=0.43,
            stages=(
                StageRow(stage=0, ranks=(0,), bubble_ms=45.0, share=0.43),
                StageRow(stage=1, ranks=(1, 2), bubble_ms=35.0, share=0.33),
            ),
        ),
    )


def text_of(report):
    out = io.StringIO()
    print_report(report, out)
    return " ".join(out.getvalue().split())


def report_with(made):
    return replace(examples.many_ranks(3), job=made)


def test_the_text_names_the_late_rank_its_cause_and_what_it_costs():
    text = text_of(report_with(job()))
    for words in (
        "rank 1 on node01 caused 97 % of the waiting, to blame in 6 of 6 steps",
        "the job loses 10.2 ms a step by it (31 %)",
        "longer than the others in: input",
        "step 2: rank 2 comes 10.1 ms late to an all-reduce, after more input, held up by rank 1",
        "rank 1 90 %, transfer 10 %",
        "2 hosts, up to 42.0 ms apart",
        "Stands out rank 1: input 10.0 ms a step, median 100 µs",
        "3 calls have no partner",
        "65.1",
        "Overlap group 0: 75 % of 20.0 ms a step is hidden, 5.00 ms has nothing beside it",
        "all-reduce by message of a step, exposed: 2 of 2 4.00 ms of 10.0 ms, 1 of 2 1.00 ms",
        "Pipeline bubbles hold 43 %; a step: stage 0 45.0 ms (43 %), stage 1 35.0 ms (33 %)",
    ):
        assert words in text


def test_first_calls_are_said_where_lateness_is_theirs():
    made = job(straggler=replace(STRAGGLER, first_call_ms=8.0, all_steps=0, steps=0))
    made = replace(made, late=(replace(made.late[0], first_call_ms=8.0),))
    text = text_of(report_with(made))
    assert "(31 % of it without first calls)" in text
    assert "8.00 ms of its lateness are first calls, which a steady step does not make" in text
    assert "after more input (8.00 ms of it first calls)" in text


def test_the_page_tells_overlap_messages_and_bubbles():
    page = render(report_with(job()))
    for words in (
        "Messages of a step: hidden and exposed",
        "all-reduce 2 of 2",
        "75 % of 20.0 ms a step is hidden",
        "Bubbles hold 43 %",
    ):
        assert words in page
    bare = replace(job(), buckets=(), overlap=(), pipeline=None)
    assert "Messages of a step" not in render(report_with(bare))


def test_without_a_comparison_there_is_no_section():
    assert "Ranks compared" not in text_of(examples.many_ranks(3))
    assert 'id="job"' not in render(examples.many_ranks(3))


@pytest.mark.parametrize(
    ("straggler", "words"),
    [
        (None, "no rank, beyond what the clocks leave uncertain"),
        (replace(STRAGGLER, is_named=False), "no rank stands out; most often it is rank 1"),
        (replace(STRAGGLER, node="node01"), "the ranks of node01 caused"),
        (replace(STRAGGLER, all_steps=0, steps=0), "ms in the window"),
    ],
)
def test_who_is_late_is_said_or_that_nobody_is(straggler, words):
    assert words in straggler_words(job(straggler=straggler))


def test_the_page_draws_a_cell_for_each_rank_and_step():
    page = render(report_with(job()))
    assert page.count("<rect x=") == 12
    assert "rank 1, step 0: own 30.0 ms, waiting 0.00 ms" in page


def test_many_ranks_and_steps_are_cut_to_those_with_most_time_of_their_own():
    heat = heat_of(job(ranks=600, steps=100))
    assert heat is not None
    assert len(heat.steps) == MOST_STEPS
    assert len(heat.ranks) == 100
    assert 1 in heat.ranks
    assert heat.left_out == 500
    assert heat_of(job(steps=0)) is None


def test_names_of_groups_and_hosts_are_foreign_text():
    made = job(group=HOSTILE, straggler=replace(STRAGGLER, host=HOSTILE, comparison=HOSTILE))
    page, text = render(report_with(made)), text_of(report_with(made))
    assert "<script>alert" not in page.replace("<script>{", "")
    assert "\x1b" not in text
    assert "\\x1b[31m[red]" in text


def test_it_survives_saving(tmp_path):
    report = report_with(job())
    saved.save(report, tmp_path / "report.json")
    assert saved.load(tmp_path / "report.json").job == report.job
