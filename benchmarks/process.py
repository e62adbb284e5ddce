"""Runs a target in a process of its own and takes its wall time and its peak memory."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

TARGETS = Path(__file__).resolve().parent / "targets.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One run of a target.

    Attributes:
        target: Its name.
        wall_s: Wall time of the whole process, imports and all.
        work_s: Wall time of the work alone, as the target took it; ``None`` when it failed.
        peak_mb: Peak resident memory in 1e6 bytes: its own and that of its largest child; ``None`` when it
            failed.
        counted: Whatever else the target printed.
        error: Last line of its standard error when it failed.
    """

    target: str
    wall_s: float
    work_s: float | None
    peak_mb: float | None
    counted: dict[str, float]
    error: str = ""


def measure(target: str, path: Path, *, cores: int = 0, timeout_s: int = 900) -> Measured:
    """Run one target once.

    Args:
        target: A key of ``targets.TARGETS``.
        path: The trace.
        cores: Number of cores that it may use; 0 for all.
        timeout_s: After this it is killed and counts as failed.
    """
    command = [sys.executable, str(TARGETS), target, str(path)]
    if cores:
        command = ["taskset", "--cpu-list", f"0-{cores - 1}", *command]
    start = time.perf_counter()
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        return _failed(target, time.perf_counter() - start, f"no end after {timeout_s} s")
    wall_s = time.perf_counter() - start
    if run.returncode:
        return _failed(target, wall_s, (run.stderr.strip().splitlines() or ["no word"])[-1][:200])
    counted = json.loads(run.stdout.strip().splitlines()[-1])
    return Measured(
        target=target,
        wall_s=wall_s,
        work_s=counted.pop("work_s"),
        peak_mb=counted.pop("peak_mb"),
        counted=counted,
    )


def _failed(target: str, wall_s: float, error: str) -> Measured:
    return Measured(
        target=target, wall_s=wall_s, work_s=None, peak_mb=None, counted={}, error=error
    )
