"""Small traces as plain Python objects, for tests of what the reader makes of odd ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from stepscope.trace import load

RECORDED = Path(__file__).parent.parent / "data" / "recorded"
GPU = {
    "id": 0,
    "name": "NVIDIA A100",
    "totalGlobalMem": 1 << 35,
    "computeMajor": 8,
    "computeMinor": 0,
}
GPU |= {"numSms": 108, "warpSize": 32, "maxThreadsPerMultiprocessor": 2048}
START_US = 1_000_000


def event(category, name, ts, dur, *, pid=10, tid=10, **args):
    """A complete event; ``ts`` counts microseconds from a second after the base."""
    made = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid}
    made |= {"ts": START_US + ts, "dur": dur}
    if args:
        made["args"] = {key.replace("_", " "): value for key, value in args.items()}
    return made


def op(name, ts, dur, **args):
    return event("cpu_op", name, ts, dur, **args)


def annotation(name, ts, dur, **args):
    return event("user_annotation", name, ts, dur, **args)


def launch(ts, correlation, dur=5, name="cudaLaunchKernel", **args):
    return event("cuda_runtime", name, ts, dur, correlation=correlation, **args)


def kernel(ts, dur, correlation, name="sgemm", stream=7, device=0, **args):
    return event(
        "kernel",
        name,
        ts,
        dur,
        pid=device,
        tid=stream,
        device=device,
        stream=stream,
        correlation=correlation,
        **args,
    )


def document(events, **header):
    """A whole trace as an object."""
    return {
        "schemaVersion": 1,
        "deviceProperties": [],
        "baseTimeNanoseconds": 1_700_000_000_000_000_000,
        **header,
        "traceEvents": events,
    }


def text_of(events, **header):
    return json.dumps(document(events, **header)).encode()


def write(folder, content, name="trace.json"):
    """A file with that content: bytes, or events."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(content, bytes):
        content = text_of(content)
    path.write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
    return path


def read(folder, content, name="trace.json", **options):
    """The one rank of one file."""
    (trace,) = load([write(folder, content, name)], **options)
    return trace


def codes(trace):
    return [notice.code for notice in trace.notices]


def notice(trace, code):
    """The one notice of that code."""
    (found,) = [n for n in trace.notices if n.code == code]
    return found


def names(frame):
    return frame["name"].cast(str).to_list()


def training(steps=3, *, gpu=True, kernels=True):
    """A plain run: steps of 1000 us, each with a loader wait, operators, launches and kernels."""
    events = []
    for number in range(steps):
        at = number * 1000
        events.append(annotation(f"ProfilerStep#{number}", at, 990))
        events.append(op("aten::linear", at + 100, 300))
        if gpu:
            events.append(launch(at + 150, 100 + number))
        if gpu and kernels:
            events.append(kernel(at + 160, 400, 100 + number))
    return events
