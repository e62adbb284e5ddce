"""Figures of the smaller analyses, each by a trace of a few lines."""

from __future__ import annotations

import pytest

from stepscope.analysis import (
    allocator,
    communication,
    facts,
    gpu,
    kernels,
    launches,
    loader,
    memory,
    operators,
    overview,
    spread,
    startup,
)
from stepscope.trace.model import Device
from tests.analysis.made import US, V100, call, device, kernel, note, op, parts, trace

LOADER = "enumerate(DataLoader)#_{}DataLoaderIter.__next__"


def test_overview_counts_the_first_of_what_happens_at_once():
    made = trace(
        [
            op("a", 0, 90),
            note(LOADER.format("SingleProcess"), 60, 80),
            call("cudaLaunchKernel", 55, 65, 1),
        ],
        [
            kernel(10, 20, 1),
            device("memcpy", "Memcpy HtoD", 15, 30),
            device("memset", "Memset", 30, 35),
            kernel(30, 40, is_communication=True),
        ],
    )
    assert parts(overview.run(made)) == {
        "kernel": 10,
        "memcpy": 10,
        "memset": 5,
        "communication": 5,
        "runtime": 10,
        "dataloader": 15,
        "cpu_exec": 35,
        "other": 10,
    }


def test_spread_leaves_start_up_out_of_the_steady_mean():
    made = trace(steps=[(0, 50), (50, 60), (60, 70), (70, 84)], startup=[0])
    result = spread.run(made)
    assert result.mean_ns == 21 * US
    assert result.median_ns == 12 * US
    assert result.steady_mean_ns == pytest.approx(34 / 3 * US)


def test_spread_leaves_partial_steps_out_while_whole_ones_remain():
    made = trace(steps=[(0, 3), (3, 13), (13, 23)], partial=[0])
    assert spread.run(made).steady_mean_ns == 10 * US
    assert spread.run(trace(steps=[(0, 3)], partial=[0])).steady_mean_ns == 3 * US


def test_spread_finds_outliers_only_among_enough_steps_and_beyond_a_tenth():
    even = [(10 * i, 10 * i + 10) for i in range(6)]
    assert spread.run(trace(steps=[*even, (60, 90)])).outliers == (6,)
    assert spread.run(trace(steps=[*even, (60, 70.5)])).outliers == ()
    assert spread.run(trace(steps=[(0, 10), (10, 90), (90, 100)])).outliers == ()


def test_without_steps_the_window_stands_for_them():
    result = spread.run(trace(window=(5, 25)))
    assert not result.are_steps
    assert result.durations_ns.tolist() == [20 * US]


def test_gpu_busy_is_summed_over_devices_and_the_share_averaged():
    made = trace(
        devices=[kernel(0, 30), kernel(20, 40), kernel(10, 30, device=1), kernel(90, 95)],
        steps=[(0, 80)],
    )
    result = gpu.run(made)
    assert result.busy_ns == 65 * US
    assert result.busy_frac == pytest.approx((40 + 20) / 80 / 2)
    assert result.tail_ns == 5 * US
    assert result.devices == (0, 1)


def test_sm_efficiency_caps_the_sum_of_concurrent_kernels():
    made = trace(
        devices=[
            kernel(0, 20, blocks_per_sm=0.5),
            kernel(10, 30, blocks_per_sm=0.75, stream=8),
            kernel(80, 120, blocks_per_sm=4.0),
        ],
        steps=[(0, 100)],
    )
    assert gpu.run(made).sm_efficiency_frac == pytest.approx(
        (10 * 0.5 + 10 * 1 + 10 * 0.75 + 20) / 100
    )


def test_sm_efficiency_and_occupancy_are_not_given_where_most_kernels_lack_them():
    made = trace(devices=[kernel(0, 10, blocks_per_sm=1.0, occupancy_percent=50), kernel(10, 40)])
    result = gpu.run(made)
    assert result.sm_efficiency_frac is None
    assert result.occupancy_frac is None


def test_occupancy_is_weighted_by_time_in_the_steps():
    made = trace(
        devices=[kernel(0, 10, occupancy_percent=50), kernel(10, 40, occupancy_percent=10)],
        steps=[(0, 20)],
    )
    assert gpu.run(made).occupancy_frac == pytest.approx(0.3)


def test_tensor_core_share():
    plain = kernel(0, 30, name="volta_sgemm_128x64_nn")
    cores = kernel(30, 40, name="turing_fp16_s1688gemm_fp16_128x128")
    result = gpu.run(trace(devices=[plain, cores, kernel(40, 80, name="elementwise_kernel")]))
    assert result.tensor_core_frac == pytest.approx(10 / 80)
    assert result.matrix_frac == pytest.approx(40 / 80)
    assert result.plain_matrix_frac == pytest.approx(30 / 80)


def test_tensor_core_share_is_not_given_where_names_do_not_tell():
    result = gpu.run(trace(devices=[kernel(0, 30, name="attn_fwd"), kernel(30, 40, name="add")]))
    assert result.tensor_core_frac is None


