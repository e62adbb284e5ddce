"""Batches are made of many small files, and wait for them.

What it does:
    Fires when training waits for the next batch for a tenth of the steady step or more, making a batch opens 16
    files or more of less than 256 kB in mean, at least half of that time waits and computes nothing, and the
    model of the input pipeline gains a twentieth or more when half of that waiting goes.

Why it costs:
    Opening and reading a small file takes a disk or a file server one or several round trips, whatever its
    bandwidth is. On parallel file systems that is milliseconds a file, and every other user waits too.

Example:
    A million JPEG files of 100 kB on Lustre.

What to try:
    Pack the samples into some large files that are read from front to back (WebDataset's tar files, HDF5, LMDB,
    Arrow), or into one archive that is unpacked on the node's own disk before training.

When this is wrong:
    When the waiting is for something else than files: a lock, a network service.

References:
    https://docs.nersc.gov/machinelearning/science-use-cases/,
    https://github.com/webdataset/webdataset
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.advice.base import Rule, severity
from stepscope.advice.input_cause import MOST_OF_IT, cause_of
from stepscope.schema.report import Evidence, Finding

if TYPE_CHECKING:
    from stepscope.advice.base import Context

LEAST_SHARE = 0.1
"""Below a tenth of the step the best cure gains less than 1.11x, about the noise between two runs."""

LEAST_GAIN = 1.05
"""Packing a data set is work; less is not worth it."""

LEAST_OPENED, MOST_BYTES = 16, 256_000
"""Fewer or larger files are read about as fast as packed ones."""

SNIPPET = """\
dataset = webdataset.WebDataset("shards/train-{000000..000099}.tar").decode("pil").to_tuple("jpg", "cls")"""


def find(context: Context) -> Finding | None:
    """Rests on what the recorder counted in the workers."""
    share, gain, loader = context.share("input"), context.gains.packed, context.loader
    if share is None or share < LEAST_SHARE or gain is None or loader is None:
        return None
    cause, times = cause_of(loader), loader.times
    if cause is None or cause.kind != "storage" or cause.share < MOST_OF_IT or times is None:
        return None
    size = loader.places[0].mean_bytes if loader.places else None
    if times.opened is None or times.opened < LEAST_OPENED or size is None or size >= MOST_BYTES:
        return None
    if gain.low < LEAST_GAIN:
        return None
    return Finding(
        code=RULE.code,
        regime=RULE.regime,
        severity=severity(share),
        title=RULE.title,
        evidence=(
            *context.part_evidence("input", "waiting for data with nothing else running"),
            Evidence(name="files opened for a batch", value=times.opened, unit="count"),
            Evidence(name="their size, mean", value=size, unit="bytes"),
            Evidence(name="making a batch: items waiting", value=times.wait_ms, unit="ms"),
            Evidence(name="data read from", value=loader.places[0].folder, unit="text"),
        ),
        action="Pack the samples into some large files that are read from front to back.",
        snippet=SNIPPET,
        confidence="medium",
        share_frac=share,
    )


RULE = Rule(
    "IN005",
    "input",
    "Batches wait for many small files",
    find,
    __doc__ or "",
    explained_by=("REC002", "IN003"),
    needs_usable=False,
    gain=lambda context: context.gains.packed,
)
