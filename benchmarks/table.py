"""Results as a Markdown table.

usage: python -m benchmarks.table [RESULT.json]     (default: the newest in benchmarks/results)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
BASE = "stepscope-load"
ABOUT = (
    "{processor}, {cores} cores, {memory_gb} GB, {system}, Python {python}; medians of runs that took turns. "
    "`wall` is the whole process, `work` the part behind the imports, `ratio` that work over the work of "
    "`{base}` on the same trace in the same run."
)


def render(document: dict[str, Any]) -> str:
    """The whole document as Markdown: a heading, the machine, and a table a suite."""
    machine = document["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    lines = [f"# Benchmarks of {document['date']}", "", ABOUT.format(base=BASE, **machine), ""]
    lines.append(f"Versions: {versions}.")
    for suite in dict.fromkeys(row["suite"] for row in document["rows"]):
        rows = [row for row in document["rows"] if row["suite"] == suite]
        lines += ["", f"## {suite}", "", *_table(rows), *_floor(rows)]
    return "\n".join(lines) + "\n"


def _table(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| trace | MB | events | cores | target | wall s | work s | peak MB | ratio |",
        "|---|---:|---:|---:|---|---:|---:|---:|---:|",
    ]
    for (trace, cores), group in _grouped(rows, "trace", "cores").items():
        base = _median(_grouped(group, "target").get((BASE,), []), "work_s")
        for (target,), runs in _grouped(group, "target").items():
            work = _median(runs, "work_s")
            ratio = "" if base is None or work is None else f"{work / base:.2f}"
            cells = [
                trace,
                f"{runs[0]['size_mb']:.1f}",
                str(runs[0]["events"] or ""),
                str(cores or "all"),
                target,
                _number(_median(runs, "wall_s"), 2),
                _number(work, 3) if work is not None else f"failed: {runs[0]['measured']['error']}",
                _number(_median(runs, "peak_mb"), 0),
                ratio,
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def _floor(rows: list[dict[str, Any]]) -> list[str]:
    """A sentence on the load beside decompression in the same process, where both were measured."""
    pairs = [
        (row["measured"]["work_s"], row["measured"]["counted"]["gunzip_s"])
        for row in rows
        if "gunzip_s" in row["measured"]["counted"]
    ]
    if not pairs:
        return []
    load, gunzip = median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)
    text = f"In one process, the load takes {load:.3f} s and zlib-ng's gunzip {gunzip:.3f} s: {load / gunzip:.1f} times."
    return ["", text]


def _grouped(rows: list[dict[str, Any]], *keys: str) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        key = tuple(row["measured"][name] if name == "target" else row[name] for name in keys)
        groups.setdefault(key, []).append(row)
    return groups


def _median(rows: list[dict[str, Any]], key: str) -> float | None:
    values = [row["measured"][key] for row in rows if row["measured"][key] is not None]
    return median(values) if values else None


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


if __name__ == "__main__":
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else max(RESULTS.glob("*.json"))
    print(render(json.loads(given.read_text(encoding="utf-8"))), end="")
