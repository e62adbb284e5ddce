"""NVIDIA devices through a replayed driver."""

import sys

import pynvml  # type: ignore[import-untyped]
import pytest

from stepscope.schema.sampler import Moment
from stepscope.schema.samples import DeviceSample, DeviceStart, Notice
from stepscope.watch.nvml import list_devices
from stepscope.watch.nvml_sampler import NvmlSampler
from tests.watch.replayed_nvml import (
    LOST,
    NO_PERMISSION,
    NOT_SUPPORTED,
    Answer,
    Refusal,
    ReplayedNvml,
    gpu,
)

PIDS = frozenset(range(100, 200))


def opened(library, visible=None):
    sampler = NvmlSampler(visible, library)
    return sampler, sampler.open()


def take(sampler, ticks=1, pids=PIDS):
    return [row for tick in range(ticks) for row in sampler.sample(Moment(tick * 0.5, pids))]


def test_eight_devices_each_by_its_own_name():
    sampler, rows = opened(ReplayedNvml(*(gpu(n) for n in range(8))))
    assert [type(row) for row in rows] == [DeviceStart] * 8
    assert len({row.uuid for row in rows}) == 8
    assert rows[0] == DeviceStart(
        uuid="GPU-00000000-aaaa",
        name="NVIDIA H100 80GB HBM3",
        memory_bytes=80 << 30,
        watts_limit=700,
    )
    samples = take(sampler)
    assert len(samples) == 8
    assert samples[3] == DeviceSample(
        at_s=0.0, uuid="GPU-00000003-aaaa", busy_frac=0.5, memory_bytes=40 << 30, watts=350,
        energy_mj=1_000_000, clock_mhz=1980, events=0, job_processes=1,
    )  # fmt: skip


def test_the_job_s_devices_only_in_any_numbering():
    library = ReplayedNvml(*(gpu(n) for n in range(8)))
    _, rows = opened(library, visible="GPU-00000005,2")
    assert [row.uuid for row in rows] == ["GPU-00000005-aaaa", "GPU-00000002-aaaa"]


def test_a_device_that_the_scheduler_hides_is_passed_over():
    _, rows = opened(ReplayedNvml(gpu(0), NO_PERMISSION, gpu(2)))
    assert [row.uuid for row in rows] == ["GPU-00000000-aaaa", "GPU-00000002-aaaa"]


def test_nothing_visible_is_said():
    _, rows = opened(ReplayedNvml(gpu(0)), visible="")
    assert rows == (Notice(code="no-device", text="no NVIDIA device is watched: '' shows none"),)


def test_activity_needs_two_readings_and_gives_its_memory_back():
    activity = {
        pynvml.NVML_GPM_METRIC_SM_UTIL: 81.0,
        pynvml.NVML_GPM_METRIC_ANY_TENSOR_UTIL: 42.5,
        pynvml.NVML_GPM_METRIC_PCIE_TX_PER_SEC: 2.0,
        pynvml.NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC: 3.0,
        pynvml.NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC: 4.0,
    }
    hopper = gpu(0, nvmlGpmQueryDeviceSupport=Answer(isSupportedDevice=1), nvmlGpmSampleGet=True)
    library = ReplayedNvml(hopper, activity=activity)
    sampler, _ = opened(library)
    first, second = take(sampler, 2)
    assert first.working_frac is None
    assert (second.working_frac, second.tensor_frac) == (0.81, 0.425)
    assert second.pcie_sent_bytes_per_s == 2 << 20
    assert second.pcie_received_bytes_per_s is None
    assert second.nvlink_bytes_per_s == 7 << 20
    assert library.allocated == 2
    sampler.close()
    assert library.allocated == 0
    assert not library.is_open


def field(count, code=pynvml.NVML_SUCCESS):
    return Answer(nvmlReturn=code, value=Answer(ullVal=count))


