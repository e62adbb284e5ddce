"""A whole run on eight devices of a replayed driver, each with a trouble of its own, up to what is told."""

import msgspec.structs
import pytest

from stepscope.cost.facts import facts_of
from stepscope.schema.sampler import Moment
from stepscope.schema.samples import End
from stepscope.watch.closing import summary_of
from stepscope.watch.nvml_sampler import NvmlSampler
from stepscope.watch.store import SampleWriter, read_watched
from stepscope.watch.summary_text import render
from stepscope.watch.use import use_of
from tests.known import known
from tests.watch import recorded
from tests.watch.recorded import BOOT_NS, ZERO_NS
from tests.watch.replayed_nvml import LOST, NO_PERMISSION, NOT_SUPPORTED, Answer, ReplayedNvml, gpu
from tests.watch.rows import host, start

SECONDS = 10
POWER, ENERGY = "nvmlDeviceGetPowerUsage", "nvmlDeviceGetTotalEnergyConsumption"
PROCESSES, LIMIT = "nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetEnforcedPowerLimit"


def counting(*, first=0, wraps_at=None, watts=350):
    """Answers of an energy counter in millijoules, one a second."""
    counts = [first + 1000 * watts * second for second in range(SECONDS + 1)]
    if wraps_at is not None:
        counts[wraps_at:] = [1000 * watts * place for place in range(len(counts[wraps_at:]))]
    return counts


def part(number, share):
    """A MIG slice."""
    return {
        "nvmlDeviceGetUUID": f"MIG-{number}",
        "nvmlDeviceGetName": "NVIDIA H100 80GB HBM3 MIG 3g.40gb",
        "nvmlDeviceGetMemoryInfo": Answer(total=40 << 30, used=number << 30),
        "nvmlDeviceGetAttributes_v2": Answer(gpuInstanceSliceCount=share),
        "nvmlDeviceGetUtilizationRates": NOT_SUPPORTED,
        "nvmlDeviceGetComputeRunningProcesses": [[Answer(pid=100)]],
        "nvmlDeviceGetGpuInstanceId": number,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The samples of ten seconds."""
    made = tmp_path_factory.mktemp("run")
    library = ReplayedNvml(
        gpu(0, **{ENERGY: counting()}),
        gpu(1, **{ENERGY: counting(), POWER: [350_000] * 4 + [LOST]}),
        gpu(2, **{ENERGY: NO_PERMISSION, PROCESSES: NO_PERMISSION}),
        gpu(3, **{ENERGY: counting(), POWER: 0}),
        gpu(4, **{ENERGY: counting(first=10**12, wraps_at=6)}),
        gpu(5, **{ENERGY: NOT_SUPPORTED, POWER: 0, LIMIT: NOT_SUPPORTED}),
        # Both slices ask their device.
        gpu(6, nvmlDeviceGetMigMode=[[1, 1]], **{ENERGY: [c for c in counting() for _ in "12"]}),
        gpu(7, **{ENERGY: 7}),
        slices={6: [part(1, 3), part(2, 4)]},
    )
    sampler = NvmlSampler(None, library)
    writer = SampleWriter(made, start(time_ns=BOOT_NS + ZERO_NS, perf_ns=ZERO_NS))
    writer.write(0.0, sampler.open())
    for at in range(SECONDS + 1):
        rows = sampler.sample(Moment(float(at), frozenset(range(100, 200))))
        writer.write(float(at), [host(float(at)), *rows])
    sampler.close()
    writer.close(End(at_s=float(SECONDS), exit_status=0, own_cpu_s=0.1, own_rss_bytes=1))
    return made


@pytest.fixture(scope="module")
def devices(folder):
    return {device.uuid[:12]: device for device in summary_of(folder).devices}


def test_each_device_and_each_slice_is_there_once(devices):
    wholes = [f"GPU-{number:08x}" for number in (0, 1, 2, 3, 4, 5, 7)]
    assert sorted(devices) == [*sorted(wholes), "MIG-1", "MIG-2"]


@pytest.mark.parametrize(
    ("uuid", "joules", "basis", "says"),
    [
        ("GPU-00000000", 3500, "measured", "energy counter"),
        # Three seconds until it was lost.
        ("GPU-00000001", 1050, "measured", "energy counter"),
        ("GPU-00000002", 3500, "measured", "power over time; it has no energy counter"),
        ("GPU-00000003", 3500, "measured", "energy counter"),
        # From one reading to that in which it stands at 0 again nothing is known to have been drawn.
        ("GPU-00000004", 5 * 350 + 4 * 350, "measured", "energy counter"),
        ("GPU-00000005", None, "not-known", "neither energy nor power"),
        ("GPU-00000007", 3500, "measured", "counter stands still"),
    ],
)
def test_energy_of_each_by_the_best_that_it_tells(devices, uuid, joules, basis, says):
    energy = devices[uuid].energy
    assert energy.basis == basis
    assert says in energy.how
    assert energy.value == (None if joules is None else pytest.approx(joules))


def test_slices_share_their_device_s_energy(devices):
    one, other = devices["MIG-1"].energy, devices["MIG-2"].energy
    assert (one.basis, other.basis) == ("attributed", "attributed")
    assert one.value / 3 == pytest.approx(other.value / 4)


def test_a_lost_device_is_told_and_a_refused_list_of_processes_is_not_an_unused_device(devices):
    assert devices["GPU-00000001"].lost
    assert devices["GPU-00000002"].used is None
    assert devices["GPU-00000000"].used is True
    assert devices["GPU-00000003"].watts_mean is None


def test_the_job_s_energy_is_not_known_when_one_device_s_is_not(folder, devices):
    summary = summary_of(folder)
    facts = facts_of(summary, "here")
    assert (facts.gpus, facts.devices.value) == (9, None)
    assert "GPU-00000005" in facts.devices.how
    text = render(summary, folder)
    assert "lost" in text
    assert "not known" in text
    assert " 0 J" not in text


def test_the_report_has_a_track_for_whatever_a_device_tells(folder):
    run = recorded.run(recorded.rank(rows=recorded.steps(first=0, last=10)))
    summary = summary_of(folder)
    facts = facts_of(summary, "here")
    use = known(use_of(run, read_watched(folder), facts.devices, facts.host))
    powers = {track.device[:12]: track.mean for track in use.tracks if track.kind == "gpu-power"}
    assert powers["GPU-00000000"] == 350
    assert powers["MIG-1"] == pytest.approx(150)
    assert "GPU-00000005" not in powers
    busy = {track.device[:12]: track.mean for track in use.tracks if track.kind == "gpu-busy"}
    assert busy["GPU-00000002"] == 0.5
    assert "MIG-1" not in busy
    assert use.energy.per_step.value is None


def test_without_the_silent_device_the_job_s_energy_is_the_sum(folder):
    summary = summary_of(folder)
    telling = tuple(one for one in summary.devices if one.energy.value is not None)
    facts = facts_of(msgspec.structs.replace(summary, devices=telling), "here")
    assert facts.devices.value == pytest.approx(sum(known(one.energy.value) for one in telling))
    assert facts.devices.basis == "attributed"
