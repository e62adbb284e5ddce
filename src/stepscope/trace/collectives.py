"""Which kernels move data between ranks, by name.

The collective's own arguments come first; this list is for kernels that carry none: NCCL, RCCL and
HCCL kernels, and the one-shot, two-shot and multimem kernels of inference engines that no library
name betrays. Names as observed in public traces.
"""

from __future__ import annotations

import re

COMMUNICATION = (
    r"(?i)nccl(dev)?kernel|^nccl|rccl|msccl|hccl|cross_device_reduce|multimem_(all|one|two)|"
    r"(one|two)_?shot_?(all_?)?reduce|quick_?reduce|all_?reduce_?(kernel|fusion|one|two)|"
    r"all_?gather_?kernel|reduce_?scatter_?kernel|all_?to_?all_?kernel|nvshmem|symm_mem.*(reduce|gather)"
)
"""A kernel whose name matches is communication."""

LOOKALIKE = r"(?i)all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast_kernel|sendrecv"
"""A kernel whose name matches this alone is not counted as communication, but is said aloud."""

KINDS = (
    ("reduce-scatter", r"reduce_?scatter"),
    ("all-reduce", r"all_?reduce|quick_?reduce|cross_device_reduce|(one|two)_?shot"),
    ("all-gather", r"all_?gather"),
    ("all-to-all", r"all_?to_?all"),
    ("broadcast", r"broadcast"),
    ("send/recv", r"send_?recv|send|recv"),
    ("barrier", r"barrier"),
    ("gather", r"gather"),
    ("scatter", r"scatter"),
    ("reduce", r"reduce"),
)
"""Kinds of collectives, and what betrays each in the name of a collective, a range or a kernel."""

ENDS_TOGETHER = frozenset({"all-reduce", "reduce-scatter", "all-gather", "all-to-all", "barrier"})
"""Kinds in which every rank needs something of every other, so that none is done before the last came."""

ELEMENT_BYTES = {
    "double": 8, "long": 8, "int64": 8, "float64": 8, "complexfloat": 8, "complexdouble": 16,
    "float": 4, "int": 4, "float32": 4, "int32": 4, "uint32": 4,
    "half": 2, "bfloat16": 2, "float16": 2, "short": 2, "int16": 2,
    "byte": 1, "char": 1, "bool": 1, "int8": 1, "uint8": 1,
    "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1,
}  # fmt: skip
"""Bytes of an element by its type's name in small letters."""

_KINDS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in KINDS)


def kind_of(name: str) -> str:
    """The kind of a collective by any of its names; ``other`` where the name does not tell."""
    for kind, pattern in _KINDS:
        if pattern.search(name):
            return kind
    return "other"


def element_bytes(dtype: str | None) -> int | None:
    """Bytes of an element; ``None`` where the type is not recorded or not known."""
    return None if dtype is None else ELEMENT_BYTES.get(dtype.rpartition("::")[2].lower())
