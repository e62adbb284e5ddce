"""Communication hidden and exposed, bubbles and the critical path, in made jobs whose truth follows from their making."""

from __future__ import annotations

import pytest

from stepscope import analyze
from stepscope.report.job_words import bucket_words, overlap_words, pipeline_words
from stepscope.testing import A100, Group, Setup, TraceBuilder

MS = 1_000_000
MATMUL = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
STEPS = 4


def ranks_of(world):
    return [
        TraceBuilder(
            Setup(rank=rank, world_size=world, gpus=(A100,) * world, device=rank, pid=4000 + rank)
        )
        for rank in range(world)
    ]


def meet(traces, group, ns):
    """An all-reduce that takes so long from the last arrival on; the ends on each rank."""
    arrivals = [trace.launch(MATMUL, 1_000) for trace in traces]
    end = max(arrivals) + 20_000 + ns
    for trace in traces:
        trace.collective("allreduce", 1_000_000, 1_000, group=group, until_ns=end)
        trace.wait_for_communication()


def in_steps(traces, do, folder):
    """The report of a job whose ranks do the same in each step."""
    for number in range(STEPS):
        steps = [trace.step(number) for trace in traces]
        for step in steps:
            step.__enter__()
        do()
        for trace in traces:
            trace.item()
        for step in steps:
            step.__exit__(None, None, None)
    for rank, trace in enumerate(traces):
        trace.write(folder / f"rank{rank}.pt.trace.json")
    job = analyze([folder]).job
    assert job is not None
    return job


def buckets(traces, behind_ms):
    """A backward pass with a bucket in its middle, beside which compute goes on for so long, and one at its end."""

    def do():
        for trace in traces:
            trace.launch(MATMUL, 10 * MS)
            trace.collective("allreduce", 2_000_000, 8 * MS)
            trace.launch(MATMUL, behind_ms * MS)
            trace.wait_for_communication()
            trace.collective("allreduce", 500_000, 4 * MS)
            trace.wait_for_communication()
            trace.launch(MATMUL, MS)

    return do


@pytest.mark.parametrize(("behind_ms", "hidden"), [(20, 1.0), (2, 0.25)])
def test_each_bucket_tells_what_of_it_is_hidden(tmp_path, behind_ms, hidden):
    traces = ranks_of(2)
    job = in_steps(traces, buckets(traces, behind_ms), tmp_path)
    first, last = job.buckets
    assert [(row.number, row.of, row.kind) for row in job.buckets] == [
        (1, 2, "all-reduce"),
        (2, 2, "all-reduce"),
    ]
    assert (first.bytes, last.bytes) == (8_000_000, 2_000_000)
    assert first.ms == pytest.approx(8, abs=0.01)
    assert first.hidden_frac == pytest.approx(hidden, abs=0.01)
    assert first.exposed_ms == pytest.approx(8 * (1 - hidden), abs=0.05)
    assert (last.hidden_frac, last.exposed_ms) == pytest.approx((0, 4), abs=0.01)
    (group,) = job.overlap
    assert (group.ranks, group.calls) == (2, 2)
    assert group.ms == pytest.approx(12, abs=0.02)
    assert group.hidden_frac == pytest.approx(8 * hidden / 12, abs=0.01)
    assert "of 12.0 ms a step is hidden" in overlap_words(group, "a step")
    assert "2 of 2 4.00 ms of 4.00 ms" in bucket_words(job.buckets)


def test_one_message_a_step_is_no_bucket(tmp_path):
    traces = ranks_of(2)
    job = in_steps(traces, lambda: meet(traces, Group(ranks=(0, 1)), MS), tmp_path)
    assert job.buckets == ()
    assert job.pipeline is None
    assert [row.calls for row in job.overlap] == [1]


STAGES, MICRO, FORWARD, BACKWARD, MESSAGE = 4, 4, 5 * MS, 10 * MS, 50_000


def stages(traces):
    """GPipe: all forward passes, then all backward passes, each stage waiting for its neighbours' messages."""

    def message(sender, receiver, name, done):
        pair = Group(name=f"pp{min(sender, receiver)}", ranks=tuple(sorted((sender, receiver))))
        if name == "recv":
            traces[receiver].collective(name, 10_000, MESSAGE, group=pair, until_ns=done + MESSAGE)
            traces[receiver].wait_for_communication()
        else:
            traces[sender].collective(name, 10_000, MESSAGE, group=pair)

    def one_pass(order, ns):
        for _ in range(MICRO):
            done = 0
            for at, stage in enumerate(order):
                if at:
                    message(order[at - 1], stage, "recv", done)
                done = traces[stage].launch(MATMUL, ns)
                if at < len(order) - 1:
                    message(stage, order[at + 1], "send", done)

    def do():
        one_pass(range(STAGES), FORWARD)
        one_pass(range(STAGES)[::-1], BACKWARD)
        meet(traces, Group(name="world", ranks=tuple(range(STAGES))), MS)

    return do


def test_bubbles_are_those_of_the_schedule(tmp_path):
    traces = ranks_of(STAGES)
    found = in_steps(traces, stages(traces), tmp_path).pipeline
    assert found is not None
    assert [(row.stage, row.ranks) for row in found.stages] == [(n, (n,)) for n in range(STAGES)]
    # Until its first micro-batch comes, and from its last forward pass to the first gradient.
    truth = [(n * FORWARD + (STAGES - 1 - n) * (FORWARD + BACKWARD)) / MS for n in range(STAGES)]
    assert [row.bubble_ms for row in found.stages] == pytest.approx(truth, abs=1)
    step_ms = (MICRO + STAGES - 1) * (FORWARD + BACKWARD) / MS
    assert [row.share for row in found.stages] == pytest.approx(
        [ms / step_ms for ms in truth], abs=0.03
    )
    assert found.share == pytest.approx(sum(truth) / STAGES / step_ms, abs=0.03)
    assert "stage 3 1" in pipeline_words(found, "a step")


def test_the_path_goes_over_from_group_to_group_to_the_rank_that_all_wait_for(tmp_path):
    """Rank 2 waits for rank 1, which has waited for rank 0, and no group holds them all."""
    traces = ranks_of(3)
    left, right = Group(name="left", ranks=(0, 1)), Group(name="right", ranks=(1, 2))

    def do():
        traces[0].launch(MATMUL, 20 * MS)
        meet(traces[:2], left, 2 * MS)
        traces[1].launch(MATMUL, 10 * MS)
        meet(traces[1:], right, 3 * MS)

    job = in_steps(traces, do, tmp_path)
    shares = {one.rank: one.share for one in job.path}
    # Back from the last meeting: rank 1's 10 ms once, and rank 0's 20 ms between its own meetings.
    work = {0: 20 * (STEPS - 1), 1: 10}
    transfer = 3 + 2 * STEPS
    total = sum(work.values()) + transfer
    assert shares[0] == pytest.approx(work[0] / total, abs=0.03)
    assert shares[1] == pytest.approx(work[1] / total, abs=0.03)
    assert shares[None] == pytest.approx(transfer / total, abs=0.03)
    assert sum(shares.values()) == pytest.approx(1)
    assert shares.get(2, 0) == 0
