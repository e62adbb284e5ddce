"""Kept tables are those that reading gives, and are used only while the file is the same."""

from __future__ import annotations

import os

import pytest

from stepscope.trace import cache, load
from stepscope.trace import file as trace_file
from tests.trace import small
from tests.trace.test_same_tables import same


@pytest.fixture
def reads(monkeypatch):
    """Counts how often a file's text is read."""
    done = []
    plain = trace_file.read

    def counted(path, **options):
        done.append(path)
        return plain(path, **options)

    monkeypatch.setattr(trace_file, "read", counted)
    return done


NAMES = ["with_stack", "all_flags", "profile_memory", "empty", "legacy_eventlist", "meta_key_quote"]


@pytest.mark.parametrize("name", NAMES)
def test_the_second_opening_gives_the_same_and_reads_nothing(tmp_path, reads, name):
    path = tmp_path / "trace.json.gz"
    path.write_bytes((small.RECORDED / f"{name}.json.gz").read_bytes())
    (reference,) = load([path])
    (first,) = load([path], keep=True)
    (second,) = load([path], keep=True)
    assert len(reads) == 2
    for trace in (first, second):
        same(trace, reference)
        assert trace.meta == reference.meta
        assert trace.windows == reference.windows
        assert trace.notices == reference.notices
        assert trace.step_source == reference.step_source


def test_device_work_is_kept_too(tmp_path, reads):
    path = small.write(tmp_path, small.training())
    (first,) = load([path], keep=True)
    (second,) = load([path], keep=True)
    same(second, first)
    assert len(reads) == 1


def test_a_file_that_was_written_again_is_read_again(tmp_path, reads):
    path = small.write(tmp_path, small.training(3))
    load([path], keep=True)
    small.write(tmp_path, small.training(4))
    (trace,) = load([path], keep=True)
    assert len(trace.steps) == 4
    assert len(reads) == 2


def test_the_same_size_at_another_time_is_another_file(tmp_path, reads):
    path = small.write(tmp_path, small.training(3))
    load([path], keep=True)
    os.utime(path, ns=(5, 5))
    load([path], keep=True)
    assert len(reads) == 2


def test_with_and_without_python_frames_are_kept_apart(tmp_path, reads):
    path = tmp_path / "trace.json.gz"
    path.write_bytes((small.RECORDED / "with_stack.json.gz").read_bytes())
    (without,) = load([path], keep=True)
    (frames,) = load([path], keep=True, with_python=True)
    assert len(frames.host) > len(without.host)
    assert len(reads) == 2


def test_another_version_reads_again(tmp_path, reads, monkeypatch):
    path = small.write(tmp_path, small.training())
    load([path], keep=True)
    monkeypatch.setattr(cache, "FORM", 0)
    load([path], keep=True)
    assert len(reads) == 2


@pytest.mark.parametrize("damaged", [cache.ABOUT, "host.parquet", "steps.parquet"])
def test_damaged_tables_are_read_anew(tmp_path, reads, damaged):
    path = small.write(tmp_path, small.training())
    load([path], keep=True)
    (cache.folder_of(str(path)) / damaged).write_bytes(b"damaged")
    (trace,) = load([path], keep=True)
    assert len(trace.steps) == 3
    assert len(reads) == 2


def test_tables_of_another_form_are_read_anew(tmp_path, reads):
    path = small.write(tmp_path, small.training())
    (trace,) = load([path], keep=True)
    trace.steps.write_parquet(cache.folder_of(str(path)) / "memory.parquet")
    load([path], keep=True)
    assert len(reads) == 2


def test_a_place_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    path = small.write(tmp_path, small.training())
    (tmp_path / f"{path.name}{cache.SUFFIX}.new").write_text("in the way")
    (trace,) = load([path], keep=True)
    assert len(trace.steps) == 3
    assert not cache.folder_of(str(path)).exists()


def test_what_was_kept_is_taken_for_no_trace(tmp_path):
    small.write(tmp_path, small.training(), "a.json")
    load([tmp_path], keep=True)
    (trace,) = load([tmp_path], keep=True)
    assert small.codes(trace) == []
    assert cache.folder_of(str(tmp_path / "a.json")).is_dir()


def test_nothing_is_kept_unless_asked_for(tmp_path):
    path = small.write(tmp_path, small.training())
    load([path])
    assert list(tmp_path.iterdir()) == [path]
