"""The script that tries everything on a real GPU, on a machine that may have none."""

import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.watch.nvml import list_devices

SCRIPT = Path(__file__).parents[2] / "scripts" / "gpu-check"


@pytest.mark.slow
def test_without_a_gpu_it_says_that_there_is_nothing_to_try_on(tmp_path):
    if list_devices()[0]:
        pytest.skip("this machine has a GPU: run scripts/gpu-check itself")
    run = subprocess.run(
        [sys.executable, str(SCRIPT), "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert "nothing to try on: no NVIDIA driver" in run.stdout
    assert (tmp_path / "check.json").is_file()
