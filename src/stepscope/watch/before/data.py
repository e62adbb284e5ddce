"""Mistakes before a run about where data and packages lie, and about the script's loaders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.schema.report import Evidence, Finding
from stepscope.watch.mistake import Mistake

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.schema.machine import LoaderCall
    from stepscope.watch.before.seen import Before

SMALL_FILE_BYTES = 128 * 1024
MANY_FILES = 1000


def small_files(seen: Before) -> Finding | None:
    """Many small files on a shared file system."""
    data = seen.report.data
    if data is None or data.mean_bytes is None or data.system.kind != "network":
        return None
    if data.mean_bytes >= SMALL_FILE_BYTES or data.files < MANY_FILES:
        return None
    local = next(
        (item.system.path for item in seen.report.scratch if item.system.kind == "local"), "$TMPDIR"
    )
    return Finding(
        code="CK020", regime="input", severity="medium", confidence="high",
        title=f"the data are many small files on {data.system.type}: every sample costs an opening over the network",
        evidence=(
            Evidence(name="mean size of the files looked at", value=data.mean_bytes, unit="bytes"),
            Evidence(name="files looked at", value=data.files, unit="count"),
        ),
        action=(
            "Pack them into a few large files (squashfs, tar with webdataset, LMDB, HDF5) and copy those to the "
            "node's own disk when the job starts."
        ),
        snippet=f"tar cf data.tar {data.system.path}   # once\ntar xf data.tar -C {local}   # in the job",
    )  # fmt: skip


def packages_on_shared(seen: Before) -> Finding | None:
    """The interpreter's packages lie on a parallel file system, so that imports are slow."""
    system = seen.report.environment_system
    if not system.is_parallel:
        return None
    return Finding(
        code="CK021", regime="startup", severity="low", confidence="medium",
        title=f"the Python environment lies on {system.type}: imports open thousands of small files there",
        evidence=(Evidence(name="packages", value=system.path, unit="text"),),
        action="Use a container image or a packed environment (conda-pack, squashfs) that is one file, or the site's module.",
    )  # fmt: skip


def no_workers(seen: Before) -> Finding | None:
    """A DataLoader without workers, with cores to spare."""
    loader = first_loader(seen, lambda loader: loader.workers == 0)
    cores = int(seen.report.allocation.cores)
    if loader is None or cores < 2:
        return None
    script = seen.report.script
    assert script is not None
    return Finding(
        code="CK022", regime="input", severity="medium", confidence="medium",
        title=f"{script.path}:{loader.line} makes a DataLoader with num_workers=0: training waits while each batch is made",
        evidence=(Evidence(name="cores that the job may use", value=cores, unit="count"),),
        action="Let workers load ahead; `stepscope tune` measures how many are best. For data that lie in memory 0 is right.",
        snippet=f"DataLoader(..., num_workers={min(cores - 1, 8)}, persistent_workers=True, pin_memory=True)",
    )  # fmt: skip


def too_many_workers(seen: Before) -> Finding | None:
    """A DataLoader with more workers than there are cores."""
    cores = int(seen.report.allocation.cores)
    loader = first_loader(
        seen, lambda loader: loader.workers is not None and loader.workers > cores
    )
    if loader is None:
        return None
    script = seen.report.script
    assert script is not None
    return Finding(
        code="CK023", regime="input", severity="medium", confidence="high",
        title=f"{script.path}:{loader.line} asks for {loader.workers} loader workers on {cores} core(s)",
        evidence=(
            Evidence(name="num_workers", value=loader.workers, unit="count"),
            Evidence(name="cores that the job may use", value=cores, unit="count"),
        ),
        action="More workers than cores take turns and fill memory; take at most one a core.",
        snippet=f"DataLoader(..., num_workers={max(1, cores - 1)})",
    )  # fmt: skip


def stays_on_cpu(seen: Before) -> Finding | None:
    """Nothing in the script could move a model to the device that is there."""
    script = seen.report.script
    if script is None or script.error or script.framework or script.moves_to_device:
        return None
    if not seen.gpus_there:
        return None
    return Finding(
        code="CK024", regime="device-unused", severity="high", confidence="low",
        title=f"{script.path} never names a device: the model may stay on the CPU beside {seen.gpus_there} GPU(s)",
        evidence=(Evidence(name=".to, .cuda or device= in the script", value=0, unit="count"),),
        action="Move the model and each batch; if another module of yours does so, this is no mistake.",
        snippet='device = "cuda"\nmodel.to(device)\nbatch = batch.to(device, non_blocking=True)',
    )  # fmt: skip


def full_precision(seen: Before) -> Finding | None:
    """A device with tensor cores and a script that never lowers precision."""
    script = seen.report.script
    if script is None or script.error or script.framework or script.lowers_precision:
        return None
    able = [
        device
        for device in seen.report.torch.devices
        if device.capability and float(device.capability) >= 8
    ]
    if not able:
        return None
    return Finding(
        code="CK025", regime="compute", severity="low", confidence="low",
        title=f"{script.path} mentions neither TF32 nor bfloat16: {able[0].name} multiplies several times faster with them",
        evidence=(Evidence(name="compute capability", value=able[0].capability, unit="text"),),
        action="Allow TF32 for float32 matrices, or train under autocast; check that the loss still falls.",
        snippet='torch.set_float32_matmul_precision("high")\nwith torch.autocast("cuda", torch.bfloat16): ...',
    )  # fmt: skip


def first_loader(seen: Before, wanted: Callable[[LoaderCall], bool]) -> LoaderCall | None:
    """The first DataLoader of the script that fits."""
    script = seen.report.script
    if script is None:
        return None
    return next((loader for loader in script.loaders if wanted(loader)), None)


MISTAKES: tuple[Mistake[Before], ...] = (
    Mistake("CK020", "small files on a shared file system", "1,000 or more files of less than 128 KiB on average (our threshold) on a network file system", "LUMI and CSC data guides", small_files),
    Mistake("CK021", "Python environment on a parallel file system", "type of the file system under site-packages", "LUMI and CSC guides", packages_on_shared),
    Mistake("CK022", "num_workers=0", "DataLoader without num_workers in the script, 2 or more cores", "PyTorch performance guide", no_workers),
    Mistake("CK023", "more workers than cores", "num_workers in the script above the allocation's cores", "PyTorch's own warning", too_many_workers),
    Mistake("CK024", "model never moved to the GPU", "no .to, .cuda, device= and no known framework in the script", "centres' documentation", stays_on_cpu),
    Mistake("CK025", "no TF32, no bfloat16", "compute capability 8.0 or newer, no word of lower precision in the script", "PyTorch performance guide", full_precision),
)  # fmt: skip
