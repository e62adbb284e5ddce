"""Real data-parallel jobs on gloo, one rank of which is slowed: it is named, and by what."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stepscope import analyze

PROGRAM = Path(__file__).with_name("programs") / "ddp.py"
CAUSES = {
    "input": "waits for its data",
    "compute": "forward pass",
    "host": "Python",
    "backward": "backward pass",
}


def run(folder, world, kind, slow):
    started = [
        subprocess.Popen(
            [sys.executable, str(PROGRAM), str(folder), str(rank), str(world), kind, str(slow)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for rank in range(world)
    ]
    assert [process.wait(timeout=240) for process in started] == [0] * world
    return analyze([folder])


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("kind", CAUSES)
@pytest.mark.parametrize(("world", "slow"), [(2, 1), (4, 2)])
def test_the_slowed_rank_and_its_cause_are_named(tmp_path, world, slow, kind):
    report = run(tmp_path, world, kind, slow)
    (finding,) = [one for one in report.findings if one.code == "SG001"]
    assert report.verdict.regime == "straggler"
    assert finding.rank == slow
    assert CAUSES[kind] in finding.action


@pytest.mark.alone
@pytest.mark.slow
@pytest.mark.parametrize("world", [2, 4])
def test_nobody_is_named_without_slowing(tmp_path, world):
    report = run(tmp_path, world, "nothing", 0)
    assert [
        one.rank for one in report.findings if one.code == "SG001" and one.rank is not None
    ] == []
