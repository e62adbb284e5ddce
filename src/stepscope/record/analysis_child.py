"""Has the run analysed by another process, so that nothing of it comes into the user's."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def analyze_run(
    folder: Path, options: tuple[str, ...] = (), *, report_fd: int = 2, light: bool = False
) -> int:
    """Analyse the run folder and print the report.

    Args:
        folder: The run folder; ``report.json`` and ``report.html`` are written into it.
        options: More arguments for ``stepscope analyze``.
        report_fd: Where the report is printed; stderr, unless the whole process is ours.
        light: Whether there are step times only, of which ``light.json`` is written instead.

    Returns:
        The exit status of the analysis.

    Raises:
        OSError: No process could be started.
    """
    written = ["--json", str(folder / "light.json")]
    if not light:
        written = ["--json", str(folder / "report.json"), "--html", str(folder / "report.html")]
    command = [sys.executable, "-m", "stepscope", "analyze", str(folder), *written, *options]
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()
    # In the run folder no module of the user's can take the place of one that the analysis imports.
    with subprocess.Popen(command, cwd=folder, stdout=report_fd, stdin=subprocess.DEVNULL) as child:  # noqa: S603
        return child.wait()