def test_no_device_work_gives_no_figure():
    result = gpu.run(trace([op("a", 0, 1)]))
    assert result.busy_ns is None
    assert result.busy_frac is None


@pytest.mark.parametrize(
    "name",
    [
        LOADER.format("SingleProcess"),
        LOADER.format("MultiProcessing"),
        "enumerate(DataPipe)#IterDataPipe",
        "[_TrainingEpochLoop].train_dataloader_next",
    ],
)
@pytest.mark.parametrize("kind", ["operator", "annotation"])
def test_loader_waits_of_every_era_count(name, kind):
    made = trace([op(name, 10, 30) | {"kind": kind}, op("a", 30, 40)], steps=[(0, 20), (20, 50)])
    result = loader.run(made)
    assert result.wait_ns == 20 * US
    assert result.count == 1
    assert result.per_step_ns.tolist() == [10 * US, 10 * US]


def test_loader_waits_that_nest_count_once():
    made = trace(
        [
            note(LOADER.format("SingleProcess"), 0, 10),
            note("[Loop].train_dataloader_next", 0, 12),
            note(LOADER.format("SingleProcess"), 50, 55),
        ]
    )
    result = loader.run(made)
    assert (result.wait_ns, result.count, result.is_single_process) == (17 * US, 2, True)
    assert result.longest_ns == 12 * US


def test_python_frames_of_the_loader_count_only_alone():
    frame = {"kind": "python"} | {}
    python = op("torch/utils/data/dataloader.py(700): __next__", 0, 30) | frame
    assert loader.run(trace([python])).wait_ns == 30 * US
    assert (
        loader.run(trace([python, note(LOADER.format("SingleProcess"), 1, 11)])).wait_ns == 10 * US
    )


def test_loader_says_nothing_about_workers_without_a_telling_name():
    assert loader.run(trace()).is_single_process is None
    both = [
        note(LOADER.format("SingleProcess"), 0, 1),
        note(LOADER.format("MultiProcessing"), 2, 3),
    ]
    assert loader.run(trace(both)).is_single_process is None


def test_kernels_are_summed_by_name_with_communication_and_without_copies():
    made = trace(
        devices=[
            kernel(0, 10, name="sgemm"),
            kernel(10, 30, name="sgemm"),
            kernel(30, 40, name="ncclDevKernel_AllReduce", is_communication=True),
            device("memcpy", "Memcpy HtoD", 50, 90),
        ]
    )
    first, second = kernels.run(made)
    assert (first.name, first.count, first.total_ns, first.share) == ("sgemm", 2, 30 * US, 0.75)
    assert second.is_communication
    assert second.uses_tensor_cores is False


def test_operators_count_recursion_once_and_give_self_and_device_time():
    made = trace(
        [
            op("aten::to", 0, 50),
            op("aten::to", 10, 40),
            op("aten::copy_", 20, 30),
            call("cudaMemcpyAsync", 22, 28, 1),
            op("aten::to", 60, 70),
            op("ProfilerStep#1", 0, 100),
        ],
        [device("memcpy", "Memcpy HtoD", 30, 37, 1)],
    )
    to, copy = operators.run(made)
    assert (to.name, to.count, to.total_ns, to.self_ns) == ("aten::to", 3, 60 * US, 50 * US)
    assert to.device_ns == 7 * US
    assert (copy.self_ns, copy.total_ns, copy.device_ns) == (10 * US, 10 * US, 7 * US)
    assert to.share == pytest.approx(50 / 60)


def test_operators_are_told_apart_by_shape_and_thread():
    made = trace(
        [
            op("aten::mm", 0, 10, input_dims="[[2, 2]]"),
            op("aten::mm", 5, 25, input_dims="[[4, 4]]", tid=2),
        ]
    )
    rows = operators.run(made)
    assert [(row.input_dims, row.total_ns) for row in rows] == [
        ("[[4, 4]]", 20 * US),
        ("[[2, 2]]", 10 * US),
    ]
    assert rows[0].device_ns is None


def test_launches():
    made = trace(
        [
            call("cudaLaunchKernel", 0, 5, 1),
            call("cuLaunchKernel", 1, 4) | {"kind": "driver"},
            call("cudaLaunchKernel", 50, 55, 2),
            call("cudaGraphLaunch", 60, 65, 3),
        ],
        [kernel(8, 10, 1), kernel(45, 49, 2), kernel(70, 72, 3), kernel(72, 76, 3), kernel(1, 2)],
        steps=[(0, 100)],
    )
    result = launches.run(made)
    assert (result.count, result.graph_count, result.per_step, result.kernels_per_step) == (
        3,
        1,
        3,
        5,
    )
    assert result.interval_ns == pytest.approx(100 / 3 * US)
    assert result.mean_kernel_ns == pytest.approx(13 / 5 * US)
    assert result.median_delay_ns == pytest.approx(9 * US)
    assert (result.early_count, result.unlinked_count) == (1, 1)


