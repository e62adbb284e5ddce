"""A process tree: on fake files of the kernel, and on real processes that account for themselves."""

import json
import os
import subprocess
import sys
import time

import pytest

from stepscope.watch.portable_tree import PortableTree
from stepscope.watch.proc_file import PAGE_BYTES, TICKS_PER_S
from stepscope.watch.process_tree import PROC, ProcessTree
from tests.watch.trees import write

LINUX = pytest.mark.skipif(not PROC.is_dir(), reason="this system has no /proc")


def process(root, pid, *, parent=1, own=0.0, waited=0.0, rss=10, children=(), read=0, started=5):
    """A fake process; its name holds what breaks careless readers."""
    ticks = [int(value * TICKS_PER_S) for value in (own, 0, waited, 0)]
    fields = ["S", parent, *[0] * 9, *ticks, 20, 0, 3, 0, started, 1, rss]
    text = f"{pid} (a ) (b) {' '.join(str(field) for field in fields)}"
    io = f"rchar: {read}\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 6\n"
    return write(
        root,
        {
            f"{pid}/stat": text, f"{pid}/io": io,
            f"{pid}/task/{pid}/children": " ".join(map(str, children)),
            f"{pid}/task/{pid}/status": "voluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t2\n",
            f"{pid}/status": "VmSwap:\t6 kB\n",
            f"{pid}/smaps_rollup": "Rss: 9 kB\nPss:      7 kB\n",
        },
    )  # fmt: skip


