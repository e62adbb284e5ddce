"""Realistic reports for the tests of every renderer; all numbers come from a fixed seed."""

from __future__ import annotations

import random

from msgspec.structs import replace

from stepscope.schema.notice import Notice
from stepscope.schema.report import (
    DEVICE_PARTS,
    HOST_PARTS,
    OVERVIEW_PARTS,
    PATH_PARTS,
    CopyRow,
    Evidence,
    Finding,
    Gain,
    Gpu,
    Health,
    KernelRow,
    Lane,
    MemoryPeak,
    OperatorRow,
    PathKernel,
    PathReport,
    RankReport,
    Recording,
    Report,
    Span,
    Steps,
    Timeline,
    Verdict,
)

HOSTILE = "</script><img src=x onerror=alert(1)>"
"""The name that must stay text wherever it is shown."""

MARKUP = "[bold red]aten::mm[/] \x1b[31m\x07\u202e {{ 7*7 }} $$x$$ @step ]]> <!--"
"""A name with Rich markup, control characters, template syntax, TeX and placeholders."""

KERNELS = (
    "volta_scudnn_128x64_relu_interior_nn_v1",
    "volta_sgemm_64x64_nt",
    "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float, float, float)",
    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1, true>(cudnnTensorStruct)",
    (
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
        "at::detail::Array<char*, 3>>(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)"
    ),
    (
        "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::"
        "threshold_kernel_impl<float>, at::detail::Array<char*, 3>>(int)"
    ),
    "void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int, float const*)",
    "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int)",
    "void wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, false, 512>(int, int, int, float const*)",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(at::native::ReduceOp<float>)",
)

OPERATORS = (
    "aten::cudnn_convolution",
    "aten::cudnn_convolution_backward",
    "aten::cudnn_batch_norm",
    "cudnn_batch_norm_backward",
    "aten::add_",
    "aten::threshold_backward",
    "aten::copy_",
    "aten::addmm",
    "aten::max_pool2d_with_indices",
    "Optimizer.step#SGD.step",
)


def steps(
    durations: tuple[float, ...], *, startup: int = 0, source: str = "profiler-step"
) -> Steps:
    """Steps with these durations, the first ``startup`` of them start-up."""
    ordered = sorted(durations)
    steady = durations[startup:]
    median = ordered[len(ordered) // 2]
    return Steps(
        count=len(durations),
        source=source,  # type: ignore[arg-type]
        mean_ms=sum(durations) / len(durations),
        median_ms=median,
        p95_ms=ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))],
        steady_mean_ms=sum(steady) / len(steady) if steady else None,
        steady_count=len(steady),
        durations_ms=durations,
        startup=tuple(i < startup for i in range(len(durations))),
        partial=tuple(False for _ in durations),
        outliers=tuple(i for i, ms in enumerate(durations) if i >= startup and ms > 1.3 * median),
    )


def mean_parts(rows: tuple[dict[str, float], ...]) -> dict[str, float]:
    """The mean of some steps' parts."""
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}


def split(total: float, shares: dict[str, float], names: tuple[str, ...]) -> dict[str, float]:
    """``total`` divided by shares; the first part takes what is left, so that it sums exactly."""
    parts = {name: total * shares.get(name, 0.0) for name in names}
    parts[names[0]] += total - sum(parts.values())
    return parts


def timeline(
    duration_ms: float, seed: int = 7, *, device: bool = True, per_lane: int = 120
) -> Timeline:
    """A step in which operators nest two deep and kernels follow their launches."""
    rng = random.Random(seed)
    host: list[Span] = [
        Span(
            name="enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
            start_us=0.0,
            duration_us=300 * duration_ms,
            depth=0,
            kind="annotation",
        )
    ]
    kernels: list[Span] = []
    slot = 700 * duration_ms / per_lane
    for position in range(per_lane):
        start = 300 * duration_ms + position * slot
        name = rng.choice(OPERATORS)
        host.append(
            Span(name=name, start_us=start, duration_us=slot * 0.8, depth=0, kind="operator")
        )
        host.append(
            Span(
                name="cudaLaunchKernel",
                start_us=start + slot * 0.5,
                duration_us=slot * 0.2,
                depth=1,
                kind="runtime",
            )
        )
        kernels.append(
            Span(
                name=rng.choice(KERNELS),
                start_us=start + slot * 0.7,
                duration_us=slot * rng.uniform(0.4, 0.95),
                depth=0,
                kind="kernel",
            )
        )
    copy = Span(
        name="Memcpy HtoD (Pageable -> Device)",
        start_us=290 * duration_ms,
        duration_us=8 * duration_ms,
        depth=0,
        kind="memcpy",
    )
    lanes = [Lane(label="thread 4711", is_device=False, spans=tuple(host), hidden=31)]
    lanes.append(
        Lane(
            label="thread 4802",
            is_device=False,
            spans=tuple(
                Span(
                    name=s.name,
                    start_us=s.start_us,
                    duration_us=s.duration_us / 2,
                    depth=0,
                    kind="operator",
                )
                for s in host[1::3]
            ),
        )
    )
    if device:
        lanes.append(Lane(label="GPU 0 stream 7", is_device=True, spans=(copy, *kernels)))
    return Timeline(step=5, duration_ms=duration_ms, lanes=tuple(lanes))