def test_before_hopper_links_are_read_by_other_calls():
    ampere = gpu(
        0,
        nvmlDeviceGetPcieThroughput=[1000, 2000, 3000, 4000],
        nvmlDeviceGetFieldValues=[[field(count), field(2 * count)] for count in (0, 1000, 500, 1500, 2500, 3500)],
    )  # fmt: skip
    library = ReplayedNvml(ampere)
    sampler, _ = opened(library)
    rows = take(sampler, 5)
    assert [row.pcie_sent_bytes_per_s for row in rows] == [1_024_000, None, None, None, 3_072_000]
    assert [row.pcie_received_bytes_per_s for row in rows] == [
        2_048_000,
        None,
        None,
        None,
        4_096_000,
    ]
    # The first reading has nothing before it; a counter that fell has started anew.
    traffic = 3000 * 1024 / 0.5
    assert [row.nvlink_bytes_per_s for row in rows] == [None, traffic, None, traffic, traffic]
    assert {row.working_frac for row in rows} == {None}


def test_a_device_without_nvlink_is_asked_once():
    plain = gpu(0, nvmlDeviceGetFieldValues=[[field(0, pynvml.NVML_ERROR_NOT_SUPPORTED)] * 2])
    library = ReplayedNvml(plain)
    sampler, _ = opened(library)
    assert {row.nvlink_bytes_per_s for row in take(sampler, 3)} == {None}
    names = [name for name, _ in library.asked]
    assert names.count("nvmlDeviceGetFieldValues") == 1
    assert names.count("nvmlDeviceGetPcieThroughput") == 1


def test_the_links_of_several_devices_are_not_asked_at_once():
    library = ReplayedNvml(*(gpu(n, nvmlDeviceGetPcieThroughput=7) for n in range(8)))
    sampler, _ = opened(library)
    told = [row for row in take(sampler, 9) if row.pcie_sent_bytes_per_s is not None]
    assert len({row.uuid for row in told}) == 8
    times = [row.at_s for row in told]
    assert max(times.count(at) for at in times) <= 3
    assert len(told) >= 2 * 8


def mig(number, slices):
    return {
        "nvmlDeviceGetUUID": f"MIG-{number}",
        "nvmlDeviceGetName": "NVIDIA H100 80GB HBM3 MIG 3g.40gb",
        "nvmlDeviceGetMemoryInfo": Answer(total=40 << 30, used=1 << 30),
        "nvmlDeviceGetAttributes_v2": Answer(gpuInstanceSliceCount=slices),
        "nvmlDeviceGetUtilizationRates": NOT_SUPPORTED,
        "nvmlDeviceGetComputeRunningProcesses": [[Answer(pid=100)]],
        "nvmlDeviceGetGpuInstanceId": number,
    }


def divided(**changed):
    return gpu(0, nvmlDeviceGetMigMode=[[1, 1]], **changed)


def test_a_divided_device_stands_for_its_slices():
    library = ReplayedNvml(divided(), slices={0: [mig(1, 3), None, mig(2, 4)]})
    sampler, rows = opened(library)
    starts = [row for row in rows if isinstance(row, DeviceStart)]
    assert [(row.uuid, row.slice_frac, row.parent) for row in starts] == [
        ("MIG-1", 3 / 7, "GPU-00000000-aaaa"),
        ("MIG-2", 4 / 7, "GPU-00000000-aaaa"),
    ]
    assert [row.code for row in rows if isinstance(row, Notice)] == ["mig"]
    one, other = take(sampler)
    assert (one.busy_frac, one.memory_bytes, one.watts) == (None, 1 << 30, 350)
    assert one.energy_mj == 1_000_000
    assert other.uuid == "MIG-2"