def test_memory_peaks_and_growth():
    def event(time, total, reserved=None, device_type=1, number=0):
        return {
            "time_ns": time * US,
            "device_type": device_type,
            "device_id": number,
            "bytes": 1,
            "total_allocated_bytes": total,
            "total_reserved_bytes": reserved,
        }

    events = [event(10 * i + j, 1000 + 100 * i + 50 * j, 4000) for i in range(4) for j in (1, 2)]
    # What comes back to the same bytes in every step does not grow at all, not by a rounding either.
    same = [event(10 * i + j, 123_456_789_012_345 + 50 * j) for i in range(4) for j in (1, 2)]
    four = [(0, 10), (10, 20), (20, 30), (30, 40)]
    (constant,) = memory.run(trace(memory=same, steps=four, startup=[]))
    assert constant.growth_bytes_per_step == 0
    made = trace(
        memory=[*events, event(3, 77, 0, 0, -1)],
        steps=[(0, 10), (10, 20), (20, 30), (30, 40)],
        startup=[0],
    )
    on_device, on_host = memory.run(made)
    assert (on_device.device, on_device.allocated_bytes, on_device.reserved_bytes) == (
        "cuda:0",
        1400,
        4000,
    )
    assert on_device.capacity_bytes == 40 * 2**30
    assert on_device.growth_bytes_per_step == pytest.approx(100)
    assert (on_host.device, on_host.allocated_bytes, on_host.reserved_bytes) == ("cpu", 77, None)
    assert on_host.growth_bytes_per_step is None


def test_communication_splits_exposed_from_hidden():
    made = trace(
        devices=[
            kernel(0, 30),
            kernel(
                20, 50, is_communication=True, collective="allreduce", group_name="0", group_size=2
            ),
            kernel(
                60, 70, is_communication=True, collective="allreduce", group_name="0", group_size=2
            ),
        ]
    )
    result = communication.run(made)
    assert (result.total_ns, result.exposed_ns, result.hidden_ns) == (40 * US, 30 * US, 10 * US)
    (collective,) = result.collectives
    assert (collective.name, collective.count, collective.total_ns) == ("allreduce", 2, 40 * US)
    assert collective.elements is None
    assert result.call_names == ("allreduce@0", "allreduce@0")


def test_communication_of_the_host_is_listed_where_the_device_has_none():
    made = trace([note("gloo:all_reduce", 0, 10, tid=3)])
    result = communication.run(made)
    assert result.total_ns == 0
    assert result.call_names == ("gloo:all_reduce@",)
    assert result.collectives[0].total_ns == 10 * US


def test_allocator_calls_in_steady_steps():
    made = trace(
        [
            call("cudaMalloc", 5, 15),
            call("cudaFree", 25, 30),
            call("cuMemMap", 32, 34),
            call("cudaFuncGetAttributes", 36, 38),
        ],
        steps=[(0, 20), (20, 40)],
        startup=[0],
    )
    result = allocator.run(made)
    assert (result.count, result.steady_count, result.steady_ns) == (3, 2, 7 * US)


def test_startup_is_the_marked_steps():
    result = startup.run(trace(steps=[(0, 30), (30, 40)], startup=[0]))
    assert (result.ns, result.steps, result.share) == (30 * US, 1, 0.75)


def test_startup_without_steps_is_first_calls_while_the_device_is_idle():
    made = trace(
        [
            call("cudaLaunchKernel", 0, 2_000, 1),
            call("cudaLaunchKernel", 3_000, 3_500, 2),
            call("cuLibraryLoadData", 4_000, 4_100),
        ],
        [kernel(1_500, 1_600)],
        window=(0, 10_000),
    )
    assert startup.run(made).ns == 2_000 * US


def test_facts_of_the_device_that_did_the_work():
    other = Device(1, "AMD Instinct MI300X", 304, None, 2**37, 64, 2048)
    made = trace([op("a", 0, 9)], [kernel(0, 1, device=1)], listed=(V100, other))
    result = facts.run(made)
    assert (result.device, result.has_tensor_cores, result.compute_capability) == (
        other.name,
        True,
        None,
    )
    assert facts.run(trace([op("a", 0, 9)])).device == "cpu"


def test_facts_fall_back_to_the_first_device_where_numbers_do_not_fit():
    result = facts.run(trace([], [kernel(0, 1, device=9)], listed=(V100,)))
    assert (result.device, result.has_tensor_cores) == ("Tesla V100", True)


@pytest.mark.parametrize(
    ("name", "capability", "has"),
    [
        ("NVIDIA GeForce GTX 1660", (7, 5), False),
        ("NVIDIA GeForce GTX 1080", (6, 1), False),
        ("NVIDIA H100", (9, 0), True),
        ("AMD Radeon Graphics", None, None),
    ],
)
def test_which_devices_have_tensor_cores(name, capability, has):
    listed = (Device(0, name, None, capability, None, None, None),)
    assert facts.run(trace([], [kernel(0, 1)], listed=listed)).has_tensor_cores is has
