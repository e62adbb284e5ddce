"""Which kernels move data between ranks, by name.

The collective's own arguments come first; this list is for kernels that carry none: NCCL, RCCL and
HCCL kernels, and the one-shot, two-shot and multimem kernels of inference engines that no library
name betrays. Names as observed in public traces.
"""

from __future__ import annotations

COMMUNICATION = (
    r"(?i)nccl(dev)?kernel|^nccl|rccl|msccl|hccl|cross_device_reduce|multimem_(all|one|two)|"
    r"(one|two)_?shot_?(all_?)?reduce|quick_?reduce|all_?reduce_?(kernel|fusion|one|two)|"
    r"all_?gather_?kernel|reduce_?scatter_?kernel|all_?to_?all_?kernel|nvshmem|symm_mem.*(reduce|gather)"
)
"""A kernel whose name matches is communication."""

LOOKALIKE = r"(?i)all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast_kernel|sendrecv"
"""A kernel whose name matches this alone is not counted as communication, but is said aloud."""
