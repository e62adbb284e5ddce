"""What torch sees on this machine, asked in a child process.

A child, because torch takes seconds and a gigabyte of address space to import, may crash on a machine
whose driver does not fit, and must not be imported into the process that asks.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec

from stepscope.schema.machine import TorchFacts

SECONDS = 180.0

PROBE = r"""
import json, sys, warnings
facts = {"python": sys.executable, "version": None}
def answer():
    sys.stdout.write("\n" + json.dumps(facts) + "\n")
    sys.stdout.flush()
complaints = []
warnings.showwarning = lambda message, *rest, **more: complaints.append(str(message))
try:
    import torch
except BaseException as error:
    facts["error"] = f"{type(error).__name__}: {error}"
    answer()
    raise SystemExit(0)
facts["version"] = str(torch.__version__)
facts["cuda"] = torch.version.cuda
facts["hip"] = getattr(torch.version, "hip", None)
facts["threads"] = torch.get_num_threads()
try:
    facts["available"] = bool(torch.cuda.is_available())
    if facts["available"]:
        devices = []
        for number in range(torch.cuda.device_count()):
            it = torch.cuda.get_device_properties(number)
            capability = "" if facts["hip"] else f"{it.major}.{it.minor}"
            devices.append({"name": it.name, "memory_bytes": it.total_memory, "capability": capability})
        facts["devices"] = devices
        facts["architectures"] = list(torch.cuda.get_arch_list())
    for kind in ("mps", "xpu"):
        module = getattr(torch, kind, None)
        if module is not None and hasattr(module, "is_available") and module.is_available():
            facts["other"] = kind
    if facts["available"]:
        from torch.profiler import ProfilerActivity, profile
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as session:
            torch.ones(1024, device="cuda").mul_(2)
            torch.cuda.synchronize()
        kinds = [str(event.device_type) for event in session.events()]
        facts["profiler_sees_device"] = any("CUDA" in kind for kind in kinds)
except Exception as error:
    complaints.append(f"{type(error).__name__}: {error}")
facts["error"] = "; ".join(" ".join(text.split()) for text in complaints[:3])
answer()
"""


def probe_torch(python: str, seconds: float = SECONDS) -> TorchFacts:
    """What torch says under an interpreter; an answer always comes, with ``error`` where it fails.

    Args:
        python: The interpreter.
        seconds: How long it may take.
    """
    try:
        run = subprocess.run(  # noqa: S603  the user's own interpreter
            [python, "-c", PROBE], capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return failed(python, f"it gave no answer in {seconds:.0f} s")
    except OSError as error:
        return failed(python, f"{Path(python).name} cannot be started ({error.strerror})")
    lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
    if not lines:
        last = (run.stderr.strip().splitlines() or ["without a word"])[-1]
        return failed(python, f"it ended with status {run.returncode}: {last}")
    try:
        return msgspec.json.decode(lines[-1].encode(), type=TorchFacts)
    except msgspec.DecodeError as error:
        return failed(python, f"its answer could not be read ({error})")


def failed(python: str, why: str) -> TorchFacts:
    """Facts that are none."""
    return TorchFacts(python=python, version=None, error=why)
