"""Slurm's accounting, for real: an energy of 0 means that nobody gathered it."""

import sys
import time

import pytest

pytestmark = pytest.mark.slow

ASK = "from stepscope.watch.slurm_limit import accounted_joules; print(accounted_joules('{job}'))"


def test_an_energy_of_nothing_is_not_known(accounted_cluster, tmp_path):
    run = accounted_cluster.run("srun", "-n1", "printenv", "SLURM_JOB_ID", cwd=tmp_path)
    job = run.stdout.strip()
    energy = (
        "sacct",
        "--noheader",
        "--parsable2",
        "-X",
        f"--jobs={job}",
        "--format=State,ConsumedEnergyRaw",
    )
    end = time.monotonic() + 20
    told = ""
    while "COMPLETED" not in told:
        assert time.monotonic() < end, told
        time.sleep(0.5)
        told = accounted_cluster.run(*energy).stdout
    assert told.strip() == "COMPLETED|0"
    asked = accounted_cluster.run(sys.executable, "-c", ASK.format(job=job))
    assert asked.stdout == "None\n"


def test_the_summary_of_a_watched_job_says_not_known(accounted_cluster, tmp_path):
    watch = (sys.executable, "-m", "stepscope", "watch")
    run = accounted_cluster.run("srun", "-n1", *watch, "--", "sleep", "1", cwd=tmp_path)
    assert run.returncode == 0
    (folder,) = (tmp_path / "stepscope-runs").iterdir()
    time.sleep(2)
    told = accounted_cluster.run(*watch, "--summary", str(folder)).stdout
    assert "CPU and memory not known" in told or "attributed" in told
    assert " 0.00 J" not in told
