"""Real data-parallel jobs on gloo in light mode: the slowed rank is named and by what, without any trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.api import load_light
from tests.known import known

PROGRAM = Path(__file__).with_name("programs") / "light.py"
CAUSES = {
    "input": ("input", "input"),
    "forward": ("forward", "compute"),
    "backward": ("backward", "compute"),
    "host": ("host", "host"),
    "checkpoint": ("apart", "evaluation or checkpoint"),
}
WORLD, SLOW = 2, 1


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """One job that is slowed by one thing after the other, each with a recording of its own."""
    folder = tmp_path_factory.mktemp("light")
    environment = {name: text for name, text in os.environ.items() if name[:5] != "SLURM"}
    started = [
        subprocess.Popen(
            [sys.executable, PROGRAM, folder, str(rank), str(WORLD), str(SLOW)],
            env={**environment, "RANK": str(rank), "WORLD_SIZE": str(WORLD)},
            cwd=Path(__file__).parents[2],
        )
        for rank in range(WORLD)
    ]
    assert [process.wait(timeout=300) for process in started] == [0] * WORLD
    return folder


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("kind", CAUSES)
def test_the_slowed_rank_and_its_cause_are_named(job, kind):
    report = load_light(job / kind)
    part, cause = CAUSES[kind]
    late = known(report.straggler)
    assert (late.rank, late.is_named) == (SLOW, True)
    assert (late.cause, report.cause) == (part, cause)
    assert report.notices == ()
    assert not list((job / kind).glob("rank*/*.json.gz"))


@pytest.mark.alone
@pytest.mark.slow
def test_nobody_is_named_without_slowing(job):
    report = load_light(job / "nothing")
    assert len(report.ranks) == WORLD
    assert report.compared_steps == 39
    assert report.straggler is None or not report.straggler.is_named
