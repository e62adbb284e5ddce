"""One trial of an experiment, in a process of its own: the script with a change, timed.

usage: python -m stepscope.record.trial ORDER.json, where the file holds an :class:`Order`
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from stepscope.record.hooks.changes import Changes, apply
from stepscope.record.hooks.importing import ImportHook
from stepscope.record.hooks.losses import Losses
from stepscope.record.job import Job, JobOptions
from stepscope.record.launch import launch
from stepscope.record.plan import Plan
from stepscope.record.script import Script

LOSSES_NAME = "losses.json"

MOST_CLEAN = 24
"""Steps to time where their length decides: enough for some bunches of batches and for short epochs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a trial does.

    Attributes:
        command: The script, or ``-m`` and a module, and its arguments.
        out: The run folder to write.
        clean: Steps to time; ``None`` lets their length decide.
        active: Steps to profile.
        changes: What is changed.
    """

    command: tuple[str, ...]
    out: str
    clean: int | None
    active: int | None
    changes: Changes

    def text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))


def read_order(text: str) -> Order:
    """An order from its JSON."""
    made: dict[str, Any] = json.loads(text)
    changes = Changes(**made.pop("changes"))
    return Order(**{**made, "command": tuple(made["command"]), "changes": changes})


def main(arguments: list[str]) -> int:
    """Run the script; the exit status is the script's own."""
    order = read_order(Path(arguments[0]).read_text(encoding="utf-8"))
    words = order.command
    is_module = words[0] == "-m"
    script = Script(words[is_module], is_module, tuple(words[1 + is_module :]))
    options = JobOptions(
        name=script.name,
        command=script.command,
        plan=Plan(clean=order.clean, most_clean=MOST_CLEAN, active=order.active, stop=True),
        out=order.out,
        analyze=False,
    )
    losses = Losses()

    def change() -> None:
        apply(order.changes)
        losses.listen()

    hook = ImportHook("torch", change)
    hook.install()
    status = launch(script, Job(options))
    path = Path(order.out) / LOSSES_NAME
    path.write_text(json.dumps(losses.values()), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
