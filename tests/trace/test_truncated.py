"""Files cut anywhere: what is whole is read, and how much is missing is said."""

from __future__ import annotations

import gzip
import json

import pytest

from stepscope.errors import InputError
from stepscope.trace import load
from tests.trace import small
from tests.trace.small import codes, names, notice, training

EVENTS = training(2)


def ends_of(text, events):
    """Where each event ends, found with the standard library alone."""
    decoder = json.JSONDecoder()
    plain = text.decode()
    at = plain.index("[", plain.index('"traceEvents"')) + 1
    ends = []
    for _ in events:
        while plain[at] in " \n\r\t,":
            at += 1
        _, at = decoder.raw_decode(plain, at)
        ends.append(at)
    return ends


@pytest.mark.slow
@pytest.mark.parametrize("indent", [None, 1], ids=["one line", "indented"])
def test_a_plain_trace_cut_at_every_byte(tmp_path, indent):
    events = training(1)
    text = json.dumps(small.document(events), indent=indent).encode()
    ends = ends_of(text, events)
    behind_list = text.index(b"]", ends[-1]) + 1
    for cut in range(1, len(text)):
        path = small.write(tmp_path, text[:cut])
        whole = sum(end <= cut for end in ends)
        if whole == 0:
            with pytest.raises(InputError):
                load([path])
            continue
        (trace,) = load([path])
        assert len(trace.host) + len(trace.device) == whole, cut
        if cut < behind_list:
            lost = len(text[ends[whole - 1] : cut].strip(b" ,\n"))
            assert notice(trace, "truncated").count == lost, cut


def test_the_part_that_is_whole_is_exact(tmp_path):
    text = small.text_of(EVENTS)
    cut = text.index(b'"kernel"', text.index(b'"kernel"') + 1)
    (trace,) = load([small.write(tmp_path, text[:cut])])
    (reference,) = load([small.write(tmp_path, EVENTS[:-1], "reference.json")])
    assert trace.host.equals(reference.host)
    assert trace.device.equals(reference.device)
    assert notice(trace, "truncated").count == len(text[text.rindex(b"{", 0, cut) : cut].strip())
    assert f"the {len(EVENTS) - 1} whole events" in notice(trace, "truncated").text


def test_a_gzip_file_cut_at_every_byte(tmp_path):
    packed = gzip.compress(small.text_of(EVENTS), mtime=0)
    read = 0
    for cut in range(1, len(packed)):
        path = tmp_path / "cut.json.gz"
        path.write_bytes(packed[:cut])
        try:
            (trace,) = load([path])
        except InputError:
            continue
        read += 1
        assert "truncated" in codes(trace), cut
        assert set(names(trace.host)) <= {e["name"] for e in EVENTS}
    assert read > len(packed) // 4


def test_a_gzip_file_with_its_end_mark_cut_off_has_all_events(tmp_path):
    packed = gzip.compress(small.text_of(EVENTS), mtime=0)
    path = tmp_path / "cut.json.gz"
    path.write_bytes(packed[:-8])
    (trace,) = load([path])
    assert len(trace.host) + len(trace.device) == len(EVENTS)
    assert codes(trace) == ["truncated"]


@pytest.mark.parametrize("place", [0.3, 0.6, 0.9])
def test_a_gzip_file_damaged_inside_gives_what_came_before(tmp_path, place):
    events = [small.op(f"op{n}", n, 1, External_id=n) for n in range(30_000)]
    packed = bytearray(gzip.compress(small.text_of(events), 1, mtime=0))
    at = int(len(packed) * place)
    packed[at : at + 64] = bytes(64)
    path = tmp_path / "damaged.json.gz"
    path.write_bytes(packed)
    (trace,) = load([path])
    assert "truncated" in codes(trace)
    numbers = trace.host["external_id"].to_list()
    assert 0.5 * place * 30_000 < len(numbers) < 30_000


def test_recorded_traces_cut_in_many_places(tmp_path):
    text = gzip.decompress((small.RECORDED / "minimal.json.gz").read_bytes())
    for cut in range(len(text) // 50, len(text), len(text) // 50):
        path = small.write(tmp_path, text[:cut])
        (trace,) = load([path])
        assert "truncated" in codes(trace) or "header-repaired" in codes(trace)
        assert (trace.host["end_ns"] >= trace.host["start_ns"]).all()
