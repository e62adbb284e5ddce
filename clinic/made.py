"""The cases that need a GPU. What a fix leaves behind is part of it: a hand-over, casts, a last bucket."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clinic.case import Made
from clinic.loop import COMPUTE_STREAM, MS, PLAIN, US, Loop, in_step

if TYPE_CHECKING:
    from stepscope.testing import TraceBuilder

WELL = Loop()


def _case(name: str, plant: str, code: str, planted: Loop, fixed: Loop) -> Made:
    def build(*, is_fixed: bool, steps: int) -> tuple[TraceBuilder, ...]:
        return (replace(fixed, seed=2) if is_fixed else planted).traces(steps)

    return Made(name, plant, code, build)


def _healthy(name: str, loop: Loop) -> Made:
    return _case(name, "", "", loop, loop)


def _late_rank(*, is_fixed: bool, steps: int) -> tuple[TraceBuilder, ...]:
    even = Loop(buckets=3, collective=4 * MS)
    late = replace(even, seed=3, late=0 if is_fixed else 15 * MS)
    return in_step((even, late), steps)


def _uneven_lengths(*, is_fixed: bool, steps: int) -> tuple[TraceBuilder, ...]:
    even = Loop(buckets=1, collective=3 * MS, layers=8, kernel=600 * US)
    late = replace(even, seed=5, late=0 if is_fixed else 9 * MS)
    return in_step((late, even, replace(even, seed=6), replace(even, seed=7)), steps)


CASES = (
    _case(
        "loader-in-process",
        "batches are decoded in the training process",
        "IN001",
        replace(WELL, waits=(52 * MS,), workers=False),
        replace(WELL, waits=(600 * US,), operator=43 * US),
    ),
    _case(
        "loader-in-process-light-gpu",
        "the same before a small model that the host limits",
        "IN001",
        replace(WELL, waits=(18 * MS,), workers=False, kernel=60 * US),
        replace(WELL, waits=(500 * US,), operator=44 * US, kernel=60 * US),
    ),
    _case(
        "too-few-workers",
        "two workers for a loader that needs five",
        "IN002",
        replace(WELL, waits=(100 * US, 100 * MS)),
        replace(WELL, waits=(300 * US,), operator=42 * US),
    ),
    _case(
        "item-every-step",
        "three values are read back in every step",
        "SY001",
        replace(WELL, items=2, early_items=1, kernel=300 * US, casts=12),
        replace(WELL, items=0, kernel=300 * US, casts=12),
    ),
    _case(
        "boolean-mask",
        "a mask in each layer becomes an index",
        "SY001",
        replace(WELL, masks=12, kernel=200 * US, operator=90 * US),
        replace(WELL, kernel=206 * US, operator=90 * US),
    ),
    _case(
        "synchronize-to-time",
        "torch.cuda.synchronize() around the copy of each batch",
        "SY001",
        replace(WELL, items=0, synchronizes=2, kernel=350 * US, casts=16),
        replace(WELL, items=0, kernel=350 * US, casts=16),
    ),
    _case(
        "tiny-kernels",
        "thousands of kernels shorter than their launch",
        "LA001",
        replace(WELL, layers=100, kernel=8 * US, copy=100 * US),
        replace(WELL, layers=100, kernel=8 * US, copy=100 * US, graph=True),
    ),
    _case(
        "tiny-kernels-medium",
        "kernels half as long as their launch",
        "LA001",
        replace(WELL, layers=60, kernel=30 * US, operator=50 * US),
        replace(WELL, layers=60, kernel=30 * US, graph=True),
    ),
    _case(
        "looped-optimizer",
        "one tiny kernel for each parameter and moment",
        "OP001",
        replace(WELL, layers=6, kernel=300 * US, optimizer=(400, 3 * US)),
        replace(WELL, layers=6, kernel=300 * US, optimizer=(4, 150 * US)),
    ),
    _case(
        "metrics-in-python",
        "metrics in Python take longer than the GPU's step",
        "HO001",
        replace(WELL, kernel=500 * US, metrics=24 * MS),
        replace(WELL, kernel=500 * US, metrics=300 * US),
    ),
    _case(
        "tokens-in-the-loop",
        "text becomes tokens in the training thread, of a model that the host limits",
        "HO001",
        replace(WELL, prepare=12 * MS, kernel=50 * US),
        replace(WELL, kernel=50 * US),
    ),
    _case(
        "pageable-memory",
        "batches are copied from pageable memory",
        "CP001",
        replace(
            WELL, copy=12 * MS, copy_bytes=40_000_000, pinned=False, copy_stream=COMPUTE_STREAM
        ),
        replace(WELL, copy=3_300 * US, copy_bytes=40_000_000, copy_stream=COMPUTE_STREAM),
    ),
    _case(
        "pageable-small-model",
        "the same with a model that the host limits",
        "CP001",
        replace(
            WELL,
            copy=4 * MS,
            copy_bytes=14_000_000,
            pinned=False,
            copy_stream=COMPUTE_STREAM,
            kernel=110 * US,
        ),
        replace(
            WELL,
            copy=1_200 * US,
            copy_bytes=14_000_000,
            copy_stream=COMPUTE_STREAM,
            kernel=110 * US,
        ),
    ),
    _case(
        "copy-in-the-way",
        "pinned copies on the stream that computes",
        "CP002",
        replace(WELL, copy=14 * MS, copy_bytes=160_000_000, copy_stream=COMPUTE_STREAM),
        replace(WELL, copy=14 * MS, copy_bytes=160_000_000),
    ),
    _case(
        "all-reduce-at-the-end",
        "all gradients are sent when the backward pass is over",
        "CM001",
        replace(WELL, buckets=1, collective=12 * MS),
        replace(WELL, buckets=6, collective=12 * MS),
    ),
    _case(
        "slow-network",
        "gradients in 32 bits take longer than the backward pass",
        "CM001",
        replace(WELL, buckets=4, collective=40 * MS),
        replace(WELL, buckets=4, collective=20 * MS),
    ),
    _case(
        "many-small-messages",
        "one all-reduce for each parameter behind the backward pass",
        "CM002",
        replace(
            WELL, layers=4, kernel=1 * MS, buckets=120, collective=7_200 * US, operator=20 * US
        ),
        replace(WELL, layers=4, kernel=1 * MS, buckets=2, collective=2_400 * US, operator=20 * US),
    ),
    _case(
        "gradients-sent-early",
        "all gradients are sent with each of four micro-batches",
        "CM003",
        replace(WELL, layers=6, micro=4, no_sync=False, buckets=2, collective=8 * MS),
        replace(WELL, layers=6, micro=4, buckets=2, collective=8 * MS),
    ),
    Made("late-rank", "one of two ranks computes 15 ms longer", "SG001", _late_rank),
    Made("long-sequences", "one of four ranks gets longer sequences", "SG001", _uneven_lengths),
    _case(
        "empty-cache",
        "torch.cuda.empty_cache() in every step",
        "AL001",
        replace(WELL, mallocs=(20, 400 * US)),
        WELL,
    ),
    _case(
        "changing-shapes",
        "inputs of changing length make the allocator free and allocate",
        "AL001",
        replace(WELL, mallocs=(6, 900 * US), kernel=60 * US),
        replace(WELL, kernel=62 * US),
    ),
    _case(
        "float32-products",
        "matrix products in float32",
        "TC001",
        replace(WELL, name=PLAIN, kernel=2 * MS),
        replace(WELL, kernel=500 * US, casts=2),
    ),
    _case(
        "float32-half-of-it",
        "the same where products are half of the kernels' time",
        "TC001",
        replace(WELL, name=PLAIN, kernel=400 * US, optimizer=(4, 3 * MS)),
        replace(WELL, kernel=130 * US, casts=1, optimizer=(4, 3 * MS)),
    ),
    _case(
        "casts-do-not-pay",
        "mixed precision around small products among large activations",
        "AM001",
        replace(WELL, kernel=60 * US, casts=3, cast=100 * US),
        replace(WELL, kernel=100 * US),
    ),
)

HEALTHY = (
    _healthy("healthy-gpu", WELL),
    _healthy("healthy-ddp", replace(WELL, buckets=6, collective=9 * MS)),
    _healthy("healthy-accumulates", replace(WELL, layers=6, micro=4, buckets=6, collective=6 * MS)),
    _healthy("healthy-reads-back-rarely", replace(WELL, kernel=2 * MS, items=0)),
)
