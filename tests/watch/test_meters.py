"""Energy counters of the node on fake trees."""

import pytest

from stepscope.schema.samples import MeterSample, Notice
from stepscope.watch.meters import CraySampler, RaplSampler
from tests.watch.rows import opened, sampled
from tests.watch.trees import write


def rapl(root, package, dram="5000000"):
    """Two packages with memory, and everything that must not be counted."""
    zones = {
        "intel-rapl:0": ("package-0", package), "intel-rapl:1": ("package-1", "2000000"),
        "intel-rapl:0:0": ("core", "7"), "intel-rapl:0:1": ("uncore", "7"),
        "intel-rapl:0:2": ("dram", dram), "intel-rapl:2": ("psys", "9"),
        "intel-rapl-mmio:0": ("package-0", package),
    }  # fmt: skip
    files: dict[str, str] = {}
    for zone, (name, count) in zones.items():
        files |= {
            f"{zone}/name": name, f"{zone}/energy_uj": count,
            f"{zone}/max_energy_range_uj": "262143328850",
        }  # fmt: skip
    return write(root, files)


def sample(sampler, at_s=1.0):
    return {row.meter: row.joules for row in sampled(sampler, at_s)}


def test_packages_and_memory_and_nothing_twice(tmp_path):
    sampler = RaplSampler(rapl(tmp_path, "1000000"))
    assert opened(sampler) == ()
    rapl(tmp_path, "4000000", dram="5500000")
    assert sampled(sampler, 1.0) == (
        MeterSample(at_s=1.0, meter="rapl:0:package-0", part="cpu", joules=3.0),
        MeterSample(at_s=1.0, meter="rapl:0:2:dram", part="memory", joules=0.5),
        MeterSample(at_s=1.0, meter="rapl:1:package-1", part="cpu", joules=0.0),
    )


@pytest.mark.parametrize(("second", "counted"), [("1000500", 1), ("9000000", 2)])
def test_two_dies_that_show_one_counter_are_counted_once(tmp_path, second, counted):
    files: dict[str, str] = {}
    for zone, count in enumerate(("1000000", second)):
        files |= {
            f"intel-rapl:{zone}/name": f"package-0-die-{zone}",
            f"intel-rapl:{zone}/energy_uj": count,
            f"intel-rapl:{zone}/max_energy_range_uj": "262143328850",
        }
    sampler = RaplSampler(write(tmp_path, files))
    assert opened(sampler) == ()
    assert len(sample(sampler)) == counted


def test_a_counter_that_wraps_goes_on(tmp_path):
    sampler = RaplSampler(rapl(tmp_path, "262143000000"))
    opened(sampler)
    rapl(tmp_path, "1671150")
    assert sample(sampler)["rapl:0:package-0"] == 2.0
    rapl(tmp_path, "2671150")
    assert sample(sampler)["rapl:0:package-0"] == 3.0
    rapl(tmp_path, "671150")
    assert round(sample(sampler)["rapl:0:package-0"] - 3.0) == round((262143328850 - 2000000) / 1e6)


def test_counters_for_root_only_say_whom_to_ask(tmp_path):
    rapl(tmp_path, "", dram="")
    (tmp_path / "intel-rapl:1" / "energy_uj").unlink()
    (notice,) = opened(RaplSampler(tmp_path))
    assert isinstance(notice, Notice)
    assert "for root only" in notice.text
    assert "chmod a+r" in notice.text


def test_no_counters_are_said_to_be_missing(tmp_path):
    sampler = RaplSampler(tmp_path)
    (notice,) = opened(sampler)
    assert notice.code == "no-rapl"
    assert sample(sampler) == {}


def test_a_counter_that_vanishes_is_left_out(tmp_path):
    sampler = RaplSampler(rapl(tmp_path, "1000000"))
    opened(sampler)
    (tmp_path / "intel-rapl:0" / "energy_uj").unlink()
    assert "rapl:0:package-0" not in sample(sampler)


def test_cray_nodes_tell_users(tmp_path):
    files = {
        "energy": "1000 J 5 us",
        "cpu_energy": "300 J 5 us",
        "memory_energy": "20 J 5 us",
        "accel0_energy": "600 J 5 us",
        "power": "9 W",
    }
    sampler = CraySampler(write(tmp_path, files))
    assert opened(sampler) == ()
    write(tmp_path, {name: text.replace(" J", "0 J") for name, text in files.items()})
    rows = {row.meter: (row.part, row.joules) for row in sampled(sampler, 1.0)}
    assert rows == {
        "cray:cpu_energy": ("cpu", 2700.0), "cray:memory_energy": ("memory", 180.0),
        "cray:energy": ("node", 9000.0), "cray:accel0_energy": ("devices", 5400.0),
    }  # fmt: skip


def test_other_nodes_have_none(tmp_path):
    sampler = CraySampler(tmp_path)
    assert opened(sampler) == ()
    assert sample(sampler) == {}
