"""Real public traces with known figures: every figure of the report against the slow and obvious way.

They are not part of the project; STEPSCOPE_TRACES names the folder that holds them and truth.json.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from stepscope.analysis import overview, partition
from stepscope.api import analyze
from stepscope.report.saved import encode
from stepscope.trace import load

FOLDER = os.environ.get("STEPSCOPE_TRACES")
pytestmark = pytest.mark.skipif(
    not FOLDER, reason="STEPSCOPE_TRACES is not set: the shared real traces were not tried"
)
ROOT = Path(FOLDER or ".")


def jobs(wanted=None):
    """Name of each job (a file, or a folder of ranks or windows) and the truth of its files.

    With a key, only jobs whose truth states that figure.
    """
    if not FOLDER:
        return []
    truth = json.loads((ROOT / "truth.json").read_text())
    found: dict[str, list[dict[str, Any]]] = {}
    for name, known in truth.items():
        found.setdefault(name.split("/")[0], []).append(known)
    return [
        pytest.param(name, known, id=name)
        for name, known in found.items()
        if wanted is None or known[0][wanted] is not None
    ]


@pytest.fixture(scope="module")
def report_of():
    """Reports by name, each made once."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = json.loads(encode(analyze([ROOT / name])))
        return made[name]

    return get


def near(value, truth):
    return value == pytest.approx(truth, rel=1e-3, abs=0.002)


@pytest.mark.parametrize(("name", "known"), jobs())
def test_ranks_and_windows_are_told_apart(report_of, name, known):
    ranks = report_of(name)["ranks"]
    assert len(ranks) == (1 if name == "h100-two-cycles" else len(known))


@pytest.mark.parametrize(("name", "known"), jobs("gpu_busy_ms"))
def test_gpu_busy_time(report_of, name, known):
    ranks = report_of(name)["ranks"]
    told = sum((rank["gpu"] or {}).get("busy_ms") or 0 for rank in ranks)
    assert near(told, sum(one["gpu_busy_ms"] for one in known))


@pytest.mark.parametrize(("name", "known"), jobs())
def test_steps_and_loader_waits(report_of, name, known):
    ranks = report_of(name)["ranks"]
    lengths = [ms for one in known for ms in one["steps_ms"]]
    if lengths:
        assert sum(rank["steps"]["count"] for rank in ranks) == len(lengths)
        assert near([ms for rank in ranks for ms in rank["steps"]["durations_ms"]], lengths)
    if known[0]["loader_waits"]:
        assert near(ranks[0]["loader_wait_ms"], known[0]["loader_wait_ms"])
        assert ranks[0]["loader_waits"] == known[0]["loader_waits"]


@pytest.mark.parametrize(("name", "known"), jobs())
def test_every_kernel_is_counted_once(report_of, name, known):
    kernels = report_of(name)["kernels"]
    assert sum(row["count"] for row in kernels) == sum(one["kernels"] for one in known)
    by_name: dict[str, float] = {}
    for row in kernels:
        by_name.setdefault(row["name"][:90], 0.0)
        by_name[row["name"][:90]] += row["total_ms"]
    for cut, total in (top for top in known[0]["top_kernels"] if len(known) == 1):
        assert by_name[cut] >= total * 0.999


@pytest.mark.parametrize(("name", "known"), jobs("regime"))
def test_the_regime_is_the_one_a_careful_reader_names(report_of, name, known):
    wanted = known[0]["regime"]
    allowed = {"compute", "healthy"} if wanted == "compute" else {wanted}
    assert report_of(name)["verdict"]["regime"] in allowed


@pytest.mark.parametrize(("name", "known"), jobs())
def test_parts_sum_to_every_step(name, known):
    for trace in load([ROOT / name]):
        edges = (
            trace.steps
            if len(trace.steps)
            else pl.DataFrame(
                {
                    "start_ns": [w.start_ns for w in trace.windows],
                    "end_ns": [w.end_ns for w in trace.windows],
                }
            )
        )
        length = (edges["end_ns"] - edges["start_ns"]).to_numpy()
        for analysis in (partition, overview):
            parts = analysis.run(trace).ns
            assert (parts >= 0).all()
            assert np.array_equal(parts.sum(axis=1), length)


def test_thirty_steps_are_inferred_where_none_was_marked(report_of):
    steps = report_of("rtx2080ti-resnet-no-steps.json.gz")["ranks"][0]["steps"]
    assert (steps["count"], steps["source"], sum(steps["startup"])) == (30, "optimizer", 1)


def test_kernels_launched_before_the_window_are_reported_apart(report_of):
    notices = {n["code"]: n for n in report_of("h100-qwen-inference.json.gz")["health"]["notices"]}
    assert notices["kernels-without-launch"]["count"] == 1465 - 1029


def test_missing_ranks_are_named_and_nobody_is_called_late(report_of):
    report = report_of("mi300-resnet-training.json.gz")
    notices = {n["code"]: n for n in report["health"]["notices"]}
    assert notices["missing-ranks"]["count"] == 7
    assert report["ranks"][0]["parts_ms"]["other_rank"] == 0
    assert not any(f["regime"] == "straggler" for f in report["findings"])


def test_unlinked_multimem_kernels_count_as_communication(report_of):
    rows = report_of("b200-vllm-eager.json.gz")["kernels"]
    assert [r["is_communication"] for r in rows if "multimem_all_reduce_kernel" in r["name"]] == [
        True
    ]


@pytest.mark.parametrize(
    "name",
    ["h100-qwen-inference.json.gz", "torch-compile-triton.json.gz", "a100-batch-128.json.gz"],
)
def test_busy_devices_get_no_invented_bottleneck(report_of, name):
    assert [f["code"] for f in report_of(name)["findings"]] == []
