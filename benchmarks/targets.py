"""What is measured: each target is one function, run in a process of its own.

usage: python benchmarks/targets.py TARGET PATH

Imports stand inside the functions, so that a process pays for its own alone; the time of the work without
the imports is printed as JSON, with the peak memory and whatever else the target counted.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

import gc
import gzip
import json
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def _timed(work: Callable[[], object]) -> dict[str, float]:
    gc.collect()
    start = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - start
    return {"work_s": seconds, "rows": len(result) if hasattr(result, "__len__") else 0}


def stepscope_load(path: str) -> dict[str, float]:
    """For stepscope: a file to checked tables."""
    from stepscope.trace import load

    return _timed(lambda: load([path])[0].host)


def stepscope_load_by_python(path: str) -> dict[str, float]:
    """The same as where no compiler was there when stepscope was installed."""
    from stepscope.trace import compiled, load

    compiled.core = None
    return _timed(lambda: load([path])[0].host)


def stepscope_load_beside_gunzip(path: str) -> dict[str, float]:
    """Load of stepscope and zlib-ng's decompression in one process, the quickest of three of each."""
    from zlib_ng import gzip_ng

    from stepscope.trace import load

    packed = Path(path).read_bytes()
    load([path])
    loads = [_timed(lambda: load([path])[0].host)["work_s"] for _ in range(3)]
    floors = [_timed(lambda: gzip_ng.decompress(packed))["work_s"] for _ in range(3)]
    return {"work_s": min(loads), "gunzip_s": min(floors)}


def stepscope_analyze(path: str) -> dict[str, float]:
    """For stepscope: the command ``analyze`` without HTML, as a user runs it."""
    from stepscope.cli.main import main

    def work() -> None:
        status = main(["analyze", path, "--html", "none", "--json", "/dev/null"])
        if status:
            sys.exit(status)

    return _timed(work)


def hta_load(path: str) -> dict[str, float]:
    """HolisticTraceAnalysis: one file to its data frame."""
    from hta.common.trace import parse_trace_file

    return _timed(lambda: parse_trace_file(path)[1])


def hta_analyze(path: str) -> dict[str, float]:
    """HolisticTraceAnalysis: load, temporal, idle and kernel breakdown."""
    from hta.trace_analysis import TraceAnalysis

    def work() -> None:
        analysis = TraceAnalysis(trace_files={0: path}, trace_dir=str(Path(path).parent))
        analysis.get_temporal_breakdown(visualize=False)
        analysis.get_idle_time_breakdown(visualize=False)
        analysis.get_gpu_kernel_breakdown(visualize=False)

    return _timed(work)


def tensorboard_read(path: str) -> dict[str, float]:
    """torch-tb-profiler: one file through its reader and its analysis."""
    from torch_tb_profiler.profiler.data import RunProfileData

    return _timed(lambda: RunProfileData.parse("worker", "span", path, "/tmp"))


def json_load(path: str) -> dict[str, float]:
    """Python's json on the decompressed bytes."""
    return _timed(lambda: json.loads(_plain(path)))


def orjson_loads(path: str) -> dict[str, float]:
    """What orjson takes for the decompressed bytes."""
    import orjson

    return _timed(lambda: orjson.loads(_plain(path)))


def gunzip(path: str) -> dict[str, float]:
    """zlib-ng alone: the floor under every reader of a compressed file."""
    from zlib_ng import gzip_ng

    packed = Path(path).read_bytes()
    return _timed(lambda: gzip_ng.decompress(packed) if path.endswith(".gz") else bytes(packed))


def _plain(path: str) -> bytes:
    packed = Path(path).read_bytes()
    return gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else packed


def _peak_mb() -> float:
    """Peak resident memory of this process and of its largest child, in 1e6 bytes."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return (own + children) * 1024 / 1e6


TARGETS = {
    "stepscope-load": stepscope_load,
    "stepscope-load-by-python": stepscope_load_by_python,
    "stepscope-load-beside-gunzip": stepscope_load_beside_gunzip,
    "stepscope-analyze": stepscope_analyze,
    "hta-load": hta_load,
    "hta-analyze": hta_analyze,
    "tensorboard-read": tensorboard_read,
    "json-load": json_load,
    "orjson-loads": orjson_loads,
    "gunzip": gunzip,
}

if __name__ == "__main__":
    counted = TARGETS[sys.argv[1]](sys.argv[2])
    counted["peak_mb"] = _peak_mb()
    print("\n" + json.dumps(counted))
