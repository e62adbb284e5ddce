"""Small runs with one known cause each, and the verdict that a careful reader gives.

Times are chosen so that the cause holds clearly more of a step than the verdict's threshold of 20 %, and
everything else clearly less.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.testing.scenarios.base import Scenario
from stepscope.testing.scenarios.gaps import GAPS
from stepscope.testing.scenarios.jobs import JOBS
from stepscope.testing.scenarios.single import SINGLE

if TYPE_CHECKING:
    from stepscope.testing.form import Form

SCENARIOS: tuple[Scenario, ...] = (*SINGLE, *JOBS, *GAPS)

__all__ = ["SCENARIOS", "Scenario", "get", "write", "write_job"]


def get(name: str) -> Scenario:
    """The scenario of that name.

    Raises:
        KeyError: There is none; the text lists those that there are.
    """
    for scenario in SCENARIOS:
        if scenario.name == name:
            return scenario
    raise KeyError(f"{name!r} is none of {', '.join(scenario.name for scenario in SCENARIOS)}")


def write(name: str, path: str | Path, form: Form | None = None) -> Path:
    """Write the first rank of a scenario to a file; returns the path."""
    return get(name).build()[0].write(path, form)


def write_job(name: str, folder: str | Path, form: Form | None = None) -> list[Path]:
    """Write every rank of a scenario into a folder, as ``rank0.pt.trace.json`` and so on."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    return [
        trace.write(Path(folder, f"rank{rank}.pt.trace.json"), form)
        for rank, trace in enumerate(get(name).build())
    ]
