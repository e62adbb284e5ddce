"""Energy from samples, with its basis."""

import msgspec
import pytest

from stepscope.schema.samples import MeterSample
from stepscope.watch import energy as module
from stepscope.watch.energy import busy_share
from tests.watch.rows import device, device_start, host


def device_energy(start, rows):
    return module.device_energy(start, rows)


def host_energy(meters, hosts):
    return module.host_energy(meters, hosts)


def rows(seconds=10, **changed):
    """A sample a second; a changed column is a function of the time."""
    made = []
    for at in range(seconds + 1):
        fields = {name: value(at) if callable(value) else value for name, value in changed.items()}
        made.append(device(float(at), **fields))
    return made


def test_the_counter_goes_first():
    energy = device_energy(device_start(), rows(watts=1.0))
    assert (energy.value, energy.basis) == (5000.0, "measured")
    assert "energy counter" in energy.how
    assert energy.low < energy.value < energy.high


def test_power_over_time_without_a_counter():
    energy = device_energy(device_start(), rows(energy_mj=None, watts=lambda at: 100.0 * at))
    assert (energy.value, energy.basis) == (pytest.approx(5000.0), "measured")
    assert "no energy counter" in energy.how


def test_a_counter_that_stands_still_is_not_believed():
    energy = device_energy(device_start(), rows(energy_mj=7))
    assert energy.value == pytest.approx(5000.0)
    assert "stands still" in energy.how


def test_a_model_is_the_last_way_and_says_so():
    energy = device_energy(device_start(), rows(energy_mj=None, watts=None, busy_frac=0.5))
    assert (energy.value, energy.basis) == (pytest.approx(3500.0), "modelled")
    assert energy.low == pytest.approx(2100.0)


def test_nothing_told_is_not_known_and_not_zero():
    start = device_start(watts_limit=None)
    energy = device_energy(start, rows(energy_mj=None, watts=None))
    assert (energy.value, energy.basis) == (None, "not-known")
    assert device_energy(start, rows(seconds=0)).value is None


def test_a_slice_is_given_its_share():
    energy = device_energy(device_start(slice_frac=3 / 7), rows())
    assert (energy.value, energy.basis) == (pytest.approx(5000 * 3 / 7), "attributed")
    assert energy.low == 0
    assert energy.high >= 5000


def test_a_counter_that_starts_anew():
    counts = {0: 5_000_000, 1: 6_000_000, 2: 500_000, 3: 1_500_000}
    assert device_energy(device_start(), rows(3, energy_mj=counts.get)).value == 2500.0


def test_an_idle_device_that_tells_nothing_drew_not_nothing():
    idle = rows(energy_mj=None, watts=None, busy_frac=0.0)
    energy = device_energy(device_start(), idle)
    assert (energy.value, energy.basis) == (None, "not-known")
    assert "idle draw is not known" in energy.how


def test_a_long_gap_is_no_line():
    sparse = [device(0.0, energy_mj=None), device(3600.0, energy_mj=None)]
    energy = device_energy(device_start(), sparse)
    assert energy.value == 500 * 45


@pytest.mark.parametrize("step", [30.0, 60.0, 600.0])
def test_samples_that_lie_far_apart_by_intent_are_no_gaps(step):
    rows = [device(place * step, energy_mj=None) for place in range(21)]
    assert device_energy(device_start(), rows).value == pytest.approx(500 * 20 * step)
    # An interruption is one all the same.
    late = msgspec.structs.replace(rows[-1], at_s=rows[-2].at_s + 36_000)
    energy = device_energy(device_start(), [*rows[:-1], late]).value
    assert energy == pytest.approx(500 * (19 * step + max(45.0, 1.5 * step)))


def meters(*found):
    return [
        MeterSample(at_s=10.0, meter=name, part=part, joules=joules) for name, part, joules in found
    ]


def test_the_job_s_share_of_the_processor():
    """4 of 8 busy seconds are the job's: half of 1,000 + 200 J."""
    energy = host_energy(
        meters(("rapl:0:package-0", "cpu", 1000.0), ("rapl:0:2:dram", "memory", 200.0)),
        [host(0.0), host(10.0)],
    )
    assert (energy.value, energy.basis) == (pytest.approx(600.0), "attributed")
    assert energy.high == 1200.0
    assert "50%" in energy.how


def test_cray_counters_go_before_rapl_and_the_whole_node_is_not_added():
    energy = host_energy(
        meters(
            ("rapl:0:package-0", "cpu", 1.0), ("cray:cpu_energy", "cpu", 300.0),
            ("cray:memory_energy", "memory", 100.0), ("cray:energy", "node", 9000.0),
            ("cray:accel0_energy", "devices", 5000.0),
        ),
        [host(0.0), host(10.0)],
    )  # fmt: skip
    assert energy.value == pytest.approx(200.0)


def test_without_meters_or_a_busy_time_it_is_not_known():
    assert host_energy([], [host(0.0), host(1.0)]).value is None
    unknown = [host(0.0, node_cpu_s=None), host(1.0, node_cpu_s=None)]
    assert host_energy(meters(("rapl:0:package-0", "cpu", 1.0)), unknown).value is None


def test_a_share_is_at_most_all():
    assert busy_share([host(0.0), host(10.0, cpu_s=500.0)]) == 1.0
    assert busy_share([host(0.0, node_cpu_s=5.0), host(1.0, node_cpu_s=5.0)]) is None
