"""Energy counters of the node: RAPL of Intel and AMD, and those of HPE Cray nodes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stepscope.schema.samples import MeterSample, Notice
from stepscope.watch.account import CRAY, POWERCAP, text_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stepscope.schema.sampler import Moment
    from stepscope.schema.samples import Sample

ASK_FOR_RAPL = (
    "ask for `chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj` on the nodes, or for EAR"
)
SAME_UJ = 2_000_000
"""Counters that run for themselves are this close by chance in one of a hundred thousand cases."""


class RaplSampler:
    """Reads the processor packages and their memory; wraps are undone.

    Packages and their ``dram`` are summed. Never ``core`` and ``uncore``, which are inside the package,
    nor ``psys``, which holds it, nor the twins under ``intel-rapl-mmio``, which tell the same again.
    A counter wraps after a minute or more at full load, so it must be read more often than that. Some parts of
    several dies show one counter twice; dies of a package that stand alike are counted once.

    Args:
        folder: Where the kernel has them.
        read: Gives the text of a file.
    """

    def __init__(self, folder: Path = POWERCAP, read: Callable[[Path], str] = text_of) -> None:
        self._folder, self._text = folder, read
        self._meters: list[tuple[str, str, Path, int]] = []
        self._last: dict[str, int] = {}
        self._joules: dict[str, float] = {}

    def open(self) -> tuple[Sample, ...]:
        """Finds the counters that we may read."""
        refused = False
        counts: dict[str, list[int]] = {}
        for zone in sorted(self._folder.glob("intel-rapl:*")):
            name = self._text(zone / "name")
            is_part = re.fullmatch(r"intel-rapl:\d+:\d+", zone.name) is not None
            if not (name == "dram" if is_part else name.startswith("package")):
                continue
            wrap = self._text(zone / "max_energy_range_uj")
            first = self._text(zone / "energy_uj")
            if not first.isdigit() or not wrap.isdigit():
                refused = True
                continue
            package = re.match(r"(package-\d+)-die-\d+$", name)
            if package is not None:
                dies = counts.setdefault(package[1], [])
                if any(abs(int(first) - other) < SAME_UJ for other in dies):
                    continue
                dies.append(int(first))
            meter = f"rapl:{zone.name.partition(':')[2]}:{name}"
            self._meters.append(
                (meter, "memory" if is_part else "cpu", zone / "energy_uj", int(wrap))
            )
            self._last[meter], self._joules[meter] = int(first), 0.0
        if self._meters:
            return ()
        why = (
            f"the processor's energy counters are for root only; {ASK_FOR_RAPL}"
            if refused
            else "this machine has no energy counters of the processor (virtual machines have none)"
        )
        return (Notice(code="no-rapl", text=why),)

    def sample(self, moment: Moment) -> tuple[Sample, ...]:
        """Joules since ``open``, a row for each counter."""
        rows = []
        for meter, part, path, wrap in self._meters:
            text = self._text(path)
            if not text.isdigit():
                continue
            now = int(text)
            gone = now - self._last[meter]
            # One wrap at most: the counter runs longer than two samples lie apart.
            self._joules[meter] += (gone if gone >= 0 else gone + wrap) / 1e6
            self._last[meter] = now
            rows.append(
                MeterSample(at_s=moment.at_s, meter=meter, part=part, joules=self._joules[meter])
            )
        return tuple(rows)

    def close(self) -> None:
        """Nothing was taken."""


CRAY_PARTS = {"cpu_energy": "cpu", "memory_energy": "memory", "energy": "node"}


class CraySampler:
    """Reads the counters that HPE Cray EX nodes have for users: node, processor, memory, accelerators.

    Args:
        folder: Where the node has them.
        read: Gives the text of a file.
    """

    def __init__(self, folder: Path = CRAY, read: Callable[[Path], str] = text_of) -> None:
        self._folder, self._text = folder, read
        self._first: dict[str, int] = {}

    def open(self) -> tuple[Sample, ...]:
        """Finds the counters."""
        names = [*CRAY_PARTS, *(path.name for path in sorted(self._folder.glob("accel*_energy")))]
        for name in names:
            joules = self._read(name)
            if joules is not None:
                self._first[name] = joules
        return ()

    def sample(self, moment: Moment) -> tuple[Sample, ...]:
        """Joules since ``open``, a row for each counter."""
        rows = []
        for name, first in self._first.items():
            now = self._read(name)
            if now is not None and now >= first:
                part = CRAY_PARTS.get(name, "devices")
                rows.append(
                    MeterSample(
                        at_s=moment.at_s, meter=f"cray:{name}", part=part, joules=float(now - first)
                    )
                )
        return tuple(rows)

    def close(self) -> None:
        """Nothing was taken."""

    def _read(self, name: str) -> int | None:
        match = re.match(r"(\d+) J\b", self._text(self._folder / name))
        return int(match[1]) if match else None
