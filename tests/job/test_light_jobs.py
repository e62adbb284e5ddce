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
SLOW = 1
FEW = ("nothing", "input", "backward")
"""What four ranks are slowed by, which take turns on the cores of a small machine."""


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """One job of two ranks that is slowed by one thing after the other, each with a recording of its own."""
    return run(tmp_path_factory.mktemp("light"), 2, ("nothing", *CAUSES))


@pytest.fixture(scope="module")
def job_of_four(tmp_path_factory):
    """The same with four ranks and fewer causes."""
    return run(tmp_path_factory.mktemp("four"), 4, FEW)


def run(folder, world, kinds):
    environment = {name: text for name, text in os.environ.items() if name[:5] != "SLURM"}
    started = [
        subprocess.Popen(
            [sys.executable, PROGRAM, folder, str(rank), str(world), str(SLOW), *kinds],
            env={**environment, "RANK": str(rank), "WORLD_SIZE": str(world)},
            cwd=Path(__file__).parents[2],
        )
        for rank in range(world)
    ]
    assert [process.wait(timeout=300) for process in started] == [0] * world
    return folder


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("kind", CAUSES)
def test_the_slowed_rank_and_its_cause_are_named(job, kind):
    names(job, kind)


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("kind", FEW[1:])
def test_the_slowed_one_of_four_ranks_is_named(job_of_four, kind):
    names(job_of_four, kind)


def names(job, kind):
    report = load_light(job / kind)
    part, cause = CAUSES[kind]
    late = known(report.straggler)
    assert (late.rank, late.is_named) == (SLOW, True)
    assert (late.cause, report.cause) == (part, cause)
    assert report.notices == ()
    assert not list((job / kind).glob("rank*/*.json.gz"))


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize(("name", "world"), [("job", 2), ("job_of_four", 4)])
def test_nobody_is_named_without_slowing(name, world, request):
    report = load_light(request.getfixturevalue(name) / "nothing")
    assert len(report.ranks) == world
    assert report.compared_steps == 39
    assert report.straggler is None or not report.straggler.is_named
