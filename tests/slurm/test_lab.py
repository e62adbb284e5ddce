"""The lab in real Slurm jobs: submitted, inside an allocation, ended, refused."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import psutil
import pytest

pytestmark = pytest.mark.slow

STEPSCOPE = (sys.executable, "-m", "stepscope")


@pytest.fixture(autouse=True)
def jupyter():
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")


@contextmanager
def started(cluster, *command, folder):
    """A program in a group of its own; whatever happens, it is not waited for in vain."""
    with subprocess.Popen(
        command,
        env=cluster.environ,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def lines_until(process, word, most=20):
    """What it prints, up to and with the line that holds the word."""
    lines = []
    for _ in range(most):
        lines.append(process.stdout.readline().rstrip("\n"))
        if word in lines[-1] or not lines[-1]:
            return lines
    return lines


def servers(folder):
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if any(f"root_dir={folder}" in word for word in process.info["cmdline"] or ())
    ]


def status_of(address, seconds=60):
    """What the server answers; a server writes down its address before it listens there."""
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=30) as reply:
                return reply.status
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError) or time.monotonic() > end:
                raise
            time.sleep(0.1)


def value(lines, head):
    return next(line for line in lines if line.startswith(head)).partition(":")[2].strip()


def test_a_submitted_lab_answers_and_ends_with_its_job(cluster, tmp_path):
    folder = tmp_path / "lab"
    command = [*STEPSCOPE, "lab", str(folder), "--slurm", "--partition=gpu", "--gpus=1", "--time=5"]
    with started(cluster, *command, folder=tmp_path) as lab:
        lines = lines_until(lab, "Ctrl-C ends the job")
        job = next(line for line in lines if line.startswith("job ")).split()[1]
        address, tunnel = value(lines, "then open"), value(lines, "on your own machine")
        assert status_of(address) == 200
        port = address.split(":")[2].partition("/")[0]
        assert tunnel.startswith(f"ssh -N -L {port}:127.0.0.1:{port} ")
        assert tunnel.endswith("@" + socket.gethostname())
        assert "running" in " ".join(lines)
        assert servers(folder)
        assert (folder / f"lab-{job}.log").stat().st_mode & 0o077 == 0
        told = cluster.run("scontrol", "show", "job", job).stdout
        assert "gres" in told
        lab.send_signal(signal.SIGINT)
        assert lab.wait(timeout=60) == 0
    assert job not in cluster.run("squeue", "-h", "-o", "%i").stdout.split()
    end = time.monotonic() + 10
    while servers(folder) and time.monotonic() < end:
        time.sleep(0.2)
    assert servers(folder) == []
    assert not list(folder.glob(".lab-*"))


def test_inside_an_allocation_it_starts_in_place(cluster, tmp_path):
    folder = tmp_path / "lab"
    with started(cluster, "srun", "-n1", *STEPSCOPE, "lab", str(folder), folder=tmp_path) as lab:
        lines = lines_until(lab, "Ctrl-C ends it")
        address = value(lines, "then open")
        assert status_of(address, seconds=0) == 200
        assert "ssh -N -L" in value(lines, "on your own machine")
        os.killpg(lab.pid, signal.SIGTERM)
        lab.wait(timeout=30)
    end = time.monotonic() + 15
    while servers(folder) and time.monotonic() < end:
        time.sleep(0.2)
    assert servers(folder) == []


def test_a_job_that_slurm_refuses_is_one_sentence(cluster, tmp_path):
    done = cluster.run(*STEPSCOPE, "lab", "lab", "--slurm", "--partition=absent", cwd=tmp_path)
    assert done.returncode == 2
    assert "Slurm refuses the job: " in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "absent" in done.stderr or "partition" in done.stderr


def test_a_script_that_is_printed_can_be_submitted_by_hand(cluster, tmp_path):
    folder = tmp_path / "lab"
    told = cluster.run(
        *STEPSCOPE, "lab", str(folder), "--slurm", "--print", "--partition=gpu", "--time=5"
    )
    assert told.returncode == 0
    checked = cluster.run("sbatch", "--test-only", input=told.stdout)
    assert checked.returncode == 0, checked.stderr
