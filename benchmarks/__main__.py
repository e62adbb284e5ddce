"""Measure, and keep the result with its date.

usage: python -m benchmarks [small|peers|million|growth|cores|large|full]

``small`` takes a minute and keeps nothing unless ``--keep`` is given; ``full`` asks every question and takes
many minutes. Results go to benchmarks/results, as JSON and as a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from dataclasses import asdict
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.suites import Bench, Row
from benchmarks.table import RESULTS, render

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGES = (
    "stepscope",
    "polars",
    "msgspec",
    "isal",
    "traceinsight",
    "pandas",
    "torch-tb-profiler",
    "orjson",
    "zlib-ng",
)
MB = 1_000_000

SUITES: dict[str, Callable[[Bench], list[Row]]] = {
    "small": lambda bench: [*bench.peers(events=30_000), *bench.growth((10_000, 100_000))],
    "peers": lambda bench: bench.peers(events=130_000),
    "million": lambda bench: bench.million(),
    "growth": lambda bench: bench.growth((10_000, 100_000, 1_000_000, 10_000_000)),
    "cores": lambda bench: bench.cores(size=500 * MB),
    "large": lambda bench: bench.large((200 * MB, 500 * MB, 1000 * MB, 2000 * MB)),
}
FULL = ("peers", "growth", "cores", "large")


def main() -> int:
    """Run the suites asked for; 1 when a run of stepscope failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suite", nargs="?", default="small", choices=[*SUITES, "full"])
    parser.add_argument(
        "--repeats", type=int, default=0, help="runs of each target (small: 1, else 3)"
    )
    parser.add_argument("--keep", action="store_true", help="keep the result of small too")
    options = parser.parse_args()
    repeats = options.repeats or (1 if options.suite == "small" else 3)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), repeats, _say)
        names = FULL if options.suite == "full" else (options.suite,)
        rows = [row for name in names for row in SUITES[name](bench)]
    document = {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "suite": options.suite,
        "machine": _machine(),
        "versions": _versions(),
        "rows": [asdict(row) for row in rows],
    }
    print(render(document))
    if options.keep or options.suite != "small":
        _keep(document, options.suite)
    return int(
        any(row.measured.error for row in rows if row.measured.target.startswith("stepscope"))
    )


def _say(row: Row) -> None:
    done = row.measured
    text = (
        done.error
        or f"wall {done.wall_s:.2f} s, work {done.work_s:.3f} s, peak {done.peak_mb:.0f} MB"
    )
    print(f"{row.suite} {row.trace} {done.target}: {text}", file=sys.stderr, flush=True)


def _machine() -> dict[str, object]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(memory / 1e9),
        "python": platform.python_version(),
        "system": platform.system(),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found


def _keep(document: dict[str, object], suite: str) -> None:
    RESULTS.mkdir(exist_ok=True)
    stem = f"{str(document['date'])[:10]}-{suite}"
    (RESULTS / f"{stem}.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    (RESULTS / f"{stem}.md").write_text(render(document), encoding="utf-8")
    print(f"kept as benchmarks/results/{stem}.json and .md", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
