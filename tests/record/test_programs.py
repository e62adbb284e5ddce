"""Real programs, run plainly and under the recorder."""

import functools
import gzip
import itertools
import json
import signal

import pytest

from tests.record.running import Ended, finish, plain, profile_command, profiled, start

pytestmark = pytest.mark.slow


def step_marks(ended):
    """Names of the step marks in the trace to read, in order of time."""
    with gzip.open(ended.run.ranks[0].trace) as stream:
        events = json.load(stream)["traceEvents"]
    marks = [event for event in events if event.get("cat") == "user_annotation"]
    marks = sorted(marks, key=lambda event: event["ts"])
    return [event for event in marks if event["name"].startswith("ProfilerStep#")], marks


COUNTS = ("--warmup", "3", "--clean", "10", "--active", "5")
"""Without these the noise of the machine decides when steps have settled."""


@pytest.fixture(scope="module")
def alone():
    """Runs a program by Python alone, each only once."""
    return functools.cache(plain)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Runs a program under the recorder, each only once."""

    @functools.cache
    def run(*command):
        return profiled(tmp_path_factory.mktemp("runs") / "run", *command, options=COUNTS)

    return run


TRAINING = [
    ("workers.py", "--out", "x", "--workers", "2"),
    ("accumulate.py",),
    ("adversaries.py",),
    ("inference.py",),
]
UNCHANGED = [
    *TRAINING,
    ("workers.py", "--workers", "1", "--context", "spawn"),
    ("workers.py", "--workers", "1", "--context", "forkserver"),
    ("own_profiler.py", "1", "40"),
    ("own_profiler.py", "20", "1"),
    ("fails.py",),
]


@pytest.mark.parametrize("command", UNCHANGED, ids=" ".join)
def test_the_script_does_what_it_does_without(alone, recorded, command):
    without, ended = alone(*command), recorded(*command)
    assert ended.stdout == without.stdout
    assert ended.status == without.status
    assert ended.run.manifest.exit_status == without.status
    assert ended.run.manifest.command == command
    assert ended.recording.complete
    assert "recording stopped" not in ended.stderr


@pytest.mark.parametrize(
    ("command", "source", "seen"),
    [
        # An optimizer's first step ends start-up, so one fewer is timed than taken.
        (TRAINING[0], "optimizer", 39),
        (TRAINING[1], "optimizer", 59),
        (TRAINING[2], "optimizer", 39),
        (TRAINING[3], "dataloader", 40),
    ],
    ids=["workers", "accumulate", "adversaries", "inference"],
)
def test_steps_are_found_and_a_steady_window_is_recorded(recorded, command, source, seen):
    ended = recorded(*command)
    recording = ended.recording
    assert (recording.step_source, recording.steps_seen) == (source, seen)
    assert recording.window.kind == "steady"
    assert recording.window.cut == ""
    marks, _ = step_marks(ended)
    first = recording.window.first_step
    whole = len(recording.window.steps_ns)
    assert [mark["name"] for mark in marks] == [
        f"ProfilerStep#{first + number}" for number in range(whole)
    ]
    assert whole == 5
    assert len(recording.clean_steps_ns) >= 10
    assert recording.inflation_frac is not None
    assert [path.name for path in ended.run.ranks[0].traces] == [recording.window.trace]


def test_a_step_holds_its_batches_and_one_optimizer_step(recorded):
    ended = recorded("accumulate.py")
    steps, marks = step_marks(ended)
    for step in steps:
        inside = [
            mark["name"].partition("#")[0]
            for mark in marks
            if step["ts"] <= mark["ts"] and mark["ts"] + mark["dur"] <= step["ts"] + step["dur"]
        ]
        assert inside.count("Optimizer.step") == 1
        if "evaluate" not in inside:
            assert inside.count("enumerate(DataLoader)") in (3, 4)


def test_the_step_times_are_on_disk_and_say_what_each_step_was_for(recorded):
    ended = recorded("workers.py", "--out", "x", "--workers", "2")
    rows = ended.run.ranks[0].steps
    assert [row.number for row in rows] == list(range(39))
    window = ended.recording.window
    profiled_rows = [row for row in rows if row.kind == "profiled"]
    assert [row.duration_ns for row in profiled_rows[-len(window.steps_ns) :]] == list(
        window.steps_ns
    )
    assert all(0 < row.loader_wait_ns < row.duration_ns for row in rows)
    assert all(
        later.start_ns >= row.start_ns + row.duration_ns for row, later in itertools.pairwise(rows)
    )


def test_six_steps_leave_a_trace_of_the_first_ones(tmp_path):
    ended = profiled(tmp_path / "run", "adversaries.py", "6")
    assert ended.codes == {"early-window"}
    assert len(step_marks(ended)[0]) == len(ended.recording.window.steps_ns) == 2


def test_two_steps_leave_no_trace_and_say_so(tmp_path):
    ended = profiled(tmp_path / "run", "adversaries.py", "2")
    assert ended.codes == {"ended-before-window"}
    assert ended.run.ranks[0].trace is None
    assert "before a profiler window could be recorded" in ended.stderr


def test_a_script_that_profiles_itself_keeps_its_profile(alone, recorded):
    for command in (("own_profiler.py", "1", "40"), ("own_profiler.py", "20", "1")):
        assert alone(*command).stdout.startswith("[(True, 1), (True, 1)]")
        assert "profiler-in-use" in recorded(*command).codes


def test_the_window_comes_after_the_scripts_own_profiler(recorded):
    ended = recorded("own_profiler.py", "1", "40")
    assert ended.recording.window.kind == "steady"
    assert {row.kind for row in ended.run.ranks[0].steps} >= {"disturbed", "clean", "profiled"}


def test_a_failing_script_shows_its_own_traceback_only(alone, recorded):
    without, ended = alone("fails.py"), recorded("fails.py")
    assert ended.status == 1
    traceback = without.stderr[without.stderr.index("Traceback") :]
    assert traceback in ended.stderr
    assert ended.recording.window is not None


def test_stop_ends_the_script_after_the_window(tmp_path):
    ended = profiled(
        tmp_path / "run", "adversaries.py", "5000", options=("--stop", "--active", "3")
    )
    assert ended.status == 0
    assert len(ended.stdout.splitlines()) < 100
    assert ended.codes == {"stopped"}
    assert len(ended.recording.window.steps_ns) == 3


def test_by_hand(tmp_path):
    folder = tmp_path / "run"
    by_hand = plain("by_hand.py", folder)
    assert by_hand.status == 0
    assert by_hand.stdout.startswith(str(folder))
    inside = profiled(tmp_path / "outer", "by_hand.py", tmp_path / "inner", options=COUNTS)
    assert not (tmp_path / "inner").exists()
    assert inside.stdout.split()[1] == by_hand.stdout.split()[1]
    for ended in (inside, Ended(0, "", "", folder)):
        assert ended.recording.step_source == "manual"
        assert ended.recording.steps_seen == 39
        assert ended.recording.window.kind == "steady"


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_signals_end_the_script_as_they_do_without(tmp_path, name):
    folder, number = tmp_path / "run", getattr(signal, name)
    process = start(profile_command(folder, "adversaries.py", "1000000", options=COUNTS))
    for line in process.stdout:
        if line.startswith("step 2000"):
            break
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == -number
    assert ("KeyboardInterrupt" in stderr) == (name == "SIGINT")
    ended = Ended(process.returncode, "", stderr, folder)
    assert ended.run.manifest.state == ("finished" if name == "SIGINT" else "running")
    assert ended.run.ranks[0].trace is not None
    assert ended.recording.window.kind == "steady"


def test_a_folder_that_cannot_be_written_is_said_and_training_goes_on(tmp_path, alone):
    (tmp_path / "file").touch()
    ended = profiled(tmp_path / "file" / "run", "adversaries.py")
    without = alone("adversaries.py")
    assert (ended.status, ended.stdout) == (without.status, without.stdout)
    assert "nothing can be recorded, the script runs all the same" in ended.stderr


FULL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
from stepscope.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_full_disk_stops_the_recording_only(tmp_path, alone):
    # No file may grow beyond 20 kB here: a trace is larger, the rest is not.
    command = profile_command(tmp_path / "run", "adversaries.py", options=COUNTS)
    ended = finish(start(["-c", FULL_DISK, *command[2:]]))
    assert (ended.status, ended.stdout) == (0, alone("adversaries.py").stdout)
    assert "a trace could not be written" in ended.stderr
