"""From results to the report's rows; no drawing, no thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from stepscope.schema.notice import Notice
from stepscope.schema.report import (
    CopyRow,
    Gpu,
    KernelRow,
    MemoryPeak,
    OperatorRow,
    RankReport,
    Steps,
)
from stepscope.units import NS_PER_US, ns_to_ms, ns_to_us

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.analysis import gpu as gpu_analysis
    from stepscope.analysis.results import Results
    from stepscope.analysis.spread import Spread
    from stepscope.trace.intervals import Ints
    from stepscope.trace.model import Trace


def rank_report(trace: Trace, results: Results) -> RankReport:
    """One rank's story as the report tells it."""
    partition, steady = results.partition, results.partition.is_steady
    return RankReport(
        rank=results.facts.rank,
        device=results.facts.device,
        files=tuple(window.path for window in trace.windows),
        steps=_steps(trace, results.spread),
        parts_ms=_mean_ms(partition.parts, partition.ns),
        steady_parts_ms=_mean_ms(partition.parts, partition.ns[steady]) if steady.any() else None,
        step_parts_ms=tuple(_mean_ms(partition.parts, row[None, :]) for row in partition.ns),
        overview_ms=_mean_ms(results.overview.parts, results.overview.ns),
        gpu=_gpu(results.gpu),
        loader_wait_ms=ns_to_ms(results.loader.wait_ns),
        loader_waits=results.loader.count,
        copies=tuple(
            CopyRow(
                direction=row.direction,
                memory=row.memory,
                count=row.count,
                total_ms=ns_to_ms(row.total_ns),
                bytes=row.bytes,
                bandwidth_gb_s=row.bandwidth_gb_s,
            )
            for row in results.copies
        ),
        memory=tuple(
            MemoryPeak(
                device=row.device,
                allocated_bytes=row.allocated_bytes,
                reserved_bytes=row.reserved_bytes,
                capacity_bytes=row.capacity_bytes,
                growth_bytes_per_step=row.growth_bytes_per_step,
            )
            for row in results.memory
        ),
        timeline=results.timeline,
    )


def notices(results: Results) -> tuple[Notice, ...]:
    """What the analyses found odd in the data of one rank."""
    rank = results.facts.rank
    out = [
        Notice(
            code="bandwidth-refused",
            count=row.count,
            text=f"The sizes and times of {row.count} {row.direction} copies give a bandwidth above "
            "what the hardware can do, so none is shown.",
            rank=rank,
        )
        for row in results.copies
        if row.is_refused
    ]
    if results.launches.early_count:
        out.append(
            Notice(
                code="kernels-before-launch",
                count=results.launches.early_count,
                text=f"{results.launches.early_count} kernels seem to start before their launch, because the "
                "clocks of host and device differ; they count as started at once.",
                rank=rank,
            )
        )
    return tuple(out)


def kernel_rows(ranks: Sequence[Results]) -> tuple[KernelRow, ...]:
    """All kernels over all ranks, longest total first."""
    rows = [
        (k.name, k.count, k.total_ns, k.is_communication, k.uses_tensor_cores)
        for one in ranks
        for k in one.kernels
    ]
    schema = {
        "name": pl.String,
        "count": pl.Int64,
        "total": pl.Int64,
        "moves": pl.Boolean,
        "cores": pl.Boolean,
    }
    table = (
        pl.DataFrame(rows, schema=schema, orient="row")
        .group_by("name")
        .agg(pl.sum("count", "total"), pl.any("moves"), pl.first("cores"))
        .sort(["total", "name"], descending=[True, False])
    )
    whole = int(table["total"].sum())
    return tuple(
        KernelRow(
            name=name,
            count=count,
            total_ms=ns_to_ms(total),
            mean_us=total / count / NS_PER_US,
            share=total / whole if whole else 0.0,
            is_communication=moves,
            uses_tensor_cores=cores,
        )
        for name, count, total, moves, cores in table.iter_rows()
    )


def operator_rows(ranks: Sequence[Results]) -> tuple[OperatorRow, ...]:
    """All operators over all ranks by name and shapes, longest self time first."""
    rows = [
        (o.name, o.input_dims, o.count, o.total_ns, o.self_ns, o.device_ns)
        for one in ranks
        for o in one.operators
    ]
    schema = {
        "name": pl.String,
        "dims": pl.String,
        "count": pl.Int64,
        "total": pl.Int64,
        "own": pl.Int64,
        "device": pl.Int64,
    }
    known = pl.col("device").count() > 0
    table = (
        pl.DataFrame(rows, schema=schema, orient="row")
        .group_by("name", "dims")
        .agg(pl.sum("count", "total", "own"), pl.when(known).then(pl.sum("device")).alias("device"))
        .sort(["own", "total", "name", "dims"], descending=[True, True, False, False])
    )
    whole = int(table["own"].sum())
    return tuple(
        OperatorRow(
            name=name,
            input_dims=dims,
            count=count,
            total_ms=ns_to_ms(total),
            self_ms=ns_to_ms(own),
            mean_us=total / count / NS_PER_US,
            share=own / whole if whole else 0.0,
            device_ms=None if device is None else ns_to_ms(device),
        )
        for name, dims, count, total, own, device in table.iter_rows()
    )


def _mean_ms(parts: tuple[str, ...], ns: Ints) -> dict[str, float]:
    """The parts of the mean row."""
    return {part: ns_to_ms(float(mean)) for part, mean in zip(parts, ns.mean(axis=0), strict=True)}


def _steps(trace: Trace, spread: Spread) -> Steps:
    steady = spread.steady_mean_ns
    return Steps(
        count=len(spread.durations_ns) if spread.are_steps else 0,
        source=trace.step_source if spread.are_steps else "window",
        mean_ms=ns_to_ms(spread.mean_ns),
        median_ms=ns_to_ms(spread.median_ns),
        p95_ms=ns_to_ms(spread.p95_ns),
        steady_mean_ms=None if steady is None else ns_to_ms(steady),
        steady_count=int(spread.is_steady.sum()),
        durations_ms=tuple(ns_to_ms(length) for length in spread.durations_ns.tolist()),
        startup=tuple(spread.is_startup.tolist()),
        partial=tuple(spread.is_partial.tolist()),
        outliers=spread.outliers,
    )


def _gpu(result: gpu_analysis.Gpu) -> Gpu | None:
    if result.busy_ns is None:
        return None
    return Gpu(
        busy_ms=ns_to_ms(result.busy_ns),
        busy_frac=result.busy_frac,
        sm_efficiency_frac=result.sm_efficiency_frac,
        occupancy_frac=result.occupancy_frac,
        tensor_core_frac=result.tensor_core_frac,
        kernel_count=result.kernel_count,
        mean_kernel_us=ns_to_us(result.kernel_ns / result.kernel_count)
        if result.kernel_count
        else None,
        tail_ms=None if result.tail_ns is None else ns_to_ms(result.tail_ns),
    )
