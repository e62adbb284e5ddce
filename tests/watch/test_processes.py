"""The watched processes one by one."""

import msgspec
import pytest

from stepscope.watch.proc_file import ProcessReading
from stepscope.watch.processes import MOST_ROWS, ProcessRows, dearest_of, uses_of
from stepscope.watch.store import SampleWriter, read_watched
from stepscope.watch.summary import summarise
from stepscope.watch.summary_text import render
from tests.watch.rows import host, start


def reading(pid, own_s=1.0, name="python", started=5, rss=100):
    return ProcessReading(
        pid=pid, parent=1, started=started, own_s=own_s, waited_s=9.0, threads=2, rss_bytes=rss,
        io=None, name=name,
    )  # fmt: skip


def test_rows_come_from_time_to_time_and_at_the_end():
    rows = ProcessRows()
    times = [at / 2 for at in range(200)]
    told = [at for at in times if rows.of(at, [reading(1, own_s=at)])]
    assert told == [*(5.0 * place for place in range(20))]
    assert rows.of(100.0, [reading(1)]) != ()
    assert rows.of(100.5, [reading(1)]) == ()
    (last,) = rows.of(101.0, [reading(1, own_s=7.0)], is_last=True)
    assert (last.at_s, last.cpu_s) == (101.0, 7.0)


def test_a_day_stays_small():
    rows = ProcessRows()
    assert sum(len(rows.of(float(at), [reading(1)])) for at in range(0, 86_400, 5)) < 1500


def test_those_that_used_most_are_told():
    some = [reading(pid, own_s=pid) for pid in range(1, 40)]
    told = ProcessRows().of(0.0, some)
    assert [row.pid for row in told] == list(range(39, 39 - MOST_ROWS, -1))


def test_a_process_that_ended_between_two_times_is_told_with_its_last_account():
    rows = ProcessRows()
    rows.of(0.0, [reading(1)])
    rows.of(2.0, [reading(1), reading(2, own_s=0.5, name="worker")])
    rows.of(2.5, [reading(1), reading(2, own_s=0.75, name="worker")])
    told = {row.pid: row for row in rows.of(5.0, [reading(1, own_s=4.0)])}
    assert (told[2].at_s, told[2].cpu_s, told[2].name) == (2.5, 0.75, "worker")
    assert set(rows._seen) == set()


def test_what_was_used_before_the_watch_is_not_counted():
    rows = ProcessRows()
    seen = [
        *rows.of(0.0, [reading(1, own_s=100.0, rss=10)]),
        *rows.of(5.0, [reading(1, own_s=104.0, rss=30), reading(2, own_s=1.5)]),
        *rows.of(10.0, [reading(1, own_s=108.0, rss=20), reading(2, own_s=2.5)]),
    ]
    one, other = uses_of(seen, attached=True)
    assert (one.pid, one.cpu_s, one.rss_peak_bytes, one.threads_peak) == (1, 8.0, 30, 2)
    assert (other.pid, other.cpu_s) == (2, 2.5)
    assert [use.cpu_s for use in uses_of(seen, attached=False)] == [108.0, 2.5]
    assert uses_of([], attached=True) == ()
    assert [use.pid for use in dearest_of([(one,), (other,)], 1)] == [1]


@pytest.fixture
def summary(tmp_path):
    writer = SampleWriter(tmp_path, start())
    rows = ProcessRows()
    for at in range(601):
        some = [reading(10, own_s=2.0 * at), reading(11, own_s=at, name="pt_\x1b[31mdata")]
        writer.write(float(at), [host(float(at)), *rows.of(float(at), some, is_last=at == 600)])
    return summarise(read_watched(tmp_path))


def test_they_stand_in_the_summary_with_names_that_can_be_printed(summary, tmp_path):
    assert [(one.pid, one.cpu_s) for one in summary.nodes[0].processes] == [
        (10, 1200.0),
        (11, 600.0),
    ]
    text = render(summary, tmp_path)
    assert "by process: python 10 20.0 min, pt_[31mdata 11 10.0 min" in text
    assert msgspec.json.decode(msgspec.json.encode(summary), type=type(summary)) == summary
