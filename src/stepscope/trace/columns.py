"""From lists of events to columns of numbers, one piece of text at a time; the events are dropped afterwards.

Texts become codes of a :class:`~stepscope.trace.words.Words`. Nothing here needs a table library, so
that worker processes start fast.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from stepscope.trace.categories import DEVICE_KIND, HOST_KIND, NOT_WORK, PYTHON
from stepscope.trace.extract import (
    NO_TEXT,
    device_columns,
    flow_columns,
    host_columns,
    memory_columns,
    time_columns,
)
from stepscope.trace.rows import Column, Rows
from stepscope.trace.words import Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.trace.events import AnyEvent
    from stepscope.trace.extract import Groups

LEGACY_HOST = "CPU functions"
LEGACY_DEVICE = "CUDA functions"
MEMORY = "cpu_instant_event"
COLLECTIVE_RECORD = "record_param_comms"
FORWARD_BACKWARD = "fwdbwd"
FLOW = frozenset({"s", "f"})
TABLES = ("host", "device", "memory", "spans", "flows")
IN_NAMES = ("name", "collective", "collective_dtype", "group_name")
IN_SHAPES = ("input_dims", "input_types")
KNOWN = frozenset({*HOST_KIND, *DEVICE_KIND, *NOT_WORK, PYTHON, MEMORY, "trace", ""})


class Packed(Struct, frozen=True):
    """Columns of a part of a file, whole, with dictionaries of their own.

    Attributes:
        rows: Columns by name, for each of ``TABLES``.
        names, shapes: The dictionaries' texts in order.
        cut: Codes of names that were cut.
        complete, python, unknown, rank: As in :class:`Columns`.
    """

    rows: tuple[dict[str, Column], ...]
    names: list[str]
    shapes: list[str]
    cut: set[int]
    complete: int
    python: int
    unknown: dict[str, int]
    rank: int | None


class Columns:
    """What of a file became columns.

    Args:
        with_python: Whether Python frames are wanted.

    Attributes:
        host, device, memory, spans, flows: Raw rows.
        names: Dictionary of the names of host and device events, collectives, types and groups.
        shapes: Dictionary of input shapes and types, as JSON text.
        complete: Events with a duration, of any category.
        python: Python frames seen.
        unknown: Events by category that ``trace.categories`` does not know.
        rank: The rank that a collective's arguments name.
    """

    def __init__(self, *, with_python: bool = False) -> None:
        self.with_python = with_python
        self.host, self.device, self.memory = Rows(), Rows(), Rows()
        self.spans, self.flows = Rows(), Rows()
        self.names, self.shapes = Words(), Words()
        self.complete = 0
        self.python = 0
        self.unknown: dict[str, int] = {}
        self.rank: int | None = None
        self._has_looked = False

    @property
    def rows(self) -> int:
        """Rows that tables will have."""
        return self.host.count + self.device.count + self.memory.count

    def packed(self) -> Packed:
        """Everything, to be taken in by the columns of the whole file."""
        return Packed(
            tuple(getattr(self, table).packed() for table in TABLES),
            list(self.names),
            list(self.shapes),
            self.names.cut,
            self.complete,
            self.python,
            self.unknown,
            self.rank,
        )

    def take_in(self, part: Packed) -> None:
        """Appends the columns of the next part of the file."""
        names = np.append(self.names.codes(part.names), NO_TEXT)
        shapes = np.append(self.shapes.codes(part.shapes), NO_TEXT)
        self.names.cut.update(names[list(part.cut)].tolist())
        for table, columns in zip(TABLES, part.rows, strict=True):
            if columns:
                # Code -1, which stands for no text, finds the -1 at the end.
                coded = {n: names[columns[n]] for n in IN_NAMES if n in columns}
                coded |= {n: shapes[columns[n]] for n in IN_SHAPES if n in columns}
                getattr(self, table).add({**columns, **coded})
        self.complete += part.complete
        self.python += part.python
        for category, count in part.unknown.items():
            self.unknown[category] = self.unknown.get(category, 0) + count
        self.rank = part.rank if self.rank is None else self.rank

    def skip_python(self, count: int) -> None:
        """Counts Python frames that were not decoded."""
        self.complete += count
        self.python += count

    def add(self, events: Sequence[AnyEvent]) -> None:
        """Takes the events of one piece in.

        Raises:
            Inexact: Nothing was taken in; the events must come as :class:`ExactEvent`.
        """
        complete: defaultdict[str, list[AnyEvent]] = defaultdict(list)
        others: list[AnyEvent] = []
        for event in events:
            if event.ph == "X":
                complete[event.cat].append(event)
            else:
                others.append(event)
        host: Groups = []
        device: Groups = []
        memory: list[AnyEvent] = []
        spans: list[AnyEvent] = []
        for category, group in complete.items():
            self._sort_complete(category.lower(), group, host, device, (memory, spans))
        memory += [event for event in others if event.ph == "i" and _is_of_allocator(event)]
        flows = [event for event in others if event.ph in FLOW and event.cat != FORWARD_BACKWARD]
        made = [
            (self.host, host_columns(host, self.names, self.shapes) if host else None),
            (self.device, device_columns(device, self.names) if device else None),
            (self.memory, memory_columns(memory) if memory else None),
            (self.spans, time_columns(spans) if spans else None),
            (self.flows, flow_columns(flows) if flows else None),
        ]
        for rows, columns in made:
            if columns is not None:
                rows.add(columns)
        for category, group in complete.items():
            self._count(category, len(group))
        self._find_rank(host)

    def _sort_complete(
        self,
        category: str,
        group: list[AnyEvent],
        host: Groups,
        device: Groups,
        others: tuple[list[AnyEvent], list[AnyEvent]],
    ) -> None:
        if category in HOST_KIND:
            host.append((HOST_KIND[category], group))
        elif category in DEVICE_KIND:
            device.append((DEVICE_KIND[category], group))
        elif category == PYTHON:
            if self.with_python:
                host.append(("python", group))
        elif category == MEMORY:
            others[0].extend(group)
        elif category == "trace":
            others[1].extend(group)
        elif not category:
            host.append(("operator", [e for e in group if e.pid == LEGACY_HOST]))
            device.append(("kernel", [e for e in group if e.pid == LEGACY_DEVICE]))
            host.append(("other", [e for e in group if e.pid not in (LEGACY_HOST, LEGACY_DEVICE)]))
        elif category not in NOT_WORK:
            host.append(("other", group))

    def _count(self, category: str, count: int) -> None:
        self.complete += count
        lower = category.lower()
        if lower == PYTHON:
            self.python += count
        elif lower not in KNOWN:
            self.unknown[category] = self.unknown.get(category, 0) + count

    def _find_rank(self, host: Groups) -> None:
        """Looks at the first collective that states its arguments; older ones leave the rank out."""
        if self._has_looked or COLLECTIVE_RECORD not in self.names:
            return
        records = (e for _, group in host for e in group if e.name == COLLECTIVE_RECORD)
        for event in records:
            self._has_looked = True
            rank = event.args.rank
            if type(rank) is int and rank >= 0:
                self.rank = rank
                return


def _is_of_allocator(event: AnyEvent) -> bool:
    """Whether an instant is the allocator's; until 2022 such events carry no category."""
    return event.cat == MEMORY or (not event.cat and event.name == "[memory]")
