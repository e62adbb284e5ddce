"""Watching what somebody else started."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.errors import InputError
from stepscope.watch import attach as attach_module
from stepscope.watch.attach import JobProcesses, alive, environment_of, processes_of_job
from stepscope.watch.store import read_watched
from tests.watch.test_child import RUN
from tests.watch.trees import write

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")


def attach(folder, pid):
    return [sys.executable, "-c", RUN, f"--out={folder}", "--interval=0.05", "--pid", str(pid)]


UNTIL_SEEN = """
i=0
while [ $i -lt 600 ]; do
    [ "$(cat "$0"/watch/*.jsonl 2>/dev/null | grep -c '"row":"host"')" -ge 3 ] && break
    sleep 0.1; i=$((i+1))
done
"""
"""Runs until a watcher has taken three samples."""


def test_a_process_is_watched_until_it_ends(tmp_path):
    with subprocess.Popen(["sh", "-c", UNTIL_SEEN, str(tmp_path)]) as program:
        run = subprocess.run(
            attach(tmp_path, program.pid), capture_output=True, timeout=60, check=False
        )
    assert run.returncode == 0
    assert run.stdout == b""
    assert b"watched after" in run.stderr
    (one,) = read_watched(tmp_path)
    assert one.start.pid == program.pid
    assert one.start.command == ()
    assert one.end is not None
    assert len(one.hosts) >= 3


def test_who_asks_for_the_end_leaves_the_watched_running(tmp_path):
    with subprocess.Popen(["sleep", "30"]) as program:
        with subprocess.Popen(attach(tmp_path, program.pid), stderr=subprocess.PIPE) as watcher:
            while not list(tmp_path.glob("watch/*.jsonl")):
                pass
            watcher.send_signal(signal.SIGINT)
            _, said = watcher.communicate(timeout=30)
        assert watcher.returncode == 0
        assert program.poll() is None
        program.kill()
    assert b"stepscope watch: watched" in said


def test_a_process_that_is_not_there_is_an_error():
    assert not alive(2**22 + 1)
    with pytest.raises(InputError, match="no process"):
        environment_of(2**22 + 1)


def test_a_zombie_has_ended(tmp_path):
    write(tmp_path, {"7/stat": "7 (a) b) Z 1 0", "8/stat": "8 (c) R 1 0"})
    assert not alive(7, tmp_path)
    assert alive(8, tmp_path)


def test_new_steps_of_a_job_are_followed(monkeypatch):
    there = [{10}, {10, 11}, {11}]
    monkeypatch.setattr(attach_module, "processes_of_job", lambda _job: frozenset(there[0]))
    monkeypatch.setattr(attach_module, "alive", lambda pid: pid in there[0])
    now = [0.0]
    followed: list[frozenset[int]] = []
    job = JobProcesses("7", followed.append, lambda: now[0])
    assert job.are_there()
    there.pop(0)
    assert job.are_there()
    assert followed == [{10}], "looked at again after five seconds only"
    now[0] = 5.0
    assert job.are_there()
    assert followed == [{10}, {11}]
    there[0] = set()
    assert not job.are_there()


def test_processes_of_a_job_by_their_environment(tmp_path):
    def environ(job, step, node="n0"):
        return f"SLURM_JOB_ID={job}\0SLURM_STEP_ID={step}\0SLURMD_NODENAME={node}\0PATH=/bin\0"

    write(
        tmp_path,
        {
            "self/environ": environ(7, 2), "10/environ": environ(7, 0), "11/environ": environ(7, 1),
            "12/environ": environ(7, 2), "13/environ": environ(8, 0), "14/environ": "", "net/x": "",
            "15/environ": "SLURM_JOB_ID=7\0", "16/environ": environ(7, 0, "n1"),
        },
    )  # fmt: skip
    assert processes_of_job("7", tmp_path) == {10, 11, 15}
