import json
from dataclasses import fields

import pytest

from stepscope.schema import tables
from stepscope.testing import A100, MI300X, Group, Setup, Span, TraceBuilder
from stepscope.testing.host import START_NS
from stepscope.testing.truth import DeviceRow, HostRow, MemoryRow

OPEN = START_NS + 10_000


@pytest.mark.parametrize(
    ("row", "table"),
    [(HostRow, tables.HOST), (DeviceRow, tables.DEVICE), (MemoryRow, tables.MEMORY)],
)
def test_rows_have_the_columns_of_the_schema(row, table):
    assert [field.name for field in fields(row)] == [column.name for column in table.columns]


def host_rows(trace, **options):
    return [
        (row.name, row.start_ns - OPEN, row.end_ns - OPEN, row.parent, row.depth, row.self_ns)
        for row in trace.truth(**options).host
    ]


def device_rows(trace):
    return [
        (row.name, row.stream, row.start_ns - OPEN, row.end_ns - OPEN, row.launch, row.operator)
        for row in trace.truth().device
    ]


def test_a_small_step_is_told_to_the_nanosecond():
    trace = TraceBuilder()
    with trace.step(7):
        trace.loader_wait(500)
        with trace.op("aten::linear", ns=40):
            trace.launch("gemm", 9_000)
            trace.launch("gelu", 2_000)
        trace.pause(3)
    assert host_rows(trace) == [
        ("ProfilerStep#7", 0, 11_543, None, 0, 1_003),
        ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 1_000, 1_500, 0, 1, 500),
        ("aten::linear", 1_500, 11_540, 0, 1, 40),
        ("cudaLaunchKernel", 1_540, 6_540, 2, 2, 5_000),
        ("cudaLaunchKernel", 6_540, 11_540, 2, 2, 5_000),
    ]
    assert device_rows(trace) == [
        ("gemm", 7, 7_540, 16_540, 3, 2),
        ("gelu", 7, 17_540, 19_540, 4, 2),
    ]
    assert [
        (row.number, row.start_ns - OPEN, row.end_ns - OPEN) for row in trace.truth().steps
    ] == [(7, 0, 11_543)]


def test_streams_run_beside_each_other():
    trace = TraceBuilder()
    trace.launch("a", 50_000)
    trace.launch("b", 50_000, stream=8)
    assert [(row.stream, row.start_ns - OPEN) for row in trace.truth().device] == [
        (7, 6_000),
        (8, 11_000),
    ]


def test_synchronize_waits_for_the_device():
    trace = TraceBuilder()
    end = trace.launch("a", 50_000)
    trace.synchronize()
    assert trace.now_ns > end
    names = [span.name for span in trace.recording().spans]
    assert names == ["cudaLaunchKernel", "a", "cudaDeviceSynchronize", "Context Sync"]


def test_only_pageable_copies_hold_the_host():
    pinned, pageable = TraceBuilder(), TraceBuilder()
    pinned.copy("HtoD", 1_000_000, 80_000)
    end = pageable.copy("HtoD", 1_000_000, 80_000, pinned=False)
    assert pinned.now_ns - OPEN == 5_000
    assert pageable.now_ns > end
    row = pageable.truth().device[0]
    assert (row.name, row.direction, row.is_pageable, row.bytes) == (
        "Memcpy HtoD (Pageable -> Device)",
        "HtoD",
        True,
        1_000_000,
    )
    assert pageable.truth().host[0].end_ns == pageable.now_ns


def test_the_other_vendor_has_its_own_names():
    trace = TraceBuilder(Setup(gpus=(MI300X,)))
    trace.launch("Cijk_Ailk", 1_000)
    trace.copy("DtoH", 8, 1_000, pinned=False)
    rows = trace.truth()
    assert [row.name for row in rows.host] == ["hipLaunchKernel", "hipMemcpyAsync"]
    assert rows.device[1].is_pageable is None
    assert rows.device[1].direction == "DtoH"
    assert rows.device[0].occupancy_percent is None


def test_a_graph_is_one_launch_of_many_kernels():
    trace = TraceBuilder()
    trace.replay_graph([("a", 10), ("b", 20)])
    rows = trace.truth()
    assert [row.name for row in rows.host] == ["cudaGraphLaunch"]
    assert [row.launch for row in rows.device] == [0, 0]


def test_a_collective_ends_no_earlier_than_it_is_told():
    trace = TraceBuilder(Setup(gpus=(A100,), rank=1, world_size=4))
    late = trace.now_ns + 900_000
    assert trace.collective("allreduce", 64, 1_000, until_ns=late) == late
    trace.collective("allgather", 32, 1_000, group=Group(name="3", ranks=(1, 3)))
    first, second = trace.truth().device
    assert (first.is_communication, first.collective, first.group_size, first.sequence) == (
        True,
        "allreduce",
        4,
        1,
    )
    assert (second.group_name, second.group_size, second.sequence) == ("3", 2, 1)
    assert json.loads(trace.text())["distributedInfo"]["rank"] == 1


def test_backward_runs_in_its_own_thread_while_the_caller_waits():
    trace = TraceBuilder()
    with trace.op("forward", sequence=3):
        pass
    with trace.backward(), trace.op("ForwardBackward0", sequence=3, backward=True, ns=700):
        pass
    trace.work("aten::add", 5)
    forward, backward, after = trace.truth().host
    assert (forward.sequence, forward.forward_thread) == (3, 0)
    assert (backward.sequence, backward.forward_thread) == (3, 1)
    assert backward.tid != forward.tid
    assert after.start_ns == backward.end_ns
    assert [flow.number for flow in trace.recording().flows] == [3, 3]


def test_python_frames_are_rows_only_when_wanted():
    trace = TraceBuilder()
    with trace.frame("train.py(3): main"):
        trace.work("aten::add", 5)
    assert host_rows(trace) == [("aten::add", 0, 5, None, 0, 5)]
    assert host_rows(trace, python=True) == [
        ("train.py(3): main", 0, 5, None, 0, 5),
        ("aten::add", 0, 5, None, 0, 5),
    ]


def test_allocations_add_up_by_device():
    trace = TraceBuilder()
    trace.allocate(1_000, device=0)
    trace.allocate(64)
    trace.allocate(-400, device=0)
    rows = [
        (row.device_type, row.device_id, row.bytes, row.total_allocated_bytes)
        for row in trace.truth().memory
    ]
    assert rows == [(1, 0, 1_000, 1_000), (0, -1, 64, 64), (1, 0, -400, 600)]


def test_a_recording_without_its_device_side():
    trace = TraceBuilder(Setup(gpus=(A100,), records_device=False))
    trace.launch("a", 1_000)
    trace.synchronize()
    assert trace.truth().device == ()
    assert len(trace.truth().host) == 2


def test_a_span_can_be_placed_exactly():
    trace = TraceBuilder()
    trace.add(Span("kernel", "early", 0, 7, OPEN - 5, OPEN + 5, {"device": 0, "stream": 7}))
    assert device_rows(trace) == [("early", 7, -5, 5, None, None)]


def test_open_ranges_are_refused():
    trace = TraceBuilder()
    with trace.step(1), pytest.raises(ValueError, match="still open"):
        trace.recording()


def test_device_work_needs_a_device():
    with pytest.raises(ValueError, match="no device"):
        TraceBuilder(Setup()).launch("a", 1)
