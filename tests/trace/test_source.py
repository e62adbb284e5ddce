"""From files to text: containers told by content, members, damage, bombs, addresses, standard input."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import zlib

import pytest

from stepscope.errors import InputError, LimitError, MissingExtraError
from stepscope.trace import limits, load
from stepscope.trace.source import Source
from tests.trace import small

TRACE = small.text_of(small.training(30))


def text_of(path):
    source = Source(str(path))
    return b"".join(source.chunks()), source


def put(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    return path


CONTAINERS = {
    "plain": TRACE,
    "one member": gzip.compress(TRACE),
    "two members": gzip.compress(TRACE[:99]) + gzip.compress(TRACE[99:]),
    "an empty member between": gzip.compress(TRACE[:99])
    + gzip.compress(b"")
    + gzip.compress(TRACE[99:]),
    "an empty member first": gzip.compress(b"") + gzip.compress(TRACE),
    "empty members last": gzip.compress(TRACE) + gzip.compress(b"") * 3,
    "a member a byte": b"".join(gzip.compress(TRACE[n : n + 1], 1) for n in range(600))
    + gzip.compress(TRACE[600:]),
    "zeros behind": gzip.compress(TRACE) + bytes(1000),
    "zeros between members": gzip.compress(TRACE[:99]) + bytes(70_000) + gzip.compress(TRACE[99:]),
    "stored, not compressed": gzip.compress(TRACE, 0),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_all_containers_give_the_same_text(tmp_path, container):
    text, source = text_of(put(tmp_path, CONTAINERS[container]))
    assert text == TRACE
    assert not source.truncated
    assert source.trailing_junk == 0


@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "a.trace", "a", "a.txt"])
@pytest.mark.parametrize("container", ["plain", "two members"])
def test_the_name_of_a_file_does_not_matter(tmp_path, name, container):
    path = tmp_path / name
    path.write_bytes(CONTAINERS[container])
    (trace,) = load([path])
    assert len(trace.steps) == 30


def test_junk_behind_the_last_member_is_said(tmp_path):
    (trace,) = load([put(tmp_path, gzip.compress(TRACE) + b"junk behind")])
    assert small.notice(trace, "trailing-junk").count == len(b"junk behind")
    assert len(trace.steps) == 30


def test_a_member_header_cut_behind_the_first_member(tmp_path):
    (trace,) = load([put(tmp_path, gzip.compress(TRACE) + gzip.compress(b"x")[:5])])
    assert small.codes(trace) == ["truncated"]
    assert len(trace.steps) == 30


def test_a_wrong_checksum_keeps_the_text_and_is_said(tmp_path):
    packed = bytearray(gzip.compress(TRACE))
    packed[-8] ^= 0xFF
    text, source = text_of(put(tmp_path, bytes(packed)))
    assert source.truncated
    assert TRACE.startswith(text)
    assert len(text) > len(TRACE) - 256


def test_long_files_come_in_pieces(tmp_path):
    text = b"[" + b" " * (3 * limits.PIECE_BYTES) + TRACE[1:]
    for content in (text, gzip.compress(text)):
        pieces = list(Source(str(put(tmp_path, content))).chunks())
        assert b"".join(pieces) == text
        assert all(len(piece) >= limits.PIECE_BYTES for piece in pieces[:-1])
        assert max(map(len, pieces)) <= 2 * limits.PIECE_BYTES


def bomb(size, filler=b" "):
    """A gzip file of a few bytes a megabyte."""
    pack = zlib.compressobj(9, wbits=31)
    out = [pack.compress(b'{"traceEvents": [')]
    out += [pack.compress(filler * ((1 << 20) // len(filler))) for _ in range(size >> 20)]
    return b"".join([*out, pack.flush()])


def test_a_bomb_of_blanks_ends_at_the_limit_of_an_event(tmp_path):
    with pytest.raises(LimitError, match="no event ends within 16 MiB"):
        load([put(tmp_path, bomb(64 << 20))])


def test_a_bomb_of_events_ends_at_the_limit_of_expansion(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "EXPANSION_FROM_BYTES", 8 << 20)
    with pytest.raises(LimitError, match="more than 400 times its size"):
        load([put(tmp_path, bomb(32 << 20, b'{"ph": "M", "n":1},\n'))])


def test_the_longest_text(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "TEXT_BYTES", 2000)
    with pytest.raises(LimitError, match="decompresses to more than"):
        load([put(tmp_path, TRACE + TRACE * (1 + limits.PIECE_BYTES // len(TRACE)))])


def test_more_rows_than_the_memory_can_hold(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "ROWS", 10)
    events = small.training(8000)
    with pytest.raises(LimitError, match="the memory is not there"):
        load([put(tmp_path, small.text_of(events))])


def test_more_text_in_names_than_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "DISTINCT_TEXT_BYTES", 100_000)
    events = [small.op(f"{n}" * 5000, n, 1) for n in range(40)]
    with pytest.raises(LimitError, match="distinct names"):
        load([put(tmp_path, small.text_of(events))])


def test_a_header_beyond_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "HEADER_BYTES", 1 << 20)
    note = "x" * (4 << 20)
    with pytest.raises(LimitError, match="no list of events within"):
        load([put(tmp_path, small.text_of(small.training(), note=note))])
    behind = small.text_of(small.training())[:-1] + b',"note":"' + note.encode() + b'"}'
    with pytest.raises(LimitError, match="after the list of events"):
        load([put(tmp_path, behind)])


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(TRACE))))
    (trace,) = load(["-"])
    assert len(trace.steps) == 30
    assert trace.windows[0].path == "-"


def test_an_address_that_fsspec_knows():
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://bucket/trace.json.gz", "wb") as file:
        file.write(gzip.compress(TRACE))
    (trace,) = load(["memory://bucket/trace.json.gz"])
    assert len(trace.steps) == 30
    with pytest.raises(InputError, match="cannot be read"):
        load(["memory://bucket/nothing.json"])


def test_an_address_without_fsspec_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtraError, match=r"stepscope\[remote\]"):
        load(["s3://bucket/trace.json"])


def test_an_address_of_a_scheme_that_nobody_knows():
    pytest.importorskip("fsspec")
    with pytest.raises(InputError, match="cannot be read"):
        load(["gopher9://x/trace.json"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("content", [TRACE, gzip.compress(TRACE)], ids=["plain", "gzip"])
def test_a_pipe_can_be_read_once(tmp_path, monkeypatch, content):
    monkeypatch.setattr(limits, "PARALLEL_BYTES", 0)
    path = tmp_path / "pipe.json"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(content,))
    writer.start()
    (trace,) = load([path], keep=True)
    writer.join()
    assert len(trace.steps) == 30
    assert [p.name for p in tmp_path.iterdir()] == ["pipe.json"]
