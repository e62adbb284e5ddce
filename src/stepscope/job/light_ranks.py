"""What the ranks of a light run left, and their steps brought to the same blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec import Struct

from stepscope.errors import InputError
from stepscope.schema.light import ALL_PARTS, EXACT_STEPS, LightRow, light_files, load_light
from stepscope.schema.light_sums import SETTLING, steady
from stepscope.schema.run_folder import RECORDING_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from stepscope.trace.intervals import Floats, Ints

LEAST_BLOCKS = 20
"""With fewer blocks than this, the exact steps of the beginning are compared instead."""


class RankSteps(Struct, frozen=True, kw_only=True):
    """One process.

    Attributes:
        rank, world_size: As torch has them, else as the launcher gave them.
        host: The machine.
        zero_ns: Nanoseconds since 1970 at the zero of the rows' ``at_ms``.
        device: What it trained on; ``None`` when not known.
        ended: Whether its recorder could finish.
        rows: Its steps, never empty.
    """

    rank: int
    world_size: int
    host: str
    zero_ns: int
    device: str | None
    ended: bool
    rows: tuple[LightRow, ...]

    @property
    def last_step(self) -> int:
        """Number of its last step."""
        return self.rows[-1].first + self.rows[-1].count - 1

    @property
    def steady(self) -> Sequence[LightRow]:
        """Its steps without the first ones; all where there are no others."""
        return steady(self.rows)


class Blocks(Struct, frozen=True, eq=False):
    """The same steps of all ranks.

    Attributes:
        first: Number of each block's first step, shape ``(blocks,)``.
        width: Steps of a block.
        total_us: Mean step, shape ``(ranks, blocks)``.
        parts_us: Its parts in the order of ``ALL_PARTS``, shape ``(ranks, blocks, parts)``.
    """

    first: Ints
    width: int
    total_us: Floats
    parts_us: Floats

    def __len__(self) -> int:
        return len(self.first)


def read_ranks(folder: Path) -> list[RankSteps]:
    """All ranks of a run folder that left steps, by rank.

    Raises:
        InputError: A file is of a newer version than this program, or there is none with steps.
    """
    found = []
    for path in light_files(folder):
        steps = load_light(path)
        if steps is None or not steps.rows:
            continue
        recording = _recording(path.parent / RECORDING_NAME)
        head = steps.head
        found.append(
            RankSteps(
                rank=recording.rank if recording else head.rank,
                world_size=recording.world_size if recording else head.world_size,
                host=head.host,
                zero_ns=head.time_ns,
                device=recording.device if recording else None,
                ended=recording is not None and recording.complete,
                rows=steps.rows,
            )
        )
    if not found:
        raise InputError(
            "no rank of this run left a whole step",
            path=str(folder),
            way_out="let the script train for more steps",
        )
    return sorted(found, key=lambda one: one.rank)


class _Recorded(msgspec.Struct, frozen=True):
    """What is needed of a ``RankRecording``."""

    rank: int
    world_size: int
    device: str
    complete: bool


def _recording(path: Path) -> _Recorded | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Recorded)
    except (OSError, msgspec.MsgspecError):
        return None


def common_blocks(ranks: Sequence[RankSteps]) -> Blocks:
    """Blocks that every rank has in full, all of the same width.

    The rows of a rank begin at multiples of their length, a power of two, so that the widest row of all
    ranks holds whole rows of every other one.
    """
    widest = max(row.count for one in ranks for row in one.rows)
    width = 1 << (widest - 1).bit_length()
    if width > 1:
        wide = _joined(ranks, width)
        if len(wide) >= LEAST_BLOCKS:
            return wide
    exact = [
        tuple(row for row in one.rows if row.count == 1 and row.first < EXACT_STEPS)
        for one in ranks
    ]
    return _joined(ranks, 1, exact)


def _joined(
    ranks: Sequence[RankSteps], width: int, rows: Sequence[Sequence[LightRow]] | None = None
) -> Blocks:
    sums = [_sums(each, width) for each in (rows or [one.rows for one in ranks])]
    whole = [{first for first, (count, *_) in one.items() if count == width} for one in sums]
    common = sorted(first for first in set.intersection(*whole) if first >= SETTLING)
    parts = np.zeros((len(ranks), len(common), len(ALL_PARTS)))
    total = np.zeros((len(ranks), len(common)))
    for place, one in enumerate(sums):
        for block, first in enumerate(common):
            _, length, *some = one[first]
            total[place, block] = length / width
            parts[place, block] = with_host(length, some) / width
    return Blocks(np.array(common, dtype=np.int64), width, total, parts)


def _sums(rows: Sequence[LightRow], width: int) -> dict[int, list[int]]:
    """Count, length and parts by the first step of the block."""
    sums: dict[int, list[int]] = {}
    for row in rows:
        block = sums.setdefault(row.first // width * width, [0] * (1 + len(ALL_PARTS)))
        for column, value in enumerate((row.count, row.total_us, *row.parts_us)):
            block[column] += value
    return sums


def with_host(total: float, parts: Sequence[float]) -> Floats:
    """The parts, and the host's own as the rest."""
    return np.array([*parts, max(total - sum(parts), 0)], dtype=np.float64)
