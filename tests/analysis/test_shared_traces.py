"""Public traces with known figures, and the package's own scenarios: what analyses and verdict make of them.

The folder is named by the variable STEPSCOPE_TRACES; without it only the scenarios are tried.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from stepscope.advice.findings import advise
from stepscope.analysis import summary
from stepscope.analysis.results import run_all
from stepscope.errors import InputError
from stepscope.job.digest import digest_of
from stepscope.job.result import compare
from stepscope.job.waiting import waiting_of
from stepscope.testing import scenarios
from stepscope.trace import load

FOLDER = os.environ.get("STEPSCOPE_TRACES", "")
needs_traces = pytest.mark.skipif(
    not FOLDER, reason="STEPSCOPE_TRACES names no folder of shared traces"
)
HEALTHY = ("a100-batch-128.json.gz", "h100-qwen-inference.json.gz", "torch-compile-triton.json.gz")


def jobs():
    """A folder of ranks or windows is one job; recorded/ holds one job an entry."""
    if not FOLDER:
        return []
    top = [path for path in sorted(Path(FOLDER).iterdir()) if path.name != "recorded"]
    return [p for p in top if p.is_dir() or p.name.endswith(".json.gz")] + sorted(
        (Path(FOLDER) / "recorded").glob("*")
    )


def truth(job):
    """What is known about each file of a job."""
    known = json.loads((Path(FOLDER) / "truth.json").read_text(encoding="utf-8"))
    files = sorted(job.glob("*.json*")) if job.is_dir() else [job]
    names = [str(path.relative_to(FOLDER)) for path in files]
    return [known[name] for name in names if name in known]


@needs_traces
@pytest.mark.slow
@pytest.mark.parametrize("job", jobs(), ids=lambda job: job.name)
def test_figures_of_a_shared_trace(job):
    try:
        traces = load([job])
    except InputError:
        assert "memtl" in job.name, "refused"
        return
    ranks = [run_all(trace) for trace in traces]
    for trace, one in zip(traces, ranks, strict=True):
        lengths = one.spread.durations_ns.tolist()
        assert one.partition.ns.sum(axis=1).tolist() == lengths
        assert one.overview.ns.sum(axis=1).tolist() == lengths
        assert (one.partition.ns >= 0).all()
        assert (one.overview.ns >= 0).all()
        summary.rank_report(trace, one)
    known = truth(job)
    if len(known) == len(ranks):
        for figures, one in zip(known, ranks, strict=True):
            check(figures, one)
    regimes = {figures["regime"] for figures in known} - {None}
    if regimes:
        wanted = {"compute", "healthy"} if regimes == {"compute"} else regimes
        assert advise(ranks, waiting=waiting(traces)).verdict.regime in wanted


def waiting(traces):
    return waiting_of(compare([digest_of(trace) for trace in traces]))


def check(figures, one):
    if figures["gpu_busy_ms"]:
        assert one.gpu.busy_ns / 1e6 == pytest.approx(figures["gpu_busy_ms"], rel=1e-3)
        assert one.gpu.kernel_count == figures["kernels"]
        assert sum(kernel.count for kernel in one.kernels) == figures["kernels"]
    if figures["loader_waits"]:
        assert one.loader.wait_ns / 1e6 == pytest.approx(figures["loader_wait_ms"], rel=1e-3)
        assert one.loader.count == figures["loader_waits"]
    if len(figures["steps_ms"]) > 1:
        assert (one.spread.durations_ns / 1e6).tolist() == pytest.approx(
            figures["steps_ms"], abs=1e-3
        )


@needs_traces
@pytest.mark.parametrize("name", HEALTHY)
def test_a_busy_device_gets_no_invented_bottleneck(name):
    ranks = [run_all(trace) for trace in load([Path(FOLDER) / name])]
    assert advise(ranks).findings == ()


@pytest.mark.parametrize("scenario", scenarios.SCENARIOS, ids=lambda scenario: scenario.name)
def test_the_regime_of_a_scenario(tmp_path, scenario):
    paths = [
        rank.write(tmp_path / f"rank{number}.json") for number, rank in enumerate(scenario.build())
    ]
    traces = load(paths)
    advice = advise([run_all(trace) for trace in traces], waiting=waiting(traces))
    if scenario.regime is not None:
        assert advice.verdict.regime == scenario.regime
    if scenario.regime == "healthy":
        assert advice.findings == ()
    elif scenario.regime != "compute":
        assert scenario.regime in {finding.regime for finding in advice.findings}
