"""A stretch of numbered inputs, made and checked one after the other."""

from __future__ import annotations

import signal
import tempfile
import time
import traceback
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from fuzz.invariants import check_file
from fuzz.mutations import mutated
from fuzz.seeds import seeds
from fuzz.whole import check_report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HANGS_AFTER_S = 60
"""Of processor time, so that a loaded machine does not look like a hang; no input of these sizes takes a second."""

WHOLE_EVERY = 5
"""Of so many inputs one goes all the way to the report."""

HTML_EVERY = 100
"""Of so many inputs one becomes a page too."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An input on which something went wrong.

    Attributes:
        number: Makes it again.
        what: The end of the traceback.
        data: The input.
    """

    number: int
    what: str
    data: bytes


@dataclass(slots=True)
class Outcome:
    """What came of a stretch of inputs.

    Attributes:
        read: Inputs that gave tables.
        refused: Inputs that were refused in one line.
        failures: All others.
    """

    read: int = 0
    refused: int = 0
    failures: list[Failure] = field(default_factory=list)


def make(number: int, seed: int, originals: list[bytes]) -> bytes:
    """Input of that number."""
    chance = Random(f"{seed}-{number}")
    return mutated(chance.choice(originals), chance)


def run(
    numbers: Iterable[int],
    seed: int,
    folder: Path,
    seconds: float = 0,
    whole_every: int = WHOLE_EVERY,
) -> Outcome:
    """Makes and checks inputs.

    Args:
        numbers: Which.
        seed: Makes other inputs for the same numbers.
        folder: For the files.
        seconds: Stop after so long; 0 for never.
        whole_every: Of so many inputs one goes all the way to the report, which takes most of the time.
    """
    originals = seeds()
    outcome, began = Outcome(), time.monotonic()
    path = folder / "input.json"
    for number in numbers:
        if seconds and time.monotonic() - began > seconds:
            break
        data = make(number, seed, originals)
        path.write_bytes(data)
        try:
            with _time_limit():
                result = check_file(str(path), with_python=number % 3 == 0)
                if result == "read" and number % whole_every == 0:
                    check_report(str(path), html=number % HTML_EVERY == 0)
        except Exception:  # noqa: BLE001  (whatever it is, it is what the fuzzer looks for)
            outcome.failures.append(Failure(number, traceback.format_exc(limit=-3), data))
            continue
        outcome.read += result == "read"
        outcome.refused += result == "refused"
    return outcome


def run_share(share: tuple[int, int, int, int, float]) -> Outcome:
    """As :func:`run` in a folder of its own: first number, end, step, seed and seconds."""
    first, end, step, seed, seconds = share
    with tempfile.TemporaryDirectory() as folder:
        return run(range(first, end, step), seed, Path(folder), seconds)


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raises TimeoutError in a block that hangs, where the system can."""
    if not hasattr(signal, "SIGPROF"):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"no answer in {HANGS_AFTER_S} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, HANGS_AFTER_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
