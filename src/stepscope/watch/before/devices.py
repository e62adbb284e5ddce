"""Mistakes before a run about the devices and the build of torch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.before.seen import Before


def no_torch(seen: Before) -> Finding | None:
    """Torch cannot be imported by the interpreter that would train."""
    torch = seen.report.torch
    if torch.version is not None:
        return None
    return Finding(
        code="CK001", regime="startup", severity="high", confidence="high",
        title=f"torch cannot be imported by {torch.python}: {torch.error}",
        evidence=(Evidence(name="interpreter", value=torch.python, unit="text"),),
        action="Activate the environment that trains, or name its interpreter with --python.",
    )  # fmt: skip


def build_without_device(seen: Before) -> Finding | None:
    """A device is there, and torch was built without any support for it."""
    torch = seen.report.torch
    if torch.version is None or torch.cuda or torch.hip or torch.other or not seen.gpus_there:
        return None
    return Finding(
        code="CK002", regime="device-unused", severity="high", confidence="high",
        title=f"{seen.gpus_there} GPU(s) are there, but torch {torch.version} is a build for CPUs only",
        evidence=(
            Evidence(name="GPUs of the job on this node", value=seen.gpus_there, unit="count"),
            Evidence(name="torch.version.cuda", value="None", unit="text"),
        ),
        action="Install the build for this machine's CUDA or ROCm; the selector on pytorch.org gives the line.",
        snippet="pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu126",
    )  # fmt: skip


def device_refused(seen: Before) -> Finding | None:
    """A device is there, torch was built for it, and still cannot use it."""
    torch = seen.report.torch
    if not (torch.cuda or torch.hip) or torch.available or not seen.gpus_there:
        return None
    old = "driver" in torch.error.lower() and (
        "old" in torch.error.lower() or "version" in torch.error.lower()
    )
    why = (
        "the driver is older than the CUDA that torch was built for"
        if old
        else torch.error or "torch does not say why"
    )
    return Finding(
        code="CK003", regime="device-unused", severity="high", confidence="high",
        title=f"{seen.gpus_there} GPU(s) are there, but torch cannot use them: {why}",
        evidence=(
            Evidence(name="torch was built for", value=torch.cuda or torch.hip, unit="text"),
            Evidence(name="what torch says", value=torch.error or "nothing", unit="text"),
        ),
        action=(
            "Install a build for the driver's CUDA (nvidia-smi shows the newest that it can run), or ask for a "
            "newer driver. Outside a job on a cluster this is normal: run the check inside the job."
        ),
        snippet="nvidia-smi --query-gpu=driver_version --format=csv",
    )  # fmt: skip


def kernels_missing(seen: Before) -> Finding | None:
    """A device whose architecture the build has no kernels for."""
    torch = seen.report.torch
    built = [
        int(found[1])
        for name in torch.architectures
        if (found := re.match(r"(?:sm|compute)_(\d+)", name))
    ]
    if not built:
        return None
    for device in torch.devices:
        if not device.capability:
            continue
        major, minor = (int(part) for part in device.capability.split("."))
        # A kernel runs on the same major version with an equal or higher minor one, or from PTX on newer.
        same = [number for number in built if number // 10 == major and number % 10 <= minor]
        from_ptx = any(name.startswith("compute_") for name in torch.architectures)
        if not same and not (from_ptx and min(built) < major * 10 + minor):
            return Finding(
                code="CK004", regime="device-unused", severity="high", confidence="medium",
                title=f"torch {torch.version} has no kernels for {device.name} (compute capability {device.capability})",
                evidence=(Evidence(name="built for", value=", ".join(torch.architectures), unit="text"),),
                action="Install a build of torch that lists this architecture: older builds lack new devices, newer ones drop old.",
            )  # fmt: skip
    return None


def fewer_devices(seen: Before) -> Finding | None:
    """The job holds more devices on this node than torch sees."""
    torch, there = seen.report.torch, seen.gpus_there
    visible = len(torch.devices)
    slurm = seen.report.allocation.slurm
    if not torch.available or not 0 < visible < there:
        return None
    if slurm is not None and slurm.tasks > 1:
        # One device for each task is how such jobs are meant to be.
        return None
    hidden = seen.report.allocation.visible_devices
    return Finding(
        code="CK005", regime="device-unused", severity="high", confidence="high",
        title=f"the job holds {there} GPUs on this node, torch sees {visible}",
        evidence=(
            Evidence(name="CUDA_VISIBLE_DEVICES", value=hidden if hidden is not None else "unset", unit="text"),
        ),
        action="Unset the variable that hides devices, or ask for as many as you use: the others are paid for.",
        snippet="unset CUDA_VISIBLE_DEVICES",
    )  # fmt: skip


def profiler_blind(seen: Before) -> Finding | None:
    """A tiny profile on a device held no kernel."""
    if seen.report.torch.profiler_sees_device is not False:
        return None
    return Finding(
        code="CK006", regime="not-recorded", severity="medium", confidence="high",
        title="torch.profiler records no GPU events on this machine",
        evidence=(Evidence(name="kernels in a tiny profile", value=0, unit="count"),),
        action=(
            "Another tool may hold the GPU's profiling interface (nsys, ncu, DCGM's profiling metrics: "
            "`dcgmi profile --pause` releases it), the driver may keep it for administrators "
            "(NVreg_RestrictProfilingToAdminUsers=0), or the machine is WSL with an old driver. CPU events are "
            "recorded all the same."
        ),
        snippet="dcgmi profile --pause",
    )  # fmt: skip


MISTAKES: tuple[Mistake[Before], ...] = (
    Mistake("CK001", "torch cannot be imported", "import torch fails in a child process", "-", no_torch),
    Mistake("CK002", "GPU there, CPU build of torch", "torch.version.cuda and hip are None while the job or the driver has a device", "centres' documentation", build_without_device),
    Mistake("CK003", "GPU there, torch cannot use it", "torch.cuda.is_available() is false on a CUDA or ROCm build", "centres' documentation", device_refused),
    Mistake("CK004", "no kernels for this GPU", "compute capability not in torch.cuda.get_arch_list()", "CUDA's rules of binary compatibility", kernels_missing),
    Mistake("CK005", "fewer GPUs visible than allocated", "torch.cuda.device_count() below the job's devices on the node, one task", "jobstats", fewer_devices),
    Mistake("CK006", "profiler cannot see the GPU", "a profile of one kernel holds none", "pytorch issues, DCGM issue 56", profiler_blind),
)  # fmt: skip
