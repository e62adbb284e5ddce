"""Steps of a whole run without a profiler: beside a watch, on request, and never in the script's way."""

import os
import signal
import sys
from pathlib import Path

import msgspec
import pytest

from stepscope.record.injection import INJECTED, LIGHT_PLAN, recorded_below
from stepscope.record.job import Job, JobOptions
from stepscope.record.plan import Plan
from stepscope.schema.light import PARTS, light_files, load_light
from stepscope.schema.run_folder import load_run
from tests.known import known
from tests.record.running import finish, plain, profile_command, start
from tests.record.test_launching import ENVIRONMENT, TORCHRUN


def watched(folder, *command, options=()):
    """Run by this Python under ``stepscope watch``."""
    own = ["-m", "stepscope", "watch", "--no-live", "--out", folder, *options, "--"]
    return finish(start([*own, sys.executable, *command]), folder, "some input\n")


def rows_of(folder):
    (path,) = light_files(folder)
    return known(load_light(path)).rows


def test_the_environment_of_those_below():
    below = recorded_below(
        {"PYTHONPATH": f"a{os.pathsep}{INJECTED}", "X": "1"}, Path("run"), LIGHT_PLAN
    )
    assert below["PYTHONPATH"] == f"{INJECTED}{os.pathsep}a"
    assert (below["X"], below["STEPSCOPE_RUN"]) == ("1", "run")


def test_two_recordings_in_one_process_both_hear_the_optimizer(tmp_path):
    torch = pytest.importorskip("torch")
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        options = JobOptions(
            name=name, command=("x",), plan=Plan(light=True), out=str(tmp_path / name), joins=True
        )
        job = Job(options)
        job.begin()
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(6):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
        job.end(None)
        assert [row.first for row in rows_of(tmp_path / name)] == [0, 1, 2, 3, 4]
        assert Job.current is None


def test_an_evaluation_inside_an_epoch_is_told_apart(tmp_path):
    torch = pytest.importorskip("torch")
    data = torch.utils.data
    options = JobOptions(
        name="x", command=("x",), plan=Plan(light=True), out=str(tmp_path), joins=True
    )
    job = Job(options)
    job.begin()
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    training = data.DataLoader(data.TensorDataset(torch.ones(300, 2)))
    evaluation = data.DataLoader(data.TensorDataset(torch.ones(5, 2)))
    for number, (batch,) in enumerate(training):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
        if number % 100 == 99:
            with torch.no_grad():
                for (one,) in evaluation:
                    model(one)
    job.end(None)
    apart = PARTS.index("apart")
    rows = rows_of(tmp_path)
    assert len(rows) == 299
    assert [row.first for row in rows if row.parts_us[apart]] == [99, 199]
    assert all(sum(row.parts_us) <= row.total_us + len(PARTS) for row in rows)
    recording = msgspec.json.decode((tmp_path / "rank0" / "recording.json").read_bytes())
    assert [(one["role"], one["batches"]) for one in recording["loaders"]] == [
        ("training", 300),
        ("evaluation", 15),
    ]


@pytest.fixture(scope="module")
def unwatched():
    """What the script does when nobody watches."""
    return plain("watched.py", "exit")


@pytest.mark.slow
def test_a_watched_script_is_the_same_and_its_steps_are_timed(tmp_path, unwatched):
    ended = watched(tmp_path / "run", "watched.py", "exit")
    assert (ended.status, ended.stdout) == (unwatched.status, unwatched.stdout)
    assert "handler True" in ended.stdout
    rows = rows_of(tmp_path / "run")
    assert sum(row.count for row in rows) == 29
    assert all(sum(row.parts_us) <= row.total_us + len(PARTS) for row in rows)
    assert "Steps    29 of training" in ended.stderr
    assert not list((tmp_path / "run").glob("rank*/*.csv.*"))
    assert {path.name for path in (tmp_path / "run" / "rank0").iterdir()} == {
        "light.csv",
        "recording.json",
    }


@pytest.mark.slow
def test_without_steps_nothing_of_the_recorder_is_in_the_process(tmp_path, unwatched):
    ended = watched(tmp_path / "run", "watched.py", "exit", options=["--no-steps"])
    assert ended.stdout == unwatched.stdout
    assert not light_files(tmp_path / "run")
    assert "Steps " not in ended.stderr


