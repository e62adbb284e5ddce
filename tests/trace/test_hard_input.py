"""Inputs that must get the right answer, one test each: what the reader and the health verdict make of them."""

from __future__ import annotations

import json

import polars as pl
import pytest

from stepscope.trace import load
from tests.trace import small
from tests.trace.small import annotation, codes, kernel, launch, notice, op, read, training

DAYS_US = 24 * 3600 * 1_000_000


def busy(trace):
    return int((trace.device["end_ns"] - trace.device["start_ns"]).sum())


def test_launches_but_no_kernel_event_is_not_recorded(tmp_path):
    trace = read(tmp_path, training(kernels=False))
    assert trace.gpu_recorded is False
    assert not trace.usable
    assert notice(trace, "gpu-not-recorded").count == 3
    assert "not the same as idle" in notice(trace, "gpu-not-recorded").text


def test_a_run_on_the_gpu_recorded_with_cpu_activity_alone_is_not_recorded(tmp_path):
    events = [op("aten::cudnn_convolution", 10, 50), op("aten::relu", 70, 5)]
    trace = read(tmp_path, small.text_of(events, deviceProperties=[small.GPU]))
    assert trace.gpu_recorded is False
    assert codes(trace) == ["gpu-not-recorded"]


def test_a_graph_replay_that_shares_one_correlation_keeps_all_its_kernels(tmp_path):
    events = [op("run", 0, 20), launch(5, 1, name="cudaGraphLaunch")]
    events += [kernel(10 + 10 * n, 9, 1) for n in range(20)]
    trace = read(tmp_path, events)
    assert trace.device["launch"].n_unique() == 1
    assert notice(trace, "graph-replay").count == 1
    assert "20 kernels" in notice(trace, "graph-replay").text


def test_graph_replays_without_kernels_are_said_and_their_gaps_not_called_idle(tmp_path):
    events = [op("run", 0, 100)] + [launch(5 + n, n, 1, name="hipGraphLaunch") for n in range(1, 9)]
    events.append(kernel(10, 9, 1))
    trace = read(tmp_path, events)
    said = notice(trace, "launches-without-kernel")
    assert said.count == 7
    assert "may hold unrecorded work" in said.text


def test_gpu_events_in_2_of_32_steps_name_the_empty_steps(tmp_path):
    events = training(32, kernels=False)
    events += [kernel(number * 1000 + 160, 400, 100 + number) for number in (4, 5)]
    trace = read(tmp_path, events)
    said = notice(trace, "steps-without-device-work")
    assert said.count == 30
    assert "30 of 32 steps" in said.text
    assert not trace.usable


def test_one_step_without_device_work_is_named_and_the_rest_used(tmp_path):
    events = [e for e in training(8) if e["cat"] != "kernel" or e["args"]["correlation"] != 103]
    trace = read(tmp_path, events)
    assert notice(trace, "steps-without-device-work").count == 1
    assert "3" in notice(trace, "steps-without-device-work").text
    assert trace.usable


def test_one_malformed_event_of_99_percent_of_the_time_gives_no_figure(tmp_path):
    events = [*training(8), kernel(100, 9 * DAYS_US, 100)]
    trace = read(tmp_path, events)
    assert notice(trace, "unusable-events").count == 1
    assert busy(trace) == 8 * 400_000
    assert trace.windows[0].end_ns - trace.windows[0].start_ns < 10_000_000


def test_a_kernel_as_long_as_everything_but_over_its_successors_is_clipped(tmp_path):
    events = [*training(8), kernel(100, 5_000_000, 100)]
    trace = read(tmp_path, events)
    assert notice(trace, "clipped-events").count == 1
    assert int(trace.device["end_ns"].max()) <= trace.windows[0].end_ns
    assert trace.windows[0].end_ns - trace.windows[0].start_ns == 7_990_000


def test_kernels_seconds_long_that_overlap_their_successors_never_sum_above_the_wall(tmp_path):
    events = training(16, kernels=False)
    events += [kernel(number * 1000 + 160, 3_000_000, 100 + number) for number in range(16)]
    trace = read(tmp_path, events)
    said = [n for n in trace.notices if n.code == "clipped-events"]
    assert len(said) == 1
    assert said[0].count >= 12
    wall = trace.windows[0].end_ns - trace.windows[0].start_ns
    assert busy(trace) <= wall


def test_a_few_kernels_that_overlap_by_microseconds_are_kept_whole(tmp_path):
    events = [*training(2), kernel(100, 20, 100), kernel(115, 20, 100)]
    trace = read(tmp_path, events)
    assert "clipped-events" not in codes(trace)
    assert busy(trace) == 2 * 400_000 + 40_000


