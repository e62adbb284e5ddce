"""What a worker holds for itself is read from the kernel, seldom."""

from __future__ import annotations

import pytest

from stepscope.record.loader import own_memory
from stepscope.record.loader.own_memory import MOST_BYTES, OwnMemory, own_bytes
from stepscope.schema.loader_rows import MEMORY_NAME, load_records

ROLLUP = """\
562fa0483000-7ffe85388000 ---p 00000000 00:00 0                          [rollup]
Rss:              420776 kB
Pss:              174138 kB
Shared_Clean:      17148 kB
Private_Clean:       100 kB
Private_Dirty:      1148 kB
Private_Hugetlb:       0 kB
"""


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    path = tmp_path / "smaps_rollup"
    path.write_text(ROLLUP)
    monkeypatch.setattr(own_memory, "own_bytes", lambda: own_bytes(str(path)))
    return path


def written(folder):
    return load_records(folder).memory


def test_pages_that_are_shared_do_not_count(kernel):
    assert own_bytes(str(kernel)) == 1248 * 1024


def test_a_system_that_does_not_tell_is_not_asked_for_more(kernel, tmp_path):
    kernel.unlink()
    assert own_bytes(str(kernel)) is None
    OwnMemory(tmp_path, 0, 0).write()
    kernel.write_text("nothing of the kind\n")
    assert own_bytes(str(kernel)) is None
    assert written(tmp_path) == ()


@pytest.mark.usefixtures("kernel")
def test_the_first_worker_looks_ever_more_seldom(tmp_path):
    memory = OwnMemory(tmp_path, 3, 0)
    for _ in range(9):
        memory.write()
    assert [(row.loader, row.worker) for row in written(tmp_path)] == [(3, 0)] * 4
    assert {row.own_bytes for row in written(tmp_path)} == {1248 * 1024}


@pytest.mark.usefixtures("kernel")
def test_other_workers_do_not_look(tmp_path):
    OwnMemory(tmp_path, 0, 1).write()
    assert not (tmp_path / MEMORY_NAME).exists()


@pytest.mark.usefixtures("kernel")
def test_workers_that_are_started_again_and_again_leave_a_small_file(tmp_path):
    for _ in range(500):
        OwnMemory(tmp_path, 0, 0).write()
    assert MOST_BYTES < (tmp_path / MEMORY_NAME).stat().st_size < MOST_BYTES + 100
