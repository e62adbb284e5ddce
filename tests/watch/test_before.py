"""Mistakes before a run: each is found, and silent just below its threshold or without its data."""

from dataclasses import replace
from pathlib import Path

import msgspec.structs
import pytest

from stepscope.schema.machine import DataFolder, LoaderCall, ScriptFacts, TorchFacts
from stepscope.watch.before import MISTAKES
from stepscope.watch.mistake import look_for
from tests.watch.before_example import (
    H100,
    JOB,
    LOCAL,
    LUSTRE,
    SCRIPT,
    SHM,
    TORCH,
    allocation,
    before,
)


def script(**changed):
    return replace(SCRIPT, **changed)


def loader(workers):
    return script(loaders=(LoaderCall(line=3, workers=workers, pins=False),))


def data(**changed):
    base = DataFolder(system=LUSTRE, files=1000, all_seen=False, mean_bytes=131_071)
    return replace(base, **changed)


NO_TORCH = TorchFacts(python="python", version=None, error="ImportError: no torch")
CPU_BUILD = replace(TORCH, cuda=None, available=False, devices=(), profiler_sees_device=None)
REFUSED = replace(
    TORCH, available=False, devices=(), profiler_sees_device=None,
    error="CUDA initialization: The NVIDIA driver on your system is too old (found version 11040).",
)  # fmt: skip
OUTSIDE = allocation(slurm=None)

FIRES = [
    ("CK001", {"torch": NO_TORCH}),
    ("CK002", {"torch": CPU_BUILD}),
    ("CK002", {"torch": CPU_BUILD, "allocation": OUTSIDE}),
    ("CK003", {"torch": REFUSED}),
    ("CK004", {"torch": replace(TORCH, architectures=("sm_70", "sm_80"))}),
    ("CK004", {"torch": replace(TORCH, architectures=("sm_100", "compute_100"))}),
    ("CK005", {"allocation": allocation(slurm=msgspec.structs.replace(JOB, gpus_on_node=4, cores_on_node=64, cores_per_task=16))}),
    ("CK006", {"torch": replace(TORCH, profiler_sees_device=False)}),
    ("CK010", {"allocation": allocation(affinity=1, cores=1), "environ": {"OMP_NUM_THREADS": "1"}}),
    ("CK010", {"allocation": allocation(affinity=15, cores=15, slurm=msgspec.structs.replace(JOB, cores_per_task=None))}),
    ("CK011", {"allocation": allocation(affinity=64), "environ": {}}),
    ("CK012", {"environ": {"OMP_NUM_THREADS": "8", "LOCAL_WORLD_SIZE": "3"}}),
    ("CK013", {"environ": {"OMP_NUM_THREADS": "1", "TORCHELASTIC_RUN_ID": "x", "LOCAL_WORLD_SIZE": "4"}}),
    ("CK014", {"shared_memory": replace(SHM, free_bytes=(1 << 30) - 1)}),
    ("CK020", {"data": data()}),
    ("CK021", {"environment_system": LUSTRE}),
    ("CK022", {"script": loader(0)}),
    ("CK023", {"script": loader(17)}),
    ("CK024", {"script": script(moves_to_device=False)}),
    ("CK025", {"script": script(lowers_precision=False)}),
    ("CK030", {"host": "int6", "allocation": OUTSIDE}),
    ("CK030", {"host": "login-1.lumi", "allocation": OUTSIDE}),
    ("CK031", {"jobs_here": ("7",), "allocation": OUTSIDE}),
    ("CK032", {"allocation": allocation(slurm=msgspec.structs.replace(JOB, memory_mib=181 * 1024))}),
    ("CK032", {"allocation": allocation(slurm=msgspec.structs.replace(JOB, cores_on_node=17))}),
    ("CK033", {"allocation": allocation(slurm=msgspec.structs.replace(JOB, nodes=4))}),
]  # fmt: skip

