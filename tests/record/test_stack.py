"""The sampler of the training thread's stack: what it sees, what it leaves out, and what it puts back."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from time import monotonic, sleep
from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.errors import InputError
from stepscope.record import stack, switching
from stepscope.record.frames import is_users
from stepscope.record.guard import Guard
from stepscope.record.stack import StackWatch, resolved
from stepscope.record.voice import Voice
from stepscope.schema.stack_file import load_stacks, stack_path, write_stacks
from tests.record.running import profiled

PATIENCE_S = 60


def until(true):
    """Wait for a watcher, however long a busy machine makes it take."""
    deadline = monotonic() + PATIENCE_S
    while not true():
        assert monotonic() < deadline
        sleep(0.001)


def watched(function):
    """The stack that a sampler sees of a thread which waits in ``inner``, with its lines and all samples."""
    over = threading.Event()
    thread = threading.Thread(target=function, args=(over,))
    thread.start()
    assert thread.ident is not None
    watch = StackWatch(thread.ident, 1e6, Guard(Voice()))
    watch.start()
    until(
        lambda: any(
            lines and lines[0][0] is inner.__code__ for _, lines in [*watch._samples.stacks]
        )
    )
    watch.stop()
    found = resolved(watch.samples())
    over.set()
    thread.join()
    seen = next(
        one for one in found.stacks if one.lines and found.code[one.lines[-1]].function == "inner"
    )
    return found, seen, [found.code[place] for place in seen.lines]


def busy(over):
    inner(over)


def inner(over):
    over.wait(PATIENCE_S)  # the planted line


def test_lines_are_seen_from_the_outermost_call_to_the_innermost():
    found, seen, lines = watched(busy)
    assert [line.function for line in lines][-2:] == ["busy", "inner"]
    assert lines[-1].text == "over.wait(PATIENCE_S)  # the planted line"
    assert lines[-1].file == __file__
    assert all(line.is_users for line in lines)
    assert seen.inner.startswith("threading.")
    assert list(found.at_ns) == sorted(found.at_ns)
    assert found.cost_ns > 0


def test_pauses_give_samples_in_short_windows_and_spare_long_ones():
    def pause(ns):
        return StackWatch(0, ns, Guard(Voice()))._samples.pause_ns

    assert pause(1e6) == 1_000_000
    assert pause(1e9) == 5_000_000
    assert pause(1e12) == 10_000_000


def test_what_the_recorder_does_itself_is_left_out():
    scope: dict[str, Any] = {"__name__": "stepscope.record.something"}
    exec("def hook(wait):\n    wait(1)\n    return 0", scope)
    watch = StackWatch(threading.get_ident(), 1e6, Guard(Voice()))

    class Looking:
        def __call__(self, _):
            watch._look()

    # The frame that looks is Python's too, so it is taken for the recorder's like the one below it.
    code = StackWatch._look.__code__
    watch._samples.kinds[code] = ("own", "stepscope.record.stack")
    scope["hook"](Looking())
    assert (watch._samples.own, watch._samples.at_ns) == (1, [])


def test_below_the_script_nothing_is_the_users(monkeypatch):
    code = compile("def launch(main): main()", stack._SCRIPT, "exec")
    scope: dict[str, Any] = {"__name__": "stepscope.record.script"}
    exec(code, scope)
    _, _, lines = watched(lambda over: scope["launch"](lambda: inner(over)))
    functions = [line.function.rpartition(".")[2] for line in lines]
    assert functions == ["<lambda>", "inner"]


def test_a_main_program_that_is_installed_is_still_the_users():
    frame: Any = SimpleNamespace(
        f_code=compile("pass", "/x/site-packages/tool.py", "exec"),
        f_globals={"__name__": "__main__"},
        f_back=SimpleNamespace(f_code=compile("pass", stack._SCRIPT, "exec")),
    )
    watch = StackWatch(0, 1e6, Guard(Voice()))
    assert watch._kind(frame) == "users"


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("/home/me/train.py", True),
        ("/tmp/ipykernel_1/2.py", True),
        ("<ipython-input-1>", True),
        ("/x/site-packages/lightning/loop.py", False),
        (threading.__file__, False),
        ("<frozen runpy>", False),
    ],
)
def test_whose_code_it_is(file, expected):
    assert is_users(file) is expected


def test_a_notebooks_cell_is_named_as_the_notebook_names_it(monkeypatch):
    naming = SimpleNamespace(
        format_code_name=lambda file: ("Cell", "In[7]") if file == "/c.py" else None
    )
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(compile=naming))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    assert stack._cell("/c.py") == "Cell In[7]"
    assert stack._cell("/train.py") is None


def test_samplers_share_the_pace_of_the_interpreter_and_the_last_one_puts_it_back():
    before = sys.getswitchinterval()
    first, second = object(), object()
    switching.hasten(first)
    switching.hasten(second)
    switching.settle(first)
    assert sys.getswitchinterval() == pytest.approx(switching.SWITCH_S)
    switching.settle(second)
    switching.settle(second)
    assert sys.getswitchinterval() == pytest.approx(before)


def test_a_pace_that_the_script_has_chosen_meanwhile_stays():
    before = sys.getswitchinterval()
    switching.hasten(first := object())
    sys.setswitchinterval(0.02)
    switching.settle(first)
    try:
        assert sys.getswitchinterval() == pytest.approx(0.02)
    finally:
        sys.setswitchinterval(before)


def test_what_is_written_is_read(tmp_path):
    found, _, _ = watched(busy)
    trace = tmp_path / "trace-3.pt.trace.json.gz"
    write_stacks(stack_path(trace), found)
    assert (tmp_path / "stack-3.json").is_file()
    assert load_stacks(trace) == found
    assert load_stacks(tmp_path / "trace-4.pt.trace.json.gz") is None
    assert load_stacks(tmp_path / "another.json") is None


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path):
    trace = tmp_path / "trace-0.pt.trace.json.gz"
    stack_path(trace).write_text('{"schema_version":1')
    with pytest.raises(InputError, match="cannot be read"):
        load_stacks(trace)


@pytest.mark.slow
@pytest.mark.parametrize("command", [("held/__main__.py",), ("-m", "held")])
def test_the_line_of_a_script_or_package_that_holds_the_window_is_found(tmp_path, command):
    counts = ("--warmup", "2", "--clean", "3", "--active", "3")
    ended = profiled(tmp_path / "run", *command, options=counts)
    assert ended.status == 0, ended.stderr
    (rank,) = ended.run.ranks
    found = load_stacks(rank.trace)
    assert found is not None
    innermost = [found.code[found.stacks[number].lines[-1]] for number in found.stack]
    held = [line for line in innermost if "the planted line" in line.text]
    assert {(line.function, line.is_users) for line in held} == {("hold", True)}
    assert {Path(line.file).parts[-2:] for line in held} == {("held", "__main__.py")}
    assert len(held) >= 9
