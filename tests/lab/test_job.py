import subprocess
from pathlib import Path

import pytest

from stepscope.cost.sites import find_site
from stepscope.lab import job
from stepscope.lab.job import JobRequest

SNELLIUS = find_site("snellius").site


def test_the_devices_share_of_cores_and_memory_is_asked_for():
    request = JobRequest(folder=Path("/home/me/lab"), partition="gpu_a100", gpus=2)
    assert job.options(request, SNELLIUS) == [
        "--job-name=stepscope-lab",
        "--partition=gpu_a100",
        "--nodes=1",
        "--ntasks=1",
        "--gpus=2",
        "--cpus-per-task=36",
        "--mem=240G",
        "--time=01:00:00",
        "--output=lab-%j.log",
    ]
    assert job.charge(request, SNELLIUS) == "an hour of it costs 256 SBU on gpu_a100"


def test_without_a_known_partition_only_what_was_said_is_asked_for():
    request = JobRequest(folder=Path("/lab"), partition="other", cores=3, more=("--qos=short",))
    asked = job.options(request, SNELLIUS)
    assert "--cpus-per-task=3" in asked
    assert "--qos=short" in asked
    assert not [option for option in asked if option.startswith(("--gpus", "--mem"))]
    assert job.charge(request, SNELLIUS) == job.charge(request, None) == ""


@pytest.mark.parametrize("name", ["plain", "with space", "with'quote"])
def test_the_script_is_a_shell_script_that_names_its_runtime_folder(name, tmp_path):
    text = job.script(JobRequest(folder=tmp_path / name), None)
    (tmp_path / name).mkdir()
    head = text.partition("exec ")[0].replace("exit 1", "exit 3")
    done = subprocess.run(
        ["bash", "-c", head + 'echo "$JUPYTER_RUNTIME_DIR"; pwd'],
        env={"SLURM_JOB_ID": "17", "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    runtime = job.runtime_of(tmp_path / name, "17")
    assert done.stdout.splitlines() == [str(runtime), str(tmp_path / name)]
    assert (runtime / job.HOST_NAME).read_text().strip()
    assert runtime.stat().st_mode & 0o077 == 0
    assert "token" not in text


def test_the_tunnel_jumps_over_the_login_node_unless_it_is_the_node():
    line = job.tunnel(user="me", login="login1", node="node7", port=8890)
    assert line == "ssh -N -L 8890:127.0.0.1:8890 -J me@login1 me@node7"
    assert "-J" not in job.tunnel(user="me", login="node7", node="node7", port=1)
    assert "-J" not in job.tunnel(user="me", login="", node="node7", port=1)
