"""Moments that a watcher recalls because it was not there yet, or not quick enough."""

import os
from dataclasses import replace

import pytest

from stepscope.schema.samples import DeviceSample, HostSample, Notice, ProcessSample
from stepscope.watch.account import account_of, read, written
from stepscope.watch.meters import CraySampler, RaplSampler
from stepscope.watch.process_tree import PROC
from stepscope.watch.recalled import TOO_SHORT, Memory, Recalling
from tests.watch.rows import device, host, opened, sampled
from tests.watch.test_meters import rapl
from tests.watch.test_process_tree import process
from tests.watch.trees import write


def node(root, *, own, package):
    """A process and the node's counters on a fake tree."""
    process(
        write(root, {"proc/stat": f"cpu  {100 * own} 0 0 400 50 6 7 8 0 0\n"}) / "proc", 10, own=own
    )
    rapl(root / "powercap", package)
    write(root / "cray", {"cpu_energy": f"{package} J 17 us", "energy": "7 J 17 us"})
    places = ((root / "powercap", "intel-rapl:*/energy_uj"), (root / "cray", "*energy"))
    return account_of(10, root, places)


def test_an_account_survives_its_way_to_another_process(tmp_path):
    account = node(tmp_path, own=3, package="1000000")
    assert (account.cpu_s, account.node_cpu_s, account.processes) == (3.0, 3.13, 1)
    assert account.io is not None
    assert account.counters[str(tmp_path / "cray" / "energy")] == "7 J 17 us"
    assert read(written(account)) == account
    assert read(written(replace(account, io=None))).io is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"io": 1}', '{"io": null}'])
def test_what_is_no_account_is_refused(text):
    with pytest.raises(ValueError, match=r"o account|Expecting"):
        read(text)


@pytest.mark.skipif(not PROC.is_dir(), reason="this system has no /proc")
def test_the_real_process_here():
    account = account_of(os.getpid())
    assert account.cpu_s > 0
    assert account.rss_bytes > 1_000_000


def test_energy_between_two_moments_that_have_passed(tmp_path):
    begin, end = (
        node(tmp_path, own=own, package=text) for own, text in ((1, "1000000"), (2, "4000000"))
    )
    node(tmp_path, own=9, package="90000000")
    memory = Memory(begin)
    meters = (
        RaplSampler(tmp_path / "powercap", memory.text),
        CraySampler(tmp_path / "cray", memory.text),
    )
    memory.recall(begin)
    assert [opened(meter) for meter in meters] == [(), ()]
    memory.recall(end, is_end=True)
    told = {row.meter: row.joules for meter in meters for row in sampled(meter)}
    assert told["rapl:0:package-0"] == 3.0
    assert told["cray:cpu_energy"] == 3_000_000
    memory.wake()
    assert {row.meter: row.joules for row in sampled(meters[0])}["rapl:0:package-0"] == 89.0


class Now:
    """A sampler of what is so now."""

    def open(self):
        return ()

    def sample(self, moment):
        each = ProcessSample(at_s=moment.at_s, pid=1, name="x", cpu_s=9.0, rss_bytes=1, threads=1)
        return host(moment.at_s, cpu_s=9.0, processes=7), each, device(moment.at_s)

    def close(self):
        """Nothing was taken."""


def kinds(rows):
    return [type(row) for row in rows]


def test_a_run_that_was_over_before_the_first_look(tmp_path):
    begin, end = (node(tmp_path, own=own, package="1") for own in (1, 2))
    memory = Memory(begin)
    sampler = Recalling(Now(), memory)
    memory.recall(begin)
    assert memory.seconds() == begin.perf_ns / 1e9
    (first,) = sampled(sampler, 0.0)
    assert (first.cpu_s, first.processes) == (1.0, 1)
    memory.recall(end, is_end=True)
    last, notice = sampled(sampler, 0.1)
    assert (last.cpu_s, last.node_cpu_s) == (2.0, 2.13)
    assert notice == Notice(code="too-short", text=TOO_SHORT)


def test_after_a_first_look_the_last_one_tells_of_devices_too(tmp_path):
    account = node(tmp_path, own=1, package="1")
    memory = Memory(account)
    sampler = Recalling(Now(), memory)
    memory.wake()
    assert kinds(sampled(sampler, 0.5)) == [HostSample, ProcessSample, DeviceSample]
    memory.recall(account, is_end=True)
    rows = sampled(sampler, 1.0)
    assert kinds(rows) == [HostSample, ProcessSample, DeviceSample]
    assert rows[0].cpu_s == 1.0


def test_without_a_moment_it_is_always_now():
    sampler = Recalling(Now(), Memory())
    assert sampled(sampler, 0.0)[0].cpu_s == 9.0
