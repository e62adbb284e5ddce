"""Asking Slurm what its environment does not say: a job's time limit, and its energy afterwards."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS = 5


def ask(program: str, *arguments: str) -> str:
    """Standard output of one of Slurm's programs; ``""`` without it or without an answer."""
    path = shutil.which(program)
    if path is None:
        return ""
    try:
        run = subprocess.run(  # noqa: S603
            [path, *arguments], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout if run.returncode == 0 else ""


def time_limit_s(job_id: str, environ: Mapping[str, str]) -> float | None:
    """A job's time limit in seconds; ``None`` when it has none or nobody tells.

    Newer versions of Slurm give both ends in the environment. Older ones are asked, by the first task
    only, so that a job of a thousand tasks is not a thousand questions.
    """
    start, end = environ.get("SLURM_JOB_START_TIME", ""), environ.get("SLURM_JOB_END_TIME", "")
    if start.isdigit() and end.isdigit():
        return float(int(end) - int(start))
    if environ.get("SLURM_PROCID", "0") != "0":
        return None
    return parsed_limit(ask("squeue", "--noheader", "--format=%l", f"--jobs={job_id}"))


def parsed_limit(text: str) -> float | None:
    """Seconds of ``[days-]hours:minutes:seconds``; ``None`` for ``UNLIMITED`` and the like."""
    match = re.match(r"\s*(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)\s*$", text)
    if not match:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def accounted_joules(job_id: str) -> float | None:
    """Energy of a job as Slurm's accounting gathered it; ``None`` when it gathered none.

    The job's own only where it had its nodes to itself. A 0 means that nothing was gathered, not that
    nothing was used.
    """
    text = ask(
        "sacct",
        "--noheader",
        "--parsable2",
        "--allocations",
        f"--jobs={job_id}",
        "--format=ConsumedEnergyRaw",
    )
    first = text.split("\n", 1)[0].strip()
    return float(first) if first.isdigit() and int(first) > 0 else None


def ear_joules(job_id: str) -> float | None:
    """Energy of a job as EAR measured it at the nodes' meters; ``None`` without EAR or its answer.

    Read from the column that the header calls ``ENERGY(J)``, one row for each step.
    """
    # One of the header's names holds a blank: "G-POW (T/U)".
    text = ask("eacct", "-j", job_id).replace(" (", "(")
    lines = [line.split() for line in text.splitlines() if line.strip()]
    header = next((words for words in lines if "ENERGY(J)" in words), None)
    if header is None:
        return None
    # Names of applications may hold blanks, so count from the end.
    place = header.index("ENERGY(J)") - len(header)
    total = 0.0
    for words in lines[lines.index(header) + 1 :]:
        if len(words) >= -place and re.fullmatch(r"\d+(\.\d+)?", words[place]):
            total += float(words[place])
    return total or None
