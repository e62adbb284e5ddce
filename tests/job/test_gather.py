"""From files to the digests of ranks: order, windows, broken files, several processes."""

from __future__ import annotations

import pickle

import pytest

from stepscope import analyze
from stepscope.errors import InputError, OptionError
from stepscope.job.gather import gather, with_timelines
from stepscope.job.notices import merged
from stepscope.schema.notice import Notice
from stepscope.testing import TraceBuilder
from stepscope.testing.host import START_NS, Setup
from stepscope.testing.models import A100
from stepscope.testing.scenarios import write_job


def window(folder, name, first_step, *, start_ns=START_NS):
    trace = TraceBuilder(Setup(gpus=(A100,), start_ns=start_ns))
    for number in range(first_step, first_step + 3):
        with trace.step(number), trace.op("aten::mm"):
            trace.launch("sgemm", 1_000_000)
        trace.synchronize()
    return trace.write(folder / name)


def test_ranks_come_in_order_and_carry_no_tables(tmp_path):
    write_job("straggler", tmp_path)
    found = gather([tmp_path])
    assert [digest.rank for digest in found.ranks] == [0, 1, 2]
    assert len(pickle.dumps(found.ranks[0])) < 200_000
    assert len(found.ranks[1].results.collectives.calls) == found.ranks[1].report.steps.count


def test_windows_of_a_rank_are_one_rank(tmp_path):
    window(tmp_path, "a.pt.trace.json", 0)
    window(tmp_path, "b.pt.trace.json", 10, start_ns=START_NS + 10**10)
    (only,) = gather([tmp_path]).ranks
    assert only.report.steps.count == 6
    assert len(only.report.files) == 2


def test_steps_that_one_window_lacks_are_looked_for_in_the_other(tmp_path):
    window(tmp_path, "a.pt.trace.json", 0)
    window(tmp_path, "b.pt.trace.json", 10, start_ns=START_NS + 10**10)
    (only,) = gather([tmp_path], steps=(10, None)).ranks
    assert only.report.steps.count == 3
    with pytest.raises(OptionError, match="steps"):
        gather([tmp_path], steps=(90, None))


def test_a_broken_file_is_said_and_the_rest_is_analysed(tmp_path):
    write_job("straggler", tmp_path)
    (tmp_path / "rank1.pt.trace.json").write_text("<html>not found</html>")
    found = gather([tmp_path])
    assert [digest.rank for digest in found.ranks] == [0, 2]
    assert [notice.code for notice in found.notices] == ["foreign-file", "missing-ranks"]
    with pytest.raises(InputError):
        gather([tmp_path / "rank1.pt.trace.json"])


def test_progress_ends_with_all_files(tmp_path):
    write_job("straggler", tmp_path)
    told = []
    gather([tmp_path], progress=lambda *seen: told.append(seen[:2]))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


@pytest.mark.slow
def test_processes_give_the_same_report(tmp_path):
    write_job("straggler", tmp_path)
    alone, together = analyze([tmp_path]), analyze([tmp_path], jobs=2)
    assert together.findings == alone.findings
    assert together.ranks == alone.ranks
    assert together.health == alone.health


def test_bars_are_read_again_for_the_ranks_that_need_them(tmp_path):
    write_job("straggler", tmp_path)
    bare = [digest.without_timeline() for digest in gather([tmp_path]).ranks]
    again = with_timelines(bare, frozenset({1}))
    assert [digest.report.timeline is not None for digest in again] == [False, True, False]


def test_what_many_ranks_share_is_said_once():
    alike = [Notice(code="a", count=2, text="Odd.", rank=rank) for rank in range(9)]
    other = Notice(code="b", count=1, text="Other.", rank=3)
    first, second = merged([*alike, other])
    assert (first.rank, first.count, second) == (None, 18, other)
    assert "8 other ranks" in first.text
    assert merged(alike[:8]) == alike[:8]


def test_of_one_file_the_bytes_are_told_and_of_several_the_files(tmp_path):
    one = window(tmp_path, "a.pt.trace.json", 0)
    heard: list[tuple[int, int, str]] = []
    gather([one], progress=lambda *said: heard.append(said))
    size = one.stat().st_size
    assert heard
    assert {total for _, total, _ in heard} == {size}
    assert heard[-1][0] <= size
    heard.clear()
    window(tmp_path, "b.pt.trace.json", 10, start_ns=START_NS + 10**10)
    gather([tmp_path], progress=lambda *said: heard.append(said))
    assert [(done, total) for done, total, _ in heard] == [(0, 2), (1, 2), (2, 2)]


def test_a_folder_at_an_address_is_searched_as_a_local_one(tmp_path):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    write_job("straggler", tmp_path / "job")
    (tmp_path / "job" / "report.json").write_text("{}")
    memory = fsspec.filesystem("memory")
    memory.put(str(tmp_path / "job"), "/there", recursive=True)
    here = analyze([tmp_path / "job"])
    there = analyze(["memory://there"])
    assert (there.job, there.findings) == (here.job, here.findings)
    assert [one.files[0].partition(":")[0] for one in there.ranks] == ["memory"] * 3
    memory.mkdir("/empty")
    with pytest.raises(InputError, match="holds no trace"):
        gather(["memory://empty"])
    with pytest.raises(InputError, match="memory://absent"):
        gather(["memory://absent"])


@pytest.mark.slow
def test_addresses_are_read_by_several_processes(tmp_path):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    write_job("straggler", tmp_path)
    here, there = analyze([tmp_path]), analyze([f"file://{tmp_path}"], jobs=None)
    assert (there.job, there.findings) == (here.job, here.findings)