def test_half_the_events_at_time_zero_are_dropped_and_their_share_is_said(tmp_path):
    events = training(8)
    zeros = [{**e, "ts": 0.000, "dur": 0.000} for e in training(8)]
    trace = read(tmp_path, events + zeros)
    assert notice(trace, "unusable-events").count == len(zeros)
    assert f"{len(zeros)} of {2 * len(zeros)}" in notice(trace, "unusable-events").text
    assert trace.host.equals(read(tmp_path, events).host)


def test_negative_durations_are_dropped_and_no_total_is_negative(tmp_path):
    events = training(4)
    events += [{**e, "dur": -1} for e in training(4)]
    trace = read(tmp_path, events)
    assert notice(trace, "unusable-events").count == 16
    assert (trace.device["end_ns"] >= trace.device["start_ns"]).all()
    assert (trace.host["self_ns"] >= 0).all()


def test_a_kernel_that_starts_before_its_launch_is_matched_by_correlation(tmp_path):
    trace = read(tmp_path, [op("aten::mm", 90, 30), launch(100, 1), kernel(98, 10, 1)])
    row = trace.device.row(0, named=True)
    assert trace.host["name"][row["launch"]] == "cudaLaunchKernel"
    assert trace.host["name"][row["operator"]] == "aten::mm"


def flow(phase, ts, number, pid, tid, name="ac2g"):
    ends = {"ph": phase, "id": number, "pid": pid, "tid": tid, "ts": small.START_US + ts}
    return {**ends, "cat": name, "name": name}


@pytest.mark.parametrize("name", ["ac2g", "async_cpu_to_gpu", "async_gpu", "ac2m"])
def test_launches_without_correlations_are_linked_by_flow_events_of_any_name(tmp_path, name):
    bare = [op("aten::mm", 90, 30), launch(100, None), kernel(110, 10, None), kernel(130, 10, None)]
    arrows = [flow("s", 100, 5, 10, 10, name), flow("f", 110, 5, 0, 7, name)]
    trace = read(tmp_path, bare + arrows)
    assert trace.device["launch"].to_list() == [1, None]
    assert trace.device["operator"].to_list() == [0, None]
    assert notice(trace, "linked-by-flow").count == 1


def test_correlation_goes_before_flow_events(tmp_path):
    events = [launch(100, 1), launch(120, 2), kernel(110, 10, 2)]
    trace = read(tmp_path, [*events, flow("s", 100, 5, 10, 10), flow("f", 110, 5, 0, 7)])
    assert trace.device["launch"].to_list() == [1]
    assert "linked-by-flow" not in codes(trace)


def test_a_missing_flow_arrow_changes_nothing(tmp_path):
    events = training(3)
    arrows = [flow("s", 150, 100, 10, 10), flow("f", 160, 100, 0, 7)]
    with_arrow, without = read(tmp_path, events + arrows), read(tmp_path, events)
    assert with_arrow.device.equals(without.device)


def test_stream_sync_rows_and_waiting_calls_are_no_device_work(tmp_path):
    events = training(2)
    events.append(small.event("cuda_sync", "Stream Sync", 100, 800, pid=0, tid=7, stream=7))
    events.append(small.event("cuda_sync", "stream 7 (sync)", 100, 800, pid=0, tid=7))
    events.append(launch(200, 77, 585, name="cudaDeviceSynchronize"))
    trace = read(tmp_path, events)
    assert len(trace.device) == 2
    assert "unusable-events" not in codes(trace)


def test_overlapping_kernels_on_one_stream_are_both_kept(tmp_path):
    trace = read(tmp_path, [launch(0, 1), launch(6, 2), kernel(10, 100, 1), kernel(60, 100, 2)])
    assert len(trace.device) == 2
    assert int(trace.device["end_ns"].max() - trace.device["start_ns"].min()) == 150_000


def test_a_window_in_which_no_operator_ran_names_the_usual_causes(tmp_path):
    events = [annotation("ProfilerStep#3", 0, 5000)]
    trace = read(tmp_path, events)
    assert not trace.usable
    assert "Usual causes" in notice(trace, "nothing-recorded").text


