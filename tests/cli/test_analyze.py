"""``stepscope analyze`` as a user meets it: what it writes where, and what it says of hopeless input."""

import gzip
import json
import random

import pytest

from stepscope.testing.builder import TraceBuilder
from tests.cli.test_main import stepscope


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    builder = TraceBuilder()
    for number in range(4):
        with builder.step(number):
            builder.loader_wait(30_000_000, workers=False)
            with builder.op("aten::mm"):
                builder.launch("sgemm", 5_000_000)
            builder.synchronize()
    return builder.write(tmp_path_factory.mktemp("analyze") / "trace.json.gz")


def test_text_goes_to_stdout_and_no_file_is_written(trace, tmp_path):
    done = stepscope("analyze", str(trace), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "INPUT-BOUND" in done.stdout
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_files_are_written_where_they_were_asked_for(trace, tmp_path):
    done = stepscope("analyze", str(trace), "--json", "a.json", "--html", "a.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.html", "a.json"]
    report = json.loads((tmp_path / "a.json").read_text())
    assert report["verdict"]["regime"] == "input"
    assert report["ranks"][0]["steps"]["count"] == 4
    assert "<html" in (tmp_path / "a.html").read_text()


def test_json_on_stdout_leaves_the_text_to_stderr(trace):
    done = stepscope("analyze", str(trace), "--json", "-")
    assert json.loads(done.stdout)["verdict"]["regime"] == "input"
    assert "INPUT-BOUND" in done.stderr


def test_only_some_steps(trace, tmp_path):
    done = stepscope("analyze", str(trace), "--steps", "1:3", "--json", "-")
    assert json.loads(done.stdout)["ranks"][0]["steps"]["count"] == 2
    assert stepscope("analyze", str(trace), "--steps", "9:12").returncode == 2
    assert stepscope("analyze", str(trace), "--steps", "two").returncode == 2


def test_a_rank_that_is_not_there(trace):
    done = stepscope("analyze", str(trace), "--rank", "3")
    assert done.returncode == 2
    assert "there is no rank 3" in done.stderr


def noise():
    return random.Random(7).randbytes(4000)


HOPELESS = {
    "empty file": (b"", "empty"),
    "Git LFS pointer": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12\n",
        "git lfs pull",
    ),
    "JSON that is no trace": (b'{"a": [1, 2, 3]}', "without a list of trace events"),
    "HTML page": (b"<!DOCTYPE html><html><body>404</body></html>", "HTML"),
    "noise": (noise(), "not JSON"),
    "no complete event": (
        b'{"schemaVersion": 1, "traceEvents": [{"ph": "M", "name": "process_name", "pid": 1}]}',
        "no complete event",
    ),
    "compressed nothing": (gzip.compress(b""), "holds nothing"),
    "zip archive": (b"PK\x03\x04" + bytes(50), "zip"),
    "execution trace": (
        b'{"schema": "1.0.1", "pid": 3, "nodes": [{"id": 1, "name": "[pytorch|profiler|execution_trace]"}]}',
        "Chakra",
    ),
}


@pytest.mark.parametrize("what", HOPELESS)
def test_hopeless_input_gets_one_clear_sentence(tmp_path, what):
    data, word = HOPELESS[what]
    path = tmp_path / "trace.json"
    path.write_bytes(data)
    done = stepscope("analyze", str(path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert str(path) in done.stderr
    assert word in done.stderr


def test_a_path_that_is_not_there_and_a_folder_without_traces(tmp_path):
    missing = stepscope("analyze", str(tmp_path / "none.json"))
    assert (missing.returncode, len(missing.stderr.splitlines())) == (2, 1)
    assert "no such file" in missing.stderr
    empty = stepscope("analyze", str(tmp_path))
    assert (empty.returncode, len(empty.stderr.splitlines())) == (2, 1)
    assert "holds no trace" in empty.stderr


def test_a_truncated_trace_is_read_as_far_as_it_is_whole(trace, tmp_path):
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(trace.read_bytes()[: trace.stat().st_size * 2 // 3])
    done = stepscope("analyze", str(cut), "--json", "-")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert "truncated" in [n["code"] for n in report["health"]["notices"]]
    assert report["ranks"][0]["steps"]["count"] >= 1


def test_a_window_in_which_no_operator_ran(tmp_path):
    path = tmp_path / "idle.json"
    path.write_text(
        '{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [{"ph": "X", "cat": "Trace", '
        '"name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 1.5, "dur": 10.25}]}'
    )
    done = stepscope("analyze", str(path), "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"]["regime"] == "not-recorded"


def test_tables_are_kept_where_that_was_asked_for(trace, tmp_path):
    copy = tmp_path / "trace.json.gz"
    copy.write_bytes(trace.read_bytes())
    plain = stepscope("analyze", str(copy))
    assert [p.name for p in tmp_path.iterdir()] == ["trace.json.gz"]
    first, second = (stepscope("analyze", str(copy), "--cache") for _ in range(2))
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "trace.json.gz",
        "trace.json.gz.stepscope-cache",
    ]
    assert first.stdout == second.stdout == plain.stdout
