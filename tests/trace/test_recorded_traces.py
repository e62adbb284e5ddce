"""Traces that PyTorch wrote in every way of recording: each is read, and what is odd about it is said."""

from __future__ import annotations

import pytest

from stepscope.errors import InputError
from stepscope.trace import load
from tests.trace import small

ALONE = sorted(p for p in small.RECORDED.glob("*.json.gz") if "gloo2" not in p.name)
NO_TRACE = {"memtl", "memtl.raw"}
ODD = {
    "all_flags": ["header-repaired"],
    "weird_names": ["repaired"],
    "meta_key_quote": ["header-repaired"],
    "meta_notjson": ["header-repaired"],
    "empty": ["nothing-recorded"],
}


def name_of(path):
    return path.name.removesuffix(".json.gz")


@pytest.mark.parametrize("path", ALONE, ids=name_of)
def test_each_file(path):
    name = name_of(path)
    if name in NO_TRACE:
        with pytest.raises(InputError, match="memory timeline"):
            load([path])
        return
    (trace,) = load([path])
    said = [code for code in small.codes(trace) if not code.startswith("startup-")]
    assert said == ODD.get(name, [])
    assert trace.gpu_recorded is None
    assert not len(trace.device)


@pytest.mark.parametrize("folder", ["tb_default", "tb_worker_gz", "tb_acc"])
def test_two_cycles_of_one_process(folder):
    (trace,) = load([small.RECORDED / folder])
    assert len(trace.windows) == 2
    assert trace.windows[0].end_ns <= trace.windows[1].start_ns
    assert trace.step_source == "profiler-step"


def test_two_ranks_in_a_folder():
    traces = load([small.RECORDED / "ddp_gloo2"])
    assert [(t.meta.rank, t.meta.world_size, t.meta.backend) for t in traces] == [
        (0, 2, "gloo"),
        (1, 2, "gloo"),
    ]


@pytest.mark.parametrize("job", ["fsdp1", "fsdp2"])
def test_two_ranks_as_two_files(job):
    traces = load([small.RECORDED / f"{job}_gloo2_rank{rank}.json.gz" for rank in (1, 0)])
    assert [t.meta.rank for t in traces] == [0, 1]


def test_memory_where_it_was_recorded():
    (trace,) = load([small.RECORDED / "profile_memory.json.gz"])
    assert len(trace.memory) > 50
    assert trace.memory["total_allocated_bytes"].null_count() == 0
    assert trace.memory["time_ns"].is_sorted()


def test_python_frames_where_they_are_wanted():
    path = small.RECORDED / "with_stack.json.gz"
    (without,), (frames,) = load([path]), load([path], with_python=True)
    python = frames.host.filter(frames.host["kind"] == "python")
    assert len(python) > 100
    assert len(frames.host) == len(without.host) + len(python)
    assert "with_stack" in frames.meta.flags


def test_shapes_where_they_were_recorded():
    (trace,) = load([small.RECORDED / "record_shapes.json.gz"])
    assert trace.host["input_dims"].drop_nulls().str.starts_with("[").all()
    assert trace.host["input_dims"].drop_nulls().len() > 20


def test_loader_waits_with_two_workers():
    (trace,) = load([small.RECORDED / "dataloader_workers2.json.gz"])
    assert trace.host["name"].cast(str).str.contains("MultiProcessingDataLoaderIter").sum() > 1


def test_the_list_of_the_old_profiler():
    (trace,) = load([small.RECORDED / "legacy_eventlist.json.gz"])
    assert len(trace.host) > 20
    assert trace.meta.clock == "relative"
