"""A measured read of the files that a run's data set opened, and what is said when there is none."""

from __future__ import annotations

import os

import msgspec.structs
import pytest

from stepscope.errors import InputError
from stepscope.job import staging
from stepscope.job.staging import measured_staging, staging_sentence
from stepscope.schema.loader_rows import PLACES_NAME, DataPlace, json_line
from stepscope.schema.run_folder import Manifest, RankFolder, RunFolder
from stepscope.watch.reading import Reads
from tests.predict.test_staging import STAGING


@pytest.fixture
def run(tmp_path):
    """A run whose data set opened six files, of which one is gone."""
    data = tmp_path / "data"
    data.mkdir()
    names = tuple(f"{number}.bin" for number in range(6))
    for name in names[:5]:
        (data / name).write_bytes(os.urandom(4_000))
    place = DataPlace(0, 0, str(data), 6, 6, 24_000, names)
    (tmp_path / PLACES_NAME).write_text(json_line(place), encoding="utf-8")
    manifest = Manifest(
        stepscope_version="0",
        command=("train.py",),
        directory="/",
        python="3",
        host="h",
        pid=1,
        started="",
        started_ns=0,
    )
    return RunFolder(tmp_path, manifest, (RankFolder(0, tmp_path, None, (), None, ()),))


def test_the_files_are_read_where_they_lie_and_as_copies(run, tmp_path, monkeypatch):
    there = Reads(
        files=5,
        bytes=20_000,
        alone_ns=10.0,
        many_ns=5.0,
        readers=2,
        cached=0,
        copy_bytes_per_s=1e8,
    )
    monkeypatch.setattr(staging, "read_speed_in", lambda *_: there)
    found = measured_staging(run, tmp_path / "other")
    assert (found.source, found.target) == (str(tmp_path / "data"), str(tmp_path / "other"))
    assert found.mean_bytes == 4_000
    assert (found.target_ns, found.target_many_ns, found.copy_bytes_per_s) == (10.0, 5.0, 1e8)
    assert found.source_ns > 0


def test_the_same_file_system_is_refused(run, tmp_path):
    with pytest.raises(InputError, match="on this very file system already"):
        measured_staging(run, tmp_path)


def test_a_folder_that_cannot_be_written_to_is_refused(run, tmp_path):
    with pytest.raises(InputError, match="cannot be copied there"):
        measured_staging(run, tmp_path / "nowhere")


def test_without_the_files_there_is_nothing_to_measure(run, tmp_path):
    for path in (tmp_path / "data").iterdir():
        path.unlink()
    with pytest.raises(InputError, match="none of the files"):
        measured_staging(run, tmp_path / "other")
    (tmp_path / PLACES_NAME).unlink()
    with pytest.raises(InputError, match="saw no files"):
        measured_staging(run, tmp_path / "other")


def test_both_reads_are_told_in_figures():
    text = staging_sentence(STAGING)
    assert "/network 2.00 ms a file (50 MB/s) with one reader" in text
    assert "1000 files and 100 MB a second with 8" in text
    assert "/fast 0.20 ms a file (500 MB/s)" in text
    assert "stayed in memory" not in text
    half = msgspec.structs.replace(STAGING, source_cached_frac=0.5)
    assert "50% of the files stayed in memory" in staging_sentence(half)
