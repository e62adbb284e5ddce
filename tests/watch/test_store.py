"""Rows on disk: appended, thinned, and readable whatever happens to the writer."""

import itertools
import os
import signal
import subprocess
import sys
import time

import pytest

from stepscope.errors import InputError
from stepscope.schema.samples import DeviceSample, End, HostSample, Notice, Start
from stepscope.watch.store import SampleWriter, read_file, read_watched, safe
from stepscope.watch.thinning import Thinner
from tests.watch.rows import device, device_start, host, start


def test_what_is_written_is_read(tmp_path):
    writer = SampleWriter(tmp_path, start(task=3))
    writer.write(0.0, [device_start(), Notice(code="x", text="y"), host(0.0), device(0.0)])
    writer.write(0.5, [host(0.5), device(0.5)])
    writer.close(End(at_s=1.0, exit_status=0, own_cpu_s=0.1, own_rss_bytes=5))
    (one,) = read_watched(tmp_path)
    assert writer.path.name == "n0.3.jsonl"
    assert one.start == start(task=3)
    assert one.hosts == (host(0.0), host(0.5))
    assert one.devices == {"GPU-1": (device(0.0), device(0.5))}
    assert one.device_starts == (device_start(),)
    assert one.notices == (Notice(code="x", text="y"),)
    assert one.wall_s == 1.0


def test_a_line_cut_short_ends_the_reading(tmp_path):
    writer = SampleWriter(tmp_path, start())
    for tick in range(3):
        writer.write(tick / 2, [host(tick / 2)])
    whole = writer.path.read_bytes()
    for cut in range(len(whole)):
        writer.path.write_bytes(whole[:cut])
        read = read_file(writer.path)
        lines = whole[:cut].count(b"\n")
        if lines > 0:
            assert read is not None
            assert read.end is None
        # A line that lacks nothing but its end is whole.
        assert len(read.hosts if read else ()) - max(lines - 1, 0) in {0, 1}


def test_a_folder_without_samples_is_an_error(tmp_path):
    with pytest.raises(InputError, match="holds no samples"):
        read_watched(tmp_path)


def test_a_newer_form_is_refused(tmp_path):
    SampleWriter(tmp_path, start(version=2))
    with pytest.raises(InputError, match="newer stepscope"):
        read_watched(tmp_path)


@pytest.mark.parametrize(("name", "expected"), [("n0", "n0"), ("../etc", "___etc"), ("", "node")])
def test_names_of_nodes_make_no_folders(name, expected):
    assert safe(name) == expected


def test_long_runs_keep_one_row_for_five_seconds_and_lose_no_peak():
    thinner = Thinner()
    assert thinner.pass_on(599.5, [host(599.5)]) == [host(599.5)]
    written = []
    for tick in range(1200, 1311):
        at = tick / 2
        peak = 99 << 30 if tick == 1205 else 20 << 30
        rows = [host(at, rss_bytes=peak), device(at, busy_frac=tick % 2, events=tick == 1203)]
        written += thinner.pass_on(at, rows)
    written += thinner.rest()
    hosts = [row for row in written if isinstance(row, HostSample)]
    assert len(hosts) == 11
    assert max(row.rss_bytes for row in hosts) == 99 << 30
    assert hosts[-1].cpu_s == 4 * 655.0
    devices = [row for row in written if isinstance(row, DeviceSample)]
    assert devices[0].busy_frac == pytest.approx(5 / 11)
    assert devices[0].events == 1
    assert thinner.rest() == []


def test_in_a_long_run_a_kill_loses_no_tick(tmp_path):
    writer = SampleWriter(tmp_path, start())
    for tick in range(1190, 1217):
        writer.write(tick / 2, [host(tick / 2), device(tick / 2)])
    (one,) = read_watched(tmp_path)
    assert one.wall_s == 608.0
    assert one.hosts[-1] == host(608.0)
    tail = writer.path.with_suffix(".tail")
    kept = tail.read_bytes()
    for tick in range(1217, 1222):
        writer.write(tick / 2, [host(tick / 2), device(tick / 2)])
    assert tail.read_bytes() == b""
    tail.write_bytes(kept)
    (one,) = read_watched(tmp_path)
    times = [row.at_s for row in one.hosts]
    assert times == sorted(set(times)), "rows that were combined already are not read again"
    writer.close(End(at_s=612.0, exit_status=0, own_cpu_s=0.1, own_rss_bytes=5))
    assert not tail.exists()


def test_a_day_stays_small(tmp_path):
    writer = SampleWriter(tmp_path, start())
    uuids = [f"GPU-{number}" for number in range(8)]
    for second in range(7200):
        writer.write(
            float(second), [host(float(second)), *(device(float(second), u) for u in uuids)]
        )
    per_hour = writer.path.stat().st_size / 2
    assert per_hour < 2_000_000


def test_two_days_have_few_rows_and_no_part_of_them_is_coarse():
    thinner = Thinner()
    times = [
        row.at_s
        for second in range(0, 2 * 86_400, 5)
        for row in thinner.pass_on(float(second), [host(float(second))])
        if isinstance(row, HostSample)
    ]
    assert len(times) < 6500
    for before, after in itertools.pairwise(times):
        assert after - before <= max(15.0, min(after / 240 + 10, 40.0))


WRITER = """
import sys
from pathlib import Path
from stepscope.watch.store import SampleWriter
from tests.watch.rows import host, start
writer = SampleWriter(Path(sys.argv[1]), start())
tick = 0
while True:
    writer.write(tick / 1000, [host(tick / 1000)])
    tick += 1
    if tick == 20:
        print(flush=True)
"""


@pytest.mark.parametrize("delay", [0.0, 0.003, 0.011])
def test_killed_at_any_moment_the_file_is_read_to_the_last_row(tmp_path, delay):
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environ) as program:
        assert program.stdout is not None
        program.stdout.readline()
        time.sleep(delay)
        program.send_signal(signal.SIGKILL)
    (one,) = read_watched(tmp_path)
    lines = (tmp_path / "watch" / "n0.0.jsonl").read_bytes().count(b"\n")
    assert len(one.hosts) == lines - 1 >= 20
    assert one.end is None
    assert isinstance(one.start, Start)
