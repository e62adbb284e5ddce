"""Launchers: the processes that train are recorded, all others are left alone and listed."""

import importlib.util
import os
import sys

import pytest

from stepscope import api
from stepscope.record.inside import OF_MULTIPROCESSING
from stepscope.record.output import claim_rank, join_output
from stepscope.record.place import Place, place_of
from stepscope.schema.process_note import ProcessNote, note_process
from stepscope.schema.run_folder import load_run
from tests.record.running import Ended, finish, plain, start

COUNTS = ("--warmup", "2", "--clean", "4", "--active", "4")
TORCHRUN = ("-m", "torch.distributed.run", "--nproc-per-node")
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def launched(folder, *command, options=()):
    """Run below ``stepscope profile --``, by the Python of these tests."""
    own = ["-m", "stepscope", "profile", "--no-analyze", "--out", folder, *COUNTS, *options, "--"]
    return finish(start([*own, sys.executable, *command], env=ENVIRONMENT), folder)


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({}, (None, 1)),
        ({"RANK": "3", "WORLD_SIZE": "8"}, (3, 8)),
        ({"RANK": "0", "WORLD_SIZE": "1"}, (0, 1)),
        ({"SLURM_PROCID": "2", "SLURM_NTASKS": "4", "SLURM_STEP_ID": "0"}, (2, 4)),
        # A batch script that runs Python without srun.
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, (None, 1)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "SLURM_STEP_ID": "0"}, (None, 1)),
        ({"RANK": "x"}, (None, 1)),
        ({"RANK": "5", "WORLD_SIZE": "6", "SLURM_PROCID": "1", "SLURM_NTASKS": "2"}, (5, 6)),
    ],
)
def test_the_place_in_the_job(environment, place):
    found = place_of(environment)
    assert (found.rank, found.world_size) == place
    assert found.is_one_of_many == (place[1] > 1)
    assert bool(found.key) == (place[1] > 1)


def test_tasks_of_a_slurm_step_share_its_name():
    both = {"SLURM_NTASKS": "2", "SLURM_STEP_ID": "0", "SLURM_JOB_ID": "77"}
    assert place_of({**both, "SLURM_PROCID": "0"}).key == "77.0"
    assert place_of({**both, "SLURM_PROCID": "1"}).key == "77.0"


def test_ranks_share_a_folder_and_each_has_a_part_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folders = {join_output("train", None, Place(rank, 2, "77.0")) for rank in (0, 1)}
    assert folders == {tmp_path / "stepscope-runs" / "train-77.0"}
    assert join_output("train", str(tmp_path), Place(0, 2, "x")) == tmp_path
    assert claim_rank(tmp_path, 1) == 1
    # A job that its launcher has started anew must not write over what was recorded.
    with pytest.raises(FileExistsError):
        claim_rank(tmp_path, 1)
    assert [claim_rank(tmp_path, None), claim_rank(tmp_path, None)] == [0, 2]


def test_the_last_note_about_a_process_counts(tmp_path):
    (tmp_path / "run.json").write_text(
        '{"stepscope_version":"1","command":[],"directory":"","python":"","host":"","pid":1,'
        '"started":"","started_ns":0}'
    )
    first = ProcessNote(pid=4, parent=1, rank=None, command=("python",), why="waiting")
    note_process(tmp_path, first)
    note_process(tmp_path, ProcessNote(pid=5, parent=1, rank=None, command=(), why="waiting"))
    note_process(tmp_path, ProcessNote(pid=4, parent=1, rank=1, command=(), why=""))
    assert [(note.pid, note.rank) for note in load_run(tmp_path).processes] == [(4, 1), (5, None)]


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
def test_below_torchrun_the_ranks_are_recorded_and_the_launcher_and_workers_are_not(
    tmp_path, count
):
    workers = 1 if count == 2 else 0
    command = (*TORCHRUN, count, "ddp.py", -1, workers)
    ended = launched(tmp_path / "run", *command)
    assert ended.status == 0, ended.stderr
    assert ended.stdout == finish(start(command, env=ENVIRONMENT)).stdout
    run = ended.run
    assert run.manifest.state == "finished"
    assert [rank.rank for rank in run.ranks] == list(range(count))
    for rank in run.ranks:
        assert rank.recording is not None
        assert (rank.recording.rank, rank.recording.world_size) == (rank.rank, count)
        assert rank.recording.steps_seen == 29
        assert rank.trace is not None
    recorded = {note.rank for note in run.processes}
    assert recorded == {None, *range(count)}
    (launcher,) = [note for note in run.processes if note.rank is None]
    assert "torch.distributed.run" in launcher.command
    assert (
        "it imported torch, but made no optimizer, read no DataLoader and called no module"
        in ended.stderr
    )
    report = api.analyze([tmp_path / "run"])
    assert [rank.rank for rank in report.ranks] == list(range(count))


