"""Which calls are the same collective, and one clock for all ranks."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from stepscope.job.clocks import align
from stepscope.job.digest import digest_of
from stepscope.job.grouping import all_calls
from stepscope.job.matching import match
from stepscope.job.waits import split
from stepscope.trace.collectives import element_bytes, kind_of
from stepscope.trace.process_groups import ProcessGroup, process_groups
from tests.analysis.made import US, kernel, note, trace


def call(start, end, name="allreduce", group="0", size=2, **more):
    more = {"collective": name, "group_name": group, "group_size": size, **more}
    return kernel(start, end, is_communication=True, **more)


def rank(number, calls, *, world=2, steps=(), groups=(), host=None):
    hosts = [note(f"ProfilerStep#{n}", start, end) for n, (start, end) in enumerate(steps)]
    made = trace(
        hosts,
        calls,
        steps=steps,
        window=(0, 1000),
        rank=number,
        world_size=world,
        rank_source="collective",
    )
    meta = replace(made.meta, groups=groups, host_name=host)
    return digest_of(replace(made, meta=meta))


def starts(matched):
    """Start of each call in microseconds by collective, in order of rank."""
    rows = matched.calls.sort("match", "place")
    return [
        (frame["start_ns"] // US).to_list()
        for _, frame in rows.group_by("match", maintain_order=True)
    ]


def test_sequence_numbers_match_windows_that_begin_at_different_calls():
    one = rank(0, [call(0, 10, sequence=7), call(20, 30, sequence=8)])
    two = rank(1, [call(20, 30, sequence=8), call(40, 50, sequence=9)])
    matched = match(all_calls([one, two]))
    assert starts(matched) == [[20, 20]]
    assert matched.unmatched == 2


def test_steps_match_calls_without_numbers():
    one = rank(0, [call(110, 120), call(210, 220)], steps=[(0, 100), (100, 200), (200, 300)])
    two = rank(
        1, [call(10, 20), call(111, 120), call(211, 220)], steps=[(0, 100), (100, 200), (200, 300)]
    )
    assert starts(match(all_calls([one, two]))) == [[110, 111], [210, 211]]


def test_calls_behind_a_step_belong_to_it_and_to_the_step_that_asked_for_them():
    steps = [(0, 100), (150, 250)]
    late = rank(0, [call(110, 120), call(300, 310), call(900, 910)], steps=steps)
    assert late.results.collectives.calls["step"].to_list() == [0, 1, None]


def test_order_matches_calls_without_numbers_and_steps_only_when_counts_agree():
    one, two = rank(0, [call(0, 10), call(20, 30)]), rank(1, [call(1, 10), call(21, 30)])
    assert starts(match(all_calls([one, two]))) == [[0, 1], [20, 21]]
    assert starts(match(all_calls([one, rank(1, [call(1, 10)])]))) == []


def test_a_message_of_another_size_is_another_collective():
    big = {"collective_elements": 100, "collective_dtype": "Float", "sequence": 1}
    small = {**big, "collective_elements": 99}
    assert (
        starts(match(all_calls([rank(0, [call(0, 9, **big)]), rank(1, [call(0, 9, **small)])])))
        == []
    )
    uneven = [
        rank(0, [call(0, 9, "allgather", **big)]),
        rank(1, [call(0, 9, "allgather", **small)]),
    ]
    assert starts(match(all_calls(uneven))) == [[0, 0]]


def test_groups_of_one_name_are_told_apart_by_their_members():
    pairs = (ProcessGroup("1", "tp", (0, 1)), ProcessGroup("1", "tp", (2, 3)))
    ranks = [rank(n, [call(n, 10, group="1")], world=4, groups=(pairs[n // 2],)) for n in range(4)]
    found = all_calls(ranks)
    assert [group.places for group in found.groups] == [(0, 1), (2, 3)]
    assert starts(match(found)) == [[0, 1], [2, 3]]


def test_a_group_with_a_missing_rank_is_not_compared():
    matched = match(all_calls([rank(0, [call(0, 10, size=3)]), rank(1, [call(0, 10, size=3)])]))
    assert starts(matched) == []
    assert [group.size for group in matched.incomplete] == [3]


def test_messages_between_two_ranks_match_in_a_pair_only():
    send, receive = call(0, 10, "send"), call(3, 10, "recv")
    assert starts(match(all_calls([rank(0, [send]), rank(1, [receive])]))) == [[0, 3]]
    three = [rank(n, [call(n, 10, "send", size=3)], world=3) for n in range(3)]
    assert starts(match(all_calls(three))) == []


def test_clocks_are_tied_together_through_groups_that_share_a_rank():
    first = [call(at, at + 10, group="a", sequence=at) for at in (0, 100, 200)]
    second = [call(at + 500, at + 510, group="a", sequence=at) for at in (0, 100, 200)]
    bridge = [call(at + 540, at + 550, group="b", sequence=at) for at in (0, 100, 200)]
    third = [call(at + 40, at + 50, group="b", sequence=at) for at in (0, 100, 200)]
    ranks = [
        rank(0, first, world=3, host="x"),
        rank(1, [*second, *bridge], world=3, host="y"),
        rank(2, third, world=3, host="z"),
    ]
    clocks = align(match(all_calls(ranks)).calls, ranks)
    assert clocks.offset_ns.tolist() == [0, 500 * US, 0]
    assert set(clocks.island.tolist()) == {0}


def test_ranks_without_a_collective_between_them_are_not_put_on_one_clock():
    ranks = [rank(n, [call(0, 10, group=f"g{n // 2}")], world=4) for n in range(4)]
    clocks = align(match(all_calls(ranks)).calls, ranks)
    assert clocks.island.tolist() == [0, 0, 1, 1]


def test_the_uncertainty_is_what_the_ends_still_differ_by():
    one = rank(0, [call(at, at + 50) for at in range(0, 1000, 100)])
    two = rank(1, [call(at, at + 50 + (at // 100) % 3) for at in range(0, 1000, 100)])
    clocks = align(match(all_calls([one, two])).calls, [one, two])
    assert clocks.uncertainty_ns == pytest.approx(2 * US, abs=US)


def test_a_rank_that_waits_for_two_collectives_at_once_waits_once():
    early = rank(0, [call(0, 100, sequence=1), call(10, 110, sequence=2, stream=8)])
    late = rank(1, [call(90, 100, sequence=1), call(95, 110, sequence=2, stream=8)])
    ranks = [early, late]
    matched = match(all_calls(ranks))
    waits = split(matched.calls, align(matched.calls, ranks))
    of_early = waits.calls.filter(waits.calls["place"] == 0)
    assert (of_early["wait_ns"] // US).to_list() == [90, 5]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("_allgather_base", "all-gather"),
        ("reduce_scatter_tensor_coalesced", "reduce-scatter"),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", "all-reduce"),
        ("gloo:all_reduce", "all-reduce"),
        ("ncclKernel_SendRecv(ncclDevComm*)", "send/recv"),
        ("all_to_allv", "all-to-all"),
        ("gloo:broadcast", "broadcast"),
        ("void cross_device_reduce_1stage<half, 2>", "all-reduce"),
        ("gloo:barrier", "barrier"),
        ("ncclDevKernel_Generic(ncclDevComm*)", "other"),
    ],
)
def test_kinds_are_told_by_any_name(name, kind):
    assert kind_of(name) == kind


def test_sizes_of_elements():
    assert [element_bytes(t) for t in ("Float", "c10::BFloat16", "Float8_e4m3fn", "Odd", None)] == [
        4,
        2,
        1,
        None,
        None,
    ]


def test_groups_of_a_header_in_both_spellings_and_broken():
    entries = [
        {"pg_name": "0", "pg_desc": "default_pg", "ranks": [0, 1]},
        {"pg_name": "1", "pg_desc": "undefined", "ranks": "[0, 2]"},
        {"pg_name": "2", "ranks": "[0, 1, ... 7]"},
        {"pg_name": 3},
        "odd",
    ]
    found = process_groups({"distributedInfo": {"pg_config": entries}})
    assert found == (
        ProcessGroup("0", "default_pg", (0, 1)),
        ProcessGroup("1", "", (0, 2)),
        ProcessGroup("2", "", ()),
    )
    assert process_groups({"distributedInfo": {"pg_config": "odd"}}) == ()
    assert process_groups({}) == ()


def test_what_preceded_a_call_is_measured_from_the_meeting_before():
    made = trace(
        devices=[call(0, 10), kernel(10, 40), call(50, 60)], window=(0, 100), rank=0, world_size=2
    )
    found = digest_of(made).results.collectives
    compute = found.parts.index("compute")
    assert (found.before[:, compute] // US).tolist() == [0, 30]
    assert np.asarray(found.calls["since_ns"] // US).tolist() == [0, 10]
