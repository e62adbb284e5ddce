"""The traces to damage: the recorded ones, and short cuts of them that are read in no time."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random

RECORDED = Path(__file__).resolve().parent.parent / "tests" / "data" / "recorded"
SHORT_EVENTS = 40
LONGEST_BYTES = 60_000


def seeds(folder: Path = RECORDED) -> list[bytes]:
    """Texts of traces, in the same order every time."""
    found: list[bytes] = []
    for path in sorted(folder.rglob("*.json.gz")):
        text = gzip.decompress(path.read_bytes())
        if len(text) <= LONGEST_BYTES:
            found.append(text)
        found += _short(text)
    return found


def _short(text: bytes) -> list[bytes]:
    """Some of the events of a trace with device work added to them, as a document of its own."""
    try:
        whole = json.loads(text)
    except ValueError:
        return [text[:LONGEST_BYTES]]
    if not isinstance(whole, dict) or not isinstance(whole.get("traceEvents"), list):
        return []
    events = [e for e in whole["traceEvents"] if isinstance(e, dict)]
    steps = [e for e in events if str(e.get("name", "")).startswith("ProfilerStep")]
    chosen = Random(1).sample(events, min(SHORT_EVENTS, len(events))) + steps
    header = {key: value for key, value in whole.items() if key != "traceEvents"}
    return [json.dumps({**header, "traceEvents": chosen + _device(chosen)}).encode()]


def _device(events: list[dict[str, object]]) -> list[dict[str, object]]:
    """A launch and a kernel for every fourth operator."""
    made: list[dict[str, object]] = []
    operators = [e for e in events if e.get("cat") == "cpu_op" and isinstance(e.get("ts"), float)]
    for number, operator in enumerate(operators[::4]):
        place = {"pid": operator["pid"], "tid": operator["tid"], "ts": operator["ts"]}
        call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 0.5}
        made.append({**call, **place, "args": {"correlation": 900 + number}})
        args = {
            "device": 0,
            "stream": 7,
            "correlation": 900 + number,
            "grid": [8, 1, 1],
            "block": [256, 1, 1],
        }
        work = {"ph": "X", "cat": "kernel", "name": "gemm", "dur": 20.25, "args": args}
        made.append({**work, **place, "pid": 0, "tid": 7})
    return made
