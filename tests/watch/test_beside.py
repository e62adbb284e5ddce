"""Watching from a process beside the one that trains."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from stepscope.watch.attach import alive
from stepscope.watch.beside import Beside, is_watcher
from stepscope.watch.closing import summary_of
from stepscope.watch.store import read_watched

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "sigtimedwait"), reason="watching beside needs Linux's signals"
)

PROGRAM = """
import json, os, sys, time
from pathlib import Path
from stepscope.watch.beside import Beside
from stepscope.watch.attach import alive

folder = Path(sys.argv[1])
before_s = time.process_time()
beside = Beside(("train.py",), 0.05)
beside.begin(folder, os.getpid(), 3, 8)
pid = beside._pid
samples = folder / "watch"
while not list(samples.glob("*.jsonl")) or b'"row":"host"' not in next(samples.glob("*.jsonl")).read_bytes():
    time.sleep(0.01)
try:
    os.waitpid(-1, os.WNOHANG)
    has_child = True
except ChildProcessError:
    has_child = False
found = {
    "pid": pid, "has_child": has_child, "own_session": os.getsid(pid) != os.getsid(0),
    "parent": int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]),
    "files": sorted(os.readlink(one) for one in Path(f"/proc/{pid}/fd").iterdir() if one.name in "012"),
}
MIDDLE
print(json.dumps(found))
"""
ENDING = """
held = bytearray(60_000_000)
beside.end()
found["alive"] = alive(pid)
"""


def run(folder, middle, **options):
    """Runs the program above."""
    line = [sys.executable, "-c", PROGRAM.replace("MIDDLE", middle), str(folder)]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=120, **options)


def gone(pid, seconds=60):
    """Waits for the end of a watcher."""
    end = time.monotonic() + seconds
    while alive(pid):
        assert time.monotonic() < end, "the watcher did not end"
        time.sleep(0.01)


def test_the_watcher_is_no_child_and_ends_when_it_is_told(tmp_path):
    ended = run(tmp_path, ENDING)
    assert ended.stderr == ""
    found = json.loads(ended.stdout)
    assert not found["has_child"]
    assert found["own_session"]
    assert found["files"] == ["/dev/null"] * 3
    assert found["parent"] != os.getpid()
    assert not found["alive"]
    (watched,) = read_watched(tmp_path)
    assert watched.end is not None
    assert (watched.start.task, watched.start.tasks) == (3, 8)
    assert watched.start.command == ("train.py",)
    # The last sample is taken when the end is told, so it has seen what was held until then.
    assert watched.hosts[-1].rss_bytes > 60_000_000
    assert watched.hosts[-1].processes == 1
    assert (tmp_path / "watch.json").is_file()


def test_when_the_watched_process_is_killed_the_watcher_ends_and_keeps_its_samples(tmp_path):
    ended = run(tmp_path, "print(pid, flush=True); os.kill(os.getpid(), 9)")
    assert ended.returncode == -signal.SIGKILL
    gone(int(ended.stdout))
    assert len(summary_of(tmp_path).nodes) == 1
    assert read_watched(tmp_path)[0].end is not None


def test_when_the_watcher_is_killed_the_run_goes_on_and_the_folder_is_readable(tmp_path):
    middle = """
os.kill(pid, 9)
while alive(pid):
    time.sleep(0.01)
beside.end()
"""
    ended = run(tmp_path, middle)
    assert ended.returncode == 0
    (watched,) = read_watched(tmp_path)
    assert watched.end is None
    assert watched.hosts


def test_a_process_of_the_watcher_s_number_that_is_none_is_left_alone(tmp_path):
    other = subprocess.Popen(["sleep", "60"])
    try:
        beside = Beside(("x",), 0.5)
        beside._pid = other.pid
        beside.end()
        assert other.poll() is None
        assert not is_watcher(other.pid)
    finally:
        other.kill()
        other.wait()


def test_a_forked_child_of_the_script_does_not_end_the_watcher(tmp_path):
    middle = """
if os.fork() == 0:
    beside.end()
    os._exit(0)
os.wait()
found["alive"] = alive(pid)
beside.end()
"""
    ended = run(tmp_path, middle)
    assert json.loads(ended.stdout)["alive"]
    assert read_watched(tmp_path)[0].end is not None


def test_without_a_shell_nothing_is_watched(tmp_path, monkeypatch):
    monkeypatch.setattr("stepscope.watch.beside.SHELL", str(tmp_path / "none"))
    beside = Beside(("x",), 0.5)
    beside.begin(tmp_path, os.getpid())
    beside.end()
    assert not (tmp_path / "watch").exists()


BURN = """
import resource
end = time.process_time() + 2
while time.process_time() < end:
    pass
beside.end()
found["cpu_s"] = time.process_time() - before_s + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
"""


@pytest.mark.alone
@pytest.mark.slow
def test_processor_time_within_three_per_cent_of_what_the_program_reads_itself(tmp_path):
    found = json.loads(run(tmp_path, BURN).stdout)
    (node,) = summary_of(tmp_path).nodes
    assert node.cpu_s == pytest.approx(found["cpu_s"], rel=0.03, abs=0.02)


SHORT = """
import json, os, sys, time
from pathlib import Path
from stepscope.watch.beside import Beside

folder, beside = Path(sys.argv[1]), Beside(("block",), 0.5)
begun_ns, before_s = time.perf_counter_ns(), time.process_time()
beside.begin(folder, os.getpid())
(folder / "data").write_bytes(b"x" * 5_000_000)
end = time.process_time() + 0.05
while time.process_time() < end:
    pass
(folder / "data").read_bytes()
used_s, took_ns = time.process_time() - before_s, time.perf_counter_ns() - begun_ns
beside.end()
print(json.dumps({"cpu_s": used_s, "took_s": took_ns / 1e9, "left": sorted(os.listdir(folder))}))
"""


def test_a_run_that_is_over_before_the_first_sample_has_figures(tmp_path):
    line = [sys.executable, "-c", SHORT, str(tmp_path)]
    ended = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    assert ended.stderr == ""
    told = json.loads(ended.stdout)
    assert told["left"] == ["data", "watch", "watch.json"]
    (watched,) = read_watched(tmp_path)
    assert watched.hosts[0].at_s == 0.0
    assert len(watched.hosts) >= 2
    summary = summary_of(tmp_path)
    (node,) = summary.nodes
    # Ticks of the kernel's clock make both ends coarse; what telling the watcher takes lies within.
    assert node.cpu_s == pytest.approx(told["cpu_s"], abs=0.05)
    assert summary.wall_s >= told["took_s"] - 0.05
    assert node.read_bytes is not None
    assert node.read_bytes >= 5_000_000
    assert node.written_bytes is not None
    assert node.written_bytes >= 5_000_000
    assert node.rss_peak_bytes > 1_000_000
    assert summary.complete
