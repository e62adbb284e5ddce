"""Files that are no trace: one clear sentence each, with the way out, as an error of status 2."""

from __future__ import annotations

import gzip
import json
import random
import sqlite3
import zipfile

import pytest

from stepscope.errors import InputError, NotATraceError
from stepscope.trace import load
from tests.trace import small

TRACE = small.text_of(small.training())
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
CHAKRA = {"schema": "1.0.1", "pid": 1, "nodes": [{"name": "[pytorch|profiler]", "id": 1}]}
ROCPROF = {"rocprofiler-sdk-tool": [{"metadata": 1, "buffer_records": 2}]}
MEMORY = [[1, 2], [[0, 5, 6, 7, 8, 9, 1, 2, 3]]]
OTHER_PROGRAM = [
    {"ph": "X", "cat": "blink", "name": "paint", "pid": 1, "tid": 1, "ts": 1, "dur": 2},
    {"ph": "B", "cat": "v8", "name": "gc", "pid": 1, "tid": 1, "ts": 1},
]
REPORT = {"schema_version": 1, "stepscope_version": "0.1", "created": "x"}
META = {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python"}}

REFUSED = {
    "an empty file": (b"", "empty"),
    "blanks": (b" \n " * 50, "blanks"),
    "a Git LFS pointer": (LFS, "git lfs pull"),
    "an HTML page": (b"<!DOCTYPE html><html><body>Not found</body></html>", "HTML"),
    "an HTML page behind blanks": (b"\n\n  <html></html>", "HTML"),
    "noise": (random.Random(1).randbytes(5000), "not JSON"),
    "text": (b"Traceback (most recent call last):\n", "not JSON"),
    "a pickle": (b"\x80\x04\x95\x10", "pickle"),
    "zstd": (b"\x28\xb5\x2f\xfd1234", "zstd -d"),
    "xz": (b"\xfd7zXZ\x00", "unxz"),
    "UTF-16": (TRACE.decode().encode("utf-16"), "UTF-16"),
    "UTF-16 without a mark": (TRACE.decode().encode("utf-16-le"), "UTF-16"),
    "a JSON number": (b"42", "not JSON"),
    "a JSON object": (b'{"a": 1}', "without a list of trace events"),
    "an empty JSON object": (b"{}", "without a list of trace events"),
    "half a JSON object": (b'{"a": [1, 2', "neither a whole JSON text"),
    "a list of numbers": (b"[1, 2, 3]", "something other than events"),
    "a list of texts": (b'["a", "b"]', "something other than events"),
    "an empty list": (b"[]", "no complete event"),
    "an execution trace": (json.dumps(CHAKRA).encode(), "execution trace (Chakra)"),
    "a result of rocprof": (json.dumps(ROCPROF).encode(), "rocprof"),
    "a memory timeline": (json.dumps(MEMORY).encode(), "memory timeline"),
    "a raw memory timeline": (
        json.dumps([[-1, 1, 512, 0], [5, 2, 9, 1]]).encode(),
        "memory timeline",
    ),
    "a report of ours": (json.dumps(REPORT).encode(), "report of stepscope"),
    "a trace of another program": (json.dumps(OTHER_PROGRAM).encode(), "none of its events"),
    "another program's, as object": (
        json.dumps({"traceEvents": OTHER_PROGRAM}).encode(),
        "none of its",
    ),
    "a trace without complete events": (
        json.dumps({"traceEvents": [META]}).encode(),
        "no complete event",
    ),
    "a trace with an empty list": (b'{"schemaVersion": 1, "traceEvents": []}', "no complete event"),
    "a list of events that is text": (b'{"traceEvents": "none"}', "without a list of trace events"),
    "a list of events that is null": (b'{"traceEvents": null}', "without a list of trace events"),
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("kind", REFUSED)
def test_it_is_refused_in_one_sentence(tmp_path, kind, packed):
    content, words = REFUSED[kind]
    if packed and not content:
        words = "holds nothing"
    path = tmp_path / "trace.json"
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(InputError) as caught:
        load([path])
    message = str(caught.value)
    assert words in message
    assert message.startswith(str(path))
    assert "\n" not in message
    assert caught.value.exit_status == 2


def test_a_zip_archive(tmp_path):
    path = tmp_path / "trace.json"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inside.json", "{}")
    with pytest.raises(NotATraceError, match=r"zip archive.*unpack"):
        load([path])


def test_a_database(tmp_path):
    path = tmp_path / "report.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("create table kernels (a int)")
    connection.commit()
    connection.close()
    with pytest.raises(NotATraceError, match="SQLite"):
        load([path])


@pytest.mark.parametrize("name", ["memtl", "memtl.raw"])
def test_the_memory_timelines_that_torch_wrote(name):
    with pytest.raises(NotATraceError, match="memory timeline"):
        load([small.RECORDED / f"{name}.json.gz"])


def test_a_missing_file():
    with pytest.raises(InputError, match="no such file"):
        load(["nowhere.json"])


def test_a_path_that_no_system_knows():
    with pytest.raises(InputError, match="cannot be read"):
        load(["a\0b.json"])


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = small.write(tmp_path, TRACE)

    def refuse(self, *_arguments, **_options):
        raise PermissionError(13, "Permission denied")

    # Refused here and not by the file's mode, because root may read all.
    monkeypatch.setattr(type(path), "open", refuse)
    with pytest.raises(InputError, match="cannot be read"):
        load([path])


def test_a_folder_without_traces(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match="holds no trace"):
        load([tmp_path])


def test_no_path_at_all():
    with pytest.raises(InputError, match="no path"):
        load([])


def test_a_folder_in_which_no_file_is_a_trace_gives_the_first_reason(tmp_path):
    small.write(tmp_path, json.dumps(CHAKRA).encode(), "a.json")
    small.write(tmp_path, LFS, "b.json")
    with pytest.raises(NotATraceError, match="Chakra"):
        load([tmp_path])


def test_what_is_no_trace_beside_traces_is_passed_over_and_said(tmp_path):
    small.write(tmp_path, TRACE, "a.json")
    small.write(tmp_path, LFS, "b.json")
    (trace,) = load([tmp_path])
    said = small.notice(trace, "foreign-file")
    assert said.count == 1
    assert "git lfs pull" in said.text


def test_a_memory_timeline_beside_its_trace_is_no_loss(tmp_path):
    small.write(tmp_path, TRACE, "a.json")
    small.write(tmp_path, json.dumps(MEMORY).encode(), "memory.json")
    (trace,) = load([tmp_path])
    assert len(trace.device) == 3
