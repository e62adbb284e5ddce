"""A measured read of files: what is read, and that copies leave nothing behind."""

from __future__ import annotations

import os

import pytest

from stepscope.watch import reading
from tests.known import known


@pytest.fixture
def files(tmp_path):
    made = []
    for number in range(6):
        path = tmp_path / f"{number}.bin"
        path.write_bytes(os.urandom(5_000))
        reading._to_disk(path)
        made.append(path)
    return made


def test_half_is_read_alone_and_half_by_several(files):
    done = known(reading.read_speed(files, readers=8))
    assert (done.files, done.bytes, done.mean_bytes) == (6, 30_000, 5_000)
    assert done.readers == 3
    assert 0 < done.many_ns <= done.alone_ns
    assert 0 <= done.cached <= 6
    assert done.copy_bytes_per_s is None


def test_files_that_are_gone_or_empty_or_folders_do_not_count(files, tmp_path):
    (tmp_path / "empty").touch()
    files[0].unlink()
    done = known(reading.read_speed([*files, tmp_path / "empty", tmp_path, tmp_path / "none"]))
    assert done.files == 5
    assert reading.read_speed(files[:2]) is None


def test_no_more_than_the_most_is_read(files, monkeypatch):
    monkeypatch.setattr(reading, "MOST_BYTES", 12_000)
    assert known(reading.read_speed(files)).files == 2
    monkeypatch.setattr(reading, "MOST_FILES", 3)
    monkeypatch.setattr(reading, "MOST_BYTES", 10**9)
    assert known(reading.read_speed(files)).files == 3


def test_copies_are_read_and_removed(files, tmp_path):
    target = tmp_path / "fast"
    target.mkdir()
    done = known(reading.read_speed_in(target, files))
    assert done.files == 6
    assert known(done.copy_bytes_per_s) > 0
    assert list(target.iterdir()) == []
    with pytest.raises(OSError, match="nowhere"):
        reading.read_speed_in(tmp_path / "nowhere", files)


def test_what_stays_in_memory_is_counted(files, monkeypatch):
    monkeypatch.setattr(reading, "_is_in_memory", lambda _: True)
    assert known(reading.read_speed(files)).cached == 6
    monkeypatch.setattr(reading, "_is_in_memory", lambda _: False)
    assert known(reading.read_speed(files)).cached == 0