def gone(root, pid):
    for path in sorted((root / str(pid)).rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (root / str(pid)).rmdir()


def test_descendants_are_found_and_added(tmp_path):
    process(tmp_path, 10, children=(11,), own=1, rss=10, read=100)
    process(tmp_path, 11, parent=10, children=(12,), own=2, rss=20, read=10)
    process(tmp_path, 12, parent=11, own=4, rss=30, read=1)
    process(tmp_path, 99, own=50)
    tree = ProcessTree(10, tmp_path)
    seen = tree.sample()
    assert tree.pids == {10, 11, 12}
    assert (seen.processes, seen.threads, seen.cpu_s) == (3, 9, 7)
    assert seen.rss_bytes == 60 * PAGE_BYTES
    assert seen.io is not None
    assert (seen.io.read_bytes, seen.io.read_calls) == (111, 9)
    assert tree.proportional_bytes() == 21 * 1024
    assert tree.switches() == (12, 6)
    assert tree.swapped_bytes() == 18 * 1024
    assert {one.name for one in tree.readings()} == {"a ) (b"}


def test_what_a_parent_waited_for_is_not_counted_twice(tmp_path):
    process(tmp_path, 10, children=(11,), own=1)
    process(tmp_path, 11, parent=10, own=5)
    tree = ProcessTree(10, tmp_path)
    assert tree.sample().cpu_s == 6
    gone(tmp_path, 11)
    process(tmp_path, 10, own=1, waited=5.5)
    assert tree.sample().cpu_s == 6.5


def test_what_nobody_waited_for_is_kept(tmp_path):
    process(tmp_path, 10, children=(11,), own=1, read=1)
    process(tmp_path, 11, parent=10, own=5, read=1000)
    tree = ProcessTree(10, tmp_path)
    tree.sample()
    gone(tmp_path, 11)
    process(tmp_path, 10, own=2, read=1)
    seen = tree.sample()
    assert seen.cpu_s == 7
    assert seen.io is not None
    assert seen.io.read_bytes == 1001


def test_a_grandchild_whose_parent_went_first(tmp_path):
    """The parent ended without waiting: its own time went up to the root, the grandchild's to nobody."""
    process(tmp_path, 10, children=(11,), own=1)
    process(tmp_path, 11, parent=10, children=(12,), own=2)
    process(tmp_path, 12, parent=11, own=4)
    tree = ProcessTree(10, tmp_path)
    tree.sample()
    gone(tmp_path, 11)
    process(tmp_path, 10, own=1, waited=2)
    process(tmp_path, 12, parent=1, own=6)
    assert tree.sample().cpu_s == 9
    gone(tmp_path, 12)
    assert tree.sample().cpu_s == 9


def test_a_number_that_is_used_again_is_another_process(tmp_path):
    process(tmp_path, 10, children=(11,), own=1)
    process(tmp_path, 11, parent=10, own=1, started=5)
    tree = ProcessTree(10, tmp_path)
    tree.sample()
    process(tmp_path, 11, parent=1, own=70, started=6)
    assert tree.sample().cpu_s == 2


def test_files_that_are_not_for_us_are_not_known(tmp_path):
    process(tmp_path, 10)
    (tmp_path / "10" / "io").unlink()
    (tmp_path / "10" / "smaps_rollup").unlink()
    (tmp_path / "10" / "status").unlink()
    tree = ProcessTree(10, tmp_path)
    assert tree.sample().io is None
    assert tree.proportional_bytes() is None
    assert tree.swapped_bytes() is None


def test_nobody_there(tmp_path):
    tree = ProcessTree(10, tmp_path)
    assert tree.sample().processes == 0


PLANTED = """
import json, os, resource, sys, time
held = bytearray(500_000_000)
for place in range(0, len(held), 4096):
    held[place] = 1
path = sys.argv[1]
open(path, "wb").write(b"x" * 20_000_000)
workers = []
for number in range(4):
    pid = os.fork()
    if pid == 0:
        start = time.process_time()
        while time.process_time() - start < 0.25:
            pass
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 20):
                pass
        time.sleep(3)  # Processes are looked for every second.
        os._exit(0)
    workers.append(pid)
for pid in workers:
    os.waitpid(pid, 0)
start = time.process_time()
while time.process_time() - start < 4.0:
    pass
for _ in range(10):
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass
def field(name, key):
    for line in open(name):
        if line.startswith(key):
            return int(line.split()[1])
own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(json.dumps({
    "cpu_s": own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime,
    "rss": field("/proc/self/smaps_rollup", "Rss:") * 1024,
    "pss": field("/proc/self/smaps_rollup", "Pss:") * 1024,
    "read": field("/proc/self/io", "rchar:"),
    "written": field("/proc/self/io", "wchar:"),
}), flush=True)
sys.stdin.read()
"""


@LINUX
@pytest.mark.alone
@pytest.mark.slow
def test_planted_load_within_three_per_cent_of_its_own_account(tmp_path):
    command = [sys.executable, "-c", PLANTED, str(tmp_path / "data")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        tree = ProcessTree(program.pid)
        assert program.stdout is not None
        assert program.stdin is not None
        most = 0
        os.set_blocking(program.stdout.fileno(), False)
        line = b""
        while not line.endswith(b"\n"):
            tree.find()
            most = max(most, tree.sample().processes)
            line += program.stdout.read() or b""
            time.sleep(0.02)
        truth = json.loads(line)
        seen = tree.sample()
        pss = tree.proportional_bytes()
        program.stdin.close()
    assert most == 5
    assert seen.cpu_s == pytest.approx(truth["cpu_s"], rel=0.03, abs=2 / TICKS_PER_S)
    assert seen.rss_bytes == pytest.approx(truth["rss"], rel=0.03)
    assert pss == pytest.approx(truth["pss"], rel=0.03)
    assert seen.io is not None
    assert seen.io.read_bytes == pytest.approx(truth["read"], rel=0.03)
    assert seen.io.written_bytes == pytest.approx(truth["written"], rel=0.03)
    assert seen.io.read_bytes > 14 * 20_000_000


def test_without_proc_psutil_tells_the_same_processor_time_and_memory():
    burn = "import sys, time\ns = time.process_time()\nwhile time.process_time() - s < 0.3: pass\ntime.sleep(0.01)\nprint(flush=True)\nsys.stdin.read()"
    command = [sys.executable, "-c", burn]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdin is not None
        program.stdout.readline()
        portable = PortableTree(program.pid)
        seen = portable.sample()
        assert portable.pids == {program.pid}
        # The kernel cuts time in programs and time in itself off to whole ticks of 10 ms.
        assert seen.cpu_s >= 0.3 - 0.02
        assert seen.rss_bytes > 1_000_000
        assert portable.switches()[0] > 0
        assert portable.proportional_bytes() is None
        program.stdin.close()
    kept = portable.sample()
    assert kept.cpu_s == seen.cpu_s
    assert kept.rss_bytes == 0
