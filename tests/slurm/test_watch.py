"""Watching real Slurm jobs: from inside, from outside, and when a rank dies."""

import json
import signal
import sys
import time

import pytest

pytestmark = pytest.mark.slow

STEPSCOPE = (sys.executable, "-m", "stepscope")
BURN = "import time\ns = time.process_time()\nwhile time.process_time() - s < 0.4: pass\n"


def summary(folder):
    return json.loads((folder / "watch.json").read_text())


SEEN = """
import pathlib, time
def seen_again():
    '''Waits until watchers of both nodes have taken three more samples.'''
    def rows():
        files = pathlib.Path("stepscope-runs").glob("*/watch/*.jsonl")
        return sorted(file.read_text().count('"row":"host"') for file in files)
    before, end = [0, 0], time.monotonic() + 60
    now = rows()
    if len(now) == 2:
        before = now
    while time.monotonic() < end:
        now = rows()
        if len(now) == 2 and now[0] > before[0] + 3 and now[1] > before[1] + 3:
            return
        time.sleep(0.2)
"""
"""How a job waits for its watchers, who come from outside whenever they come."""


def watch(*command):
    return (*STEPSCOPE, "watch", "--interval=0.1", "--", *command)


def test_two_nodes_inside_srun_are_one_report(cluster, tmp_path):
    program = (
        BURN + "import os\nprint(os.environ['SLURM_PROCID'], os.environ['CUDA_VISIBLE_DEVICES'])"
    )
    run = cluster.run(
        "srun", "-N2", "-n4", "--ntasks-per-node=2", "--gpus-per-node=2",
        *watch(sys.executable, "-c", program), cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 0
    assert sorted(run.stdout.split("\n")[:4]) == ["0 0,1", "1 0,1", "2 0,1", "3 0,1"]
    assert run.stderr.count("stepscope watch: exit status 0") == 1
    (folder,) = (tmp_path / "stepscope-runs").iterdir()
    told = summary(folder)
    assert told["complete"]
    assert told["job_id"] in folder.name
    assert {node["node"]: node["tasks"] for node in told["nodes"]} == {"node0": 2, "node1": 2}
    for node in told["nodes"]:
        assert node["gpus_allocated"] == 2
        assert node["visible_devices"] == "0,1"
        assert 0.7 <= node["cpu_s"] <= 4 * 0.7, "two tasks, and not four"
    assert told["time_limit_s"] == 3600


def test_a_rank_that_dies_is_told_and_the_step_ends_as_without_the_watch(cluster, tmp_path):
    program = (
        "import os, time\n"
        "time.sleep(1)\n"
        "os.environ['SLURM_PROCID'] == '1' and os.kill(os.getpid(), 9)\n"
        "time.sleep(30)"
    )
    plain = cluster.run("srun", "-N2", "-n2", "-K", sys.executable, "-c", program, cwd=tmp_path)
    run = cluster.run(
        "srun", "-N2", "-n2", "-K", *watch(sys.executable, "-c", program), cwd=tmp_path
    )
    assert run.returncode == plain.returncode != 0
    (folder,) = (tmp_path / "stepscope-runs").iterdir()
    told = summary(folder)
    assert told["signal"] in {signal.SIGKILL, signal.SIGTERM}
    assert [node["node"] for node in told["nodes"]] == ["node0", "node1"]
    again = cluster.run(*STEPSCOPE, "watch", "--summary", str(folder))
    assert again.returncode == 0
    assert "ended by signal" in again.stdout


def test_one_node_s_job_sees_its_own_devices(cluster, tmp_path):
    run = cluster.run("srun", "-n1", "--gpus=1", *watch("true"), cwd=tmp_path)
    assert run.returncode == 0
    (folder,) = (tmp_path / "stepscope-runs").iterdir()
    (node,) = summary(folder)["nodes"]
    assert node["gpus_allocated"] == 1
    assert node["visible_devices"] in {"0", "1"}
    assert node["cores"] == 1


def test_scancel_reaches_the_command_once(cluster, tmp_path):
    program = (
        "import signal, sys, time\n"
        "got = []\n"
        "signal.signal(signal.SIGTERM, lambda n, f: got.append(n))\n"
        "open('ready', 'w').close()\n"
        "end = time.monotonic() + 20\n"
        "while not got and time.monotonic() < end: time.sleep(0.01)\n"
        "time.sleep(0.5)\n"
        "open('got', 'w').write(str(len(got)))\n"
    )
    script = tmp_path / "job.sh"
    line = " ".join(f"'{word}'" for word in watch(sys.executable, "program.py"))
    (tmp_path / "program.py").write_text(program)
    script.write_text(f"#!/bin/bash\nsrun {line}\n")
    job = cluster.run("sbatch", "--parsable", "-n1", str(script), cwd=tmp_path).stdout.strip()
    wait_for(tmp_path / "ready")
    cluster.run("scancel", job)
    wait_for(tmp_path / "got")
    assert (tmp_path / "got").read_text() == "1"
    (folder,) = (tmp_path / "stepscope-runs").iterdir()
    wait_for(folder / "watch.json")


def wait_for(path, seconds=30):
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path.name} did not come"
        time.sleep(0.1)


def test_a_job_from_outside(cluster, tmp_path):
    script = tmp_path / "job.sh"
    (tmp_path / "program.py").write_text(SEEN + "seen_again()\n" + BURN + "seen_again()\n")
    script.write_text(f"#!/bin/bash\ntouch ready\nsrun '{sys.executable}' program.py\n")
    job = cluster.run(
        "sbatch", "--parsable", "-N2", "-n2", "--gpus-per-node=2", str(script), cwd=tmp_path
    ).stdout.strip()
    wait_for(tmp_path / "ready")
    time.sleep(1)
    run = cluster.run(*STEPSCOPE, "watch", "--job", job, "--interval=0.1", cwd=tmp_path)
    told = summary(tmp_path / "stepscope-runs" / f"job-{job}")
    assert {node["node"]: node["tasks"] for node in told["nodes"]} == {"node0": 1, "node1": 1}
    assert {node["visible_devices"] for node in told["nodes"]} == {"0,1"}
    assert told["job_id"] == job
    for node in told["nodes"]:
        assert 0.3 <= node["cpu_s"] <= 2.0, "each node's own processes, and nobody else's"
    assert run.stderr.count("stepscope watch: watched") == 1


def test_a_job_that_does_not_run_is_one_sentence(cluster, tmp_path):
    run = cluster.run(*STEPSCOPE, "watch", "--job", "99999", cwd=tmp_path)
    assert run.returncode == 2
    assert "job 99999 is not running" in run.stderr


def test_the_check_inside_a_job_tells_its_share(cluster, tmp_path):
    run = cluster.run(
        "srun", "-n1", "-c2", "--gpus=1", *STEPSCOPE, "check", "--json=check.json", cwd=tmp_path
    )
    assert run.returncode == 0
    told = json.loads((tmp_path / "check.json").read_text())
    slurm = told["allocation"]["slurm"]
    assert (slurm["cores_on_node"], slurm["gpus_on_node"], slurm["cluster"]) == (2, 1, "steptest")
    assert told["allocation"]["cores"] == 2