SILENT = [
    ("CK002", {"torch": CPU_BUILD, "allocation": OUTSIDE, "driver": ()}),
    ("CK002", {"torch": replace(CPU_BUILD, other="xpu")}),
    ("CK002", {"torch": NO_TORCH}),
    ("CK003", {"torch": REFUSED, "allocation": allocation(slurm=msgspec.structs.replace(JOB, gpus_on_node=None))}),
    ("CK004", {"torch": replace(TORCH, architectures=())}),
    ("CK004", {"torch": replace(TORCH, architectures=("sm_80", "compute_80"))}),
    ("CK004", {"torch": replace(TORCH, devices=(replace(H100, capability="8.9"),), architectures=("sm_86",))}),
    ("CK004", {"torch": replace(TORCH, devices=(replace(H100, capability=""),), architectures=("gfx90a",))}),
    ("CK005", {"allocation": allocation(slurm=msgspec.structs.replace(JOB, gpus_on_node=4, tasks=4))}),
    ("CK006", {"torch": replace(TORCH, profiler_sees_device=None)}),
    ("CK010", {"allocation": allocation(affinity=4, slurm=msgspec.structs.replace(JOB, cores_per_task=None, tasks=4))}),
    ("CK011", {"allocation": allocation(affinity=64, cores=64)}),
    ("CK011", {"environ": {}}),
    ("CK012", {"environ": {"OMP_NUM_THREADS": "8", "LOCAL_WORLD_SIZE": "2"}}),
    ("CK013", {"environ": {"OMP_NUM_THREADS": "1", "TORCHELASTIC_RUN_ID": "x", "LOCAL_WORLD_SIZE": "5"}}),
    ("CK013", {"environ": {"OMP_NUM_THREADS": "1"}}),
    ("CK014", {"shared_memory": replace(SHM, free_bytes=1 << 30)}),
    ("CK014", {"shared_memory": None}),
    ("CK014", {"shared_memory": replace(SHM, free_bytes=0), "script": loader(0)}),
    ("CK020", {"data": data(mean_bytes=131_072)}),
    ("CK020", {"data": data(files=999)}),
    ("CK020", {"data": data(system=LOCAL)}),
    ("CK020", {"data": data(mean_bytes=None)}),
    ("CK020", {"data": None}),
    ("CK021", {"environment_system": replace(LUSTRE, type="nfs4", is_parallel=False)}),
    ("CK022", {"script": loader(None)}),
    ("CK022", {"script": loader(0), "allocation": allocation(cores=1, affinity=1)}),
    ("CK022", {"script": None}),
    ("CK023", {"script": loader(16)}),
    ("CK023", {"script": None}),
    ("CK024", {"script": script(moves_to_device=False, framework="lightning")}),
    ("CK024", {"script": ScriptFacts(path="x", error="it is not Python")}),
    ("CK024", {"script": script(moves_to_device=False), "allocation": OUTSIDE, "driver": ()}),
    ("CK025", {"script": script(lowers_precision=False), "torch": replace(TORCH, devices=(replace(H100, capability="7.5"),))}),
    ("CK025", {"script": ScriptFacts(path="x", error="it is not Python")}),
    ("CK030", {"host": "int6"}),
    ("CK030", {"host": "integrator", "allocation": OUTSIDE}),
    ("CK030", {"host": "gcn1", "allocation": OUTSIDE}),
    ("CK031", {"jobs_here": ("7",)}),
    ("CK032", {"allocation": allocation(slurm=msgspec.structs.replace(JOB, memory_mib=None, cores_on_node=None))}),
    ("CK032", {"allocation": allocation(slurm=msgspec.structs.replace(JOB, partition="other", memory_mib=10**9))}),
    ("CK032", {"site": None, "allocation": allocation(slurm=msgspec.structs.replace(JOB, memory_mib=10**9))}),
    ("CK033", {"allocation": allocation(slurm=msgspec.structs.replace(JOB, nodes=2, gpus_on_node=4, cores_on_node=64))}),
]  # fmt: skip


def codes(**changed):
    return [finding.code for finding in look_for(MISTAKES, before(**changed))]


@pytest.mark.parametrize(("code", "changed"), FIRES)
def test_a_mistake_is_found(code, changed):
    findings = {finding.code: finding for finding in look_for(MISTAKES, before(**changed))}
    assert code in findings
    assert findings[code].title
    assert findings[code].action
    assert findings[code].evidence


@pytest.mark.parametrize(("code", "changed"), SILENT)
def test_it_is_silent_below_its_threshold_and_without_its_data(code, changed):
    assert code not in codes(**changed)


def test_a_healthy_machine_has_no_finding():
    assert codes() == []


def test_every_mistake_has_both_tests():
    fires = {code for code, _ in FIRES}
    assert fires == {mistake.code for mistake in MISTAKES}
    assert {code for code, _ in SILENT} >= fires - {"CK001"}
    assert len(fires) == len(MISTAKES), "a code is used twice"


def test_an_old_driver_is_called_that():
    (finding,) = look_for(MISTAKES, before(torch=REFUSED))
    assert "driver is older" in finding.title


def test_severe_findings_come_first():
    found = look_for(MISTAKES, before(torch=CPU_BUILD, environment_system=LUSTRE, script=loader(0)))
    assert [finding.severity for finding in found] == ["high", "medium", "low"]


def test_small_files_on_a_local_disk_are_fine():
    assert codes(data=data(system=LOCAL, mean_bytes=10)) == []


def test_the_documentation_lists_every_mistake():
    page = Path(__file__).parents[2] / "docs" / "how-to" / "check-before-a-run.md"
    text = page.read_text(encoding="utf-8")
    for mistake in MISTAKES:
        assert f"| {mistake.code} | {mistake.title} | {mistake.test} | {mistake.source} |" in text
