"""From rows to a summary, and what two watchers of one node must not count twice."""

from functools import partial
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from stepscope.schema.samples import End, MeterSample, Notice
from stepscope.schema.watch_summary import WatchSummary
from stepscope.watch import summary as module
from stepscope.watch import summary_text
from tests.watch.rows import device, host, watched

KILLED = End(at_s=600.0, signal=9, own_cpu_s=1.0, own_rss_bytes=30_000_000)


def summarise(watched):
    return module.summarise(watched)


def render(summary):
    return summary_text.render(summary, Path("runs/x"))


def test_one_task():
    summary = summarise([watched()])
    (node,) = summary.nodes
    (gpu,) = summary.devices
    assert (summary.wall_s, summary.exit_status, summary.complete) == (600.0, 0, True)
    assert summary.started == "2023-11-14T22:13:20+00:00"
    assert (node.cpu_s, node.cores, node.mean_read_bytes) == (2400.0, 16.0, 1e6)
    assert (node.rss_peak_bytes, node.pss_peak_bytes) == (60 << 30, 55 << 30)
    assert node.cpu_pressure_frac == pytest.approx(0.01)
    assert (gpu.busy_frac, gpu.working_frac, gpu.seconds) == (
        pytest.approx(0.9),
        pytest.approx(0.7),
        600,
    )
    assert gpu.energy.value == pytest.approx(300_000)
    assert gpu.used is True
    assert node.rss_growth_bytes_per_s is None


def task(number, **changed):
    base = {"task": number, "tasks": 2, "job_id": "7", "gpus_allocated": 2}
    return watched(uuids=("GPU-1", "GPU-2"), **{**base, **changed})


def test_two_ranks_on_one_node_are_one_node_and_its_devices():
    idle = partial(device, job_processes=0)
    summary = summarise([task(0), task(1, make_device=idle)])
    (node,) = summary.nodes
    assert [gpu.uuid for gpu in summary.devices] == ["GPU-1", "GPU-2"]
    assert [gpu.used for gpu in summary.devices] == [True, True]
    assert sum(gpu.energy.value or 0 for gpu in summary.devices) == pytest.approx(600_000)
    assert (node.tasks, node.cpu_s, node.rss_peak_bytes) == (2, 4800.0, 120 << 30)
    assert node.cgroup_peak_bytes == 30 << 30
    assert node.gpus_allocated == 2


def test_of_processes_that_were_there_before_only_what_they_use_from_then_on_counts():
    old = partial(_older, cpu_s=5000.0, read_bytes=7_000_000, read_calls=7, voluntary_switches=90)
    (node,) = summarise([watched(make_host=old, attached=True)]).nodes
    assert (node.cpu_s, node.read_bytes, node.voluntary_switches) == (2400.0, 600_000_000, 6000)
    assert node.mean_read_bytes == 1e6
    (node,) = summarise([watched(make_host=old)]).nodes
    assert node.cpu_s == 7400.0

    def once(at):
        return host(at, voluntary_switches=5 if at == 0 else None)

    (node,) = summarise([watched(make_host=once, attached=True)]).nodes
    assert node.voluntary_switches is None
    (node,) = summarise([watched(seconds=0.0, make_host=old, attached=True)]).nodes
    assert node.cpu_s == 5000.0


def _older(at, **before):
    """A process that had used something before the watch."""
    row = host(at)
    return msgspec.structs.replace(
        row, **{name: getattr(row, name) + value for name, value in before.items()}
    )


def test_memory_at_the_end_is_that_before_the_processes_ended():
    def ending(at):
        return (
            host(at, rss_bytes=0) if at == 600 else host(at, available_bytes=int(1e9 * (700 - at)))
        )

    (node,) = summarise([watched(make_host=ending)]).nodes
    assert (node.rss_last_bytes, node.available_last_bytes) == (60 << 30, int(102e9))


def test_two_nodes():
    summary = summarise([task(0), replace(task(1, node="n1"), devices={}, device_starts=())])
    assert [node.node for node in summary.nodes] == ["n0", "n1"]
    assert {gpu.node for gpu in summary.devices} == {"n0"}
    assert summary.complete


def test_meters_of_a_node_are_counted_once_and_shares_are_added():
    meters = (MeterSample(at_s=600.0, meter="rapl:0:package-0", part="cpu", joules=80_000.0),)
    quarter = partial(host, node_cpu_s=None)
    tasks = [
        replace(task(n, make_host=lambda at: host(at, cpu_s=2 * at)), meters=meters)
        for n in range(2)
    ]
    energy = summarise(tasks).host_energy
    assert energy.value == pytest.approx(2 * 80_000 * 2 / 8)
    assert energy.high == 80_000
    assert energy.basis == "attributed"
    blind = [tasks[0], replace(task(1, make_host=quarter), meters=meters)]
    assert summarise(blind).host_energy.value is None