@pytest.mark.slow
def test_losses_and_random_streams_are_the_same_to_the_last_bit(tmp_path):
    ended = watched(tmp_path / "run", "random_streams.py")
    assert ended.stdout == plain("random_streams.py").stdout
    rows = rows_of(tmp_path / "run")
    assert sum(row.count for row in rows) == 199
    assert sum(row.parts_us[PARTS.index("input")] for row in rows) > 0
    recording = msgspec.json.decode((tmp_path / "run" / "rank0" / "recording.json").read_bytes())
    (loader,) = recording["loaders"]
    assert (loader["batches"], loader["epochs"], loader["role"]) == (200, 2, "training")
    # The first step is start-up.
    assert loader["wait_ns"] / 1000 > sum(row.parts_us[PARTS.index("input")] for row in rows) - 200


@pytest.mark.slow
def test_a_killed_script_leaves_its_steps_and_the_watch_tells_them(tmp_path):
    ended = watched(tmp_path / "run", "watched.py", "SIGKILL")
    assert ended.status == -signal.SIGKILL
    assert sum(row.count for row in rows_of(tmp_path / "run")) >= 20
    assert "ended by signal 9" in ended.stderr
    assert "of training, " in ended.stderr


@pytest.mark.slow
def test_a_signal_that_nobody_handles_still_ends_the_script(tmp_path):
    ended = watched(tmp_path / "run", "watched.py", "SIGUSR2")
    assert ended.status == -signal.SIGUSR2


@pytest.mark.slow
def test_a_python_without_torch_loads_nothing_of_the_recorder(tmp_path):
    code = "import sys; print([n for n in sys.modules if n.startswith(('stepscope', 'multiprocessing'))])"
    ended = watched(tmp_path / "run", "-c", code)
    assert (ended.status, ended.stdout) == (0, "[]\n")
    assert not (tmp_path / "run" / "processes.jsonl").exists()


@pytest.mark.slow
def test_a_profile_inside_a_watch_is_the_only_recording(tmp_path):
    own = profile_command(tmp_path / "own", "watched.py", "exit", options=["--no-watch"])
    ended = watched(tmp_path / "run", *own)
    assert ended.status == 5
    assert not light_files(tmp_path / "run")
    assert len(load_run(tmp_path / "own").ranks[0].steps) == 29


@pytest.mark.slow
def test_a_part_that_the_script_profiles_itself_ends_the_timing(tmp_path):
    ended = watched(tmp_path / "run", "takes_over.py", tmp_path / "own")
    assert ended.status == 0, ended.stderr
    assert sum(row.count for row in rows_of(tmp_path / "run")) == 9
    run = load_run(tmp_path / "own")
    assert run.ranks[0].trace is not None
    assert known(run.ranks[0].recording).steps_seen == 19


@pytest.mark.slow
def test_a_compiled_model_and_a_profiler_of_its_own(tmp_path):
    for name, words in (("compiled.py", ()), ("own_profiler.py", ("20", "20"))):
        ended = watched(tmp_path / name, name, *words)
        assert (ended.status, ended.stdout) == (0, plain(name, *words).stdout)
        assert sum(row.count for row in rows_of(tmp_path / name)) > 30


@pytest.mark.slow
def test_what_is_compiled_of_a_data_parallel_model_stays_the_same(tmp_path):
    without = plain("compiled_ddp.py", "12")
    ended = watched(tmp_path / "run", "compiled_ddp.py", "12")
    assert (ended.status, ended.stdout) == (0, without.stdout)
    assert "UserWarning" not in ended.stderr
    rows = rows_of(tmp_path / "run")
    assert sum(row.parts_us[PARTS.index("forward")] for row in rows) > 0
    assert sum(row.parts_us[PARTS.index("sync")] for row in rows) > 0


@pytest.mark.slow
def test_launched_ranks_are_compared_at_the_end(tmp_path):
    command = ["-m", "stepscope", "profile", "--light", "--out", tmp_path / "run", "--"]
    ended = finish(
        start([*command, sys.executable, *TORCHRUN, 2, "ddp.py", "1"], env=ENVIRONMENT),
        tmp_path / "run",
    )
    assert ended.status == 0, ended.stderr
    assert ended.stdout == finish(start([*TORCHRUN, 2, "ddp.py", "1"], env=ENVIRONMENT)).stdout
    assert "2 of 2 ranks, 29 steps" in ended.stderr
    assert "rank 1 on " in ended.stderr
    assert (tmp_path / "run" / "light.json").is_file()
    assert not list((tmp_path / "run").glob("rank*/*.json.gz"))
