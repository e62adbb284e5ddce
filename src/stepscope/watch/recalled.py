"""Samples of moments that have passed: a watcher recalls what the watched process itself had read then."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from stepscope.schema.samples import DeviceSample, HostSample, Notice, ProcessSample
from stepscope.units import NS_PER_S
from stepscope.watch.account import text_of

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.schema.sampler import Moment, Sampler
    from stepscope.schema.samples import Sample
    from stepscope.watch.account import Account

FIXED = frozenset({"name", "max_energy_range_uj"})
"""What a counter tells of itself, which is the same at any moment."""
TOO_SHORT = "it was over before its devices were asked for the first time, so their use and energy are not known"


class Memory:
    """The moment that is recalled; none when it is now.

    Args:
        since: The moment at which the watch begins; ``None`` for now.
    """

    def __init__(self, since: Account | None = None) -> None:
        self.since = since
        self._account: Account | None = None
        self._is_end = False
        self._looks = 0

    def recall(self, account: Account, *, is_end: bool = False) -> None:
        """From now on it is that moment.

        Args:
            account: What was read then.
            is_end: Whether it is the end of the run.
        """
        self._account, self._is_end = account, is_end

    def wake(self) -> None:
        """From now on it is now."""
        self._account = None

    def seconds(self) -> float:
        """The moment on the clock of ``time.perf_counter``."""
        return time.perf_counter() if self._account is None else self._account.perf_ns / NS_PER_S

    def text(self, path: Path) -> str:
        """A counter's text at the moment."""
        if self._account is None or path.name in FIXED:
            return text_of(path)
        return self._account.counters.get(str(path), "")

    def of(self, rows: tuple[Sample, ...]) -> tuple[Sample, ...]:
        """Rows that were made now, as they were at the moment."""
        account = self._account
        if account is None:
            self._looks += 1
            return rows
        found = [
            as_of(row, account) if isinstance(row, HostSample) else row
            for row in rows
            # Of a moment before the first look, an account knows nothing of devices and single processes.
            if self._looks or not isinstance(row, (DeviceSample, ProcessSample))
        ]
        unseen = any(isinstance(row, DeviceSample) for row in rows) and not self._looks
        if unseen and self._is_end:
            found.append(Notice(code="too-short", text=TOO_SHORT))
        return tuple(found)


def as_of(row: HostSample, account: Account) -> HostSample:
    """A row with what the account tells in place of what is so now."""
    io = account.io
    return msgspec.structs.replace(
        row,
        processes=account.processes,
        threads=account.threads,
        cpu_s=account.cpu_s,
        rss_bytes=account.rss_bytes,
        node_cpu_s=account.node_cpu_s,
        read_bytes=None if io is None else io.read_bytes,
        written_bytes=None if io is None else io.written_bytes,
        read_calls=None if io is None else io.read_calls,
        storage_read_bytes=None if io is None else io.storage_read_bytes,
        storage_written_bytes=None if io is None else io.storage_written_bytes,
    )


class Recalling:
    """A sampler that may be asked for a moment that has passed.

    Args:
        sampler: What samples.
        memory: The moment.
    """

    def __init__(self, sampler: Sampler, memory: Memory) -> None:
        self._sampler, self._memory = sampler, memory

    def open(self) -> tuple[Sample, ...]:
        """Opens the sampler."""
        return self._sampler.open()

    def sample(self, moment: Moment) -> tuple[Sample, ...]:
        """Its rows as they were."""
        return self._memory.of(self._sampler.sample(moment))

    def close(self) -> None:
        """Closes the sampler."""
        self._sampler.close()
