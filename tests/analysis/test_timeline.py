"""The bars of a typical step."""

from __future__ import annotations

from stepscope.analysis import timeline
from tests.analysis.made import call, host, kernel, note, op, trace


def test_the_step_of_median_length_is_shown_and_cut_at_its_edges():
    made = trace(
        [note("ProfilerStep#1", 10, 30), op("aten::mm", 12, 28), op("aten::t", 14, 16)],
        [kernel(25, 40), kernel(41, 43, is_communication=True, stream=9)],
        steps=[(0, 10), (10, 30), (30, 90)],
    )
    result = timeline.run(made)
    assert result is not None
    assert (result.step, result.duration_ms) == (1, 0.02)
    thread, stream = result.lanes
    assert (thread.label, thread.is_device) == ("thread 1 (training)", False)
    assert [(s.name, s.start_us, s.duration_us, s.depth) for s in thread.spans] == [
        ("ProfilerStep#1", 0, 20, 0),
        ("aten::mm", 2, 16, 1),
        ("aten::t", 4, 2, 2),
    ]
    assert (stream.label, stream.is_device) == ("GPU 0 stream 7", True)
    assert [(s.start_us, s.duration_us, s.kind) for s in stream.spans] == [(15, 5, "kernel")]


def test_streams_are_lanes_below_the_threads_and_communication_is_marked():
    made = trace(
        [op("a", 0, 9, tid=1), op("b", 0, 5, tid=2)],
        [kernel(0, 9), kernel(0, 9, stream=9, is_communication=True)],
    )
    result = timeline.run(made)
    assert result is not None
    assert [lane.label for lane in result.lanes] == [
        "thread 1 (training)",
        "thread 2",
        "GPU 0 stream 7",
        "GPU 0 stream 9",
    ]
    assert result.lanes[3].spans[0].kind == "communication"
    assert result.step is None


def test_the_shortest_bars_are_hidden_and_counted(monkeypatch):
    monkeypatch.setattr(timeline, "MOST_BARS", 4)
    made = trace(
        [op("a", i * 10, i * 10 + i + 1) for i in range(6)], [kernel(i, i + 1) for i in range(3)]
    )
    result = timeline.run(made)
    assert result is not None
    thread, stream = result.lanes
    assert [span.duration_us for span in thread.spans] == [5, 6]
    assert (thread.hidden, stream.hidden, len(stream.spans)) == (4, 1, 2)


def test_python_frames_are_shown_only_where_no_operator_tells():
    frame = host("python", "train.py(1): main", 0, 90)
    both = timeline.run(trace([frame, op("a", 0, 5)]))
    alone = timeline.run(trace([frame, call("cudaLaunchKernel", 1, 2)]))
    assert both is not None
    assert alone is not None
    assert [span.kind for span in both.lanes[0].spans] == ["operator"]
    assert [span.kind for span in alone.lanes[0].spans] == ["python", "runtime"]


def test_nothing_to_draw():
    assert timeline.run(trace()) is None
