"""The questions that the benchmarks answer, each as rows of measurements."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import generate
from benchmarks.process import Measured, measure

if TYPE_CHECKING:
    from collections.abc import Callable

PEERS = (
    "stepscope-load",
    "stepscope-load-by-python",
    "stepscope-load-beside-gunzip",
    "stepscope-analyze",
    "hta-load",
    "hta-analyze",
    "tensorboard-read",
    "json-load",
    "orjson-loads",
    "gunzip",
)
OWN = ("stepscope-load", "stepscope-analyze")
SHARED = "h100-owlv2-inference.json.gz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One run.

    Attributes:
        suite: The question.
        trace: Name of the trace.
        size_mb: Size of its file in 1e6 bytes.
        events: Events in it; 0 where not counted.
        cores: Cores that the process could use; 0 for all.
        measured: What was measured.
    """

    suite: str
    trace: str
    size_mb: float
    events: int
    cores: int
    measured: Measured


@dataclass(frozen=True, slots=True)
class Bench:
    """Runs suites.

    Attributes:
        folder: Where generated traces are kept for the time of the run.
        repeats: Runs of each target; runs of different targets take turns.
        say: Told every row as it comes.
    """

    folder: Path
    repeats: int
    say: Callable[[Row], None]

    def peers(self, *, events: int) -> list[Row]:
        """All tools on one trace: the shared one when it is there, else a generated one."""
        shared = Path(os.environ.get("STEPSCOPE_TRACES", ""), SHARED)
        if os.environ.get("STEPSCOPE_TRACES") and shared.is_file():
            path, count = shared, 0
        else:
            path, count = self._generate(events=events, suffix=".json.gz")
        return self._by_turns("peers", path, count)

    def million(self) -> list[Row]:
        """All tools on a trace that takes them longer than their own start."""
        path, count = self._generate(events=1_000_000, suffix=".json.gz")
        return self._by_turns("million", path, count)

    def _by_turns(self, suite: str, path: Path, events: int) -> list[Row]:
        rows = []
        for _ in range(self.repeats):
            rows += [self._row(suite, target, path, events=events) for target in PEERS]
        return rows

    def growth(self, counts: tuple[int, ...]) -> list[Row]:
        """How time and memory grow with the number of events."""
        rows = []
        for wanted in counts:
            path, count = self._generate(events=wanted)
            rows += [self._row("growth", target, path, events=count) for target in OWN]
            path.unlink()
        return rows

    def cores(self, *, size: int) -> list[Row]:
        """One core against two on plain JSON."""
        path, count = self._generate(size=size)
        rows = []
        for _ in range(self.repeats):
            for cores in (1, 2):
                rows += [
                    self._row("cores", target, path, events=count, cores=cores) for target in OWN
                ]
        path.unlink()
        return rows

    def large(self, sizes: tuple[int, ...]) -> list[Row]:
        """Files of many megabytes with Python stacks."""
        rows = []
        for size in sizes:
            path, count = self._generate(size=size)
            rows += [self._row("large", target, path, events=count) for target in OWN]
            path.unlink()
        return rows

    def _generate(
        self, *, events: int = 0, size: int = 0, suffix: str = ".json"
    ) -> tuple[Path, int]:
        amount = f"{size // 1_000_000}-mb" if size else f"{events}-events"
        path = self.folder / f"generated-{amount}{suffix}"
        done = generate.write(path, events=events, size=size, stacks=True)
        return path, done.events

    def _row(self, suite: str, target: str, path: Path, *, events: int, cores: int = 0) -> Row:
        row = Row(
            suite=suite,
            trace=path.name,
            size_mb=path.stat().st_size / 1e6,
            events=events,
            cores=cores,
            measured=measure(target, path, cores=cores),
        )
        self.say(row)
        return row
