"""The folder that a run is written to."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

from stepscope.errors import OptionError
from stepscope.schema.run_folder import is_run_folder

DEFAULT_PARENT = Path("stepscope-runs")


def create_output(name: str, chosen: str | None) -> Path:
    """Make the folder of a new run: the chosen one, else a fresh one named after script and time.

    Returns:
        Its absolute path, because the script may change the working directory.

    Raises:
        OptionError: The chosen folder already holds something.
        OSError: It cannot be made.
    """
    if chosen is not None:
        folder = Path(chosen).absolute()
        if is_run_folder(folder):
            raise OptionError(
                f"{chosen} already holds a run; give --out another folder, or remove it"
            )
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise OptionError(f"{chosen} is not empty; give --out a new folder")
        return folder
    stem = re.sub(r"[^\w.-]+", "-", name).strip("-.") or "script"
    moment = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    parent = DEFAULT_PARENT.absolute()
    parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(1000):
        folder = parent / (f"{stem}-{moment}" + (f"-{attempt}" if attempt else ""))
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise OptionError(f"no free name for a run in {parent}; give --out a folder")