def test_metadata_and_the_window_alone_is_nothing_recorded(tmp_path):
    events = [
        {
            "ph": "M",
            "name": "process_name",
            "pid": 1,
            "tid": 0,
            "ts": 0,
            "args": {"name": "python"},
        },
        {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans"}
        | {"tid": "PyTorch Profiler", "ts": 500.5, "dur": 5_200_000},
    ]
    trace = read(tmp_path, events)
    assert codes(trace) == ["nothing-recorded"]
    assert trace.windows[0].end_ns - trace.windows[0].start_ns == 5_200_000_000


def test_a_header_with_a_gpu_and_all_work_on_the_cpu_says_device_unused_first(tmp_path):
    trace = read(tmp_path, small.text_of(training(gpu=False), deviceProperties=[small.GPU]))
    assert trace.gpu_recorded is None
    assert codes(trace)[0] == "device-unused"


def test_world_size_2_with_one_file_names_the_missing_rank(tmp_path):
    info = {"backend": "nccl", "rank": 1, "world_size": 2}
    trace = read(tmp_path, small.text_of(training(), distributedInfo=info))
    assert trace.meta.rank == 1
    assert notice(trace, "missing-ranks").count == 1
    assert "(0)" in notice(trace, "missing-ranks").text


def test_an_absurd_number_of_ranks_is_counted_and_not_listed(tmp_path):
    info = {"backend": "nccl", "rank": 1, "world_size": 10**15}
    trace = read(tmp_path, small.text_of(training(), distributedInfo=info))
    assert notice(trace, "missing-ranks").count == 10**15 - 1
    assert "(0, 2, 3, 4, 5, 6, 7, 8, ...)" in notice(trace, "missing-ranks").text


def test_two_cycles_of_one_process_are_windows_and_not_ranks(tmp_path):
    first = training(3)
    second = [{**e, "ts": e["ts"] + 50_000} for e in training(3)]
    small.write(tmp_path, first, "host_77.1000.pt.trace.json")
    small.write(tmp_path, second, "host_77.2000.pt.trace.json")
    (trace,) = load([tmp_path])
    assert len(trace.windows) == 2
    assert len(trace.steps) == 6
    assert trace.steps["window"].to_list() == [0, 0, 0, 1, 1, 1]
    launches = trace.host["name"].gather(trace.device["launch"])
    assert set(launches.cast(str)) == {"cudaLaunchKernel"}


def test_ranks_that_all_claim_0_are_told_apart_and_not_compared(tmp_path):
    for number in range(3):
        info = {"backend": "nccl", "rank": 0, "world_size": 1}
        shifted = [{**e, "ts": e["ts"] + number, "pid": 100 + number} for e in training()]
        small.write(tmp_path, small.text_of(shifted, distributedInfo=info), f"worker_{number}.json")
    traces = load([tmp_path])
    assert [t.meta.rank for t in traces] == [0, 1, 2]
    assert {t.meta.rank_source for t in traces} == {"none"}
    assert "nothing is concluded" in notice(traces[0], "rank-unknown").text


def test_a_file_that_is_there_twice_counts_once(tmp_path):
    small.write(tmp_path, training(), "a.json")
    small.write(tmp_path, training(), "copy.json.gz")
    (trace,) = load([tmp_path])
    assert len(trace.device) == 3
    assert notice(trace, "duplicate-file").count == 1


def test_string_thread_ids_of_2021_read_like_numbers(tmp_path):
    events = training()
    old = []
    for e in events:
        thread = f"stream {e['tid']}" if e["cat"] == "kernel" else str(e["tid"])
        kind = {"cpu_op": "Operator", "kernel": "Kernel", "cuda_runtime": "Runtime"}
        old.append({**e, "tid": thread, "cat": kind.get(e["cat"], e["cat"])})
    for e in old:
        if e["cat"] == "Kernel":
            e["args"] = {"device": 0, "correlation": e["args"]["correlation"]}
    new, text = read(tmp_path, events), read(tmp_path, old)
    assert text.host.equals(new.host)
    assert text.device.equals(new.device)


def test_thread_ids_that_are_words_stay_apart(tmp_path):
    events = [op("a", 0, 10, tid="main"), op("b", 2, 3, tid="other"), op("c", 2, 3, tid="main")]
    trace = read(tmp_path, events)
    assert trace.host["tid"].n_unique() == 2
    assert trace.host.filter(pl.col("name") == "c")["depth"].item() == 1
    assert (trace.host["tid"] < -1000).all()


def test_a_list_at_the_root_reads_like_the_whole_document(tmp_path):
    events = training()
    bare = read(tmp_path, json.dumps(events).encode())
    whole = read(tmp_path, small.text_of(events, baseTimeNanoseconds=0))
    assert bare.host.equals(whole.host)
    assert bare.device.equals(whole.device)


def test_times_since_1970_without_a_base_are_on_the_epoch_clock(tmp_path):
    events = [{**e, "ts": e["ts"] + 1_700_000_000_000_000} for e in training()]
    trace = read(tmp_path, json.dumps(events).encode())
    assert trace.meta.clock == "epoch"
    assert trace.host["start_ns"].min() == (1_700_000_000_000_000 + small.START_US) * 1000


@pytest.mark.parametrize("category", ["xpu_runtime", "mtia_runtime", "privateuse1_runtime"])
def test_other_vendors_runtimes_are_calls_of_the_runtime(tmp_path, category):
    events = [small.event(category, "urEnqueueKernelLaunch", 0, 5, correlation=9)]
    events.append(kernel(3, 20, 9, name="gen_conv"))
    trace = read(tmp_path, events)
    assert trace.host["kind"].cast(str).to_list() == ["runtime"]
    assert trace.device["launch"].to_list() == [0]


def test_mtia_work_is_device_work_of_its_own_kind(tmp_path):
    events = [op("aten::mm", 0, 30), small.event("mtia_ccp_events", "fc", 10, 50, pid=0, tid=2)]
    trace = read(tmp_path, events)
    assert trace.device["kind"].cast(str).to_list() == ["accelerator"]
    assert trace.gpu_recorded is True


def test_categories_that_nobody_knows_are_counted_aloud(tmp_path):
    trace = read(tmp_path, [*training(), small.event("hpu_stream_op", "matmul", 10, 50)])
    assert notice(trace, "unknown-category").count == 1
    assert "hpu_stream_op" in notice(trace, "unknown-category").text


def test_numbers_written_as_text_or_missing_values_are_read(tmp_path):
    events = [launch(100, "7"), kernel(110, 10, 7.0)]
    events[1]["args"] |= {"blocks per SM": "inf", "warps per SM": "N/A", "bytes": "4096"}
    events[1]["args"] |= {"est. achieved occupancy %": "31.25", "stream": 4294967295}
    row = read(tmp_path, events).device.row(0, named=True)
    assert row["launch"] == 0
    assert (row["blocks_per_sm"], row["warps_per_sm"]) == (None, None)
    assert (row["occupancy_percent"], row["bytes"], row["stream"]) == (31.25, 4096, -1)


def test_fields_of_unexpected_types_cost_no_other_event(tmp_path):
    odd = [
        {**op("x", 5, 5), "name": None},
        {**op("y", 5, 5), "args": [1]},
        {**op("z", 5, 5), "ph": 3},
    ]
    odd += [{**op("w", 5, 5), "tid": {"a": 1}}, {**op("v", 5, 5), "ts": [1]}]
    trace = read(tmp_path, [*training(), *odd, 17, "text", None, []])
    assert len(trace.device) == 3
    assert {"aten::linear", "y", "w"} <= set(small.names(trace.host))
    assert notice(trace, "unreadable-events").count == 4
    assert notice(trace, "unusable-events").count == 1


def test_huge_numbers_are_no_numbers(tmp_path):
    events = training()
    huge = [{**op("big", 0, 1), "ts": 10**30}, {**op("big", 0, 1), "dur": 10**25}]
    huge += [launch(700, 10**40), op("ids", 0, 1, External_id=2**70)]
    trace = read(tmp_path, events + huge)
    assert notice(trace, "unusable-events").count == 2
    assert trace.host.filter(pl.col("name") == "ids")["external_id"].to_list() == [None]


def test_duplicate_keys_take_the_last(tmp_path):
    text = b'{"schemaVersion":1,"traceEvents":[{"ph":"M","ph":"X","cat":"cpu_op","name":"a","name":"b",'
    text += b'"pid":1,"tid":1,"ts":5,"ts":7,"dur":2}]}'
    trace = read(tmp_path, text)
    assert small.names(trace.host) == ["b"]
    assert trace.host["start_ns"].to_list() == [7000]


def test_mixed_line_endings_read_alike(tmp_path):
    text = json.dumps(small.document(training()), indent=1).encode()
    reference = read(tmp_path, text)
    for ending in (b"\r\n", b"\r", b"\n\r\n"):
        assert read(tmp_path, text.replace(b"\n", ending)).host.equals(reference.host)


def test_a_byte_order_mark_is_passed_over(tmp_path):
    assert len(read(tmp_path, b"\xef\xbb\xbf" + small.text_of(training())).device) == 3
