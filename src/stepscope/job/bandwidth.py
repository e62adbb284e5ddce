"""Algorithm and bus bandwidth, as NCCL's own tests define them.

Source of the formulas: https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md. Algorithm
bandwidth is the size of the message over the time; bus bandwidth multiplies it so that it can be held
against the hardware's, whatever the number of ranks. The time is the transfer alone, from the arrival
of the last rank on: with waiting in it, the figure would tell about the program and not about the network.
"""

from __future__ import annotations

MOST_GB_S = 2_000.0
"""No link between devices carries more; such a figure comes from a size or time that is wrong."""


def bus_factor(kind: str, ranks: int) -> float | None:
    """Bus over algorithm bandwidth; ``None`` for kinds for which it is not defined.

    Args:
        kind: As ``trace.collectives.KINDS`` names it. For reduce-scatter, all-gather and all-to-all the
            size is that of the larger side of the message.
        ranks: Ranks of the group.
    """
    if ranks < 2:
        return None
    if kind == "all-reduce":
        return 2 * (ranks - 1) / ranks
    if kind in ("reduce-scatter", "all-gather", "all-to-all"):
        return (ranks - 1) / ranks
    return 1.0 if kind in ("broadcast", "reduce", "send/recv") else None


def algorithm_gb_s(count_bytes: int, transfer_ns: int) -> float | None:
    """Bytes over time in 1e9 bytes a second; ``None`` where it cannot be or is beyond any hardware."""
    if count_bytes <= 0 or transfer_ns <= 0:
        return None
    found = count_bytes / transfer_ns
    return found if found <= MOST_GB_S else None
