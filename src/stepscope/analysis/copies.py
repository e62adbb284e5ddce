"""Copies by direction and by the kind of host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from msgspec import Struct

from stepscope.analysis.base import Analysis
from stepscope.trace import intervals as iv
from stepscope.trace.scope import scope_of

if TYPE_CHECKING:
    from stepscope.trace.intervals import Ints
    from stepscope.trace.model import Device, Trace

COHERENT_HOST_GB_S = 475.0
"""NVLink-C2C between Grace and its GPU, 450 GB/s a direction; MI300A copies within one memory."""

DEVICE_GB_S = 10_000.0
"""Above any memory of a single device that was sold by 2026 (8 TB/s)."""


class Copies(Struct, frozen=True):
    """All copies of one direction and kind of memory.

    Attributes:
        direction: HtoD, DtoH, DtoD, PtoP or HtoH; the name where the kind is not known.
        memory: ``pageable``, ``pinned`` or ``device``; ``None`` where not recorded.
        count, total_ns: How many, and their summed duration.
        bytes: Bytes moved; ``None`` where none of them recorded it.
        bandwidth_gb_s: Bytes over duration of those that recorded bytes, in 1e9 bytes a second;
            ``None`` where not recorded and where the value is above what the hardware can do.
        is_refused: Whether the bandwidth was above what the hardware can do.
        exposed_ns: Time of steady steps (windows) in which these copies, or the calls that launch
            them, ran and no kernel did: host memory that is pageable is first copied by the host.
    """

    direction: str
    memory: str | None
    count: int
    total_ns: int
    bytes: int | None
    bandwidth_gb_s: float | None
    is_refused: bool
    exposed_ns: int


def run(trace: Trace) -> tuple[Copies, ...]:
    """Copies of the file, longest total first."""
    device = trace.device
    copies = device.filter(device.get_column("kind").cast(pl.String) == "memcpy").with_columns(
        direction=pl.coalesce(pl.col("direction").cast(pl.String), pl.col("name").cast(pl.String)),
        spent=pl.col("end_ns") - pl.col("start_ns"),
    )
    scope = scope_of(trace)
    kernels = device.get_column("kind").cast(pl.String).is_in(["kernel", "accelerator"])
    free = iv.subtract(iv.union(scope.bounds[scope.is_steady]), iv.of(device.filter(kernels)))
    groups = copies.group_by("direction", "is_pageable", maintain_order=True)
    rows = [_row(str(key[0]), key[1], group, trace, free) for key, group in groups]
    return tuple(sorted(rows, key=lambda row: (-row.total_ns, row.direction, row.memory or "")))


def _row(
    direction: str, is_pageable: object, group: pl.DataFrame, trace: Trace, free: Ints
) -> Copies:
    crosses = direction in ("HtoD", "DtoH")
    memory = {True: "pageable", False: "pinned"}.get(bool(is_pageable)) if crosses else "device"
    if crosses and is_pageable is None:
        memory = None
    timed = group.filter(pl.col("bytes").is_not_null() & (pl.col("spent") > 0))
    spent = int(timed["spent"].sum())
    bandwidth = int(timed["bytes"].sum()) / spent if spent else None
    ceiling = _host_ceiling(trace.meta.devices) if crosses else DEVICE_GB_S
    refused = bandwidth is not None and bandwidth > ceiling
    known = group["bytes"].drop_nulls()
    return Copies(
        direction=direction,
        memory=memory,
        count=len(group),
        total_ns=int(group["spent"].sum()),
        bytes=int(known.sum()) if len(known) else None,
        bandwidth_gb_s=None if refused else bandwidth,
        is_refused=refused,
        exposed_ns=_exposed(group, trace.host, free),
    )


def _exposed(group: pl.DataFrame, host: pl.DataFrame, free: Ints) -> int:
    launch = group["launch"].drop_nulls().to_numpy()
    calls = iv.pairs(host["start_ns"].to_numpy()[launch], host["end_ns"].to_numpy()[launch])
    return iv.total(iv.intersect(iv.union(iv.of(group), calls), free))


def _host_ceiling(devices: tuple[Device, ...]) -> float:
    """What the link between host and device can carry at most, in GB/s, with 5 % for clocks.

    PCIe x16 a direction, from the vendors' data sheets: 16 GB/s for generation 3 (Turing), 32 for 4
    (Ampere, Ada), 64 for 5 (Hopper, MI300), 128 for 6; 75 for Volta beside POWER9 over NVLink.
    """
    names = " ".join(device.name for device in devices)
    capabilities = [d.compute_capability for d in devices if d.compute_capability]
    if not capabilities or any(
        word in names for word in ("GH200", "GB200", "GB300", "MI300A", "GB10")
    ):
        return COHERENT_HOST_GB_S
    link = {6: 80.0, 7: 80.0, 8: 32.0, 9: 64.0}.get(capabilities[0][0], 128.0)
    return 1.05 * (16.0 if capabilities[0] == (7, 5) else link)


ANALYSIS = Analysis("copies", run, "Copies by direction and memory, with their bandwidth.")
