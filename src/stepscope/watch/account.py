"""What a process and its node had used at a moment, read by the process that trains itself.

Its watcher is a process of its own and takes a moment to start. What adds up (CPU time, reads, energy of
the processor) is therefore read here too, at the first moment and at the last, so that a block of code that is
over before the watcher looks has figures all the same. Nothing dear is imported for it.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.watch.proc_file import IoReading
from stepscope.watch.process_tree import PROC, ProcessTree
from stepscope.watch.surroundings import node_cpu_s

if TYPE_CHECKING:
    from collections.abc import Iterable

POWERCAP = Path("/sys/class/powercap")
CRAY = Path("/sys/cray/pm_counters")
COUNTERS = ((POWERCAP, "intel-rapl:*/energy_uj"), (CRAY, "*energy"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A process tree and its node at a moment.

    Attributes:
        time_ns, perf_ns: The moment, since 1970 and on the clock of ``time.perf_counter_ns``.
        processes, threads, cpu_s, rss_bytes, io: See :class:`~stepscope.watch.process_tree.TreeReading`.
        node_cpu_s: Busy time of the node; ``None`` where it is not told.
        counters: Text of each energy counter of the node, by its path.
    """

    time_ns: int
    perf_ns: int
    processes: int
    threads: int
    cpu_s: float
    rss_bytes: int
    io: IoReading | None
    node_cpu_s: float | None
    counters: dict[str, str]


def account_of(
    pid: int, root: Path = PROC.parent, places: Iterable[tuple[Path, str]] = COUNTERS
) -> Account:
    """A process and those below it now.

    Args:
        pid: The process.
        root: Top of the file tree.
        places: Where energy counters may be: folders and patterns in them.
    """
    counters = {
        str(path): text
        for folder, pattern in places
        for path in sorted(folder.glob(pattern))
        if (text := text_of(path))
    }
    reading = ProcessTree(pid, root / "proc").sample()
    return Account(
        time_ns=time.time_ns(),
        perf_ns=time.perf_counter_ns(),
        processes=reading.processes,
        threads=reading.threads,
        cpu_s=reading.cpu_s,
        rss_bytes=reading.rss_bytes,
        io=reading.io,
        node_cpu_s=node_cpu_s(root),
        counters=counters,
    )


def written(account: Account) -> str:
    """An account as text for another process."""
    return json.dumps(asdict(account))


def read(text: str) -> Account:
    """An account from that text.

    Raises:
        ValueError: It is none.
    """
    try:
        fields = json.loads(text)
        io = fields.pop("io")
        return Account(io=None if io is None else IoReading(**io), **fields)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"no account: {error}") from error


def text_of(path: Path) -> str:
    """A small file of the kernel; ``""`` where it is not there or not for us."""
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
