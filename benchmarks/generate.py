"""Write a realistic trace of any size, quickly and in little memory.

usage: python benchmarks/generate.py OUT (--events N | --bytes N) [--stacks] [--layout LAYOUT]

One training step is built with the TraceBuilder and turned into a template in which everything that
changes from step to step is a number: times, ids, correlations. The file is that template filled in again
and again, in blocks as PyTorch writes them: operators, allocations, Python frames, launches and device
work. A step lasts whole microseconds, so that decimals stay the same. Prints what it wrote as JSON.
"""

from __future__ import annotations

import argparse
import gzip
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np

from stepscope.testing import A100, Form, Setup, TraceBuilder
from stepscope.testing.clock import base_ns
from stepscope.testing.events import EventWriter
from stepscope.testing.jsontext import Literally, Style
from stepscope.testing.writer import event_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stepscope.testing.events import JsonObject
    from stepscope.testing.records import Recording

LAYERS = 24
MARK = "\x01"
COUNTED = (
    "External id",
    "Ev Idx",
    "Python id",
    "Python parent id",
    "correlation",
    "Sequence number",
)
"""Arguments that grow from step to step."""


@dataclass(frozen=True, slots=True)
class Template:
    """The text of one block of one step, and the numbers in it.

    Attributes:
        text: A format with one ``%d`` a number.
        first: The numbers of the first step.
        growth: What each grows by in every further step.
        events: Events in it.
    """

    text: str
    first: np.ndarray
    growth: np.ndarray
    events: int

    def at(self, step: int) -> str:
        """The text of that step."""
        return self.text % tuple((self.first + step * self.growth).tolist())


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: numbers of events, steps and bytes."""

    events: int
    steps: int
    bytes: int


class MarkedClock:
    """Times as marked nanoseconds, in place of the text that a ``ClockText`` gives."""

    def time(self, ns: int) -> str:
        """A point in time, marked: its whole microseconds grow."""
        return f"{MARK}T{ns}{MARK}"

    def duration(self, start_ns: int, end_ns: int) -> str:
        """A duration, which does not change from step to step."""
        return f"{(end_ns - start_ns) // 1000}.{(end_ns - start_ns) % 1000:03d}"


def build_step(*, stacks: bool) -> TraceBuilder:
    """One step of training a network of some layers."""
    flags = ("record_shapes", "profile_memory", *(("with_stack",) if stacks else ()))
    trace = TraceBuilder(Setup(gpus=(A100,), flags=flags, pid=251))
    with trace.step(0):
        trace.loader_wait(900_000)
        trace.copy("HtoD", 19_267_584, 800_000, stream=21)
        for layer in range(LAYERS):
            _layer(trace, layer, stacks=stacks)
        with trace.backward(252):
            for layer in reversed(range(LAYERS)):
                with trace.op(
                    "autograd::engine::evaluate_function: AddmmBackward0",
                    sequence=layer + 1,
                    backward=True,
                ):
                    for _ in range(2):
                        with trace.op(
                            "aten::mm", inputs=[((512, 1024), "float"), ((1024, 4096), "float")]
                        ):
                            trace.launch("ampere_sgemm_128x64_nt", 150_003)
        with trace.optimizer("AdamW"), trace.op("aten::_fused_adamw_"):
            for part in range(4):
                trace.launch(
                    f"void at::native::multi_tensor_apply_kernel<{part}, FusedAdamMathFunctor>(int)",
                    40_007,
                )
        trace.item()
    return trace


def _layer(trace: TraceBuilder, layer: int, *, stacks: bool) -> None:
    """A linear layer, its activation and normalisation, under the frames of a module call."""
    frames = [
        f"nn.Module: Block_{layer}",
        f"model/blocks_{layer % 6}.py({40 + layer}): forward",
        "torch/nn/modules/module.py(1751): _wrapped_call_impl",
        "torch/nn/modules/module.py(1762): _call_impl",
        f"nn.Module: Linear_{layer}",
        "torch/nn/modules/linear.py(125): forward",
        "<built-in function linear>",
    ]
    if not stacks:
        _operators(trace, layer)
        return
    _inside(trace, frames, layer)
    for extra in range(14):
        with (
            trace.frame(f"model/extra_{extra}.py({layer}): helper_{extra}"),
            trace.frame("<built-in method size>"),
        ):
            trace.pause(1_011)


def _inside(trace: TraceBuilder, frames: Sequence[str], layer: int) -> None:
    if not frames:
        _operators(trace, layer)
        return
    with trace.frame(frames[0]):
        trace.pause(503)
        _inside(trace, frames[1:], layer)


def _operators(trace: TraceBuilder, layer: int) -> None:
    inputs = [((512, 1024), "float"), ((4096, 1024), "float"), ((4096,), "float")]
    with trace.op("aten::linear", inputs=inputs):
        with (
            trace.op("aten::t", inputs=inputs[1:2]),
            trace.op("aten::transpose", inputs=[*inputs[1:2], ((), "Scalar")]),
        ):
            trace.work("aten::as_strided", 1_207)
        with trace.op("aten::addmm", inputs=inputs, sequence=layer + 1):
            trace.allocate(8_388_608, device=0)
            trace.launch("ampere_sgemm_128x64_tn", 150_001)
    with trace.op("aten::gelu", inputs=inputs[:1]):
        trace.allocate(8_388_608, device=0)
        trace.launch(
            "void at::native::vectorized_elementwise_kernel<4, GeluCUDAKernelImpl>(int)", 9_005
        )
        trace.allocate(-8_388_608, device=0)
    with trace.op("aten::layer_norm", inputs=inputs[:1]), trace.op("aten::native_layer_norm"):
        trace.launch(
            "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>", 11_009
        )
    trace.allocate(-8_388_608, device=0)


def templates(recording: Recording, form: Form) -> list[Template]:
    """The blocks of a step as templates, in the order in which PyTorch writes them."""
    clock = MarkedClock()
    events = EventWriter(recording, form, clock).timed()  # type: ignore[arg-type]
    blocks: dict[str, list[JsonObject]] = {"host": [], "memory": [], "python": [], "device": []}
    for event in events:
        blocks[_block(event)].append(_marked(event))
    period = -(-(recording.end_ns - recording.start_ns) // 1000) * 1000
    growth = {"T": period // 1000, "S": 1}
    for key in COUNTED:
        growth[key] = 1 + max(_numbers(blocks, key), default=0)
    return [
        _template(block, form, growth, base_ns(recording.start_ns))
        for block in blocks.values()
        if block
    ]


def _block(event: JsonObject) -> str:
    category = event["cat"]
    if category in ("cpu_op", "user_annotation", "fwdbwd"):
        return "host"
    return {"cpu_instant_event": "memory", "python_function": "python"}.get(str(category), "device")


def _marked(event: JsonObject) -> JsonObject:
    """The event with its counted numbers marked."""
    args = event.get("args")
    if isinstance(args, dict):
        counted = {
            key: f"{MARK}{key}={args[key]}{MARK}"
            for key in COUNTED
            if isinstance(args.get(key), int)
        }
        event["args"] = {**args, **{key: Literally(text) for key, text in counted.items()}}
    if event["ph"] in ("s", "f"):
        key = "Sequence number" if event["cat"] == "fwdbwd" else "correlation"
        event["id"] = Literally(f"{MARK}{key}={event['id']}{MARK}")
    if str(event["name"]).startswith("ProfilerStep#"):
        event["name"] = Literally(f'"ProfilerStep#{MARK}S=0{MARK}"')
    return event


def _numbers(blocks: dict[str, list[JsonObject]], key: str) -> Iterator[int]:
    for events in blocks.values():
        for event in events:
            args = event.get("args")
            if isinstance(args, dict) and isinstance(args.get(key), str):
                yield int(str(args[key]).strip(MARK).partition("=")[2])


def _template(events: list[JsonObject], form: Form, growth: dict[str, int], base: int) -> Template:
    text = "".join(event_text(event, form) + ",\n" for event in events)
    pieces = text.replace("%", "%%").split(MARK)
    first, grows = [], []
    for at in range(1, len(pieces), 2):
        mark = pieces[at]
        if mark.startswith("T"):
            ns = int(mark[1:]) - base
            first.append(ns // 1000)
            grows.append(growth["T"])
            pieces[at] = f"%d.{ns % 1000:03d}"
        else:
            key, _, value = mark.partition("=")
            first.append(int(value))
            grows.append(growth[key])
            pieces[at] = "%d"
    return Template(
        "".join(pieces), np.array(first, np.int64), np.array(grows, np.int64), len(events)
    )


def write(
    path: Path, *, events: int = 0, size: int = 0, stacks: bool = False, form: Form | None = None
) -> Written:
    """Write a trace of at least that many events, or of about that many bytes.

    Returns:
        What was written.
    """
    form = form or Form(layout="kineto-2025")
    recording = build_step(stacks=stacks).recording()
    blocks = templates(recording, form)
    in_a_step = sum(block.events for block in blocks)
    bytes_a_step = sum(len(block.at(1000)) for block in blocks)
    steps = max(-(-events // in_a_step), round(size / bytes_a_step), 1)
    header = {
        "schemaVersion": 1,
        **recording.header,
        "baseTimeNanoseconds": base_ns(recording.start_ns),
    }
    with _open(path) as out:
        out.write(
            "\n  {\n"
            + "".join(f"  {line},\n" for line in Style().fields(header))
            + '  "traceEvents": [\n'
        )
        for block in blocks:
            for step in range(steps):
                out.write(block.at(step))
        out.write('  {\n    "name": "process_name", "ph": "M", "ts": 0, "pid": 251, "tid": 0,\n')
        out.write(
            '    "args": {\n      "name": "python"\n    }\n  }\n  ],\n  "traceName": "made"\n}\n'
        )
    return Written(in_a_step * steps + 1, steps, path.stat().st_size)


def _open(path: Path) -> TextIO:
    """A file for text, compressed when its name ends in ``.gz``."""
    if path.suffix == ".gz":
        return gzip.open(path, "wt", compresslevel=1, encoding="utf-8", newline="\n")
    return path.open("w", encoding="utf-8", newline="\n")


def main() -> None:
    """Write the file that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    amount = parser.add_mutually_exclusive_group(required=True)
    amount.add_argument("--events", type=int, default=0)
    amount.add_argument("--bytes", type=int, default=0)
    parser.add_argument("--stacks", action="store_true", help="with Python frames")
    parser.add_argument(
        "--layout", default="kineto-2025", choices=["kineto-2025", "kineto-2026", "python-lines"]
    )
    options = parser.parse_args()
    form = Form(layout=options.layout)
    done = write(
        options.out, events=options.events, size=options.bytes, stacks=options.stacks, form=form
    )
    print(json.dumps(asdict(done)))


if __name__ == "__main__":
    main()