def test_a_slice_by_name_and_its_activity():
    hopper = divided(
        nvmlGpmQueryDeviceSupport=Answer(isSupportedDevice=1), nvmlGpmMigSampleGet=True
    )
    library = ReplayedNvml(
        hopper, slices={0: [mig(1, 3), mig(2, 4)]}, activity={pynvml.NVML_GPM_METRIC_SM_UTIL: 50.0}
    )
    sampler, rows = opened(library, visible="MIG-2")
    assert [row.uuid for row in rows if isinstance(row, DeviceStart)] == ["MIG-2"]
    assert take(sampler, 2)[1].working_frac == 0.5
    assert ("nvmlGpmMigSampleGet", "GPU-00000000-aaaa") in library.asked


def test_a_lost_device_says_so_once_and_is_left_alone():
    broken = gpu(1, nvmlDeviceGetPowerUsage=[350_000, LOST])
    library = ReplayedNvml(gpu(0), broken)
    sampler, _ = opened(library)
    rows = take(sampler, 4)
    assert [row.lost for row in rows if row.uuid == "GPU-00000001-aaaa"] == [False, True]
    assert sum(row.uuid == "GPU-00000000-aaaa" for row in rows) == 4


@pytest.mark.parametrize("refusal", [NO_PERMISSION, NOT_SUPPORTED])
def test_what_is_refused_is_left_out_and_not_asked_again(refusal):
    shy = gpu(
        0, nvmlDeviceGetTotalEnergyConsumption=refusal, nvmlDeviceGetComputeRunningProcesses=refusal
    )
    library = ReplayedNvml(shy)
    sampler, _ = opened(library)
    rows = take(sampler, 5)
    assert {(row.energy_mj, row.job_processes) for row in rows} == {(None, None)}
    assert {row.watts for row in rows} == {350}
    names = [name for name, _ in library.asked]
    assert names.count("nvmlDeviceGetTotalEnergyConsumption") == 1


def test_a_draw_of_nothing_is_not_a_draw():
    sampler, _ = opened(ReplayedNvml(gpu(0, nvmlDeviceGetPowerUsage=0)))
    assert take(sampler)[0].watts is None


def test_strangers_on_a_device_tell_nothing_and_an_empty_one_tells_no():
    strangers = gpu(0)
    empty = gpu(1, nvmlDeviceGetComputeRunningProcesses=[[]])
    sampler, _ = opened(ReplayedNvml(strangers, empty))
    one, other = take(sampler, pids=frozenset({1}))
    assert (one.job_processes, other.job_processes) == (None, 0)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, "no NVIDIA driver is installed here"),
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, "not loaded"),
        (pynvml.NVML_ERROR_NO_PERMISSION, "refuses to answer this user"),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, "version mismatch"),
    ],
)
def test_no_driver_is_one_sentence(code, says):
    sampler, rows = opened(ReplayedNvml(gpu(0), init=Refusal(code)))
    (notice,) = rows
    assert says in notice.text
    assert take(sampler) == []
    sampler.close()
    devices, why = list_devices(ReplayedNvml(gpu(0), init=Refusal(code)))
    assert devices == ()
    assert says in why


def test_without_the_binding_is_one_sentence_too(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    (notice,) = NvmlSampler(None).open()
    assert isinstance(notice, Notice)
    assert "nvidia-ml-py" in notice.text
    assert list_devices() == ((), notice.text.removeprefix("no NVIDIA device is watched: "))


def test_the_driver_s_list_for_the_check():
    devices, why = list_devices(ReplayedNvml(gpu(0), gpu(1, nvmlDeviceGetMemoryInfo=NOT_SUPPORTED)))
    assert [(device.uuid, device.memory_bytes) for device in devices] == [
        ("GPU-00000000-aaaa", 80 << 30),
        ("GPU-00000001-aaaa", None),
    ]
    assert why == ""


def test_names_in_bytes_as_older_bindings_give_them():
    _, rows = opened(ReplayedNvml(gpu(0, nvmlDeviceGetName=b"Tesla V100")))
    assert rows[0].name == "Tesla V100"
