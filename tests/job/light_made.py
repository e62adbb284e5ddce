"""Made light runs: what each rank does in each step is said, and its waiting follows from the slowest."""

from __future__ import annotations

import json
import random

from stepscope.schema.light import LIGHT_NAME, PARTS, LightHead, LightRow


def own_parts(**parts):
    """Own parts of a step in microseconds, 10 ms of backward and 1 ms of the host's unless told otherwise."""
    return {"forward": 5_000, "backward": 10_000, "host": 1_000, **parts}


def made_run(folder, ranks, steps, doing, *, device="cpu", sync=500, width=1, ended=(), seed=1):
    """Writes what the ranks of a data-parallel job would.

    Args:
        folder: The run folder.
        ranks: How many.
        steps: How many.
        doing: From rank and step to own parts in microseconds.
        device: What they train on.
        sync: Transfer of each step.
        width: Steps of a row.
        ended: Ranks whose recorder did not finish: number and their last step.
        seed: Of the noise of a part in a hundred.
    """
    draw = random.Random(seed)
    stops = dict(ended)
    table: list[list[tuple[int, int, int, dict[str, int]]]] = [[] for _ in range(ranks)]
    at_us = 0
    for number in range(steps):
        did = []
        for rank in range(ranks):
            parts = {
                part: int(us * draw.gauss(1, 0.01)) for part, us in doing(rank, number).items()
            }
            did.append(parts)
        length = max(sum(parts.values()) for parts in did) + sync
        for rank, parts in enumerate(did):
            wait = length - sum(parts.values())
            table[rank].append((number, at_us, length, {**parts, "sync": wait}))
        at_us += length
    for rank, rows in enumerate(table):
        write_rank(
            folder, rank, ranks, joined(rows[: stops.get(rank, steps - 1) + 1], width),
            device=device, complete=rank not in stops,
        )  # fmt: skip


def joined(steps, width):
    """Rows of so many steps; the last may hold fewer."""
    rows = []
    for begin in range(0, len(steps), width):
        some = steps[begin : begin + width]
        lengths = sorted(length for _, _, length, _ in some)
        worst = max(some, key=lambda step: step[2])
        rows.append(
            LightRow(
                first=some[0][0],
                count=len(some),
                at_ms=some[0][1] // 1000,
                total_us=sum(lengths),
                parts_us=tuple(sum(parts.get(part, 0) for *_, parts in some) for part in PARTS),
                low_us=lengths[0],
                middle_us=lengths[len(lengths) // 2],
                worst=worst[0],
                worst_us=worst[2],
                worst_parts_us=tuple(worst[3].get(part, 0) for part in PARTS),
            )
        )
    return rows


def write_rank(folder, rank, world, rows, *, device="cpu", complete=True, host="node01"):
    """One rank's folder."""
    own = folder / f"rank{rank}"
    own.mkdir(parents=True)
    head = LightHead(rank=rank, world_size=world, host=host, pid=1, time_ns=1_700_000_000 * 10**9)
    text = head.line() + "".join(row.line() for row in rows)
    (own / LIGHT_NAME).write_text(text, encoding="utf-8")
    document = {"rank": rank, "world_size": world, "device": device, "complete": complete}
    (own / "recording.json").write_text(json.dumps(document), encoding="utf-8")
