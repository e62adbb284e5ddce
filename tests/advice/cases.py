"""For every rule: a context in which it fires, one just below its threshold, one where its data is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from stepscope.analysis.copies import Copies
from stepscope.analysis.memory import Memory
from stepscope.analysis.operators import Operator
from stepscope.analysis.sync import Culprit
from stepscope.job.recorded_rank import RecordedRank
from stepscope.job.waiting import Waiting
from stepscope.predict import ClassGain, Gains, Recompiled, Staging
from stepscope.schema.loader import BatchTimes, LoaderReport, PlaceRow
from stepscope.schema.report import Gain
from stepscope.schema.run_time import RunParts
from tests.advice.made import COUNT, STEP_NS, context

if TYPE_CHECKING:
    from stepscope.advice.base import Context

STEADY_NS = COUNT * STEP_NS
NOT_RECORDED = {"gpu_recorded": False, "usable": False}
CPU_ONLY = {"gpu_recorded": None, "device": "cpu", "listed_device": None}


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """Three contexts of a rule."""

    fires: Context
    below: Context
    missing: Context


def waits(single, share):
    """A loader whose waits hold a share of each step."""
    per_step = np.full(COUNT, round(share * STEP_NS))
    return {
        "is_single_process": single,
        "per_step_ns": per_step,
        "count": COUNT,
        "wait_ns": int(per_step.sum()),
    }


def copies(share, memory="pageable", direction="HtoD"):
    """Copies exposed for a share of the steady steps."""
    return (
        Copies(
            direction,
            memory,
            12,
            9_000_000,
            10**6,
            3.5,
            is_refused=False,
            exposed_ns=round(share * STEADY_NS),
        ),
    )


def paused(share):
    """Pauses between queued kernels for a share of the steady steps."""
    return {"pause_ns": round(share * STEADY_NS), "pause_count": 600}


def blocking(operator="aten::item"):
    """Blocking calls with one culprit."""
    return {"culprits": (Culprit(operator, None, 12, 900_000, 600_000),)}


def waiting(share, late_share=0.9):
    """Waiting of ranks for rank 1."""
    return Waiting(10, 1_000_000, round(share * 1_000_000), 1, late_share)


def gains(one, **known):
    """The context with these gains and no others."""
    return replace(one, gains=Gains(error_frac=0.0, withheld="", **known))


def speedup(low, high=2.0):
    """A gain."""
    return Gain(
        low=low,
        high=high,
        unit="ratio",
        step_ms_low=1 / high,
        step_ms_high=1 / low,
        basis="pipeline-model",
    )


def seen(one, inside):
    """The context with a loader that the recorder saw from inside."""
    return replace(one, loader=inside)


def loader(*, persistent=False, opened=16.0):
    """A loader with two workers that wait for storage."""
    times = BatchTimes(
        batches=10,
        compute_ms=1.0,
        wait_ms=9.0,
        queued_ms=0.0,
        collate_ms=0.1,
        send_ms=0.1,
        handover_ms=0.1,
        pin_ms=0.0,
        items_wall_ms=10.0,
        items_cpu_ms=1.0,
        collate_wall_ms=0.1,
        collate_cpu_ms=0.1,
        read_bytes=None,
        storage_bytes=None,
        opened=opened,
    )
    return LoaderReport(
        rank=0,
        number=0,
        role="training",
        where="train.py:1",
        dataset="Images",
        items=100,
        is_iterable=False,
        workers=2,
        start_method="fork",
        prefetch=2,
        batch_size=16,
        sampler="RandomSampler",
        pins=False,
        persistent=persistent,
        epochs=3,
        batches=30,
        wait_ms=300.0,
        first_wait_ms=200.0,
        times=times,
        places=(PlaceRow(folder="/data", files=100, mean_bytes=100_000.0),),
    )


def work_of(kind, kernels, work=0.0, host=0.0):
    """A healthy run that holds this kind of work, as shares of the step."""
    one = ClassGain(
        kind=kind,
        kernels=float(kernels),
        work_ns=work * STEP_NS,
        host_ns=host * STEP_NS,
        name="a_kernel",
        gain=speedup(1.05),
    )
    return gains(context(), classes=(one,))


def of_run(*, steps=100, checkpoints=2, evaluations=2, epochs=2, **parts):
    """A run whose recurring parts take so long, in per cent; the rest of them are steps."""
    time = RunParts(
        rank=0,
        wall_ms=150.0,
        parts_ms={"startup": 40.0, "exit": 10.0, "steps": 100.0 - sum(parts.values()), **parts},
        import_ms=None,
        first_step_ms=None,
        compile_ms=None,
        evaluations=evaluations,
        checkpoints=checkpoints,
        epochs=epochs,
    )
    return replace(context(), run=RecordedRank(rank=0, steps=steps, time=time))


def on_cores(**known):
    """A run on the CPU that computes all the time."""
    return replace(
        context(on_host=True, facts=CPU_ONLY), run=RecordedRank(rank=0, steps=100, **known)
    )


def searches(share):
    """A search for unused parameters in each step."""
    name = "torch.distributed.ddp.reducer::search_unused_parameters"
    spent = round(share * STEADY_NS)
    return (Operator(name, None, COUNT, spent, spent, 1.0, None),)


def grows(growth):
    """A device whose allocator grows so fast, with a peak of 2 GB."""
    return (Memory("cuda:0", 2_000_000_000, None, 40_000_000_000, growth),)


def holds(peak, capacity=40_000_000_000):
    """A device with this peak of its memory."""
    return (Memory("cuda:0", peak, None, capacity, 0.0),)


def small_kernels(**changes):
    """A run whose kernels fill less than a third of the device."""
    return context(gpu={"sm_efficiency_frac": 0.2, "busy_frac": 1.0}, **changes)


STAGED = Staging(
    source="/network",
    target="/fast",
    source_ns=2e6,
    target_ns=2e5,
    source_many_ns=1e6,
    target_many_ns=1e5,
    readers=8,
    mean_bytes=1e5,
    source_cached_frac=0.0,
    copy_bytes_per_s=1e8,
)

BUSY_LAUNCHES = {
    "per_step": 300.0,
    "mean_kernel_ns": 5_000.0,
    "interval_ns": 60_000.0,
    "median_delay_ns": 8_000.0,
}
SLOW_LAUNCHES = {**BUSY_LAUNCHES, "median_delay_ns": 900_000.0}
PLAIN = {"plain_matrix_frac": 0.6, "tensor_core_frac": 0.0}

CASES = {
    "REC001": Case(
        context(on_host=True, facts=NOT_RECORDED),
        context(),
        context(on_host=True, facts=CPU_ONLY),
    ),
    "REC002": Case(
        context(on_host=True, facts={**CPU_ONLY, "usable": False, "operator_count": 0}),
        context(on_host=True, facts={**CPU_ONLY, "operator_count": 1}),
        context(on_host=True, facts=NOT_RECORDED),
    ),
    "REC003": Case(
        context({"unknown": 0.2}),
        context({"unknown": 0.199}),
        context({"other": 0.9}, on_host=True, facts={**CPU_ONLY}, windows=True),
    ),
    "REC004": Case(
        context(launches={"unanswered_frac": 0.5}),
        context(launches={"unanswered_frac": 0.499}),
        context(launches={"unanswered_frac": None}),
    ),
    "PK001": Case(
        context({"unknown": 0.2}, launches=paused(0.15)),
        context({"unknown": 0.2}, launches=paused(0.149)),
        context(on_host=True, facts=CPU_ONLY, launches=paused(0.5)),
    ),
    "DEV001": Case(
        context(on_host=True, facts={**CPU_ONLY, "listed_device": "NVIDIA A100"}),
        context(
            on_host=True, facts={**CPU_ONLY, "listed_device": "NVIDIA A100", "operator_count": 0}
        ),
        context(on_host=True, facts=CPU_ONLY),
    ),
    "ST001": Case(
        context(startup={"ns": round(0.2 * STEADY_NS), "steps": 1}),
        context(startup={"ns": round(0.199 * STEADY_NS), "steps": 1}),
        context(startup={"ns": 0, "recorded_ns": 0}),
    ),
    "IN001": Case(
        context({"input": 0.1}, loader=waits(single=True, share=0.15)),
        context({"input": 0.099}, loader=waits(single=True, share=0.15)),
        context({"input": 0.5}, loader=waits(single=None, share=0.5)),
    ),
    "IN002": Case(
        context({"input": 0.1}, loader=waits(single=False, share=0.15)),
        context({"input": 0.099}, loader=waits(single=False, share=0.15)),
        context(loader=waits(single=False, share=0.0)),
    ),
    "IN003": Case(
        gains(context({"input": 0.1}), staging=speedup(1.05), staged=STAGED),
        gains(context({"input": 0.1}), staging=speedup(1.049), staged=STAGED),
        gains(context({"input": 0.5})),
    ),
    "IN004": Case(
        seen(gains(context(), restart=speedup(1.02)), loader()),
        seen(gains(context(), restart=speedup(1.019)), loader()),
        seen(gains(context(), restart=speedup(1.5)), loader(persistent=True)),
    ),
    "IN005": Case(
        seen(gains(context({"input": 0.1}), packed=speedup(1.05)), loader(opened=16.0)),
        seen(gains(context({"input": 0.1}), packed=speedup(1.05)), loader(opened=15.9)),
        seen(gains(context({"input": 0.5}), packed=speedup(1.5)), loader(opened=None)),
    ),
    "OP001": Case(
        work_of("optimizer", 64, host=0.05),
        work_of("optimizer", 64, host=0.0499),
        work_of("zero_grad", 400, host=0.5),
    ),
    "ZG001": Case(
        work_of("zero_grad", 16, host=0.01),
        work_of("zero_grad", 15, host=0.5),
        work_of("optimizer", 400, host=0.5),
    ),
    "DP001": Case(
        context(operators=searches(0.01)),
        context(operators=searches(0.0099)),
        context(operators=()),
    ),
    "AT001": Case(
        work_of("softmax", 12, work=0.1),
        work_of("softmax", 12, work=0.0999),
        work_of("layout", 12, work=0.9),
    ),
    "CL001": Case(
        work_of("layout", 12, work=0.05),
        work_of("layout", 12, work=0.0499),
        work_of("narrow", 12, work=0.9),
    ),
    "SH001": Case(
        work_of("narrow", 12, work=0.1),
        work_of("narrow", 12, work=0.0999),
        work_of("softmax", 12, work=0.9),
    ),
    "AM001": Case(
        work_of("casts", 4, work=0.02, host=0.1),
        work_of("casts", 3, work=0.02, host=0.5),
        work_of("layout", 12, work=0.9),
    ),
    "CM002": Case(
        work_of("messages", 16, work=0.05),
        work_of("messages", 15, work=0.5),
        work_of("micro", 16, work=0.5),
    ),
    "CM003": Case(
        work_of("micro", 1, work=0.05),
        work_of("micro", 1, work=0.0499),
        work_of("messages", 16, work=0.5),
    ),
    "BS001": Case(
        small_kernels(memory=holds(20_000_000_000)),
        small_kernels(memory=holds(20_000_000_001)),
        small_kernels(memory=holds(1_000_000_000, None)),
    ),
    "RU001": Case(
        of_run(checkpoint=5.0),
        of_run(checkpoint=4.99),
        of_run(checkpoint=50.0, checkpoints=1),
    ),
    "RU002": Case(
        of_run(evaluation=20.0),
        of_run(evaluation=19.99),
        of_run(evaluation=50.0, evaluations=1),
    ),
    "RU003": Case(
        of_run(between=10.0),
        of_run(between=9.99),
        of_run(between=50.0, epochs=1),
    ),
    "TH001": Case(
        on_cores(cores=8, threads=6, processes=2),
        on_cores(cores=8, threads=11),
        on_cores(cores=None, threads=64),
    ),
    "TH002": Case(
        on_cores(cores=16, threads=1, workers=3),
        on_cores(cores=16, threads=1, workers=4),
        on_cores(cores=16, threads=None),
    ),
    "MG001": Case(
        context(memory=grows(2_000_000.0)),
        context(memory=grows(1_999_999.0)),
        context(memory=grows(None)),
    ),
    "RC001": Case(
        gains(context(), recompiled=Recompiled(2, 2, 0.1 * STEP_NS, speedup(1.05))),
        gains(context(), recompiled=Recompiled(2, 2, 0.1 * STEP_NS, speedup(1.049))),
        gains(context(), recompiled=Recompiled(1, 9, 0.5 * STEP_NS, speedup(1.5))),
    ),
    "SY001": Case(
        context({"sync": 0.05}, sync=blocking()),
        context({"sync": 0.049}, sync=blocking()),
        context({"sync": 0.5}),
    ),
    "LA001": Case(
        context({"host": 0.2}, launches=BUSY_LAUNCHES),
        context({"host": 0.199}, launches=BUSY_LAUNCHES),
        context({"host": 0.9}, launches={**BUSY_LAUNCHES, "median_delay_ns": None}),
    ),
    "HO001": Case(
        context({"host": 0.2}, launches=SLOW_LAUNCHES),
        context({"host": 0.199}, launches=SLOW_LAUNCHES),
        context({"other": 0.9}, on_host=True, facts=NOT_RECORDED),
    ),
    "CP001": Case(
        context({"copy": 0.05}, copies=copies(0.05)),
        context({"copy": 0.05}, copies=copies(0.049)),
        context({"copy": 0.1}, copies=copies(0.1, memory=None)),
    ),
    "CP002": Case(
        context({"copy": 0.15}, copies=copies(0.15, memory="pinned")),
        context({"copy": 0.149}, copies=copies(0.149, memory="pinned")),
        context(on_host=True, facts=CPU_ONLY, copies=()),
    ),
    "SG001": Case(
        context({"communication": 0.1}, waiting=waiting(0.51), ranks=2),
        context({"communication": 0.099}, waiting=waiting(0.51), ranks=2),
        context({"communication": 0.9}),
    ),
    "CM001": Case(
        context({"communication": 0.1}),
        context({"communication": 0.099}),
        context({"communication": 0.9}, on_host=True, facts=NOT_RECORDED),
    ),
    "AL001": Case(
        context({"allocator": 0.05}, allocator={"steady_count": 12, "steady_ns": 10**6}),
        context({"allocator": 0.049}, allocator={"steady_count": 12, "steady_ns": 10**6}),
        context(on_host=True, facts=CPU_ONLY),
    ),
    "TC001": Case(
        context({"host": 0.74}, gpu=PLAIN),
        context({"host": 0.76}, gpu=PLAIN),
        context(gpu=PLAIN, facts={"has_tensor_cores": None}),
    ),
    "GF001": Case(
        context(gpu={"sm_efficiency_frac": 0.29, "busy_frac": 1.0}),
        context(gpu={"sm_efficiency_frac": 0.3, "busy_frac": 1.0}),
        context(gpu={"sm_efficiency_frac": None}),
    ),
}
