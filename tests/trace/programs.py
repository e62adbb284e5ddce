"""Random runs whose tables are known: programs for the TraceBuilder, and random forms to write them in."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st

from stepscope.testing import A100, MI300X, Form, Setup, TraceBuilder
from stepscope.testing.form import Clock, Container, EventOrder, KeyOrder

NAMES = st.one_of(
    st.sampled_from(["aten::mm", "aten::linear", "void gemm<float>(int)", "gen_kernel"]),
    st.text(min_size=1, max_size=12).filter(
        lambda t: not any(0xD800 <= ord(c) < 0xE000 for c in t)
    ),
)
DURATIONS = st.integers(1_000, 50_000_000)
STREAMS = st.sampled_from([7, 13, 20])
SETUPS = st.builds(
    Setup,
    gpus=st.sampled_from([(A100,), (MI300X,), (A100, A100)]),
    rank=st.sampled_from([None, 0, 3]),
    start_ns=st.integers(1_600_000_000_000_000_000, 1_900_000_000_000_000_000),
    world_size=st.just(4),
)
LEAVES = st.one_of(
    st.tuples(st.just("pause"), DURATIONS),
    st.tuples(st.just("launch"), NAMES, DURATIONS, STREAMS),
    st.tuples(st.just("copy"), st.sampled_from(["HtoD", "DtoH", "DtoD"]), DURATIONS, st.booleans()),
    st.tuples(st.just("set"), DURATIONS),
    st.tuples(st.just("graph"), st.lists(st.tuples(NAMES, DURATIONS), min_size=1, max_size=4)),
    st.tuples(st.just("collective"), st.sampled_from(["allreduce", "broadcast"]), DURATIONS),
    st.tuples(st.just("sync")),
    st.tuples(st.just("allocate"), st.integers(-(2**40), 2**40), st.sampled_from([None, 0])),
    st.tuples(st.just("wait"), DURATIONS),
)
PROGRAMS = st.lists(
    st.recursive(
        LEAVES,
        lambda inner: st.tuples(
            st.sampled_from(["op", "backward", "range", "frame", "step", "optimizer"]),
            NAMES,
            st.lists(inner, max_size=4),
        ),
        max_leaves=12,
    ),
    min_size=1,
    max_size=6,
)


def play(program, setup):
    """The run that a program is."""
    made = TraceBuilder(setup)
    with made.op("aten::empty", inputs=[([2, 3], "float"), ([], "Scalar")]):
        made.pause(1_000)
    steps = iter(range(1_000))
    for part in program:
        _play(made, part, steps, top=True)
    return made


def _play(made, part, steps, *, top):
    kind, *rest = part
    if kind in {"op", "backward", "range", "frame", "step", "optimizer"}:
        with _around(made, kind, rest[0], steps, top=top):
            for inner in rest[1]:
                _play(made, inner, steps, top=False)
    elif kind == "copy":
        made.copy(rest[0], 4096, rest[1], pinned=rest[2])
    elif kind == "set":
        made.set_memory(64, rest[0])
    elif kind == "launch":
        made.launch(rest[0], rest[1], stream=rest[2])
    elif kind == "allocate":
        made.allocate(rest[0], device=rest[1])
    elif kind == "collective":
        made.collective(rest[0], 1000, rest[1])
    else:
        {
            "pause": made.pause,
            "graph": made.replay_graph,
            "sync": made.synchronize,
            "wait": made.loader_wait,
        }[kind](*rest)
    made.pause(1_000)


def _around(made, kind, name, steps, *, top):
    if kind == "step" and top:
        return made.step(next(steps))
    if kind == "backward" and top:
        return made.backward()
    if kind == "frame":
        return made.frame(name)
    if kind == "optimizer":
        return made.optimizer(name)
    return made.op(name) if kind == "op" else made.annotation(name)


@st.composite
def forms(draw):
    """Any form but the list of ``torch.autograd.profiler``, which loses most of a run."""
    json_layout = draw(st.booleans())
    layouts = (
        ["json-line", "json-compact", "json-indent", "bare-list"]
        if json_layout
        else ["kineto-2021", "kineto-2025", "kineto-2026", "python-lines"]
    )
    layout = draw(st.sampled_from(layouts))
    return Form(
        layout=layout,
        clock=draw(st.sampled_from(get_args(Clock))),
        container=draw(st.sampled_from(get_args(Container))),
        key_order=draw(st.sampled_from(get_args(KeyOrder))) if json_layout else "written",
        event_order=draw(st.sampled_from(get_args(EventOrder))),
        flows=draw(st.booleans()),
        header_last=draw(st.booleans()) if layout != "bare-list" else False,
    )
