"""The profiler stops only when the threads of gloo have noted the end of each collective."""

import threading
import time

import pytest

from stepscope.record.gloo import wait_for_gloo
from stepscope.record.window import Window
from tests.known import known

torch = pytest.importorskip("torch", reason="torch is not installed")

IDLE = "202 0x563af9c75db4 0x189 0x0 0x0 0x0 0xffffffff 0x7f1941410d10 0x7f1961ea3f16"
WITH_LIMIT = "202 0x7f195f9e3d88 0x189 0x0 0x7f1939d53ce0 0x0 0xffffffff 0x7f1939d53bb0 0x7f19"
FOR_A_LOCK = "202 0x7f195f9e3d88 0x80 0x2 0x0 0x0 0x0 0x7f1939d53bb0 0x7f1961ea3f16"
ASLEEP = "230 0x1 0x1 0x7f1941c11050 0x0 0x0 0x0 0x7f1941c11010 0x7f1961eed545"


@pytest.fixture
def group(tmp_path):
    """A process group of this process alone, with gloo's threads."""
    distributed = torch.distributed
    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/s", rank=0, world_size=1)
    yield distributed
    distributed.destroy_process_group()


def collective_that_ends_late(group):
    """Its result is there, and its thread is kept from noting the end; set the event to let it."""
    may_end, has_begun = threading.Event(), threading.Event()

    def late(future):
        # Where the collective was too quick, this runs in the thread that asks for it.
        if threading.current_thread() is not threading.main_thread():
            has_begun.set()
            while not may_end.is_set():
                time.sleep(0.001)
        return future.value()

    while not has_begun.wait(0.01):
        future = group.all_reduce(torch.ones(3), async_op=True).get_future()
        future.then(late)
        future.wait()
    return may_end


def test_it_waits_while_a_collective_has_not_noted_its_end(group):
    may_end = collective_that_ends_late(group)
    assert not wait_for_gloo(patience_s=0.05)
    may_end.set()
    assert wait_for_gloo(patience_s=60)


def test_closing_a_window_waits_for_the_end_of_a_collective(group):
    window = Window("steady", 1)
    window.prepare()
    window._profiler.start_trace()
    window._is_recording = True
    may_end = collective_that_ends_late(group)
    threading.Timer(0.2, may_end.set).start()
    window.close()
    assert may_end.is_set()
    events = known(window._profiler.profiler).function_events
    noted = [event for event in events if event.name == "gloo:all_reduce"]
    assert noted
    assert all(event.time_range.elapsed_us() > 0 for event in noted)


def test_no_wait_without_collectives(tmp_path):
    assert wait_for_gloo()
    assert wait_for_gloo(tmp_path / "nothing")


def threads(folder, *calls, name="pt_gloo_runloop", state="S"):
    for number, call in enumerate(calls):
        task = folder / str(10_000_000 + number)
        task.mkdir(parents=True)
        (task / "comm").write_text(name + "\n")
        (task / "stat").write_text(f"{task.name} ({name}) {state} 1 1\n")
        if call is not None:
            (task / "syscall").write_text(call + "\n")
    return folder


@pytest.mark.parametrize(
    ("call", "state", "is_idle"),
    [
        (IDLE, "S", True),
        (WITH_LIMIT, "S", False),
        (FOR_A_LOCK, "S", False),
        (ASLEEP, "S", False),
        ("running", "R", False),
        # A system that does not tell the call: a thread that only wants a core is still found.
        (None, "S", True),
        (None, "R", False),
    ],
)
def test_which_threads_are_idle(tmp_path, monkeypatch, call, state, is_idle):
    monkeypatch.setattr("stepscope.record.gloo._FUTEX", 202)
    folder = threads(tmp_path / "task", IDLE, call, state=state)
    assert wait_for_gloo(folder, patience_s=0) is is_idle


def test_where_pytorch_names_no_threads_all_that_run_are_waited_for(tmp_path, group):
    assert wait_for_gloo(threads(tmp_path / "a", None, name="python"), patience_s=0)
    assert not wait_for_gloo(threads(tmp_path / "b", None, name="python", state="R"), patience_s=0)
