"""Device work that lasts longer than can be true is cut; what can be true is left alone."""

from __future__ import annotations

import polars as pl

from stepscope.trace.overruns import ALONE_NS, clip

US = 1_000
MS = 1_000_000


def device(*rows):
    frame = pl.DataFrame(
        [{"device": d, "stream": s, "start_ns": a, "end_ns": b} for d, s, a, b in rows],
        schema={"device": pl.Int64, "stream": pl.Int64, "start_ns": pl.Int64, "end_ns": pl.Int64},
    )
    return frame.sort("start_ns", "device", "stream")


def ends(rows, host_end_ns=None):
    clipped, count = clip(device(*rows), host_end_ns)
    return clipped["end_ns"].to_list(), count


def test_work_over_its_fourth_successor_ends_where_the_next_begins():
    rows = [(0, 7, 0, 50 * MS), *((0, 7, n * MS, n * MS + 10) for n in range(1, 6))]
    found, count = ends(rows)
    assert count == 1
    assert found[0] == MS
    assert found[1:] == [n * MS + 10 for n in range(1, 6)]


def test_work_over_three_successors_stands():
    rows = [(0, 7, 0, 50 * MS), *((0, 7, n * MS, n * MS + 10) for n in range(1, 4))]
    assert ends(rows, 60 * MS)[1] == 0


def test_work_over_its_fourth_successor_by_a_tenth_of_a_millisecond_stands():
    rows = [(0, 7, 0, 4 * MS + 100 * US), *((0, 7, n * MS, n * MS + 10) for n in range(1, 6))]
    assert ends(rows)[1] == 0


def test_another_stream_is_no_successor():
    rows = [(0, 7, 0, 50 * MS), *((0, 20, n * MS, n * MS + 10) for n in range(1, 9))]
    assert ends(rows)[1] == 0
    rows = [(0, 7, 0, 50 * MS), *((1, 7, n * MS, n * MS + 10) for n in range(1, 9))]
    assert ends(rows)[1] == 0


def test_on_a_stream_with_such_work_the_last_ones_are_cut_too():
    rows = [(0, 7, n * MS, n * MS + 900 * MS) for n in range(8)]
    found, count = ends(rows, 9 * MS)
    assert count == 8
    assert found == [(n + 1) * MS for n in range(7)] + [9 * MS]


def test_one_event_that_makes_up_the_whole_recording_is_cut_where_the_rest_ends():
    rows = [(0, 7, 0, MS), (0, 7, 2 * MS, 2 * MS + 100 * ALONE_NS)]
    assert ends(rows, 5 * MS) == ([MS, 5 * MS], 1)
    assert ends(rows, None) == ([MS, 2 * MS], 1)


def test_a_long_kernel_that_the_host_waits_for_stands():
    rows = [(0, 7, 0, MS), (0, 7, 2 * MS, 2 * MS + 100 * ALONE_NS)]
    assert ends(rows, 3 * MS + 100 * ALONE_NS)[1] == 0


def test_a_lone_kernel_stands():
    assert ends([(0, 7, 0, 100 * ALONE_NS)], 5 * MS)[1] == 0
