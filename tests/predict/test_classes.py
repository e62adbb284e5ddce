"""Kinds of work in made runs of which the truth is known."""

from __future__ import annotations

import pytest

from stepscope.analysis.results import run_all
from stepscope.predict import gains
from stepscope.testing import A100, Setup, TraceBuilder
from tests.predict.made import read

US, MS = 1_000, 1_000_000
MATMUL = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
NARROW = "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_nn_align2>(P)"
LAYOUT = "void cudnn::ops::nchwToNhwcKernel<float, float, float>(int)"
SOFTMAX = "void softmax_warp_forward<float, float, float, 8, false, false>(float*)"
LOSS = "void softmax_warp_forward<float, float, float, 8, true, false>(float*)"
ADD = "void at::native::vectorized_elementwise_kernel<4>(int)"


def steps(name, *, share=0.5, optimizer=(4, 50 * US)):
    """Six steps of about 10 ms of device work, a share of it in one kernel, read back at their ends."""
    trace = TraceBuilder(Setup(gpus=(A100,)))
    for number in range(6):
        with trace.step(number):
            for _ in range(5):
                for kernel, ns in ((MATMUL, 2 * MS * (1 - share)), (name, 2 * MS * share)):
                    with trace.op("aten::linear", ns=40 * US):
                        trace.launch(kernel, round(ns))
            with trace.optimizer("SGD"):
                for _ in range(optimizer[0]):
                    with trace.op("aten::add_", ns=30 * US):
                        trace.launch(ADD, optimizer[1])
            trace.item()
    trace.synchronize()
    return read(trace)


def classes(trace):
    return {one.kind: one for one in gains(trace, run_all(trace)).classes}


@pytest.mark.parametrize(
    ("kind", "name", "least", "most"),
    [
        ("layout", LAYOUT, 1.33, 2.0),
        ("softmax", SOFTMAX, 1.33, 2.0),
        ("narrow", NARROW, 1.05, 1.33),
    ],
)
def test_a_kind_of_kernel_is_found_and_its_gain_is_what_it_holds(kind, name, least, most):
    found = classes(steps(name))[kind]
    assert found.kernels == 5
    assert found.work_ns == pytest.approx(5 * MS, rel=0.02)
    assert found.name == name
    # Ends are those of the models, each moved outwards by a few per cent; the optimizer's end stays.
    assert found.gain.low == pytest.approx(least, rel=0.08)
    assert found.gain.high == pytest.approx(most, rel=0.12)


def test_the_softmax_of_a_loss_and_aligned_products_are_neither():
    assert classes(steps(LOSS)).keys() == {"optimizer"}
    assert classes(steps(MATMUL)).keys() == {"optimizer"}


def test_an_optimizer_of_many_launches_gains_its_time_on_the_host():
    looped = classes(steps(MATMUL, optimizer=(500, 2 * US)))["optimizer"]
    assert looped.kernels == 500
    assert looped.host_ns > 500 * 30 * US
    assert looped.gain.low > 1.5


def test_an_optimizer_whose_launches_hide_behind_the_device_gains_next_to_nothing():
    hidden = classes(steps(MATMUL, optimizer=(200, 2 * US)))["optimizer"]
    assert hidden.host_ns > 200 * 30 * US
    assert hidden.gain.high < 1.08


def test_few_launches_gain_nothing():
    few = classes(steps(MATMUL))["optimizer"]
    assert few.kernels == 4
    assert few.gain.low < 1.03
