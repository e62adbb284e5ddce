"""Mistakes during a run about what the devices did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.units import format_frac
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from stepscope.watch.during.seen import During

RED_FRAC = 0.15
NOTE_FRAC = 0.50
SOURCE_LOW = "jobstats (red at 15 %), CSC (data loading first below 50 %)"


def none_used(seen: During) -> Finding | None:
    """Devices were allocated and none was used."""
    idle = [device for device in seen.devices if seen.is_idle(device)]
    if not seen.is_judged or not idle or len(idle) < len(seen.devices):
        return None
    return Finding(
        code="WA001", regime="device-unused", severity="high", confidence="high",
        title=f"{len(idle)} GPU(s) were allocated and never used",
        evidence=(
            Evidence(name="time without any kernel", value=min(device.seconds for device in idle) * 1e3, unit="ms"),
            Evidence(name="mean draw", value=idle[0].watts_mean, unit="W"),
        ),
        action="See whether torch can use them (`stepscope check`) and whether model and batches are moved to them; else ask for none.",
        snippet='stepscope check train.py\nmodel.to("cuda")',
    )  # fmt: skip


def some_unused(seen: During) -> Finding | None:
    """Only some of the devices were used."""
    idle = [device for device in seen.devices if seen.is_idle(device)]
    total = len(seen.devices)
    if not seen.is_judged or not 0 < len(idle) < total:
        return None
    return Finding(
        code="WA002", regime="device-unused", severity="high", confidence="high",
        title=f"{len(idle)} of {total} GPUs were never used",
        evidence=(
            Evidence(name="unused", value=", ".join(device.uuid for device in idle), unit="text"),
            Evidence(name="watched processes", value=sum(node.processes_peak for node in seen.summary.nodes), unit="count"),
        ),
        action="Start one process for each GPU (torchrun, or srun with as many tasks), or ask for as many as you use.",
        snippet=f"torchrun --standalone --nproc-per-node={total} train.py",
        share_frac=len(idle) / total,
    )  # fmt: skip


def hardly_used(seen: During) -> Finding | None:
    """Devices were busy for a small part of the time."""
    busy = seen.mean_busy()
    used = [device for device in seen.devices if not seen.is_idle(device)]
    if not seen.is_judged or busy is None or not used or busy >= NOTE_FRAC:
        return None
    red = busy < RED_FRAC
    return Finding(
        code="WA003", regime="input", severity="high" if red else "medium", confidence="medium",
        title=f"the GPU(s) were busy for {format_frac(busy)} of the time",
        evidence=(
            Evidence(name="time with some kernel running, mean of all GPUs", value=busy, unit="frac"),
            Evidence(name="steps' time spent waiting for the DataLoader", value=seen.wait_frac, unit="frac"),
        ),
        action="Profile a few steps: it tells whether data, the host or waiting holds them up.",
        snippet="stepscope profile train.py",
        share_frac=1 - busy,
    )  # fmt: skip


def busy_not_working(seen: During) -> Finding | None:
    """Kernels run all the time and the multiprocessors hardly work."""
    if not seen.is_judged:
        return None
    for device in seen.devices:
        if device.busy_frac is None or device.working_frac is None:
            continue
        if device.busy_frac > 0.8 and device.working_frac < 0.5:
            return Finding(
                code="WA004", regime="compute", severity="medium", confidence="medium",
                title=f"the GPU looks {format_frac(device.busy_frac)} busy and works {format_frac(device.working_frac)}",
                evidence=(
                    Evidence(name="time with some kernel running", value=device.busy_frac, unit="frac"),
                    Evidence(name="activity of its multiprocessors", value=device.working_frac, unit="frac"),
                ),
                action="Kernels are too small to fill it, or wait for memory or other ranks: a larger batch, torch.compile, or a profile tells.",
                snippet="stepscope profile train.py",
            )  # fmt: skip
    return None


def low_draw(seen: During) -> Finding | None:
    """Kernels run all the time and the device draws little: it waits, or works on small things."""
    if not seen.is_judged:
        return None
    for device in seen.devices:
        # Where the activity of the multiprocessors is told, it says the same better.
        if device.busy_frac is None or device.watts_mean is None or not device.watts_limit:
            continue
        share = device.watts_mean / device.watts_limit
        if device.working_frac is None and device.busy_frac > 0.9 and share < 0.4:
            return Finding(
                code="WA005", regime="compute", severity="medium", confidence="medium",
                title=f"the GPU looks {format_frac(device.busy_frac)} busy and draws {format_frac(share)} of its power",
                evidence=(
                    Evidence(name="mean draw", value=device.watts_mean, unit="W"),
                    Evidence(name="power limit", value=device.watts_limit, unit="W"),
                ),
                action="Some kernel always runs, but little is computed: a larger batch, lower precision, or a profile.",
                snippet="stepscope profile train.py",
            )  # fmt: skip
    return None


def held_back(seen: During) -> Finding | None:
    """Heat or a power brake holds the clocks back."""
    worst = max(
        (device for device in seen.devices if device.throttled_frac is not None),
        key=lambda device: device.throttled_frac or 0.0, default=None,
    )  # fmt: skip
    if not seen.is_judged or worst is None or (worst.throttled_frac or 0) <= 0.05:
        return None
    return Finding(
        code="WA006", regime="compute", severity="medium", confidence="high",
        title=f"a GPU's clocks were held back: {', '.join(worst.throttle_reasons)}",
        evidence=(
            Evidence(name="samples with clocks held back", value=worst.throttled_frac, unit="frac"),
            Evidence(name="device", value=worst.uuid, unit="text"),
        ),
        action="That is the machine's fault, not the program's: tell the operators which node and device.",
    )  # fmt: skip


def no_tensor_cores(seen: During) -> Finding | None:
    """The multiprocessors work and the tensor cores do not."""
    if not seen.is_judged:
        return None
    for device in seen.devices:
        if device.working_frac is None or device.tensor_frac is None:
            continue
        if device.working_frac > 0.5 and device.tensor_frac < 0.01:
            return Finding(
                code="WA007", regime="compute", severity="medium", confidence="medium",
                title="the GPU works hard and its tensor cores stand still",
                evidence=(
                    Evidence(name="activity of its multiprocessors", value=device.working_frac, unit="frac"),
                    Evidence(name="activity of its tensor cores", value=device.tensor_frac, unit="frac"),
                ),
                action="Allow TF32, or train under autocast with bfloat16; check that the loss still falls.",
                snippet='torch.set_float32_matmul_precision("high")\nwith torch.autocast("cuda", torch.bfloat16): ...',
            )  # fmt: skip
    return None


def too_much_gpu(seen: During) -> Finding | None:
    """A small job on a large device."""
    busy = seen.mean_busy()
    if not seen.is_judged or busy is None or busy >= RED_FRAC:
        return None
    shares = [
        device.memory_peak_bytes / device.memory_bytes
        for device in seen.devices
        if device.memory_peak_bytes is not None and device.memory_bytes
    ]
    used = [device for device in seen.devices if not seen.is_idle(device)]
    if not used or len(shares) < len(seen.devices) or max(shares) >= 0.25:
        return None
    return Finding(
        code="WA008", regime="device-unused", severity="low", confidence="medium",
        title=f"the job needs a small part of its GPU(s): {format_frac(max(shares))} of the memory, {format_frac(busy)} of the time",
        evidence=(
            Evidence(name="peak memory of the fullest GPU", value=max(shares), unit="frac"),
            Evidence(name="busy share", value=busy, unit="frac"),
        ),
        action="A MIG slice or a smaller GPU costs less; or run several such jobs on one.",
        snippet="#SBATCH --partition=gpu_mig",
    )  # fmt: skip


def idle_notebook(seen: During) -> Finding | None:
    """A notebook holds a device that stands still."""
    idle = min(
        (device.longest_idle_s for device in seen.devices if device.longest_idle_s is not None),
        default=None,
    )
    if not seen.summary.interactive or idle is None or idle < 1800:
        return None
    return Finding(
        code="WA009", regime="device-unused", severity="medium", confidence="high",
        title=f"the notebook held its GPU(s) for {idle / 60:.0f} minutes without using them",
        evidence=(Evidence(name="longest stretch without any kernel", value=idle * 1e3, unit="ms"),),
        action="End the session when you leave it: it is paid for by the hour.",
        snippet="scancel $SLURM_JOB_ID",
    )  # fmt: skip


MISTAKES: tuple[Mistake[During], ...] = (
    Mistake("WA001", "GPU allocated, none used", "no kernel and no process of the job on any for 5 minutes", "jobstats, Job Defense Shield", none_used),
    Mistake("WA002", "some GPUs never used", "the same for some of them, by UUID", "jobstats", some_unused),
    Mistake("WA003", "GPU hardly busy", "busy below 15 % (high) or 50 % (medium) of the time", SOURCE_LOW, hardly_used),
    Mistake("WA004", "busy but not working", "busy above 80 %, multiprocessors below 50 % active", "NVIDIA: below 0.5 likely ineffective", busy_not_working),
    Mistake("WA005", "busy but drawing little", "busy above 90 %, mean draw below 40 % of the limit, activity not told", "LUMI guide; our threshold", low_draw),
    Mistake("WA006", "clocks held back", "thermal or power-brake bits in more than 5 % of the samples; our threshold", "NVML documentation", held_back),
    Mistake("WA007", "tensor cores stand still", "multiprocessors above 50 % active, tensor cores below 1 %", "NVIDIA DCGM documentation; our threshold", no_tensor_cores),
    Mistake("WA008", "GPU too large", "peak memory below 25 % and busy below 15 %", "Job Defense Shield", too_much_gpu),
    Mistake("WA009", "idle notebook", "a notebook without any kernel for 30 minutes", "jobstats; our threshold", idle_notebook),
)  # fmt: skip
