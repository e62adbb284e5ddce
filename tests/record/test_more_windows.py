"""More windows than one: in detail, again after a time or on demand, and within budgets."""

import gzip
import json
import signal
from typing import Any

import pytest

from stepscope.cli import profile
from stepscope.cli.main import parser
from stepscope.record.plan import Plan
from stepscope.record.schedule import Action, Schedule
from tests.record.running import Ended, profiled, start
from tests.record.running import profile_command as command_of

SECOND = 1_000_000_000
PLAN: dict[str, Any] = {"warmup": 1, "clean": 2, "active": 2}
PROFILED = [Action.OPEN, Action.NOTHING, Action.CLOSE]


def actions(schedule, steps, duration=SECOND // 10):
    return [schedule.after_step(duration) for _ in range(steps)]


def test_a_window_in_detail_follows_after_a_step_that_pays_for_the_first():
    schedule = Schedule(Plan(**PLAN, detail=True))
    assert actions(schedule, 5)[2:] == [Action.OPEN, Action.NOTHING, Action.CLOSE]
    assert not schedule.is_done
    assert actions(schedule, 3) == [Action.OPEN_DETAIL, Action.NOTHING, Action.CLOSE]
    assert schedule.is_done
    assert set(actions(schedule, 20)) == {Action.NOTHING}


def test_a_detailed_window_that_cannot_open_is_tried_again():
    schedule = Schedule(Plan(**PLAN, detail=True))
    actions(schedule, 6)
    schedule.postpone()
    assert schedule.after_step(SECOND) is Action.OPEN_DETAIL


def test_another_window_opens_after_new_clean_steps():
    schedule = Schedule(Plan(**PLAN))
    schedule.again()
    assert actions(schedule, 10)[2:5] == PROFILED
    before = list(schedule.clean_ns)
    schedule.again()
    assert actions(schedule, 4, duration=7) == [Action.NOTHING, *PROFILED]
    assert schedule.clean_ns == [7, 7]
    assert before != schedule.clean_ns


@pytest.mark.parametrize(
    ("plan", "step_ns", "size", "steps"),
    [
        ({}, SECOND // 1000, None, 20),
        ({"max_steps": 7}, SECOND // 1000, None, 7),
        ({"max_seconds": 3}, SECOND, None, 3),
        ({"max_megabytes": 1}, SECOND, 500_000.0, 2),
        ({"max_megabytes": 1}, SECOND, None, 5),
        # A window without a step would be none.
        ({"max_megabytes": 1, "max_seconds": 0.5}, SECOND, 5e6, 1),
        ({"active": 50, "max_steps": 9}, SECOND // 1000, None, 9),
    ],
)
def test_budgets_bound_the_steps_of_a_window(plan, step_ns, size, steps):
    assert Plan(**plan).active_for(step_ns, size) == steps


def test_the_command_line_takes_times_and_sizes():
    words = ["profile", "--every", "2h", "--max-seconds", "90", "--max-megabytes", "1.5", "x.py"]
    args = parser().parse_args(words)
    assert (args.every, args.max_seconds, args.max_megabytes) == (7200, 90, 1.5)
    assert [profile._seconds(text) for text in ("5s", "30min", "1d")] == [5, 1800, 86400]


@pytest.mark.parametrize(
    "words", [("--every", "soon"), ("--every", "0"), ("--max-megabytes", "-1")]
)
def test_the_command_line_refuses_others(words, capsys):
    with pytest.raises(SystemExit) as end:
        parser().parse_args(["profile", *words, "x.py"])
    assert end.value.code == 2
    assert words[0] in capsys.readouterr().err


COUNTS = ("--warmup", "2", "--clean", "3", "--active", "2")


@pytest.mark.slow
def test_the_detailed_trace_is_kept_beside_the_one_to_read(tmp_path):
    ended = profiled(tmp_path / "run", "adversaries.py", options=(*COUNTS, "--detail"))
    assert [window.kind for window in ended.recording.windows] == ["steady", "detail"]
    assert ended.recording.window.kind == "steady"
    rank = ended.run.ranks[0]
    assert len(rank.traces) == 2
    assert rank.trace == rank.traces[0]
    assert b"Input Dims" not in _text(rank.traces[0])
    assert b"Input Dims" in _text(rank.traces[1])


def _text(path):
    with gzip.open(path) as stream:
        return stream.read()


@pytest.mark.slow
def test_a_signal_opens_a_window_in_a_running_job(tmp_path):
    folder = tmp_path / "run"
    process = start(command_of(folder, "adversaries.py", "6000", options=COUNTS))
    for line in process.stdout:
        if line.startswith("step 200"):
            process.send_signal(signal.SIGUSR2)
            break
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr
    ended = Ended(0, "", stderr, folder)
    assert [window.kind for window in ended.recording.windows] == ["steady", "steady"]
    first, second = ended.recording.windows
    assert second.first_step > first.first_step + 100
    trace = ended.run.ranks[0].trace
    assert trace is not None
    assert trace.name == second.trace
    assert json.loads((folder / "rank0" / "recording.json").read_text())["complete"]