def kernel_rows(total_ms: float, count: int = 10) -> tuple[KernelRow, ...]:
    """Kernels with a falling share of ``total_ms``."""
    weights = [1 / (i + 1) for i in range(count)]
    rows = []
    for i, weight in enumerate(weights):
        ms = total_ms * weight / sum(weights)
        calls = 6 * (3 + i)
        name = KERNELS[i % len(KERNELS)] + ("" if i < len(KERNELS) else f" #{i}")
        rows.append(
            KernelRow(
                name=name,
                count=calls,
                total_ms=ms,
                mean_us=1e3 * ms / calls,
                share=weight / sum(weights),
                uses_tensor_cores=False,
            )
        )
    return tuple(rows)


def operator_rows(
    total_ms: float, count: int = 10, *, device: bool = True
) -> tuple[OperatorRow, ...]:
    """Operators with a falling share of ``total_ms``."""
    weights = [1 / (i + 1) for i in range(count)]
    rows = []
    for i, weight in enumerate(weights):
        ms = total_ms * weight / sum(weights)
        name = OPERATORS[i % len(OPERATORS)]
        rows.append(
            OperatorRow(
                name=name,
                input_dims=f"[[32, {64 + i}, 56, 56], [64, {64 + i}, 3, 3], []]"
                if i % 2 == 0
                else None,
                count=6 * (2 + i),
                total_ms=ms * 1.5,
                self_ms=ms,
                mean_us=1e3 * ms * 1.5 / (6 * (2 + i)),
                share=weight / sum(weights),
                device_ms=ms * 3 if device else None,
            )
        )
    return tuple(rows)


INPUT_FINDING = Finding(
    code="IN001",
    regime="input",
    severity="high",
    title="The GPU waits for the DataLoader, which loads in the training process",
    evidence=(
        Evidence(name="loader wait per step", value=45.5, unit="ms"),
        Evidence(name="of the mean step", value=0.298, unit="frac"),
        Evidence(name="loader", value="_SingleProcessDataLoaderIter (num_workers=0)", unit="text"),
        Evidence(name="samples a second", value=None, unit="1/s"),
    ),
    action="Load ahead in worker processes. Start with as many workers as cores that the job may use, "
    "up to 4 for one GPU, and keep them alive between epochs.",
    snippet="loader = DataLoader(\n    dataset,\n    batch_size=32,\n    num_workers=4,\n"
    "    persistent_workers=True,\n)",
    confidence="high",
    share_frac=0.298,
    gain=Gain(
        low=1.14,
        high=1.26,
        unit="ratio",
        step_ms_low=121.0,
        step_ms_high=134.0,
        basis="pipeline-model",
    ),
)

COPY_FINDING = Finding(
    code="CP001",
    regime="copy",
    severity="low",
    title="Batches are copied from pageable memory",
    evidence=(
        Evidence(name="pageable copies to the device", value=12, unit="count"),
        Evidence(name="moved", value=115_608_576, unit="bytes"),
        Evidence(name="bandwidth", value=4.2, unit="GB/s"),
    ),
    action="Pin the loader's memory and copy without blocking.",
    snippet="loader = DataLoader(..., pin_memory=True)\nx = x.to(device, non_blocking=True)",
    confidence="medium",
    share_frac=0.031,
)


