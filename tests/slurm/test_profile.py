"""Profiling real Slurm jobs: each task records itself, all are merged and reported as one job."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from pathlib import Path

import pytest

from stepscope.report import saved
from stepscope.schema.run_folder import load_run
from tests.known import known

pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.alone]

EXAMPLE = Path(__file__).parents[2] / "docs" / "how-to" / "slurm"
PROFILE = ("stepscope", "profile", "--warmup", "5", "--active", "12")
LATE = ("--late-ms", "100", "--steps", "42", "--late-rank")

DIES = """\
import json, os, pathlib, signal, time
import torch

real, steps = torch.optim.AdamW.step, 0
def windows():
    try:
        told = json.loads(pathlib.Path("run/rank1/recording.json").read_text())
    except OSError:
        return []
    return [one for one in told["windows"] if one["kind"] == "steady" and one["trace"]]

def step(self, *args):
    global steps
    steps += 1
    if os.environ["SLURM_PROCID"] == "1" and steps == 55:
        end = time.monotonic() + 120
        while not windows() and time.monotonic() < end:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, *args)

torch.optim.AdamW.step = step
import train_ddp
train_ddp.main()
"""
"""The example, of which rank 1 is killed as soon as its window is written, which closes at step 48 at the latest."""


def free_port():
    """A port that nobody listens on now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def slurm(cluster, tmp_path):
    """Runs a command of the cluster in a folder with the example, as a user would who has installed stepscope."""
    for name in ("train_ddp.py", "profile_ddp.sh"):
        shutil.copy(EXAMPLE / name, tmp_path)
    ours = {
        **cluster.environ,
        "PATH": f"{Path(sys.executable).parent}:{cluster.environ['PATH']}",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "OMP_NUM_THREADS": "1",
    }

    def run(*command):
        return cluster.run(*command, cwd=tmp_path, environment=ours, seconds=240)

    return run


def windows(folder):
    """What each rank recorded in the end: number of the first step, and how many."""
    found = [known(known(one.recording).window) for one in load_run(folder).ranks]
    return {(window.first_step, len(window.steps_ns)) for window in found}


def late_rank(folder, ranks):
    """The rank that the one report of the job names."""
    report = saved.load(folder / "report.json")
    assert [one.rank for one in report.ranks] == list(range(ranks))
    assert len(windows(folder)) == 1, "all ranks record the same steps"
    assert (folder / "report.html").is_file()
    assert report.job is not None
    assert report.job.straggler is not None
    assert report.job.straggler.is_named
    assert report.verdict.regime == "straggler"
    (finding,) = [one for one in report.findings if one.code == "SG001"]
    assert finding.rank == report.job.straggler.rank
    return finding.rank


def test_two_tasks_on_two_nodes_are_one_report(slurm, tmp_path):
    run = slurm("srun", "-N2", "-n2", *PROFILE, "--out", "run", "train_ddp.py", *LATE, "1")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("trained")
    assert run.stderr.count("stepscope: run folder") == 1
    assert run.stderr.count("What to change") == 1
    assert late_rank(tmp_path / "run", 2) == 1


def test_the_example_of_the_documentation_profiles_a_batch_job(slurm, tmp_path):
    run = slurm("sbatch", "--wait", "--parsable", "profile_ddp.sh", *LATE, "2")
    log = (tmp_path / f"slurm-{run.stdout.strip()}.out").read_text()
    assert run.returncode == 0, log
    assert log.count("What to change") == 1
    assert "waiting for rank 2" in " ".join(log.split())
    assert late_rank(tmp_path / "runs" / run.stdout.strip(), 4) == 2


def test_a_launcher_in_each_task_makes_one_folder(slurm, tmp_path):
    torchrun = ("torchrun", "--nnodes=2", "--nproc-per-node=1", "--rdzv-backend=c10d")
    meet = f"--rdzv-endpoint=127.0.0.1:{free_port()}"
    run = slurm(
        "srun", "-N2", "-n2", *PROFILE, "--out", "run", "--",
        *torchrun, meet, "train_ddp.py", *LATE, "1",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "recorded 2 processes" in run.stderr
    assert run.stderr.count("What to change") == 1
    assert late_rank(tmp_path / "run", 2) == 1


def test_a_rank_that_is_killed_is_said_and_all_the_rest_is_analysed(slurm, cluster, tmp_path):
    (tmp_path / "dies.py").write_text(DIES)
    run = slurm("srun", "-N2", "-n2", *PROFILE, "--no-analyze", "--out", "run", "dies.py")
    assert run.returncode != 0
    assert "Connection" in run.stderr, "the other rank came to its end by an exception"
    told = cluster.run(
        sys.executable, "-m", "stepscope", "analyze", "run", "--json", "told.json", cwd=tmp_path
    )
    assert told.returncode == 0, told.stderr
    assert "rank 1: It died after" in told.stdout
    report = json.loads((tmp_path / "told.json").read_text())
    assert [one["rank"] for one in report["ranks"]] == [0, 1]
    assert "rank-died" in {one["code"] for one in report["health"]["notices"]}
