"""The script that tries everything on a real GPU, on a machine that may have none."""

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pynvml  # type: ignore[import-untyped]
import pytest

from stepscope.watch.attach import alive
from stepscope.watch.nvml import list_devices
from stepscope.watch.store import SampleWriter
from tests.watch.rows import device, device_start, start

S = 1_000_000_000
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


SLOW = """
import os, sys, time
if os.fork() == 0:
    open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(60)
"""


def test_what_takes_too_long_is_ended_with_all_that_it_started(tmp_path):
    line = [sys.executable, "-c", SLOW, str(tmp_path / "pid")]
    with pytest.raises(SystemExit, match="did not end within 240 s"):
        loaded().ended(line, 3.0)
    end = time.monotonic() + 30
    while alive(int((tmp_path / "pid").read_text())):
        assert time.monotonic() < end, "a process was left behind"
        time.sleep(0.01)


def test_an_interpreter_without_stepscope_is_one_sentence(tmp_path, monkeypatch):
    script = loaded()
    bare = tmp_path / "python"
    bare.write_text('#!/bin/sh\necho "python: No module named stepscope" >&2\nexit 1\n')
    bare.chmod(0o755)
    monkeypatch.setattr(script.sys, "executable", str(bare))
    with pytest.raises(SystemExit, match=r"FAIL .*ended with 1: .*No module named stepscope"):
        script.check(tmp_path)


DRIVER = """
import time
from pynvml_real import *
from pynvml_real import NVMLError, NVML_ERROR_NOT_SUPPORTED

class Memory:
    total, used = 141 << 30, 5 << 30

class Rates:
    gpu, memory = 0, 0

BEGAN = time.monotonic()

def nvmlInit(): pass
def nvmlShutdown(): pass
def nvmlDeviceGetCount(): return 1
def nvmlDeviceGetHandleByIndex(number): return "H200"
def nvmlDeviceGetUUID(handle): return "GPU-replayed-0"
def nvmlDeviceGetName(handle): return "NVIDIA H200"
def nvmlDeviceGetMemoryInfo(handle): return Memory
def nvmlDeviceGetMigMode(handle): return [0, 0]
def nvmlDeviceGetEnforcedPowerLimit(handle): return 700_000
def nvmlDeviceGetUtilizationRates(handle): return Rates
def nvmlDeviceGetPowerUsage(handle): return 75_000
def nvmlDeviceGetTotalEnergyConsumption(handle): return int(75_000 * (time.monotonic() - BEGAN))
def nvmlDeviceGetClockInfo(handle, kind): return 345
def nvmlDeviceGetCurrentClocksEventReasons(handle): return 1
def nvmlDeviceGetComputeRunningProcesses(handle): return []
def nvmlGpmQueryDeviceSupport(handle): raise NVMLError(NVML_ERROR_NOT_SUPPORTED)
"""


@pytest.mark.slow
def test_on_a_replayed_driver_without_torch_for_it_the_driver_s_side_is_tried(tmp_path):
    modules = tmp_path / "modules"
    modules.mkdir()
    shutil.copy(pynvml.__file__, modules / "pynvml_real.py")
    (modules / "pynvml.py").write_text(DRIVER)
    (modules / "torch.py").write_text("raise ImportError('no torch here')")
    run = subprocess.run(
        [sys.executable, str(SCRIPT), "--seconds=9", "--out", str(tmp_path / "out")],
        capture_output=True, text=True, check=False, timeout=200,
        env={**os.environ, "PYTHONPATH": str(modules)},
    )  # fmt: skip
    assert run.returncode == 1, run.stderr
    assert "FAIL  torch can use the GPU: ImportError: no torch here" in run.stdout
    lines = [line for line in run.stdout.splitlines() if line.startswith(("ok", "FAIL"))]
    assert "ok    energy is measured" in lines
    assert "ok    cost takes the devices' energy as measured" in lines
    (compared,) = [line for line in lines if "GPU-replayed-0: counter" in line]
    assert compared.startswith("ok"), compared


def test_each_part_of_the_program_is_told_and_tensor_cores_are_looked_at(tmp_path, capsys):
    writer = SampleWriter(tmp_path, start(perf_ns=50 * S))
    writer.write(0.0, [device_start()])
    for second in range(30):
        tensor = 0.9 if 10 <= second < 20 else 0.01
        writer.write(float(second), [device(float(second), tensor_frac=tensor)])
    phases = [("float32", 50 * S), ("bfloat16", 60 * S), ("training", 70 * S), ("end", 80 * S)]
    results: list[tuple[str, bool]] = []
    loaded().by_phase(tmp_path, phases, results)
    assert results == [("tensor cores: 1% active in float32, 90% in bfloat16", True)]
    assert capsys.readouterr().out.count("samples:") == 3
    results.clear()
    swapped = [("bfloat16", 50 * S), ("float32", 60 * S), ("end", 70 * S)]
    loaded().by_phase(tmp_path, swapped, results)
    assert [good for _, good in results] == [False]
