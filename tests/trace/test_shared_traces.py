"""Real traces of many machines, held against figures that were worked out the slow and obvious way."""

from __future__ import annotations

import gzip
import json
import os
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from stepscope.trace import file as trace_file
from stepscope.trace import intervals as iv
from stepscope.trace import load

FOLDER = Path(os.environ.get("STEPSCOPE_TRACES", "nowhere"))
TRUTH = json.loads((FOLDER / "truth.json").read_text()) if (FOLDER / "truth.json").exists() else {}
INFERRED_STEPS = {"rtx2080ti-resnet-no-steps.json.gz": 30}
READ_AS_FLOATS = {"nvidia-ns-resolution.json.gz"}
"""Its truth comes from 64-bit floats, which lose up to 125 ns of each of its times."""
ONE_SHOT_KERNELS = {"b200-vllm-eager.json.gz"}
"""Its truth counts the kernels of NCCL alone, not those that inference engines bring."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not TRUTH, reason="STEPSCOPE_TRACES names no folder of shared traces"),
]


def ms(intervals):
    return iv.total(intervals) / 1e6


@pytest.mark.parametrize("name", TRUTH)
def test_counts_and_times(name):
    known = TRUTH[name]
    lost = 0.03 if name in READ_AS_FLOATS else 1e-3
    path = str(FOLDER / name)
    file = trace_file.read(path)
    assert file.complete == known["complete_events"]
    (trace,) = load([path])
    kernels = trace.device.filter(pl.col("kind") == "kernel")
    assert len(kernels) == known["kernels"]
    if name not in ONE_SHOT_KERNELS:
        assert int(kernels["is_communication"].sum()) == known["comm_kernels"]
        moves = iv.of(kernels.filter("is_communication"))
        assert ms(moves) == pytest.approx(known["comm_busy_ms"], abs=1e-3)
    if known["gpu_busy_ms"] is not None:
        assert ms(iv.of(trace.device)) == pytest.approx(known["gpu_busy_ms"], abs=lost)
    assert ms(iv.of(kernels)) == pytest.approx(known["kernel_busy_ms"], abs=lost)
    steps = known["steps_ms"]
    assert len(trace.steps) == INFERRED_STEPS.get(name, len(steps))
    if steps:
        lengths = ((trace.steps["end_ns"] - trace.steps["start_ns"]) / 1e6).to_list()
        assert lengths == pytest.approx(steps, abs=2e-3)


def test_decimal_times_since_1970_are_exact():
    path = FOLDER / "nvidia-ns-resolution.json.gz"
    (trace,) = load([path])
    whole = json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)
    known = sorted(
        (int(e["ts"] * 1000), int((e["ts"] + e["dur"]) * 1000))
        for e in whole["traceEvents"]
        if e.get("cat") in {"kernel", "gpu_memcpy", "gpu_memset"}
    )
    assert sorted(trace.device.select("start_ns", "end_ns").rows()) == known


@pytest.mark.parametrize("name", TRUTH)
def test_every_launch_that_has_a_correlation_is_found(name):
    (trace,) = load([str(FOLDER / name)])
    host, device = trace.host, trace.device
    calls = host.filter(pl.col("kind").is_in(["runtime", "driver"]) & (pl.col("correlation") != 0))
    linked = device.filter(pl.col("launch").is_not_null())
    wanted = device.join(calls.select("correlation").unique(), on="correlation", how="semi")
    assert len(linked) == len(wanted)
    by_call = host["correlation"].gather(linked["launch"])
    assert (by_call == linked["correlation"]).all()


def test_start_up_is_told_from_steady_steps():
    expected = {
        "rtx2080ti-resnet-no-steps.json.gz": 1,
        "nvidia-ns-resolution.json.gz": 2,
        "v100-resnet50-workers0.json.gz": 0,
        "v100-resnet50-workers4.json.gz": 0,
    }
    for name, count in expected.items():
        (trace,) = load([str(FOLDER / name)])
        flags = trace.steps["is_startup"].to_list()
        assert flags == [True] * count + [False] * (len(flags) - count), name


def test_two_cycles_are_two_windows_of_one_rank():
    (trace,) = load([FOLDER / "h100-two-cycles"])
    assert len(trace.windows) == 2
    assert len(trace.steps) == 6


@pytest.mark.parametrize("folder", ["rtx4090-allreduce-2", "rtx4090-llama-tp2"])
def test_two_ranks(folder):
    assert [trace.meta.rank for trace in load([FOLDER / folder])] == [0, 1]


def test_what_each_trace_cannot_carry_is_said():
    expected = {
        "a100-present-but-model-on-cpu.json.gz": "device-unused",
        "a100-window-without-ops.json.gz": "nothing-recorded",
        "h100-qwen-inference.json.gz": "kernels-without-launch",
        "mi300-resnet-training.json.gz": "missing-ranks",
        "sglang-decode-graph-replay.json.gz": "graph-replay",
    }
    for name, code in expected.items():
        (trace,) = load([str(FOLDER / name)])
        assert code in [notice.code for notice in trace.notices], name


def test_healthy_recordings_get_no_notice():
    for name in ("a100-batch-128", "h100-owlv2-inference", "v100-resnet50-workers0"):
        (trace,) = load([str(FOLDER / f"{name}.json.gz")])
        assert trace.notices == ()
        assert trace.usable
