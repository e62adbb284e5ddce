"""The exclusive partition of a step: each cause of idle time alone, and sums that always hold."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from stepscope.analysis import overview, partition
from tests.analysis.made import US, call, device, kernel, note, op, parts, trace


def test_the_four_kinds_of_device_work_take_each_moment_once():
    made = trace(
        [op("aten::mm", 0, 100)],
        [
            kernel(10, 30),
            kernel(20, 50, is_communication=True, name="ncclDevKernel_AllReduce"),
            device("memcpy", "Memcpy HtoD", 40, 60),
            device("memset", "Memset", 55, 62),
        ],
        steps=[(0, 100)],
    )
    assert parts(partition.run(made)) == {
        "compute": 20,
        "communication": 20,
        "copy": 12,
        "host": 48,
    }


def test_work_of_two_devices_counts_once():
    made = trace([op("a", 0, 100)], [kernel(0, 60), kernel(40, 90, device=1)], steps=[(0, 100)])
    assert parts(partition.run(made)) == {"compute": 90, "host": 10}


def test_parts_are_cut_at_the_steps():
    made = trace([op("a", 0, 100)], [kernel(10, 70)], steps=[(0, 50), (50, 100)])
    result = partition.run(made)
    assert parts(result, 0) == {"host": 10, "compute": 40}
    assert parts(result, 1) == {"compute": 20, "host": 30}


def test_waiting_for_the_loader_is_input_only_while_the_device_is_idle():
    made = trace(
        [
            note("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 60),
            op("a", 60, 100),
        ],
        [kernel(0, 30), kernel(70, 100)],
        steps=[(0, 100)],
    )
    assert parts(partition.run(made)) == {"compute": 60, "input": 30, "host": 10}


def test_a_loader_that_waits_in_another_thread_does_not_hold_up_training():
    made = trace(
        [
            op("aten::mm", 0, 100),
            note("ProfilerStep#0", 0, 100),
            note("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10, 60, tid=2),
        ],
        [kernel(0, 30)],
        steps=[(0, 100)],
    )
    assert parts(partition.run(made)) == {"compute": 30, "host": 70}


def test_driver_allocations_while_idle():
    made = trace(
        [op("a", 0, 100), call("cudaMalloc", 40, 70)],
        [kernel(0, 50), kernel(90, 100)],
        steps=[(0, 100)],
    )
    assert parts(partition.run(made)) == {"compute": 60, "allocator": 20, "host": 20}


def blocked(block, second_launch, second_kernel):
    """A kernel of 0 to 50 during which the host blocks, and the kernel after it."""
    return trace(
        [
            op("a", 0, 100),
            call("cudaLaunchKernel", 0, 2, 1),
            call("cudaStreamSynchronize", block[0], block[1]),
            call("cudaLaunchKernel", second_launch[0], second_launch[1], 2),
        ],
        [kernel(2, 50, 1), kernel(second_kernel[0], second_kernel[1], 2)],
        steps=[(0, 100)],
    )


def test_the_refill_after_a_blocking_call_is_sync():
    made = blocked((10, 55), (60, 62), (65, 100))
    assert parts(partition.run(made)) == {"host": 2, "compute": 83, "sync": 15}


def test_sync_is_never_longer_than_the_host_was_blocked():
    made = blocked((48, 53), (88, 90), (92, 100))
    assert parts(partition.run(made)) == {"compute": 56, "sync": 5, "host": 39}


def test_a_block_that_ended_before_the_device_ran_dry_is_not_to_blame():
    made = blocked((3, 20), (60, 62), (65, 100))
    assert "sync" not in parts(partition.run(made))


def test_an_asynchronous_copy_that_outlasts_its_device_work_blocks():
    made = trace(
        [
            op("aten::item", 0, 60),
            call("cudaMemcpyAsync", 10, 45, 1),
            op("b", 60, 100),
            call("cudaLaunchKernel", 60, 62, 2),
        ],
        [
            kernel(0, 30),
            device("memcpy", "Memcpy DtoH", 30, 40, 1, direction="DtoH"),
            kernel(70, 100, 2),
        ],
        steps=[(0, 100)],
    )
    assert parts(partition.run(made)) == {"compute": 60, "copy": 10, "sync": 30}


def test_the_profilers_own_closing_synchronisation_is_no_sync():
    made = trace(
        [op("a", 0, 40), call("cudaLaunchKernel", 0, 2, 1), call("cudaDeviceSynchronize", 41, 90)],
        [kernel(5, 80, 1)],
    )
    assert parts(partition.run(made)) == {"host": 5, "compute": 75, "unknown": 20}


def test_a_long_wait_for_a_device_that_shows_no_work_is_unknown():
    made = trace(
        [
            op("aten::copy_", 0, 5_000),
            call("hipMemcpyWithStream", 10, 4_900),
            call("hipLaunchKernel", 4_950, 4_960, 1),
        ],
        [kernel(4_970, 5_000, 1)],
        window=(0, 5_000),
    )
    assert parts(partition.run(made)) == {"host": 80, "unknown": 4_890, "compute": 30}


def test_a_gap_before_work_that_was_queued_long_ago_is_not_the_hosts():
    made = trace(
        [op("a", 0, 1_000), call("cudaGraphLaunch", 0, 2, 1)],
        [kernel(10, 400, 1), kernel(500, 1_000, 1)],
        window=(0, 1_000),
    )
    assert parts(partition.run(made)) == {"host": 10, "compute": 890, "unknown": 100}


def test_without_operators_only_calls_are_the_hosts():
    made = trace([call("cudaLaunchKernel", 20, 30, 1)], [kernel(30, 60, 1)])
    assert parts(partition.run(made)) == {"compute": 30, "host": 10, "unknown": 60}


def test_idle_while_the_host_takes_part_in_a_collective_is_waiting_for_ranks():
    made = trace(
        [
            note("ProfilerStep#0", 0, 100),
            op("aten::mm", 0, 20),
            note("gloo:barrier", 10, 60, tid=2),
        ],
        [kernel(0, 30)],
        steps=[(0, 100)],
    )
    assert parts(partition.run(made)) == {"compute": 30, "other_rank": 30, "host": 40}


def test_the_parts_of_the_training_thread_without_a_device():
    made = trace(
        [
            note("ProfilerStep#0", 0, 100),
            note("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 10),
            op("aten::linear", 10, 30),
            op("autograd::engine::evaluate_function: AddmmBackward0", 35, 55),
            op("aten::mm", 40, 50),
            op("c10d::allreduce_", 55, 60),
            note("Optimizer.step#SGD.step", 60, 80),
            op("aten::add_", 65, 75),
            note("gloo:all_reduce", 56, 58, tid=2),
            note("gloo:all_reduce", 82, 90, tid=2),
        ],
        steps=[(0, 100)],
    )
    assert parts(partition.run(made)) == {
        "input": 10,
        "forward": 20,
        "backward": 20,
        "communication": 13,
        "optimizer": 20,
        "other": 17,
    }


def test_backward_on_another_thread_counts_while_the_training_thread_waits():
    made = trace(
        [
            note("ProfilerStep#0", 0, 100),
            op("aten::linear", 0, 30),
            op("autograd::engine::evaluate_function: AddmmBackward0", 20, 60, tid=2),
        ],
        steps=[(0, 100)],
    )
    assert parts(partition.run(made)) == {"forward": 30, "backward": 30, "other": 40}


def test_without_steps_there_is_one_row_for_each_window():
    made = trace(
        [op("a", 0, 300)], [kernel(0, 50), kernel(210, 240)], windows=[(0, 100), (200, 300)]
    )
    result = partition.run(made)
    assert parts(result, 0) == {"compute": 50, "host": 50}
    assert parts(result, 1) == {"host": 70, "compute": 30}


def test_shares_rest_on_steady_steps():
    made = trace([op("a", 0, 100)], [kernel(0, 60)], steps=[(0, 50), (50, 100)], startup=[0])
    result = partition.run(made)
    assert result.share("compute") == pytest.approx(0.2)
    assert result.steady_ns("compute") == 10 * US
    assert (
        partition.run(trace([op("a", 0, 9)], [], steps=[(0, 9)], startup=[0])).share("forward")
        is None
    )


def test_kernels_that_were_not_recorded_leave_the_hosts_parts():
    made = trace([op("a", 0, 10), call("cudaLaunchKernel", 1, 2, 1)], [], gpu_recorded=False)
    assert not partition.run(made).has_device


NAMES = (
    "aten::mm",
    "cudaLaunchKernel",
    "cudaStreamSynchronize",
    "cudaDeviceSynchronize",
    "cudaMemcpyAsync",
    "cudaMalloc",
    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
    "gloo:all_reduce",
    "c10d::allreduce_",
    "Optimizer.step#SGD.step",
    "AddmmBackward0",
    "ProfilerStep#1",
)
spans = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(lambda p: (min(p), max(p)))
hosts = st.lists(
    st.tuples(
        st.sampled_from(("operator", "annotation", "runtime", "driver", "python", "other")),
        st.sampled_from(NAMES),
        spans,
        st.integers(1, 3),
        st.one_of(st.none(), st.integers(1, 4)),
    ),
    max_size=14,
)
devices = st.lists(
    st.tuples(
        st.sampled_from(("kernel", "memcpy", "memset", "accelerator")),
        spans,
        st.booleans(),
        st.one_of(st.none(), st.integers(1, 4)),
    ),
    max_size=8,
)
steps = st.lists(st.integers(0, 60), max_size=6, unique=True).map(sorted)


@settings(max_examples=150, deadline=None)
@given(hosts, devices, steps)
def test_parts_and_overview_sum_to_every_step_exactly(host_rows, device_rows, edges):
    made = trace(
        [
            {
                "kind": kind,
                "name": name,
                "pid": 1,
                "tid": tid,
                "start_ns": s,
                "end_ns": e,
                "correlation": link,
            }
            for kind, name, (s, e), tid, link in host_rows
        ],
        [
            device(kind, "k", 0, 0, link, is_communication=moves) | {"start_ns": s, "end_ns": e}
            for kind, (s, e), moves, link in device_rows
        ],
        window=(0, 1),
    )
    made = made if len(edges) < 2 else trace_with_steps(made, edges)
    lengths = np.diff(edges).tolist() if len(edges) >= 2 else [US]
    for result in (partition.run(made), overview.run(made)):
        assert (result.ns >= 0).all()
        assert result.ns.sum(axis=1).tolist() == lengths
    if made.gpu_recorded:
        bitmap = np.zeros(US, dtype=bool)
        for kind, (s, e), moves, _ in device_rows:
            if kind in ("kernel", "accelerator") and not moves:
                bitmap[s:e] = True
        bounds = list(itertools.pairwise(edges)) if len(edges) >= 2 else [(0, US)]
        got = partition.run(made).ns[:, 0].tolist()
        assert got == [int(bitmap[s:e].sum()) for s, e in bounds]


def trace_with_steps(made, edges):
    """The same with steps between the edges, in nanoseconds."""
    one = trace(steps=[(0, 1)] * (len(edges) - 1)).steps
    return replace(
        made,
        steps=one.with_columns(start_ns=pl.Series(edges[:-1]), end_ns=pl.Series(edges[1:])),
        step_source="profiler-step",
    )
