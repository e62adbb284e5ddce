"""Data are read in small pieces from a shared file system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.units import format_bytes
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During

SMALL_READ_BYTES = 128 * 1024
LEAST_READ_BYTES = 100_000_000


def find(seen: During) -> Finding | None:
    """Data are read in small pieces from a shared file system."""
    if not seen.is_judged:
        return None
    for node in seen.summary.nodes:
        if not node.network_reads or node.mean_read_bytes is None or not node.read_bytes:
            continue
        if node.mean_read_bytes < SMALL_READ_BYTES and node.read_bytes > LEAST_READ_BYTES:
            return Finding(
                code="WA022", regime="input", severity="medium", confidence="medium",
                title=f"files on {', '.join(node.network_reads)} are read in pieces of {format_bytes(node.mean_read_bytes)}",
                evidence=(
                    Evidence(name="mean size of a read", value=node.mean_read_bytes, unit="bytes"),
                    Evidence(name="read in all", value=node.read_bytes, unit="bytes"),
                ),
                action="Pack small files into large ones (squashfs, tar with webdataset, LMDB) and copy them to the node's disk first.",
                snippet="tar xf data.tar -C $TMPDIR",
            )  # fmt: skip
    return None


MISTAKE: Mistake[During] = Mistake(
    "WA022",
    "small reads from a shared file system",
    "mean read below 128 KiB of more than 100 MB with files open on a network file system; our thresholds",
    "LUMI and CSC data guides",
    find,
)