def critical_path(step_ms: float, steps: int) -> PathReport:
    """Half of the step waits for kernels, a third for the loader."""
    shares = {
        "input": 0.297,
        "operators": 0.081,
        "latency": 0.017,
        "copies": 0.031,
        "python": 0.004,
    }
    gain = Gain(
        low=1.06, high=1.11, unit="ratio", step_ms_low=1.0, step_ms_high=2.0, basis="replay"
    )
    return PathReport(
        steps=steps,
        step_ms=step_ms,
        is_clean=False,
        parts_ms=split(step_ms, shares, PATH_PARTS),
        kernels=(PathKernel(name=KERNELS[2], ms=0.16 * step_ms, frac=0.16, gain=gain),),
    )


def gpu_rank(
    rank: int | None = 0,
    *,
    durations: tuple[float, ...] = (167.2, 138.9, 139.4, 198.8, 137.1, 136.0),
    shares: dict[str, float] | None = None,
    startup: int = 0,
    lane_spans: int = 120,
) -> RankReport:
    """A rank on a V100 that waits for its loader."""
    shares = shares or {
        "input": 0.297,
        "copy": 0.031,
        "host": 0.05,
        "sync": 0.012,
        "unknown": 0.004,
    }
    rng = random.Random(rank or 0)
    rows = []
    for ms in durations:
        wobble = {name: value * rng.uniform(0.9, 1.1) for name, value in shares.items()}
        rows.append(split(ms, wobble, DEVICE_PARTS))
    step_parts = tuple(rows)
    found = steps(durations, startup=startup)
    steady = step_parts[startup:]
    return RankReport(
        rank=rank,
        device="Tesla V100-DGXS-32GB",
        files=("worker0.1623143089861.pt.trace.json.gz",),
        steps=found,
        parts_ms=mean_parts(step_parts),
        steady_parts_ms=mean_parts(steady) if steady else None,
        step_parts_ms=step_parts,
        overview_ms=split(
            found.mean_ms,
            {
                "memcpy": 0.031,
                "memset": 0.001,
                "runtime": 0.02,
                "dataloader": 0.29,
                "cpu_exec": 0.03,
                "other": 0.018,
            },
            OVERVIEW_PARTS,
        ),
        gpu=Gpu(
            busy_ms=0.64 * sum(durations),
            busy_frac=0.637,
            sm_efficiency_frac=0.589,
            occupancy_frac=0.463,
            tensor_core_frac=0.0,
            kernel_count=1116 * len(durations),
            mean_kernel_us=83.2,
            tail_ms=3.21,
        ),
        loader_wait_ms=45.5 * len(durations),
        loader_waits=len(durations),
        copies=(
            CopyRow(
                direction="HtoD",
                memory="pageable",
                count=12,
                total_ms=27.4,
                bytes=115_608_576,
                bandwidth_gb_s=4.219,
            ),
            CopyRow(
                direction="DtoD",
                memory="device",
                count=6,
                total_ms=0.04,
                bytes=None,
                bandwidth_gb_s=None,
            ),
        ),
        memory=(
            MemoryPeak(
                device="cuda:0",
                allocated_bytes=3_812_000_000,
                reserved_bytes=4_200_000_000,
                capacity_bytes=34_000_000_000,
                growth_bytes_per_step=0.0,
            ),
            MemoryPeak(
                device="cpu",
                allocated_bytes=412_000_000,
                reserved_bytes=None,
                capacity_bytes=None,
                growth_bytes_per_step=None,
            ),
        ),
        timeline=timeline(139.4, per_lane=lane_spans),
        path=critical_path(found.steady_mean_ms or found.mean_ms, found.steady_count),
    )


def input_bound() -> Report:
    """One V100 that waits for a loader without workers."""
    return Report(
        stepscope_version="0.1.0",
        created="2026-11-30T11:00:00+00:00",
        paths=("traces/v100-resnet50-workers0.json.gz",),
        health=Health(
            usable=True,
            gpu_recorded=True,
            notices=(
                Notice(
                    code="few-steps",
                    count=6,
                    text="Only 6 steps were recorded, so the spread between steps is little known.",
                ),
            ),
        ),
        verdict=Verdict(
            regime="input",
            sentence="The GPU waits for the DataLoader in 29.8 % of the mean step (45.5 of 152.9 ms), "
            "because batches are loaded in the training process.",
        ),
        ranks=(gpu_rank(),),
        findings=(INPUT_FINDING, COPY_FINDING),
        kernels=kernel_rows(583.0, 43),
        operators=operator_rows(190.0, 61),
        recording=Recording(
            command=("train.py", "--batch-size", "32"),
            exit_status=0,
            clean_steps=20,
            clean_step_ms=131.2,
            profiled_step_ms=139.2,
            inflation_frac=0.061,
            own_cost_ms=3.4,
            stop_ms=812.0,
        ),
    )


