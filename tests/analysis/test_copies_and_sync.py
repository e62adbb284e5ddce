"""Copies with their bandwidth, and blocking calls with what forced them."""

from __future__ import annotations

import pytest

from stepscope.analysis import copies, sync
from stepscope.trace.model import Device
from tests.analysis.made import A100, US, V100, call, device, host, kernel, op, trace


def copy(start, end, count, direction="HtoD", pageable=True, correlation=None):
    more = {"bytes": count, "direction": direction, "is_pageable": pageable}
    return device("memcpy", f"Memcpy {direction}", start, end, correlation, **more)


def test_copies_by_direction_and_memory():
    made = trace(
        devices=[copy(0, 10, 100_000), copy(20, 30, 100_000), copy(40, 50, 200_000, pageable=False)]
    )
    pageable, pinned = copies.run(made)
    assert (pageable.memory, pageable.count, pageable.bytes) == ("pageable", 2, 200_000)
    assert pageable.bandwidth_gb_s == pytest.approx(10)
    assert pinned.memory == "pinned"
    assert pinned.bandwidth_gb_s == pytest.approx(20)


def test_copies_say_what_is_not_recorded():
    made = trace(
        devices=[
            copy(0, 10, None, pageable=None),
            device("memcpy", "CopyDeviceToDevice", 10, 20),
            copy(30, 40, 8, direction="DtoD", pageable=None),
        ]
    )
    by_direction = {row.direction: row for row in copies.run(made)}
    assert by_direction["HtoD"].memory is None
    assert by_direction["HtoD"].bandwidth_gb_s is None
    assert by_direction["CopyDeviceToDevice"].bytes is None
    assert by_direction["DtoD"].memory == "device"


@pytest.mark.parametrize(
    ("listed", "possible", "impossible"),
    [
        (A100, 31, 40),
        (V100, 70, 90),
        (Device(0, "GeForce RTX 2080 Ti", 68, (7, 5), None, 32, None), 15, 20),
        (Device(0, "NVIDIA GH200 480GB", 132, (9, 0), None, 32, None), 400, 500),
        (Device(0, "AMD Instinct MI300A", 228, None, None, 64, None), 400, 500),
    ],
)
def test_no_bandwidth_above_the_hardwares(listed, possible, impossible):
    def row(rate):
        return copies.run(trace(devices=[copy(0, 10, rate * 10 * US)], listed=(listed,)))[0]

    assert row(possible).bandwidth_gb_s == pytest.approx(possible)
    assert row(impossible).bandwidth_gb_s is None
    assert row(impossible).is_refused


def test_a_copy_without_duration_has_no_bandwidth():
    (row,) = copies.run(trace(devices=[copy(5, 5, 1000)]))
    assert row.bandwidth_gb_s is None
    assert not row.is_refused


def test_exposed_time_of_copies_holds_the_call_that_stages_them_but_no_kernel():
    made = trace(
        [op("aten::to", 0, 60), call("cudaMemcpyAsync", 10, 50, 1)],
        [kernel(0, 20), copy(40, 55, 1000, correlation=1), kernel(52, 80)],
    )
    (row,) = copies.run(made)
    assert row.exposed_ns == 32 * US


def synced():
    """An item() and a boolean index, each behind a kernel, in a steady and in a start-up step."""
    return trace(
        [
            op("aten::item", 0, 40),
            op("aten::_local_scalar_dense", 0, 40),
            host("python", "train.py(12): main", 0, 100),
            host("python", "/usr/lib/python3/site-packages/torch/x.py(1): f", 0, 45),
            call("cudaStreamSynchronize", 5, 35),
            op("aten::index", 105, 145),
            op("aten::nonzero", 106, 144),
            call("cudaStreamSynchronize", 110, 140),
            call("cudaLaunchKernel", 150, 152, 2),
            call("cudaLaunchKernel", 180, 182, 3),
        ],
        [kernel(0, 30), kernel(100, 130), kernel(160, 170, 2), kernel(190, 200, 3)],
        steps=[(0, 100), (100, 200)],
        window=(0, 200),
    )


def test_sync_counts_blocking_calls_per_step():
    result = sync.run(synced())
    assert result.per_step.tolist() == [1, 1]
    assert result.blocked_ns.tolist() == [30 * US, 30 * US]


def test_sync_names_the_outermost_operator_and_the_users_line():
    culprits = {one.operator: one for one in sync.run(synced()).culprits}
    assert culprits.keys() == {"aten::item", "aten::index"}
    assert culprits["aten::item"].line == "train.py(12): main"
    assert culprits["aten::index"].line is None
    assert culprits["aten::index"].refill_ns == 30 * US
    assert culprits["aten::item"].refill_ns == 30 * US


def test_sync_without_blocking_calls():
    result = sync.run(trace([op("a", 0, 10)], [kernel(0, 5)]))
    assert result.culprits == ()
    assert result.per_step.tolist() == [0]


def test_nested_blocking_calls_count_once():
    made = trace(
        [
            op("a", 0, 100),
            call("hipStreamSynchronize", 10, 50),
            call("hipEventSynchronize", 12, 48),
            op("b", 60, 70),
        ],
        [kernel(0, 40)],
    )
    assert sync.run(made).per_step.tolist() == [1]