def test_a_node_without_meters_leaves_the_sum_not_known():
    meters = (MeterSample(at_s=600.0, meter="rapl:0:package-0", part="cpu", joules=80_000.0),)
    notice = Notice(code="no-rapl", text="for root only")
    other = replace(task(1, node="n1"), notices=(notice,))
    energy = summarise([replace(task(0), meters=meters), other]).host_energy
    assert (energy.value, energy.how) == (None, "for root only")
    both = [replace(task(n, node=f"n{n}"), meters=meters) for n in range(2)]
    assert summarise(both).host_energy.value == pytest.approx(80_000)


def test_a_rank_that_died_is_told():
    summary = summarise([task(0, end=KILLED), task(1)])
    assert (summary.signal, summary.exit_status, summary.complete) == (9, 0, True)


def test_a_watcher_that_was_killed_is_told_and_counts_to_its_last_row():
    summary = summarise([task(0), task(1, end=False, seconds=300)])
    assert not summary.complete
    assert "n0 task 1" in next(
        notice.text for notice in summary.notices if notice.code == "unfinished"
    )
    assert "no end seen" not in render(summary)


def test_tasks_without_samples_are_told():
    summary = summarise([task(0)])
    assert not summary.complete
    assert [notice.code for notice in summary.notices] == ["missing-tasks"]


def test_a_notice_of_several_watchers_is_one():
    same = (Notice(code="no-rapl", text="none"),)
    summary = summarise([replace(task(n), notices=same) for n in range(2)])
    (notice,) = summary.notices
    assert (notice.code, notice.count) == ("no-rapl", 2)


def test_a_lost_device_keeps_what_was_seen():
    def breaking(at, uuid):
        return (
            device(at, uuid) if at < 300 else msgspec.structs.replace(device(at, uuid), lost=True)
        )

    (gpu,) = summarise([watched(make_device=breaking)]).devices
    assert gpu.lost
    assert gpu.seconds == 298
    assert "lost" in render(summarise([watched(make_device=breaking)]))


def test_held_back_clocks_by_their_reasons():
    def hot(at, uuid):
        return device(at, uuid, events=0x48 if at >= 300 else 0x4)

    (gpu,) = summarise([watched(make_device=hot)]).devices
    assert gpu.throttled_frac == pytest.approx(151 / 301)
    assert gpu.capped_frac == pytest.approx(150 / 301)
    assert gpu.throttle_reasons == ("hardware slowdown", "hardware thermal slowdown")


def test_the_longest_idle_stretch():
    def lazy(at, uuid):
        return device(at, uuid, busy_frac=0.0 if 100 <= at <= 250 or at > 550 else 0.9)

    assert summarise([watched(make_device=lazy)]).devices[0].longest_idle_s == 150


def test_the_document_survives_its_own_form():
    summary = summarise([task(0), task(1, end=KILLED)])
    assert msgspec.json.decode(msgspec.json.encode(summary), type=WatchSummary) == summary


def test_the_text_keeps_allocated_busy_and_working_apart():
    text = render(summarise([watched()]))
    assert "exit status 0 after 10.0 min" in text
    assert "CPU      4.00 of 16 core(s) on average" in text
    assert "allocated    busy  working  tensor" in text
    line = next(line for line in text.splitlines() if line.startswith("  GPU-1"))
    assert [word for word in line.split() if word != "%"][1:5] == ["10.0", "min", "90", "70"]
    assert "Energy   GPUs 83.3 Wh (measured: the device's energy counter)" in text
    assert "CPU and memory not known" in text


def test_the_text_tells_memory_around_switches_and_links():
    traffic = partial(
        device, pcie_sent_bytes_per_s=1e9, pcie_received_bytes_per_s=2e9, nvlink_bytes_per_s=40e9,
        events=0x4 | 0x20,
    )  # fmt: skip
    swapping = partial(host, swap_bytes=2_000_000_000)
    text = render(summarise([watched(make_host=swapping, make_device=traffic)]))
    assert "context switches: 10/s to wait, 1/s because others wanted the core" in text
    assert (
        "control group 32.2 GB at most, caches included, /dev/shm 1.07 GB of 275 GB, 2.00 GB in swap"
        in text
    )
    assert (
        "PCIe 3.00 GB/s, NVLink 40.0 GB/s, clock 1,980 MHz, at its power limit 100 % of the time"
        in text
    )
    assert "held back 100 % of the time (software thermal slowdown)" in text


def test_the_text_says_why_the_host_s_energy_is_not_known_once():
    notice = Notice(code="no-rapl", text="this machine has none")
    text = render(summarise([replace(watched(), notices=(notice,))]))
    assert text.count("this machine has none") == 1


def test_the_text_shows_what_a_device_does_not_tell_as_such():
    silent = partial(
        device, busy_frac=None, working_frac=None, tensor_frac=None, watts=None, energy_mj=None,
        memory_bytes=None,
    )  # fmt: skip
    text = render(summarise([watched(make_device=silent)]))
    line = next(line for line in text.splitlines() if line.startswith("  GPU-1"))
    assert line.split()[3:] == ["-", "-", "-", "not", "told", "not", "told", "not", "known"]