def with_startup() -> Report:
    """Start-up in the first two of ten steps, and a hostile name in every table."""
    durations = (2412.0, 311.0, *(150.0 + i for i in range(8)))
    rank = gpu_rank(durations=durations, startup=2)
    why = "replaying the recorded steps without any change does not give their length back"
    return replace(input_bound(), ranks=(replace(rank, path=None, path_reason=why),))


def healthy() -> Report:
    """A report without findings."""
    report = input_bound()
    rank = gpu_rank(durations=(101.0, 100.2, 100.9, 100.4), shares={"host": 0.01, "copy": 0.005})
    return replace(
        report,
        health=Health(usable=True, gpu_recorded=True),
        verdict=Verdict(
            regime="healthy",
            sentence="The GPU computes in 98.5 % of the mean step (99.1 of 100.6 ms); nothing to fix here.",
        ),
        ranks=(rank,),
        findings=(),
        recording=None,
    )


def cpu_only() -> Report:
    """A rank without any device."""
    durations = (58.0, 57.2, 61.5, 57.9, 58.8)
    shares = {"input": 0.62, "backward": 0.19, "optimizer": 0.04, "other": 0.02}
    rows = tuple(
        split(ms, shares, ("forward", *(n for n in HOST_PARTS if n != "forward")))
        for ms in durations
    )
    rows = tuple({name: row[name] for name in HOST_PARTS} for row in rows)
    found = steps(durations, source="dataloader")
    rank = RankReport(
        rank=None,
        device="cpu",
        files=("trace.json.gz",),
        steps=found,
        parts_ms=mean_parts(rows),
        steady_parts_ms=mean_parts(rows),
        step_parts_ms=rows,
        overview_ms=split(
            found.mean_ms, {"dataloader": 0.62, "cpu_exec": 0.36}, ("other", *OVERVIEW_PARTS[:-1])
        ),
        gpu=None,
        loader_wait_ms=0.62 * sum(durations),
        loader_waits=5,
        timeline=timeline(57.9, device=False, per_lane=60),
    )
    finding = replace(INPUT_FINDING, title="Training waits for the DataLoader", gain=None)
    return replace(
        input_bound(),
        health=Health(usable=True, gpu_recorded=None),
        verdict=Verdict(
            regime="input",
            sentence="Training waits for the DataLoader in 62 % of the mean step (36.4 of 58.7 ms).",
        ),
        ranks=(rank,),
        findings=(finding,),
        kernels=(),
        operators=operator_rows(100.0, 24, device=False),
    )


def nothing_recorded() -> Report:
    """A window in which no operator ran."""
    found = Steps(
        count=0,
        source="window",
        mean_ms=14.55,
        median_ms=14.55,
        p95_ms=14.55,
        steady_mean_ms=None,
        steady_count=0,
        durations_ms=(14.55,),
        startup=(),
        partial=(),
        outliers=(),
    )
    rank = RankReport(
        rank=None,
        device="NVIDIA A100-SXM4-40GB",
        files=("empty.json.gz",),
        steps=found,
        parts_ms=split(14.55, {}, ("other", *HOST_PARTS[:-1])),
        steady_parts_ms=None,
        step_parts_ms=(),
        overview_ms=split(14.55, {}, ("other", *OVERVIEW_PARTS[:-1])),
        gpu=None,
        loader_wait_ms=0.0,
        loader_waits=0,
    )
    return replace(
        input_bound(),
        health=Health(
            usable=False,
            gpu_recorded=False,
            notices=(
                Notice(
                    code="no-operators",
                    count=0,
                    text="No PyTorch operator ran inside the recorded window: the wrong thread, the wrong "
                    "process or the wrong moment was profiled.",
                ),
            ),
        ),
        verdict=Verdict(
            regime="not-recorded",
            sentence="Nothing was recorded that a verdict could rest on: no operator ran in the window of 14.6 ms.",
        ),
        ranks=(rank,),
        findings=(),
        kernels=(),
        operators=(),
        recording=None,
    )


