"""The recorder's decisions, with the events of a training loop given by hand and no profiler behind."""

import threading

import pytest

from stepscope.record import driver as drivers
from stepscope.record import recorder as recorders
from stepscope.record.guard import Guard
from stepscope.record.journal import Journal
from stepscope.record.plan import Plan
from stepscope.record.recorder import Recorder
from stepscope.record.voice import Voice

PLAN = Plan(warmup=2, clean=3, active=4)
STEPS_BEFORE_WINDOW = 6  # start-up, two left out, three clean


class FakeWindows:
    """Notes what is asked of the profiler."""

    def __init__(self):
        self.calls: list[tuple[object, ...]] = []
        self.open_window: FakeWindows | None = None
        self.is_busy = False
        self.whole = 0

    def prepare(self, kind, step):
        self.calls.append(("prepare", kind, step))

    def open(self, kind, step, expected):
        self.calls.append(("open", kind, step))
        self.open_window, self.whole = self, 0

    def close(self, cut=""):
        self.calls.append(("close", self.whole, cut))
        self.open_window = None
        return self.whole

    def next_step(self, duration_ns, *, begins_next):
        self.whole += 1

    def drop_step(self):
        self.calls.append(("drop",))

    def begin_step(self):
        self.calls.append(("begin",))

    def relabel(self, kind):
        pass

    is_writing, own_ns = False, 0

    def bytes_per_step(self):
        return None

    def wait(self):
        pass

    def records(self):
        return ()

    def failures(self):
        return ()


class Loader:
    """Stands for a loader's iterator."""


@pytest.fixture
def made(tmp_path, monkeypatch):
    def make(plan=PLAN):
        recorder = Recorder(plan, Journal(tmp_path, ("x",), 0), Guard(Voice()))
        windows = FakeWindows()
        recorder.driver.windows = windows  # type: ignore[assignment]
        return recorder, windows.calls

    monkeypatch.setattr(drivers, "optimizer_exists", lambda: True)
    monkeypatch.setattr(recorders, "optimizer_exists", lambda: True)
    monkeypatch.setattr(drivers, "profiler_runs", lambda: False)
    return make


def batches(recorder, loader, count):
    for _ in range(count):
        recorder.loader_begins(loader)
        recorder.loader_returns(loader, True)


def train(recorder, steps, *, loader=None, optimizer=PLAN):
    for _ in range(steps):
        if loader is not None:
            batches(recorder, loader, 1)
        recorder.optimizer_stepped(optimizer)


def test_a_window_opens_after_clean_steps_and_closes_by_itself(made):
    recorder, calls = made()
    train(recorder, 20)
    assert calls == [("open", "steady", 5), ("close", 4, "")]
    recording = recorder.recording()
    assert (recording.steps_seen, recording.step_source) == (19, "optimizer")
    # Three before the window; after it all but the one that pays for stopping.
    assert len(recording.clean_steps_ns) == 3 + 9


def test_an_evaluation_inside_the_window_closes_it(made):
    recorder, calls = made()
    training, validation = Loader(), Loader()
    train(recorder, STEPS_BEFORE_WINDOW + 2, loader=training)
    batches(recorder, validation, 30)
    assert calls[1][:2] == ("close", 2)
    assert "evaluation" in str(calls[1][2])
    train(recorder, 20, loader=training)
    assert len(calls) == 2


def test_a_window_without_a_whole_step_is_tried_again(made):
    recorder, calls = made()
    training, validation = Loader(), Loader()
    train(recorder, STEPS_BEFORE_WINDOW, loader=training)
    batches(recorder, validation, 30)
    assert calls[1][:2] == ("close", 0)
    train(recorder, 20, loader=training)
    assert [call[0] for call in calls] == ["open", "close", "open", "close"]
    assert calls[-1] == ("close", 4, "")


def test_evaluation_before_training_is_not_taken_for_it(made):
    recorder, calls = made()
    batches(recorder, Loader(), 40)
    assert calls == []
    train(recorder, 20, loader=Loader())
    assert [call[0] for call in calls] == ["open", "close"]
    assert recorder.recording().steps_seen == 19


