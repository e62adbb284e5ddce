"""The DataLoaders of a script that several mistakes look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.schema.machine import LoaderCall
    from stepscope.watch.before.seen import Before


def first_loader(seen: Before, wanted: Callable[[LoaderCall], bool]) -> LoaderCall | None:
    """The first DataLoader of the script that fits."""
    script = seen.report.script
    if script is None:
        return None
    return next((loader for loader in script.loaders if wanted(loader)), None)
