"""A healthy machine before a run, which tests spoil in one place."""

from dataclasses import replace

import msgspec.structs

from stepscope.cost.sites import find_site
from stepscope.schema.allocation import Allocation, CgroupLimits, SlurmJob
from stepscope.schema.check_report import CheckReport
from stepscope.schema.machine import (
    DataFolder,
    DriverDevice,
    FileSystem,
    LoaderCall,
    ScriptFacts,
    TorchDevice,
    TorchFacts,
)
from stepscope.watch.before import Before

LOCAL = FileSystem(
    path="/data", mount="/", type="ext4", kind="local", is_parallel=False,
    free_bytes=10**12, total_bytes=2 * 10**12,
)  # fmt: skip
LUSTRE = replace(LOCAL, type="lustre", kind="network", is_parallel=True)
SHM = replace(LOCAL, path="/dev/shm", type="tmpfs", kind="memory", free_bytes=8 << 30)

JOB = SlurmJob(
    job_id="7", step_id="0", cluster="snellius", partition="gpu_h100", node="gcn1", nodes=1, tasks=1,
    local_id=0, node_id=0, process_id=0, cores_on_node=16, cores_per_task=16, memory_mib=180 * 1024,
    gpus_on_node=1,
)  # fmt: skip

H100 = TorchDevice(name="NVIDIA H100", memory_bytes=80 << 30, capability="9.0")
TORCH = TorchFacts(
    python="python", version="2.13.0", cuda="12.6", available=True, devices=(H100,),
    architectures=("sm_80", "sm_90"), threads=16, profiler_sees_device=True,
)  # fmt: skip
SCRIPT = ScriptFacts(
    path="train.py", loaders=(LoaderCall(line=3, workers=8, pins=True),), moves_to_device=True,
    lowers_precision=True,
)  # fmt: skip


def allocation(**changed):
    base = Allocation(
        cores=16, cores_from="affinity", affinity=16, machine_cores=64,
        memory_limit_bytes=180 << 30, machine_memory_bytes=720 << 30,
        cgroup=CgroupLimits(version="v2"), slurm=JOB, visible_devices="0",
    )  # fmt: skip
    return msgspec.structs.replace(base, **changed)


def before(**changed):
    """The healthy machine, with fields of the report replaced; ``environ``, ``site``, ``jobs_here`` too."""
    environ = changed.pop("environ", {"OMP_NUM_THREADS": "8"})
    site = changed.pop("site", find_site("snellius").site)
    jobs_here = changed.pop("jobs_here", ())
    report = CheckReport(
        stepscope_version="0", host="gcn1", allocation=allocation(), torch=TORCH,
        driver=(DriverDevice(uuid="GPU-1", name="NVIDIA H100", memory_bytes=80 << 30),),
        driver_reason="", script=SCRIPT,
        data=DataFolder(system=LOCAL, files=2000, all_seen=False, mean_bytes=10_000),
        working=LOCAL, shared_memory=SHM, environment_system=LOCAL, scratch=(),
    )  # fmt: skip
    return Before(
        report=msgspec.structs.replace(report, **changed),
        environ=environ,
        site=site,
        jobs_here=jobs_here,
    )