def test_inference_has_steps_too(made, monkeypatch):
    monkeypatch.setattr(drivers, "optimizer_exists", lambda: False)
    monkeypatch.setattr(recorders, "optimizer_exists", lambda: False)
    recorder, calls = made()
    loader = Loader()
    batches(recorder, loader, 20)
    recorder.loader_begins(loader)
    recorder.loader_returns(loader, False)
    # Every batch begins a step, so the first step is timed; the end of the loader begins none.
    assert calls == [("open", "steady", 5), ("close", 4, "")]
    assert recorder.recording().steps_seen == 20
    assert recorder.recording().step_source == "dataloader"


def test_the_end_of_a_loader_inside_the_window_begins_no_step(made, monkeypatch):
    monkeypatch.setattr(drivers, "optimizer_exists", lambda: False)
    monkeypatch.setattr(recorders, "optimizer_exists", lambda: False)
    recorder, calls = made()
    first, second = Loader(), Loader()
    batches(recorder, first, 7)
    recorder.loader_begins(first)
    recorder.loader_returns(first, False)
    assert calls[-1] == ("drop",)
    batches(recorder, first, 3)
    assert calls[2] == ("begin",)
    assert calls[-1] == ("close", 4, "")
    assert recorder.recording().steps_seen == 9
    del second


def test_the_scripts_own_profiler_closes_ours_and_spoils_no_clean_step(made):
    recorder, calls = made()
    train(recorder, STEPS_BEFORE_WINDOW - 1)
    recorder.foreign_starts(1)
    train(recorder, 10)
    assert calls == []
    assert recorder.recording().clean_steps_ns == recorder.recording().clean_steps_ns[:2]
    recorder.foreign_ends(1)
    train(recorder, 3)
    assert calls == [("open", "steady", 15)]
    recorder.foreign_starts(2)
    assert calls[-1] == ("close", 2, "the script started a profiler of its own")
    assert [notice.code for notice in recorder.notices.all()] == ["profiler-in-use"]


def test_batches_of_another_thread_are_none_of_our_steps(made):
    recorder, _ = made()
    train(recorder, 1)
    thread = threading.Thread(target=batches, args=(recorder, Loader(), 50))
    thread.start()
    thread.join()
    train(recorder, 1)
    assert recorder.recording().steps_seen == 1


def test_a_loader_inside_a_loader_is_waited_for_once(made, tmp_path):
    recorder, _ = made()
    outer, inner = Loader(), Loader()
    train(recorder, 1)
    recorder.loader_begins(outer)
    batches(recorder, inner, 5)
    recorder.loader_returns(outer, True)
    train(recorder, 2)
    recorder.finish()
    recorder._journal.finish(0)
    rows = (tmp_path / "rank0" / "steps.csv").read_text().splitlines()[1:]
    assert len(rows) == 2
    _, _, _, duration, wait, _ = rows[0].split(",")
    assert 0 < int(wait) < int(duration)
    assert rows[1].split(",")[4] == "0"


def test_stop_ends_the_script_after_the_window_that_counts(made):
    recorder, calls = made(Plan(warmup=2, clean=3, active=4, stop=True))
    with pytest.raises(SystemExit) as end:
        train(recorder, 100)
    assert end.value.code == 0
    assert calls[-1] == ("close", 4, "")


def test_stop_does_not_end_an_evaluation_before_training(made):
    recorder, calls = made(Plan(warmup=2, clean=3, active=4, stop=True))
    batches(recorder, Loader(), 200)
    assert calls[-1] == ("close", 4, "")


def test_the_end_inside_a_window_is_said(made):
    recorder, calls = made()
    train(recorder, STEPS_BEFORE_WINDOW + 1)
    recorder.finish()
    assert calls[-1] == ("close", 1, "the script ended inside the window")


def test_another_step_marker_begins_anew(made):
    recorder, calls = made()
    train(recorder, STEPS_BEFORE_WINDOW + 1)
    recorder.step()
    assert calls[-1] == ("close", 1, "steps of another kind began")
    for _ in range(20):
        recorder.step()
    assert recorder.recording().step_source == "manual"
    assert calls[-1] == ("close", 4, "")
