"""The script that tries everything on a real GPU, on a machine that may have none."""

import importlib.util
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

from stepscope.watch.nvml import list_devices
from stepscope.watch.store import SampleWriter
from tests.watch.rows import device, device_start, start

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


def loaded():
    loader = SourceFileLoader("gpu_check", str(SCRIPT))
    spec = importlib.util.spec_from_loader("gpu_check", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(("watts", "good"), [(500.0, True), (440.0, False), (None, False)])
def test_counter_and_power_are_compared(tmp_path, watts, good):
    writer = SampleWriter(tmp_path, start())
    writer.write(0.0, [device_start()])
    for second in range(60):
        writer.write(float(second), [device(float(second), watts=watts)])
    results: list[tuple[str, bool]] = []
    loaded().devices(tmp_path, results)
    ((text, held),) = results
    assert held is good
    assert "GPU-1" in text


def test_what_takes_too_long_is_ended():
    with pytest.raises(SystemExit, match="did not end within 240 s"):
        loaded().ended([sys.executable, "-c", "import time; time.sleep(60)", "the program"], 0.2)