@pytest.mark.slow
def test_below_accelerate_the_process_that_trains_is_recorded(tmp_path):
    if importlib.util.find_spec("accelerate") is None:
        pytest.skip("accelerate is not installed; it comes with the extra 'frameworks'")
    launch = ("-m", "accelerate.commands.launch", "--cpu", "--num_processes", "1")
    ended = launched(tmp_path / "run", *launch, "with_accelerate.py")
    assert ended.status == 0, ended.stderr
    assert ended.stdout == plain("with_accelerate.py").stdout
    (rank,) = ended.run.ranks
    assert rank.trace is not None
    assert ended.recording.steps_seen == 39
    (launcher,) = [note for note in ended.run.processes if note.rank is None]
    assert "accelerate.commands.launch" in launcher.command


@pytest.mark.slow
def test_inside_torchrun_all_ranks_write_to_one_folder(tmp_path):
    folder = tmp_path / "run"
    own = ("-m", "stepscope", "profile", "--no-analyze", "--out", folder, *COUNTS)
    ended = finish(start([*TORCHRUN, 2, *own, "ddp.py"], env=ENVIRONMENT), folder)
    assert ended.status == 0, ended.stderr
    assert [rank.rank for rank in ended.run.ranks] == [0, 1]
    assert all(rank.trace for rank in ended.run.ranks)
    assert ended.run.manifest.exit_status == 0
    assert ended.stderr.count("stepscope: run folder") == 1


@pytest.mark.slow
def test_below_a_plain_python_the_script_does_what_it_does_without(tmp_path):
    ended = launched(tmp_path / "run", "workers.py", "--out", "x", "--workers", "2")
    without = plain("workers.py", "--out", "x", "--workers", "2")
    assert (ended.status, ended.stdout) == (without.status, without.stdout)
    assert [rank.rank for rank in ended.run.ranks] == [0]
    assert ended.recording.complete
    assert ended.recording.run_time.startup_ns > ended.recording.run_time.import_ns > 0


@pytest.mark.slow
def test_workers_that_are_not_forked_are_left_alone(tmp_path):
    options = ("--workers", "1", "--context", "spawn")
    ended = launched(tmp_path / "run", "workers.py", *options)
    assert ended.status == 0
    assert [rank.rank for rank in ended.run.ranks] == [0]
    reasons = {note.why for note in ended.run.processes if note.rank is None}
    assert reasons == {OF_MULTIPROCESSING}


@pytest.mark.slow
@pytest.mark.parametrize("end", ["raise", "3", "os._exit"])
def test_the_status_of_the_command_stays_its_own(tmp_path, end):
    ended = launched(tmp_path / "run", "identity.py", end)
    without = plain("identity.py", end, stdin="")
    assert ended.status == without.status
    assert "no Python process below the command imported torch" in ended.stderr
    assert isinstance(ended, Ended)


@pytest.mark.slow
def test_a_command_that_is_not_there_is_said(tmp_path):
    own = ["-m", "stepscope", "profile", "--out", tmp_path / "run", "--", "no-such-command"]
    ended = finish(start(own))
    assert (ended.status, ended.stdout) == (2, "")
    assert "there is no command no-such-command" in ended.stderr
