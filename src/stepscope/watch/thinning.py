"""Fewer rows in long runs: after ten minutes several ticks become one, and no peak or energy is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from stepscope.schema.samples import AnyRow, DeviceSample, HostSample, MeterSample

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FULL_RATE_S = 600.0
LEAST_EVERY_S, MOST_EVERY_S = 5.0, 30.0
STRETCHES = 240
"""Rows lie no farther apart than one of so many parts of the run, which is what a report shows, so that
the samples of a week can be read in little memory."""


def every_s(at_s: float) -> float:
    """How far rows lie apart at an age of the run."""
    return min(max(LEAST_EVERY_S, at_s / STRETCHES), MOST_EVERY_S)


MEANS = frozenset(
    {
        "busy_frac", "working_frac", "tensor_frac", "watts", "pcie_sent_bytes_per_s",
        "pcie_received_bytes_per_s", "nvlink_bytes_per_s",
    }
)  # fmt: skip
"""Columns of which the mean of several ticks is taken."""
PEAKS = frozenset(
    {"processes", "threads", "rss_bytes", "pss_bytes", "memory_bytes", "cgroup_bytes", "shm_bytes", "job_processes"}
)  # fmt: skip
"""Columns of which the largest is taken; of all others, which are cumulative, the last."""

R = TypeVar("R", HostSample, DeviceSample, MeterSample)


class Thinner:
    """Holds ticks back and passes on one for several, once a run is long."""

    def __init__(self) -> None:
        self._held: list[AnyRow] = []
        self._since = 0.0

    def pass_on(self, at_s: float, rows: Iterable[AnyRow]) -> list[AnyRow]:
        """What is to be written now."""
        if at_s < FULL_RATE_S:
            return list(rows)
        if not self._held:
            self._since = at_s
        self._held += rows
        return self.rest() if at_s - self._since >= every_s(at_s) else []

    def rest(self) -> list[AnyRow]:
        """What is still held back, combined."""
        held, self._held = self._held, []
        groups: dict[str, list[AnyRow]] = {}
        others: list[AnyRow] = []
        for row in held:
            if isinstance(row, HostSample):
                groups.setdefault("host", []).append(row)
            elif isinstance(row, DeviceSample):
                groups.setdefault(f"device {row.uuid}", []).append(row)
            elif isinstance(row, MeterSample):
                groups.setdefault(f"meter {row.meter}", []).append(row)
            else:
                others.append(row)
        return others + [combined(group) for group in groups.values()]  # type: ignore[type-var]


def combined(rows: Sequence[R]) -> R:
    """One row for several of the same kind and device, at the time of the last."""
    last = rows[-1]
    changed: dict[str, object] = {}
    for name in last.__struct_fields__:
        values = [value for row in rows if (value := getattr(row, name)) is not None]
        if not values:
            continue
        if name in MEANS:
            changed[name] = sum(values) / len(values)
        elif name in PEAKS:
            changed[name] = max(values)
        elif name == "events":
            bits = 0
            for value in values:
                bits |= value
            changed[name] = bits
        else:
            changed[name] = values[-1]
    return msgspec.structs.replace(last, **changed)