def many_ranks(count: int, slow: int | None = 1) -> Report:
    """A job of ``count`` ranks of which one is late."""
    ranks = []
    for number in range(count):
        late = number == slow
        shares = {
            "host": 0.21 if late else 0.03,
            "communication": 0.04 if late else 0.31,
            "copy": 0.01,
        }
        durations = tuple(210.0 + (number * 7 + i * 3) % 5 for i in range(8))
        rank = gpu_rank(number, durations=durations, shares=shares, lane_spans=40)
        ranks.append(replace(rank, loader_wait_ms=2.0, device="NVIDIA A100-SXM4-80GB"))
    finding = replace(
        INPUT_FINDING,
        code="ST001",
        regime="straggler",
        title=f"Rank {slow} reaches the all-reduce late, and all others wait for it",
        action="Look at what this rank does before its backward pass.",
        snippet="",
        rank=slow,
        gain=None,
    )
    return replace(
        input_bound(),
        verdict=Verdict(
            regime="straggler",
            sentence=f"Rank {slow} is late by 58 ms in every step, and the other {count - 1} ranks wait for it "
            "in 27 % of the mean step.",
        ),
        ranks=tuple(ranks),
        findings=(finding,),
        recording=None,
    )


def many_steps(count: int) -> Report:
    """A long recording."""
    rng = random.Random(3)
    durations = tuple(rng.uniform(95, 110) * (2.5 if i % 401 == 400 else 1) for i in range(count))
    return replace(input_bound(), ranks=(gpu_rank(durations=durations),))


def hostile() -> Report:
    """Foreign names everywhere that try to be markup, script, control codes or templates."""
    report = input_bound()
    rank = report.ranks[0]
    assert rank.timeline is not None
    assert rank.path is not None
    span = Span(name=HOSTILE, start_us=10_000.0, duration_us=60_000.0, depth=0, kind="kernel")
    host = Span(name=HOSTILE, start_us=0.0, duration_us=139_000.0, depth=0, kind="operator")
    lanes = (
        Lane(label=f"thread {HOSTILE} {MARKUP}", is_device=False, spans=(host,)),
        Lane(label=f"stream {HOSTILE}", is_device=True, spans=(span,)),
    )
    finding = replace(
        INPUT_FINDING,
        title=f"Kernel {HOSTILE} {MARKUP}",
        evidence=(Evidence(name=HOSTILE, value=MARKUP, unit="text"),),
        action=f"{HOSTILE} {MARKUP}",
        snippet=f"{HOSTILE}\n{MARKUP}",
    )
    rank = replace(
        rank,
        device=HOSTILE,
        files=(f"{HOSTILE}.json",),
        copies=(replace(rank.copies[0], direction=HOSTILE, memory=HOSTILE),),
        memory=(replace(rank.memory[0], device=HOSTILE),),
        timeline=replace(rank.timeline, lanes=lanes),
        path=replace(
            rank.path,
            kernels=tuple(replace(rank.path.kernels[0], name=n) for n in (HOSTILE, MARKUP)),
        ),
    )
    return replace(
        report,
        paths=(f"{HOSTILE}/{MARKUP}",),
        health=replace(
            report.health, notices=(Notice(code=HOSTILE, count=1, text=HOSTILE + MARKUP),)
        ),
        verdict=replace(report.verdict, sentence=f"{HOSTILE} {MARKUP}"),
        ranks=(rank, replace(rank, rank=1)),
        findings=(finding,),
        kernels=(
            replace(report.kernels[0], name=HOSTILE),
            replace(report.kernels[1], name=MARKUP),
            *report.kernels[2:],
        ),
        operators=(
            replace(report.operators[0], name=HOSTILE, input_dims=HOSTILE),
            replace(report.operators[1], name=MARKUP),
            *report.operators[2:],
        ),
        recording=replace(report.recording, command=(HOSTILE, MARKUP))
        if report.recording
        else None,
    )


def watched() -> Report:
    """A run that was sampled while it was recorded, with its energy, its cost and that of a plan."""
    # It is made from these examples.
    from tests.report.used import used  # noqa: PLC0415

    return used()


ALL = {
    "input_bound": input_bound,
    "with_startup": with_startup,
    "healthy": healthy,
    "cpu_only": cpu_only,
    "nothing_recorded": nothing_recorded,
    "two_ranks": lambda: many_ranks(2),
    "many_steps": lambda: many_steps(3000),
    "hostile": hostile,
    "watched": watched,
}
"""Every kind of report, by name."""
