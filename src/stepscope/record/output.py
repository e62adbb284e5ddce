"""The folder that a run is written to, and a rank's place in it."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import OptionError
from stepscope.schema.run_folder import is_run_folder, rank_folder_name

if TYPE_CHECKING:
    from stepscope.record.place import Place

DEFAULT_PARENT = Path("stepscope-runs")

MOST_RANKS = 10_000


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
    stem = _stem(name)
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


def join_output(name: str, chosen: str | None, place: Place) -> Path:
    """Make or find the folder that the processes of a job share.

    Without a chosen one its name comes from the script and what the processes have in common, so that
    all of them find the same.

    Raises:
        OSError: It cannot be made.
    """
    folder = Path(chosen) if chosen is not None else DEFAULT_PARENT / f"{_stem(name)}-{place.key}"
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def claim_rank(folder: Path, rank: int | None) -> int:
    """Make the folder of a rank, which must not be there yet; the first free one where no rank is given.

    Raises:
        OSError: It is there already, for instance from before the launcher started the job anew.
    """
    if rank is not None:
        (folder / rank_folder_name(rank)).mkdir()
        return rank
    for number in range(MOST_RANKS):
        try:
            (folder / rank_folder_name(number)).mkdir()
        except FileExistsError:
            continue
        return number
    raise OSError(f"{folder} holds more processes than can be told apart")


def _stem(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "script"
