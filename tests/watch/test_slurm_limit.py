"""What Slurm and EAR are asked."""

import pytest

from stepscope.watch import slurm_limit
from stepscope.watch.slurm_limit import accounted_joules, ear_joules, parsed_limit, time_limit_s


@pytest.fixture
def answer(tmp_path, monkeypatch):
    """Puts programs in the path that give a text."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def put(name, text, status=0):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {status}\n")
        path.chmod(0o755)

    return put


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1:00:00", 3600), ("30:00", 1800), ("2-03:04:05", 183845), ("UNLIMITED", None), ("", None), ("12:00:00\n", 43200)],
)  # fmt: skip
def test_limits(text, seconds):
    assert parsed_limit(text) == seconds


def test_the_environment_goes_first_and_only_the_first_task_asks(answer):
    answer("squeue", "2:00:00")
    assert time_limit_s("7", {"SLURM_JOB_START_TIME": "100", "SLURM_JOB_END_TIME": "160"}) == 60
    assert time_limit_s("7", {"SLURM_PROCID": "0"}) == 7200
    assert time_limit_s("7", {"SLURM_PROCID": "1"}) is None


def test_no_slurm_no_answer(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _name: None)
    assert time_limit_s("7", {}) is None
    assert accounted_joules("7") is None
    assert ear_joules("7") is None


@pytest.mark.parametrize(
    ("text", "joules"),
    [("4580000", 4.58e6), ("0", None), ("", None), ("Slurm accounting storage is disabled", None)],
)
def test_accounted_energy_of_nothing_is_not_known(answer, text, joules):
    answer("sacct", text)
    assert accounted_joules("7") == joules


def test_a_program_that_fails_gives_no_answer(answer, monkeypatch):
    answer("sacct", "4580000", status=1)
    assert accounted_joules("7") is None
    monkeypatch.setattr(slurm_limit, "SECONDS", 0.1)
    answer("sacct", "$(sleep 9)")
    (monkeypatch).setenv("PATH", "/none")
    assert accounted_joules("7") is None


EAR = """\
    JOB-STEP USER       APPLICATION POLICY NODES AVG/DEF/IMC(GHz) TIME(s)    POWER(W) GBS     CPI  ENERGY(J)    GFLOPS/W IO(MBs) MPI%  G-POW (T/U)
    7-0      me         train       NP     1     2.60/2.10/2.40   100.00     500.00   10.00   0.50 50000        0.1000   0.5     0.0   300/300
    7-sb     me         sb          NP     1     2.60/2.10/2.40   110.00     480.00   ---     ---  52800        ---      ---     ---   ---"""


def test_ear_is_read_by_its_header(answer):
    answer("eacct", EAR)
    assert ear_joules("7") == 102800
    answer("eacct", "No jobs found")
    assert ear_joules("7") is None
