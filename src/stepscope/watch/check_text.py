"""A check as plain text: what was seen, then one sentence for each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.units import format_bytes
from stepscope.watch.finding_text import finding_lines

if TYPE_CHECKING:
    from stepscope.schema.check_report import CheckReport
    from stepscope.schema.machine import FileSystem, ScratchFolder

CARE = {
    "look": "look only: `stepscope watch -- python train.py`",
    "profile": "profile a few steps first: `stepscope profile train.py`",
    "improve": "profile first, then tune: `stepscope profile train.py`, `stepscope tune train.py`",
}


def render(report: CheckReport) -> str:
    """The whole check."""
    lines = [*machine_lines(report), *storage_lines(report), ""]
    if not report.findings:
        lines.append("Nothing wrong is visible before the run.")
    lines += finding_lines(report.findings)
    if report.care is not None:
        lines += ["", f"Care: {CARE[report.care.level]}", f"      {report.care.how}."]
    return "\n".join(lines) + "\n"


def machine_lines(report: CheckReport) -> list[str]:
    """Cores, memory, job, torch and devices, a line each."""
    allocation = report.allocation
    limit = allocation.memory_limit_bytes or allocation.machine_memory_bytes
    memory = "not known" if limit is None else format_bytes(limit)
    by = "cgroup limit" if allocation.memory_limit_bytes else "machine"
    lines = [
        f"Cores    {allocation.cores:g} of {allocation.machine_cores} ({allocation.cores_from})",
        f"Memory   {memory} ({by}; cgroup {allocation.cgroup.version})",
    ]
    job = allocation.slurm
    if job is not None:
        gpus = "no" if not job.gpus_on_node else str(job.gpus_on_node)
        lines.append(
            f"Job      {job.job_id} on {job.node or report.host}, {job.nodes} node(s), {job.tasks} task(s), "
            f"{gpus} GPU(s) here"
        )
    torch = report.torch
    if torch.version is not None:
        build = (
            f"CUDA {torch.cuda}" if torch.cuda else f"ROCm {torch.hip}" if torch.hip else "CPU only"
        )
        sees = ", ".join(device.name for device in torch.devices) or torch.other or "no device"
        lines.append(f"Torch    {torch.version}, {build}, sees {sees}")
    driver = ", ".join(device.name for device in report.driver) or report.driver_reason
    lines.append(f"Driver   {driver}")
    return lines


def storage_lines(report: CheckReport) -> list[str]:
    """File systems and scratch folders, a line each."""
    lines = [f"Here     {system_words(report.working)}"]
    data = report.data
    if data is not None:
        count = f"{data.files:,} files" if data.all_seen else f"the first {data.files:,} files"
        mean = "" if data.mean_bytes is None else f" of {format_bytes(data.mean_bytes)} on average"
        lines.append(f"Data     {system_words(data.system)}, {count}{mean}")
    lines += [f"Scratch  {scratch_words(folder)}" for folder in report.scratch]
    return lines


def system_words(system: FileSystem) -> str:
    """A path with its file system."""
    return f"{system.path}: {system.type} ({system.kind}), {format_bytes(system.free_bytes)} free"


def scratch_words(folder: ScratchFolder) -> str:
    """A scratch folder with its measured speed."""
    words = system_words(folder.system)
    if folder.write_bytes_per_s is None or folder.files_per_s is None:
        words += f"; not measured: {folder.reason}"
    else:
        words += (
            f"; writes {format_bytes(folder.write_bytes_per_s)}/s, "
            f"{folder.files_per_s:,.0f} small files/s"
        )
    return f"{words}; {folder.note}" if folder.note else words
