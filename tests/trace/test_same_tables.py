"""Reading the same events in another layout, order, indentation or container gives identical tables."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import astuple
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepscope.trace import limits, load
from tests.trace import small
from tests.trace.programs import PROGRAMS, SETUPS, forms, play

TABLES = ("host", "device", "memory", "steps")
QUIET = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.slow
@QUIET
@given(program=PROGRAMS, setup=SETUPS, form=forms(), with_python=st.booleans())
def test_a_random_run_in_a_random_form_gives_its_known_tables(
    tmp_path, program, setup, form, with_python
):
    made = play(program, setup)
    truth = made.truth(form, python=with_python)
    (trace,) = load([made.write(tmp_path / "made.json", form)], with_python=with_python)
    for name in ("host", "device", "memory"):
        known = [astuple(row) for row in getattr(truth, name)]
        assert getattr(trace, name).rows() == known, name


def same(one, other):
    for name in TABLES:
        assert getattr(one, name).equals(getattr(other, name)), name
    assert [n.code for n in one.notices] == [n.code for n in other.notices]


ONE_FILE = [
    "minimal",
    "record_shapes",
    "profile_memory",
    "with_stack",
    "dataloader_workers2",
    "threads",
]


@pytest.mark.parametrize("name", ONE_FILE)
@pytest.mark.parametrize("with_python", [False, True], ids=["ops", "frames"])
def test_recorded_traces_rewritten_in_other_ways(tmp_path, name, with_python):
    original = small.RECORDED / f"{name}.json.gz"
    (reference,) = load([original], with_python=with_python)
    whole = json.loads(gzip.decompress(original.read_bytes()), parse_float=_mark)
    shuffled = {
        **whole,
        "traceEvents": random.Random(7).sample(whole["traceEvents"], len(whole["traceEvents"])),
    }
    backwards = {key: whole[key] for key in reversed(whole)}
    versions = {
        "compact": _dump(whole, separators=(",", ":")),
        "indented": _dump(whole, indent=4),
        "sorted keys": _dump(whole, sort_keys=True),
        "events shuffled": _dump(shuffled),
        "header last": _dump(backwards),
    }
    for text in versions.values():
        (trace,) = load([small.write(tmp_path, text)], with_python=with_python)
        same(trace, reference)


def _mark(text):
    """A number as marked text, so that its digits survive."""
    return f"\x01{text}\x01"


def _dump(whole, **options):
    text = json.dumps(whole, **options)
    return text.replace('"\\u0001', "").replace('\\u0001"', "").encode()


@pytest.mark.parametrize("seed", range(5))
def test_any_split_into_gzip_members(tmp_path, seed):
    text = gzip.decompress((small.RECORDED / "minimal.json.gz").read_bytes())
    (reference,) = load([small.write(tmp_path, text, "plain.json")])
    chance = random.Random(seed)
    cuts = [0, *sorted(chance.sample(range(len(text)), 20)), len(text)]
    members = [gzip.compress(text[a:b], 1) for a, b in pairwise(cuts)]
    path = tmp_path / "members.json.gz"
    path.write_bytes(b"".join(members))
    (trace,) = load([path])
    same(trace, reference)


@pytest.mark.parametrize("size", [300, 3000, 20_000])
@pytest.mark.parametrize(
    "name", ["with_stack", "all_flags", "weird_names", "compile_inductor_cpu_stack"]
)
def test_any_size_of_pieces(monkeypatch, name, size):
    path = small.RECORDED / f"{name}.json.gz"
    for with_python in (False, True):
        (reference,) = load([path], with_python=with_python)
        with monkeypatch.context() as patch:
            patch.setattr(limits, "PIECE_BYTES", size)
            (trace,) = load([path], with_python=with_python)
        same(trace, reference)
        assert [n.text for n in trace.notices] == [n.text for n in reference.notices]
