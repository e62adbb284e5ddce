"""Many small files on a shared file system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before

SMALL_FILE_BYTES = 128 * 1024
MANY_FILES = 1000


def find(seen: Before) -> Finding | None:
    """Many small files on a shared file system."""
    data = seen.report.data
    if data is None or data.mean_bytes is None or data.system.kind != "network":
        return None
    if data.mean_bytes >= SMALL_FILE_BYTES or data.files < MANY_FILES:
        return None
    local = next(
        (item.system.path for item in seen.report.scratch if item.system.kind == "local"), "$TMPDIR"
    )
    return Finding(
        code="CK020", regime="input", severity="medium", confidence="high",
        title=f"the data are many small files on {data.system.type}: every sample costs an opening over the network",
        evidence=(
            Evidence(name="mean size of the files looked at", value=data.mean_bytes, unit="bytes"),
            Evidence(name="files looked at", value=data.files, unit="count"),
        ),
        action=(
            "Pack them into a few large files (squashfs, tar with webdataset, LMDB, HDF5) and copy those to the "
            "node's own disk when the job starts."
        ),
        snippet=f"tar cf data.tar {data.system.path}   # once\ntar xf data.tar -C {local}   # in the job",
    )  # fmt: skip


MISTAKE: Mistake[Before] = Mistake(
    "CK020",
    "small files on a shared file system",
    "1,000 or more files of less than 128 KiB on average (our threshold) on a network file system",
    "LUMI and CSC data guides",
    find,
)
