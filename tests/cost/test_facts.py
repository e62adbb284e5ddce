"""What a summary of a watched run tells about cost."""

import msgspec
import pytest

from stepscope.cost.facts import facts_of, read_facts
from stepscope.cost.options import CostOptions
from stepscope.cost.plan import price_plan
from stepscope.cost.span import Span, known, not_known
from stepscope.errors import InputError
from stepscope.schema.run_folder import Manifest, RankRecording, write_document
from stepscope.schema.watch_summary import DeviceUse, WatchSummary


def device(uuid="GPU-1", busy=0.5, energy=None):
    return DeviceUse(
        node="n0", uuid=uuid, name="NVIDIA H100", seconds=10, samples=20, busy_frac=busy, longest_idle_s=0, memory_last_bytes=1, pcie_bytes_per_s=None, nvlink_bytes_per_s=None, capped_frac=0,
        working_frac=None, tensor_frac=None, memory_peak_bytes=1, memory_bytes=2,
        memory_growth_bytes_per_s=None, watts_mean=100, watts_limit=700, throttled_frac=0,
        throttle_reasons=(), used=True, lost=False,
        energy=energy or known(Span(1000, 1000, 1000), "J", "measured", "energy counter"),
    )  # fmt: skip


def summary(*devices):
    return WatchSummary(
        stepscope_version="0", command=("python", "t.py"), job_id=None, partition=None, interactive=False, time_limit_s=None, own_cpu_s=None, own_rss_bytes=None,
        started="2026-11-30T12:00:00+00:00", wall_s=10, exit_status=0, signal=None, complete=True,
        nodes=(), devices=devices, host_energy=not_known("J", "no RAPL"),
    )  # fmt: skip


def test_devices_are_summed_and_the_weakest_basis_is_told():
    modelled = known(Span(500, 400, 700), "J", "modelled", "limit x utilisation")
    facts = facts_of(summary(device(), device("GPU-2", 1.0, modelled)), "here")
    assert (facts.gpus, facts.seconds, facts.device) == (2, 10, "NVIDIA H100")
    assert (facts.devices.value, facts.devices.low, facts.devices.high) == (1500, 1400, 1700)
    assert facts.devices.basis == "modelled"
    assert facts.idle_frac == pytest.approx(0.25)


def test_one_device_without_energy_leaves_the_sum_not_known():
    facts = facts_of(summary(device(), device("GPU-2", None, not_known("J", "lost"))), "here")
    assert facts.devices.value is None
    assert "GPU-2" in facts.devices.how
    assert facts.idle_frac is None


def test_a_folder_is_read_by_its_summary(tmp_path):
    (tmp_path / "watch.json").write_bytes(msgspec.json.encode(summary(device())))
    assert read_facts(tmp_path).gpus == 1
    assert read_facts(tmp_path / "watch.json").gpus == 1


def test_a_folder_that_was_not_watched_says_how_to(tmp_path):
    with pytest.raises(InputError, match="stepscope watch -- COMMAND"):
        read_facts(tmp_path)


def test_something_else_is_named(tmp_path):
    (tmp_path / "watch.json").write_text('{"traceEvents": []}')
    with pytest.raises(InputError, match="is not a summary of a watched run"):
        read_facts(tmp_path)


def recorded(folder, device="cuda", wall_ns=7_200_000_000_000):
    manifest = Manifest(
        stepscope_version="0", command=("t.py",), directory="/", python="3", host="h", pid=1,
        started="2026-11-30T12:00:00+00:00", started_ns=0, wall_ns=wall_ns,
    )  # fmt: skip
    write_document(folder / "run.json", manifest)
    for rank in range(2):
        (folder / f"rank{rank}").mkdir()
        recording = RankRecording(
            rank=rank, world_size=2, pid=1, torch_version="2", device=device, step_source="none",
            steps_seen=0, startup_ns=None, clean_steps_ns=(), windows=(), own_cost_ns=0, time_ns=0,
            perf_ns=0, complete=True,
        )  # fmt: skip
        write_document(folder / f"rank{rank}" / "recording.json", recording)
    return folder


def test_a_recorded_run_gives_its_time_and_devices(tmp_path):
    facts = read_facts(recorded(tmp_path))
    assert (facts.seconds, facts.gpus, facts.devices.value) == (7200, 2, None)


def test_a_recorded_run_on_cpus_has_no_device(tmp_path):
    assert read_facts(recorded(tmp_path, device="cpu")).gpus == 0


def test_a_recorded_run_that_was_killed_has_no_time(tmp_path):
    with pytest.raises(InputError, match="did not end"):
        read_facts(recorded(tmp_path, wall_ns=None))


def test_a_recorded_run_is_modelled_when_its_energy_was_not_watched(tmp_path):
    report = price_plan(CostOptions(device="H100", site="none"), {}, read_facts(recorded(tmp_path)))
    assert report.gpu_hours == 4
    assert report.energy.devices.value == pytest.approx(4 * 3600 * 700 * 0.6)
