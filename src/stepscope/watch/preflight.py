"""A look at the machine before a run: allocation, torch, driver, file systems, script, scratch."""

from __future__ import annotations

import shutil
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from stepscope._version import __version__
from stepscope.schema.check_report import CheckReport
from stepscope.watch.allocation import read_allocation
from stepscope.watch.before import MISTAKES, Before
from stepscope.watch.data_folder import look_at_data
from stepscope.watch.filesystem import file_system
from stepscope.watch.mistake import look_for
from stepscope.watch.nvml import list_devices
from stepscope.watch.scratch import scratch_folders
from stepscope.watch.script import read_script
from stepscope.watch.torch_probe import probe_torch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stepscope.schema.site import Site

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  looked at, never written to here


def preflight(
    environ: Mapping[str, str],
    *,
    python: str,
    script: Path | None = None,
    data: Path | None = None,
    site: Site | None = None,
) -> CheckReport:
    """Looks at everything, and says what is wrong.

    Args:
        environ: The environment.
        python: The interpreter that would train.
        script: The training script, if there is one.
        data: The data folder, if it is known.
        site: The site, if it is known.

    Raises:
        InputError: The data folder does not exist.
    """
    devices, why_none = list_devices()
    report = CheckReport(
        stepscope_version=__version__,
        host=socket.gethostname(),
        allocation=read_allocation(environ),
        torch=probe_torch(python),
        driver=devices,
        driver_reason=why_none,
        script=None if script is None else read_script(script),
        data=None if data is None else look_at_data(data),
        working=file_system(Path.cwd()),
        shared_memory=file_system(SHARED_MEMORY) if SHARED_MEMORY.is_dir() else None,
        environment_system=file_system(Path(shutil.which(python) or python).parent.parent),
        scratch=scratch_folders(environ, site),
    )
    seen = Before(report=report, environ=environ, site=site, jobs_here=jobs_here(environ))
    return replace(report, findings=look_for(MISTAKES, seen))


def jobs_here(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The user's jobs on this node, asked only from outside a job; empty without Slurm or an answer."""
    squeue = shutil.which("squeue")
    if squeue is None or environ.get("SLURM_JOB_ID"):
        return ()
    host = socket.gethostname().partition(".")[0]
    command = [squeue, "--me", "--noheader", "--states=running", "--format=%i", "-w", host]
    try:
        run = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(run.stdout.split()) if run.returncode == 0 else ()
