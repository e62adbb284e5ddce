import gzip
import json

import pytest
from benchmarks import generate
from benchmarks.table import render

from stepscope.testing import Form
from stepscope.trace import load


@pytest.mark.parametrize("layout", ["kineto-2025", "kineto-2026", "python-lines"])
def test_a_generated_trace_is_the_step_again_and_again(tmp_path, layout):
    path = tmp_path / "made.json"
    done = generate.write(path, events=6_000, stacks=True, form=Form(layout=layout))
    document = json.loads(path.read_text())
    assert len(document["traceEvents"]) == done.events >= 6_000
    assert path.stat().st_size == done.bytes
    (trace,) = load([path], with_python=True)
    one_step = generate.build_step(stacks=True).truth(python=True)
    assert len(trace.host) == done.steps * len(one_step.host)
    assert len(trace.device) == done.steps * len(one_step.device)
    assert trace.steps["number"].to_list() == list(range(done.steps))
    assert trace.device["launch"].null_count() == 0
    first = trace.host.slice(0, len(one_step.host))
    assert first.select("name", "start_ns", "end_ns", "depth", "self_ns").rows() == [
        (row.name, row.start_ns, row.end_ns, row.depth, row.self_ns) for row in one_step.host
    ]


def test_the_suffix_compresses(tmp_path):
    path = tmp_path / "made.json.gz"
    done = generate.write(path, size=200_000)
    assert len(json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]) == done.events
    assert done.bytes < 100_000


def test_results_become_a_table():
    def row(target, work_s, error="", **counted):
        measured = {
            "target": target,
            "wall_s": 1.0,
            "work_s": work_s,
            "peak_mb": 50.0,
            "counted": counted,
        }
        shared = {"suite": "peers", "trace": "a.json", "size_mb": 2.0, "events": 10, "cores": 0}
        return {**shared, "measured": {**measured, "error": error}}

    text = render(
        {
            "date": "2026-01-01",
            "machine": {
                "processor": "P",
                "cores": 2,
                "memory_gb": 8,
                "system": "Linux",
                "python": "3",
            },
            "versions": {"stepscope": "0"},
            "rows": [
                row("stepscope-load", 0.5),
                row("hta-load", 2.0),
                row("gunzip", None, "no"),
                row("beside", 0.6, gunzip_s=0.2),
            ],
        }
    )
    assert "| a.json | 2.0 | 10 | all | hta-load | 1.00 | 2.000 | 50 | 4.00 |" in text
    assert "failed: no" in text
    assert "takes 0.600 s and zlib-ng's gunzip 0.200 s: 3.0 times" in text
