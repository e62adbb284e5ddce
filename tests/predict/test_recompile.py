"""Compilation in steady steps of made runs."""

from __future__ import annotations

import pytest

from stepscope.analysis.results import run_all
from stepscope.predict import gains
from stepscope.testing import A100, Setup, TraceBuilder
from tests.predict.made import read

MS = 1_000_000
MATMUL = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"


def run(compiles):
    """Eight steps of 10 ms that read back; those of the given numbers compile for 30 ms."""
    trace = TraceBuilder(Setup(gpus=(A100,)))
    for number in range(8):
        with trace.step(number):
            if number in compiles:
                trace.work("_compile.compile_inner (dynamo_timed)", 30 * MS)
            with trace.op("aten::linear"):
                trace.launch(MATMUL, 10 * MS)
            trace.item()
    trace.synchronize()
    return read(trace)


def found(trace):
    return gains(trace, run_all(trace)).recompiled


def test_compilation_in_steady_steps_is_found_and_its_time_is_the_gain():
    own = found(run({3, 5}))
    assert (own.steps, own.count) == (2, 2)
    assert own.host_ns == pytest.approx(60 * MS / 8, rel=0.02)
    assert own.gain.low * 0.9 < (8 * 10 + 60) / (8 * 10) < own.gain.high * 1.1


def test_what_compiles_in_the_beginning_only_is_start_up():
    assert found(run({0})) is None
    assert found(run(())) is None
