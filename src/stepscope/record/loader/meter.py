"""Times each fetch of a batch: its items and its collation, wall and CPU time, and the bytes read."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from threading import get_ident
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING

from stepscope.record.loader.input_output import QueuedTime, ReadBytes
from stepscope.record.loader.lines import Lines
from stepscope.schema.loader_rows import BATCHES_NAME, BatchRow, csv_line, numbers_line
from stepscope.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FLUSH_NS = NS_PER_S
"""Rows reach the disk at least so often while batches are made."""

MOST_ROWS = 20_000
"""From then on the batches that a process makes between two writes share one row."""


FIRST_BATCHES, MOST_PASSED = 32, 15
COST_NS = 40_000
MOST_COST, MOST_COST_IN_TRAINING = 0.02, 0.004
"""Timing a batch takes about so long. After the first batches so many are passed over between two that are timed
that this is no more than the first share of their time in a worker, and the second in the process that trains,
but never more than ``MOST_PASSED``."""

MOST_SENT = 4_096
"""So many batches may have been packed that are not written yet, or were passed over."""

_BATCH = 3
"""Where a row has the number of its batch."""


@dataclass(slots=True)
class Fetch:
    """The fetch that runs now.

    Attributes:
        loader: Number of the loader.
        thread: The thread that runs it.
        begin_ns, begin_cpu_ns: When it began, on the wall clock and on the thread's CPU clock.
        collate_ns, collate_cpu_ns: What collation has taken of it so far.
    """

    loader: int
    thread: int
    begin_ns: int
    begin_cpu_ns: int
    collate_ns: int = 0
    collate_cpu_ns: int = 0


class BatchMeter:
    """The meter of one process. Only one fetch is timed at a time: a loader inside a data set is part of it.

    Args:
        folder: The rank's folder.
        worker: Number of the worker; -1 for the process that trains.

    Attributes:
        fetch: The fetch that runs now; ``None`` between fetches.
        opened: Counts files that are opened, where somebody counts them; else ``None``.
        own_ns: What timing has taken in the thread that makes batches, but for batches that are passed over.
        passes: So many of the next batches are passed over; who passes one over takes it off.
        on_flush: Called, at most once a second, in the thread that makes batches.
    """

    def __init__(self, folder: Path, worker: int) -> None:
        self._lines = Lines(folder / BATCHES_NAME)
        self._worker = worker
        self._pid = os.getpid()
        self._reads = ReadBytes()
        self._last_read = self._reads.now()
        self._queue = QueuedTime()
        self._thread = get_ident()
        self._queued_before: int | None = None
        self._rows: list[tuple[int, ...]] = []
        self._sent: dict[int, tuple[int, int]] = {}
        self._written = 0
        self._flushed_ns = perf_counter_ns()
        self._batch = -1
        self._is_first = False
        self._made = self._chosen = 0
        self.own_ns = self.passes = 0
        self.fetch: Fetch | None = None
        self.opened: int | None = None
        self.on_flush: Callable[[], None] | None = None

    @property
    def passed(self) -> int:
        """Batches that were passed over so far."""
        return self._chosen - self.passes

    def begin(self, loader: int) -> bool:
        """A batch is about to be made; whether this is the outermost fetch, which is timed."""
        if self.fetch is not None:
            return False
        if self.passes:
            self.passes -= 1
            return False
        entered = perf_counter_ns()
        if self._is_first:
            # What was read since the last one that was timed is of others.
            self._last_read, self._is_first = self._reads.now(), False
        self._last_opened = self.opened
        self._queued_before = self._queue.now()
        fetch = Fetch(loader, get_ident(), perf_counter_ns(), thread_time_ns())
        self.own_ns += perf_counter_ns() - entered
        self.fetch = fetch
        return True

    def collated(self, wall_ns: int, cpu_ns: int) -> None:
        """Collation inside the fetch took so long."""
        fetch = self.fetch
        if fetch is not None and fetch.thread == get_ident():
            fetch.collate_ns += wall_ns
            fetch.collate_cpu_ns += cpu_ns

    def numbered(self, batch: int) -> None:
        """The next batch has this number in its epoch."""
        self._batch = batch

    def end(self, made: bool) -> None:
        """The outermost fetch has ended.

        Args:
            made: Whether there is a batch; otherwise the data set had no more, or failed.
        """
        fetch, self.fetch = self.fetch, None
        if fetch is None or not made:
            return
        ended = perf_counter_ns()
        wall = ended - fetch.begin_ns
        cpu = thread_time_ns() - fetch.begin_cpu_ns
        self._made += 1
        if self._made > FIRST_BATCHES:
            self.passes = self._passes_after(wall)
            self._chosen += self.passes
            self._is_first = self.passes > 0
        queued = self._queued_since(fetch.thread)
        read, storage = self._read_since()
        opened = -1
        if self.opened is not None and self._last_opened is not None:
            opened = self.opened - self._last_opened
        self._rows.append(
            (
                fetch.loader,
                self._worker,
                self._pid,
                self._batch,
                fetch.begin_ns,
                wall - fetch.collate_ns,
                cpu - fetch.collate_cpu_ns,
                fetch.collate_ns,
                fetch.collate_cpu_ns,
                0,
                0,
                read,
                storage,
                opened,
                queued,
                1,
            )
        )
        if fetch.begin_ns - self._flushed_ns >= FLUSH_NS:
            self.flush()
        self.own_ns += perf_counter_ns() - ended

    def _passes_after(self, wall_ns: int) -> int:
        """How many batches are passed over after one that took so long."""
        most = MOST_COST_IN_TRAINING if self._worker < 0 else MOST_COST
        return min(MOST_PASSED, int(COST_NS / most / max(wall_ns, 1)))

    def sent(self, batch: int, wall_ns: int, cpu_ns: int) -> None:
        """Packing the batch of that number took so long; called in the thread that sends."""
        self._sent[batch] = wall_ns, cpu_ns

    def flush(self) -> None:
        """Write the rows so far, but for those whose batch waits to be sent.

        Raises:
            OSError: The file cannot be written.
        """
        self._write(all_of_them=False)

    def close(self) -> None:
        """No more batches are made in this process."""
        self._write(all_of_them=True)
        self._lines.close()
        self._reads.close()
        self._queue.close()

    def _write(self, *, all_of_them: bool) -> None:
        self._flushed_ns = perf_counter_ns()
        done = len(self._rows)
        if self._worker < 0:
            lines = list(map(numbers_line, self._rows))
            rows = [BatchRow(*row) for row in self._rows] if self._written > MOST_ROWS else []
            self._rows.clear()
        else:
            while done and not all_of_them and self._rows[done - 1][_BATCH] not in self._sent:
                done -= 1
            rows = [_with_sending(BatchRow(*row), self._sent) for row in self._rows[:done]]
            del self._rows[:done]
            for row in rows:
                self._sent.pop(row.batch, None)
            # Of batches that are passed over there is no row.
            while len(self._sent) > MOST_SENT:
                self._sent.pop(next(iter(self._sent)))
            lines = list(map(csv_line, rows))
        if self._written > MOST_ROWS:
            lines = list(map(csv_line, _merged(rows)))
        self._written += len(lines)
        self._lines.append("".join(lines))
        if self.on_flush is not None:
            self.on_flush()

    def _queued_since(self, thread: int) -> int:
        now, before = self._queue.now(), self._queued_before
        # The kernel's file is about the thread in which this meter was made.
        return -1 if now is None or before is None or thread != self._thread else now - before

    def _read_since(self) -> tuple[int, int]:
        now, before = self._reads.now(), self._last_read
        self._last_read = now
        if now is None or before is None:
            return -1, -1
        return now[0] - before[0], now[1] - before[1]


def _with_sending(row: BatchRow, sent: dict[int, tuple[int, int]]) -> BatchRow:
    taken = sent.get(row.batch)
    return row if taken is None else replace(row, send_ns=taken[0], send_cpu_ns=taken[1])


def _merged(rows: list[BatchRow]) -> list[BatchRow]:
    """Rows of one loader as one."""
    merged: dict[int, BatchRow] = {}
    for row in rows:
        before = merged.get(row.loader)
        merged[row.loader] = row if before is None else _sum(before, row)
    return list(merged.values())


def _sum(one: BatchRow, other: BatchRow) -> BatchRow:
    return replace(
        one,
        items_ns=one.items_ns + other.items_ns,
        items_cpu_ns=one.items_cpu_ns + other.items_cpu_ns,
        collate_ns=one.collate_ns + other.collate_ns,
        collate_cpu_ns=one.collate_cpu_ns + other.collate_cpu_ns,
        send_ns=one.send_ns + other.send_ns,
        send_cpu_ns=one.send_cpu_ns + other.send_cpu_ns,
        read_bytes=one.read_bytes + other.read_bytes,
        storage_bytes=one.storage_bytes + other.storage_bytes,
        opened=one.opened + other.opened,
        queued_ns=one.queued_ns + other.queued_ns,
        count=one.count + other.count,
    )
