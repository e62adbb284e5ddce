"""How soon a thread that computes in Python gives way to a sampler, shared by all samplers of a process."""

from __future__ import annotations

import sys
import threading

SWITCH_S = 0.0005
"""While a sampler runs, a thread that computes in Python gives way to it after so long, a tenth of Python's
default: otherwise most samples would fall on the next call that gives way by itself."""

_lock = threading.Lock()
_samplers: list[object] = []
_before: list[float] = []


def hasten(sampler: object) -> None:
    """A sampler begins."""
    with _lock:
        if not _samplers:
            _before.append(sys.getswitchinterval())
            sys.setswitchinterval(SWITCH_S)
        _samplers.append(sampler)


def settle(sampler: object) -> None:
    """It has ended; after the last one Python is as it was, unless the script has changed it since."""
    with _lock:
        if sampler not in _samplers:
            return
        _samplers.remove(sampler)
        if not _samplers:
            before = _before.pop()
            if abs(sys.getswitchinterval() - SWITCH_S) < 1e-6:
                sys.setswitchinterval(before)
