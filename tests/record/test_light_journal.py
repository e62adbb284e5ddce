"""The file of a light recording: small however long the run, exact where it matters, readable however it ends."""

import random

import pytest

from stepscope.errors import InputError
from stepscope.record import journal, light_journal
from stepscope.record.light_journal import LightJournal
from stepscope.schema.light import EXACT_STEPS, LIGHT_NAME, LightRow, light_files, load_light
from tests.known import known

MS = 1_000_000


class Writer:
    """Gives a journal steps of chosen lengths, on a clock that runs as they say."""

    def __init__(self, folder, monkeypatch):
        self.now = 10**12
        for module in (journal, light_journal):
            monkeypatch.setattr(module, "perf_counter_ns", lambda: self.now)
        self.journal = LightJournal(folder, ("train.py",), 0, is_of_a_launcher=True)
        self.path = folder / "rank0" / LIGHT_NAME
        self.number = 0

    def step(self, length_ns, wait_ns=0, kind="later"):
        start, self.now = self.now, self.now + length_ns
        self.journal.step(self.number, kind, start, length_ns, wait_ns)
        self.number += 1

    @property
    def rows(self):
        return known(load_light(self.path)).rows


@pytest.fixture
def writer(tmp_path, monkeypatch):
    return Writer(tmp_path, monkeypatch)


@pytest.mark.slow
def test_a_million_steps_of_5_ms_take_less_than_a_megabyte_an_hour(writer):
    draw = random.Random(0)
    total = 0
    for _ in range(1_000_000):
        length = int(draw.gauss(5, 0.5) * MS)
        total += length
        writer.journal.marks.passed_backward(0, 0)
        writer.step(length, length // 9)
    writer.journal.finish(None)
    rows = writer.rows
    assert sum(row.count for row in rows) == 1_000_000
    assert sum(row.total_us for row in rows) == pytest.approx(total / 1000, rel=1e-3)
    hours = total / 3.6e12
    assert writer.path.stat().st_size < 1_000_000 * hours
    # An hour of longer and of shorter steps is no larger, because rows follow time.
    assert len(rows) - EXACT_STEPS < 2 * total / 1e9


@pytest.mark.parametrize("length_ms", [0.2, 5, 70, 900])
def test_rows_hold_every_step_once_and_follow_time(writer, length_ms):
    for _ in range(5000):
        writer.step(int(length_ms * MS))
    writer.journal.finish(None)
    rows = writer.rows
    assert [row.first for row in rows] == [
        sum(row.count for row in rows[:place]) for place in range(len(rows))
    ]
    assert sum(row.count for row in rows) == 5000
    assert {row.count for row in rows[:EXACT_STEPS]} == {1}
    seconds = 5000 * length_ms / 1000
    assert len(rows) <= EXACT_STEPS + 2 * seconds + 2


def test_no_row_crosses_a_multiple_of_the_widest(writer):
    draw = random.Random(1)
    for _ in range(40_000):
        writer.step(int(draw.choice([0.5, 5, 50]) * MS))
    writer.journal.finish(None)
    widest = 1 << (max(row.count for row in writer.rows) - 1).bit_length()
    assert widest > 16
    assert all(row.first // widest == (row.first + row.count - 1) // widest for row in writer.rows)


def test_the_slowest_step_of_a_block_is_kept_as_it_was(writer):
    for number in range(4000):
        writer.step(800 * MS if number == 3210 else 5 * MS, 790 * MS if number == 3210 else MS)
    writer.journal.finish(None)
    (row,) = [row for row in writer.rows if row.worst_us == 800_000]
    assert (row.worst, row.worst_parts_us[0]) == (3210, 790_000)
    assert row.low_us == row.middle_us == 5_000


def test_steps_that_become_slow_are_not_held_back(writer):
    for _ in range(4000):
        writer.step(5 * MS)
    for _ in range(10):
        writer.step(3000 * MS)
    # Nothing was finished: what a kill would leave.
    rows = writer.rows
    assert sum(row.count for row in rows) == 4010
    assert rows[-1].count == 1


def test_what_a_kill_leaves_is_whole_up_to_the_last_second(writer):
    for number in range(20_000):
        writer.step(5 * MS)
        if number % 1000 == 0:
            done = sum(row.count for row in writer.rows)
            assert number + 1 - done <= 1.3 * 1000 / 5
    text = writer.path.read_text()
    whole = writer.rows
    for cut in (1, 7, 40):
        writer.path.write_text(text[:-cut])
        assert known(load_light(writer.path)).rows == whole[:-1]


def test_a_row_says_what_was_in_its_step(writer):
    marks = writer.journal.marks
    apart = [0]
    writer.journal.apart_ns = lambda: apart[0]
    writer.journal.begin()
    marks.sync, marks.thread = 4 * MS, None
    apart[0] = 7 * MS
    writer.step(20 * MS, 3 * MS, kind="disturbed")
    writer.step(10 * MS)
    writer.journal.finish(None)
    first, second = writer.rows
    assert first == LightRow(
        first=0, count=1, at_ms=0, total_us=20_000, parts_us=(3_000, 0, 0, 4_000, 0, 7_000),
        low_us=20_000, middle_us=20_000, worst=0, worst_us=20_000,
        worst_parts_us=(3_000, 0, 0, 4_000, 0, 7_000),
    )  # fmt: skip
    assert second.parts_us == (0, 0, 0, 0, 0, 0)
    assert second.at_ms == 20


def test_a_file_that_is_not_ours_is_no_recording(tmp_path):
    path = tmp_path / LIGHT_NAME
    for text in ("", "{", "[]\n", "1,2,3\n", '{"version": 1}\n'):
        path.write_text(text)
        assert load_light(path) is None


def test_a_newer_file_is_refused(writer):
    writer.journal.finish(None)
    text = writer.path.read_text()
    writer.path.write_text(text.replace('"version": 1', '"version": 2'))
    with pytest.raises(InputError, match="newer stepscope"):
        load_light(writer.path)


@pytest.mark.parametrize(
    "line", ["1,2", "0,1,0,5,0,0,0,0,0,x", "0,2,0,5,0,0,0,0,0,0", "-1,1,0,5,0,0,0,0,0,0"]
)
def test_a_damaged_line_ends_the_reading(writer, line):
    for _ in range(3):
        writer.step(5 * MS)
    writer.journal.finish(None)
    writer.path.write_text(writer.path.read_text() + line + "\n3,1,15,5000,0,0,0,0,0,0\n")
    assert len(writer.rows) == 3


def test_ranks_are_found_in_order(tmp_path):
    for rank in (10, 2, 0):
        LightJournal(tmp_path, ("x",), rank, is_of_a_launcher=True).finish(None)
    assert [path.parent.name for path in light_files(tmp_path)] == ["rank0", "rank2", "rank10"]
    assert light_files(tmp_path / "absent") == []
