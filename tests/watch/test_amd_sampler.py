"""AMD devices through a replayed library."""

import sys

import pytest

from stepscope.schema.samples import DeviceSample, DeviceStart, Notice
from stepscope.watch.amd_sampler import AmdSampler, load_amdsmi
from stepscope.watch.energy import device_energy
from tests.watch.rows import opened, sampled


class AmdSmiException(Exception):  # noqa: N818  the library calls it so
    pass


class Amdsmi:
    """Two dies of a card: the second one shows no draw and no counter of its own."""

    AmdSmiException = AmdSmiException

    def __init__(self, power=300, failing=()):
        self.power, self.failing = power, failing

    def amdsmi_get_processor_handles(self):
        if "handles" in self.failing:
            raise AmdSmiException("no permission: not in group render")
        return ["die0", "die1"]

    def amdsmi_get_gpu_device_uuid(self, handle):
        return f"uuid-{handle}"

    def amdsmi_get_gpu_asic_info(self, handle):
        return {"market_name": "AMD Instinct MI250X"}

    def amdsmi_get_gpu_vram_usage(self, handle):
        return {"vram_total": 65536, "vram_used": 1024}

    def amdsmi_get_power_cap_info(self, handle):
        return {"power_cap": 560_000_000}

    def amdsmi_get_gpu_activity(self, handle):
        return {"gfx_activity": 75 if handle == "die0" else "N/A"}

    def amdsmi_get_power_info(self, handle):
        if handle == "die1":
            return {"current_socket_power": "N/A", "average_socket_power": "N/A"}
        return {"current_socket_power": "N/A", "average_socket_power": self.power}

    def amdsmi_get_energy_count(self, handle):
        if handle == "die1":
            raise AmdSmiException("not supported")
        return {"energy_accumulator": 1_000_000, "counter_resolution": 15.3}

    def amdsmi_get_gpu_process_list(self, handle):
        return [{"pid": 100}] if handle == "die0" else [{"pid": 9}]

    def amdsmi_shut_down(self):
        raise AmdSmiException("already down")


def test_two_dies_are_two_devices():
    sampler = AmdSampler((None, None), Amdsmi())
    one, _ = opened(sampler)
    assert one == DeviceStart(
        uuid="uuid-die0", name="AMD Instinct MI250X", memory_bytes=65536 << 20, watts_limit=560
    )
    first, second = sampled(sampler, 1.0, frozenset({100}))
    assert first == DeviceSample(
        at_s=1.0, uuid="uuid-die0", busy_frac=0.75, memory_bytes=1 << 30, watts=300,
        energy_mj=15_300, job_processes=1,
    )  # fmt: skip
    assert (second.busy_frac, second.watts, second.energy_mj, second.job_processes) == (None,) * 4
    sampler.close()


def test_the_visible_ones_only():
    assert [row.uuid for row in opened(AmdSampler(("1", None), Amdsmi()))] == ["uuid-die1"]
    assert [row.uuid for row in opened(AmdSampler((None, "uuid-die0,7"), Amdsmi()))] == [
        "uuid-die0"
    ]
    assert opened(AmdSampler(("", None), Amdsmi())) == ()
    # HIP counts among what ROCR leaves.
    assert [row.uuid for row in opened(AmdSampler(("1,0", "1"), Amdsmi()))] == ["uuid-die0"]
    assert opened(AmdSampler(("1", "1"), Amdsmi())) == ()


class Node(Amdsmi):
    """Eight devices of a node; one is lost after two looks, one may be asked nothing, one's counter wraps."""

    class AmdSmiClkType:
        GFX = "gfx"

    def __init__(self):
        super().__init__()
        self.looks = {}

    def amdsmi_get_processor_handles(self):
        return [f"die{place}" for place in range(8)]

    def amdsmi_get_gpu_activity(self, handle):
        look = self.looks[handle] = self.looks.get(handle, 0) + 1
        if handle == "die7" or (handle == "die3" and look > 2):
            raise AmdSmiException("no answer")
        return {"gfx_activity": 50}

    def _told(self, handle, answer):
        if handle == "die7" or (handle == "die3" and self.looks[handle] > 2):
            raise AmdSmiException("no answer")
        return answer

    def amdsmi_get_gpu_vram_usage(self, handle):
        return (
            self._told(handle, {"vram_total": 65536, "vram_used": 1024})
            if self.looks
            else {"vram_total": 1, "vram_used": 1}
        )

    def amdsmi_get_power_info(self, handle):
        return self._told(handle, {"current_socket_power": 0 if handle == "die5" else 300})

    def amdsmi_get_energy_count(self, handle):
        seconds = self.looks[handle] - 1
        count = 10 * seconds if handle == "die4" and seconds > 2 else 10**9 + 10**7 * seconds
        return self._told(handle, {"energy_accumulator": count, "counter_resolution": 15.0})

    def amdsmi_get_clock_info(self, handle, kind):
        assert kind == "gfx"
        return self._told(handle, {"clk": 1700})

    def amdsmi_get_pcie_info(self, handle):
        return self._told(handle, {"pcie_metric": {"pcie_bandwidth": 8000}})

    def amdsmi_get_gpu_process_list(self, handle):
        return self._told(handle, [{"pid": 100}])


def test_a_whole_node_with_a_trouble_of_each_kind():
    sampler = AmdSampler((None, None), Node())
    starts = opened(sampler)
    assert len({row.uuid for row in starts}) == 8
    rows = [row for second in range(5) for row in sampled(sampler, float(second), frozenset({100}))]
    by_device = {start.uuid: [row for row in rows if row.uuid == start.uuid] for start in starts}
    assert [row.lost for row in by_device["uuid-die3"]] == [False, False, True]
    assert [row.lost for row in by_device["uuid-die7"]] == [False] * 5
    assert by_device["uuid-die7"][0] == DeviceSample(at_s=0.0, uuid="uuid-die7")
    first = by_device["uuid-die0"][0]
    assert (first.clock_mhz, first.watts, first.busy_frac) == (1700, 300, 0.5)
    assert (first.pcie_sent_bytes_per_s, first.pcie_received_bytes_per_s) == (1e9, 0.0)
    assert {row.watts for row in by_device["uuid-die5"]} == {None}

    def energy(uuid):
        start = next(row for row in starts if row.uuid == uuid)
        return device_energy(start, by_device[uuid])

    assert energy("uuid-die0").value == pytest.approx(4 * 150)
    assert energy("uuid-die4").value == pytest.approx(2 * 150, abs=1)
    assert energy("uuid-die5").basis == "measured"
    assert energy("uuid-die7").value is None


def test_no_permission_is_said():
    (notice,) = AmdSampler((None, None), Amdsmi(failing=("handles",))).open()
    assert isinstance(notice, Notice)
    assert "render" in notice.text


@pytest.mark.parametrize(
    "error",
    ["KeyError('libamd_smi.so')", "OSError('no')", "ImportError('no')", "AttributeError('x')"],
)
def test_a_library_that_dies_at_import_is_none_and_silent(tmp_path, monkeypatch, capsys, error):
    (tmp_path / "amdsmi.py").write_text(f"print('Unable to load')\nraise {error}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "amdsmi", raising=False)
    assert load_amdsmi() is None
    assert capsys.readouterr().out == ""


def test_without_the_library_nothing_is_said():
    sampler = AmdSampler((None, None))
    assert opened(sampler) == ()
    assert sampled(sampler, 0.0) == ()
    sampler.close()
