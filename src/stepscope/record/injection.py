"""The environment in which Python processes that train are recorded, whoever starts them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

RUN_VARIABLE = "STEPSCOPE_RUN"
"""The run folder; set by the launcher for all processes below it."""

PLAN_VARIABLE = "STEPSCOPE_PLAN"
"""The plan as JSON."""

LIGHT_PLAN = '{"light": true}'

INJECTED = Path(__file__).parent / "inject"


def recorded_below(environ: Mapping[str, str], folder: Path, plan: str) -> dict[str, str]:
    """The environment with which every Python process below that trains records itself into the folder.

    Args:
        environ: The environment without that.
        folder: The run folder.
        plan: The plan as JSON.
    """
    others = [
        entry
        for entry in environ.get("PYTHONPATH", "").split(os.pathsep)
        if entry and entry != str(INJECTED)
    ]
    return {
        **environ,
        RUN_VARIABLE: str(folder),
        PLAN_VARIABLE: plan,
        "PYTHONPATH": os.pathsep.join([str(INJECTED), *others]),
    }
