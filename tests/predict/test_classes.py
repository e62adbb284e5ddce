"""Kinds of work in made runs of which the truth is known."""

from __future__ import annotations

import pytest

from stepscope.analysis.results import run_all
from stepscope.predict import gains
from stepscope.testing import A100, MI300X, DeviceModel, Setup, TraceBuilder
from tests.predict.made import read

US, MS = 1_000, 1_000_000
V100 = DeviceModel("Tesla V100-SXM2-16GB", 16_945_512_448, 80, (7, 0))
MATMUL = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
NARROW = "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_nn_align2>(P)"
LAYOUT = "void cudnn::ops::nchwToNhwcKernel<float, float, float>(int)"
SOFTMAX = "void softmax_warp_forward<float, float, float, 8, false, false>(float*)"
LOSS = "void softmax_warp_forward<float, float, float, 8, true, false>(float*)"
CAST = (
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)"
    "::{lambda()#3}>(int)"
)
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


def cast(trace, ns, host=20 * US):
    """A tensor becomes one of another type, as autocast asks for it."""
    with trace.op("aten::to", ns=host), trace.op("aten::_to_copy"), trace.op("aten::copy_"):
        trace.launch(CAST, ns)


def mixed(product, casts, *, name=MATMUL, gpu=A100):
    """Six steps of twelve products, each behind so many casts of 20 us, read back at their ends."""
    trace = TraceBuilder(Setup(gpus=(gpu,)))
    for number in range(6):
        with trace.step(number):
            for _ in range(12):
                for _ in range(casts):
                    cast(trace, 20 * US)
                with trace.op("aten::linear", ns=10 * US):
                    trace.launch(name, product)
            trace.item()
    trace.synchronize()
    return read(trace)


def test_small_products_do_not_win_their_casts_back():
    found = classes(mixed(10 * US, 6))["casts"]
    assert found.kernels == 72
    assert found.work_ns == pytest.approx(72 * 20 * US, rel=0.02)
    assert found.host_ns > 72 * 20 * US
    # Without autocast 12 products of 20 us stay, and all that the host does for them.
    assert found.gain.low > 2


def test_large_products_win_their_casts_back():
    found = classes(mixed(1 * MS, 3))["casts"]
    assert found.gain.low == 1.0
    assert found.gain.high < 1.15


def test_without_tf32_products_take_eight_times_as_long():
    assert classes(mixed(60 * US, 6))["casts"].gain.low > 1.02
    assert classes(mixed(60 * US, 6, gpu=V100))["casts"].gain.low == 1.0


def test_casts_beside_products_in_32_bits_are_not_mixed_precision():
    assert "casts" not in classes(mixed(10 * US, 6, name="ampere_sgemm_128x64_tn"))


def test_on_a_device_of_which_the_speed_in_32_bits_is_not_known_casts_are_not_judged():
    assert "casts" not in classes(mixed(10 * US, 6, gpu=MI300X))


def test_copies_of_a_batch_to_the_device_are_no_casts():
    trace = TraceBuilder(Setup(gpus=(A100,)))
    for number in range(6):
        with trace.step(number):
            with trace.op("aten::to"), trace.op("aten::_to_copy"), trace.op("aten::copy_"):
                trace.copy("HtoD", 4_000_000, 500 * US)
            with trace.op("aten::linear", ns=10 * US):
                trace.launch(MATMUL, 1 * MS)
            trace.item()
    assert "casts" not in classes(read(trace))
