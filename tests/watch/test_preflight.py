"""The whole look, and how it reads."""

import sys

import msgspec
import pytest
from msgspec.structs import replace

from stepscope.schema.check_report import CheckReport
from stepscope.schema.machine import ScratchFolder, TorchFacts
from stepscope.watch import preflight as module
from stepscope.watch.check_text import render
from stepscope.watch.preflight import jobs_here, preflight
from tests.watch.before_example import LOCAL, LUSTRE, before


@pytest.fixture
def quick(monkeypatch):
    """No child with torch, no measuring of disks."""
    facts = TorchFacts(python="python", version="2.13.0", threads=2)
    monkeypatch.setattr(module, "probe_torch", lambda _python: facts)
    monkeypatch.setattr(module, "scratch_folders", lambda _environ, _site: ())


@pytest.mark.usefixtures("quick")
def test_everything_is_looked_at(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("DataLoader(d, num_workers=4096)\n")
    report = preflight({}, python=sys.executable, script=script, data=tmp_path)
    assert report.allocation.cores >= 1
    assert report.data is not None
    assert report.driver_reason or report.driver
    assert "CK023" in [finding.code for finding in report.findings]
    assert msgspec.json.decode(msgspec.json.encode(report), type=CheckReport) == report


def test_jobs_are_asked_for_outside_a_job_only(tmp_path, monkeypatch):
    squeue = tmp_path / "squeue"
    squeue.write_text("#!/bin/sh\necho 41; echo 42\n")
    squeue.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda _name: str(squeue))
    assert jobs_here({}) == ("41", "42")
    assert jobs_here({"SLURM_JOB_ID": "7"}) == ()
    squeue.write_text("#!/bin/sh\necho down >&2; exit 1\n")
    assert jobs_here({}) == ()
    monkeypatch.setattr("shutil.which", lambda _name: None)
    assert jobs_here({}) == ()


def test_a_healthy_machine_reads_so():
    text = render(before().report)
    assert "Cores    16 of 64 (affinity)" in text
    assert "Job      7 on gcn1, 1 node(s), 1 task(s), 1 GPU(s) here" in text
    assert "Torch    2.13.0, CUDA 12.6, sees NVIDIA H100" in text
    assert (
        "Data     /data: ext4 (local), 1.00 TB free, the first 2,000 files of 10.0 kB on average"
        in text
    )
    assert "Nothing wrong is visible before the run." in text


def test_scratch_reads_with_its_speed_or_the_reason():
    fast = ScratchFolder(
        system=LOCAL, note="the node's own disk", write_bytes_per_s=2e9, files_per_s=9000
    )
    shut = ScratchFolder(
        system=LUSTRE, note="", write_bytes_per_s=None, files_per_s=None, reason="it is nearly full"
    )
    text = render(replace(before().report, scratch=(fast, shut)))
    assert "writes 2.00 GB/s, 9,000 small files/s; the node's own disk" in text
    assert "not measured: it is nearly full" in text
