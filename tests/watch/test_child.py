"""The watched command cannot tell: output, exit status and signals are as without the watch."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from stepscope.watch.child import Child, Ending
from stepscope.watch.store import read_watched
from tests.watch.test_process_tree import PLANTED

pytestmark = pytest.mark.skipif(not hasattr(signal, "sigtimedwait"), reason="needs Linux's signals")

RUN = (
    "import sys; from stepscope.cli import watch; import argparse; from stepscope.errors import *\n"
    "parser = argparse.ArgumentParser(); watch.add_arguments(parser)\n"
    "sys.exit(watch.run(parser.parse_args(sys.argv[1:])))"
)


def watch_line(folder, *command, options=()):
    return [
        sys.executable,
        "-c",
        RUN,
        f"--out={folder}",
        "--interval=0.05",
        *options,
        "--",
        *command,
    ]


def watched(folder, *command, **more):
    return subprocess.run(
        watch_line(folder, *command), capture_output=True, timeout=60, check=False, **more
    )


def python(text):
    return [sys.executable, "-c", text]


@pytest.mark.parametrize("status", [0, 1, 7, 255])
def test_the_exit_status_is_the_command_s(tmp_path, status):
    run = watched(tmp_path, "sh", "-c", f"exit {status}")
    assert run.returncode == status
    assert f"exit status {status}" in run.stderr.decode()
    (one,) = read_watched(tmp_path)
    assert one.end is not None
    assert one.end.exit_status == status


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGUSR1", "SIGINT", "SIGPIPE"])
def test_an_end_by_a_signal_is_the_same_end(tmp_path, name):
    number = getattr(signal, name)
    run = watched(tmp_path, "sh", "-c", f"kill -{int(number)} $$")
    assert run.returncode == -number
    assert f"ended by signal {int(number)}" in run.stderr.decode()


def test_output_and_input_pass_untouched(tmp_path):
    data = bytes(range(256)) * 1000
    text = "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())\nsys.stderr.write('err')"
    run = watched(tmp_path, *python(text), input=data)
    assert run.stdout == data
    assert run.stderr.startswith(b"err")


def test_the_command_has_our_environment_group_files_and_signals(tmp_path):
    # Left out: SIGPIPE and SIGXFSZ, which Python ignores itself, and 32 and 33, which belong to the C library.
    text = (
        "import os, signal, sys\n"
        "blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])\n"
        "status = open('/proc/self/status').read()\n"
        "ignored = [line for line in status.splitlines() if line.startswith('SigIgn')][0].split()[1]\n"
        "print(os.getpgid(0) == os.getpgid(os.getppid()), os.environ['MARK'], sorted(blocked), int(ignored, 16) & ~0x181001000, "
        "sorted(int(n) for n in os.listdir('/proc/self/fd') if int(n) > 2)[1:])"
    )
    plain = subprocess.run(
        python(text), capture_output=True, env={**os.environ, "MARK": "m"}, check=True
    )
    run = watched(tmp_path, *python(text), env={**os.environ, "MARK": "m"})
    assert run.stdout.decode() == plain.stdout.decode()


TRAPS = """
import signal, sys, time
got = []
for name in ("SIGTERM", "SIGUSR1", "SIGHUP", "SIGINT"):
    signal.signal(getattr(signal, name), lambda number, frame: got.append(number))
print("ready", flush=True)
end = time.monotonic() + 20
while len(got) < int(sys.argv[1]) and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.2)
print(*got, flush=True)
sys.exit(3)
"""


def start(folder, wanted, *, new_session=False):
    line = watch_line(folder, sys.executable, "-c", TRAPS, str(wanted))
    program = subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=new_session
    )
    assert program.stdout is not None
    assert program.stdout.readline() == b"ready\n"
    return program


def test_signals_are_handed_on_once(tmp_path):
    with start(tmp_path, 4) as program:
        for name in ("SIGTERM", "SIGUSR1", "SIGHUP", "SIGINT"):
            program.send_signal(getattr(signal, name))
            time.sleep(0.05)
        out, _ = program.communicate(timeout=30)
    assert [int(word) for word in out.split()] == [15, 10, 1, 2]
    assert program.returncode == 3


def test_a_program_that_signals_its_own_group_gets_it_once(tmp_path):
    text = (
        "import os, signal, time\n"
        "got = []\n"
        "signal.signal(signal.SIGUSR1, lambda n, f: got.append(n))\n"
        "os.killpg(0, signal.SIGUSR1)\n"
        "time.sleep(0.5)\n"
        "print(len(got))"
    )
    line = watch_line(tmp_path, *python(text))
    run = subprocess.run(line, capture_output=True, timeout=60, check=False, start_new_session=True)
    assert run.stdout == b"1\n"
    assert run.returncode == 0


def test_killed_with_kill_the_samples_stay_and_can_be_told(tmp_path):
    line = watch_line(tmp_path, "sleep", "30")
    with subprocess.Popen(line, stderr=subprocess.DEVNULL) as program:
        folder = tmp_path / "watch"
        end = time.monotonic() + 30
        while time.monotonic() < end:
            files = list(folder.glob("*.jsonl"))
            if files and files[0].read_bytes().count(b'"row":"host"') > 3:
                break
            time.sleep(0.02)
        program.send_signal(signal.SIGKILL)
    (one,) = read_watched(tmp_path)
    os.kill(one.start.pid, signal.SIGKILL)
    assert one.end is None
    assert len(one.hosts) > 3
    told = subprocess.run(
        [sys.executable, "-c", RUN, "--summary", str(tmp_path)], capture_output=True, check=False
    )
    assert told.returncode == 0
    assert b"no end seen" in told.stdout
    assert (tmp_path / "watch.json").is_file()


def test_a_folder_that_cannot_be_written_to_does_not_stop_the_command(tmp_path):
    (tmp_path / "file").write_text("")
    run = watched(tmp_path / "file" / "sub", "sh", "-c", "echo done; exit 4")
    assert (run.returncode, run.stdout) == (4, b"done\n")
    assert b"nothing is kept" in run.stderr


def test_a_full_disk_does_not_stop_the_command(tmp_path):
    line = watch_line(tmp_path, "sh", "-c", "sleep 2; echo done; exit 4")
    small = ["sh", "-c", 'ulimit -f 4; exec "$@"', "sh", *line]
    run = subprocess.run(small, capture_output=True, timeout=60, check=False)
    assert (run.returncode, run.stdout) == (4, b"done\n")
    assert b"samples are no longer written" in run.stderr
    assert b"no end seen" in run.stderr


def test_the_last_account_holds_what_ended_processes_used(tmp_path):
    burn = "import os, time\nfor _ in range(2):\n  if os.fork() == 0:\n    s = time.process_time()\n    while time.process_time() - s < 0.2: pass\n    os._exit(0)\nos.wait(); os.wait()"
    watched(tmp_path, *python(burn))
    (one,) = read_watched(tmp_path)
    assert one.hosts[-1].cpu_s >= 0.39


@pytest.mark.alone
@pytest.mark.slow
def test_a_planted_load_within_three_per_cent_from_start_to_end(tmp_path):
    run = watched(tmp_path, *python(PLANTED), str(tmp_path / "data"), stdin=subprocess.DEVNULL)
    truth = json.loads(run.stdout)
    (node,) = json.loads((tmp_path / "watch.json").read_text())["nodes"]
    assert node["cpu_s"] == pytest.approx(truth["cpu_s"], rel=0.03, abs=0.03)
    assert node["pss_peak_bytes"] == pytest.approx(truth["pss"], rel=0.03)
    assert node["read_bytes"] == pytest.approx(truth["read"], rel=0.03)
    assert node["written_bytes"] == pytest.approx(truth["written"], rel=0.03)
    assert node["processes_peak"] == 5


class Still:
    """A loop that looks at nothing."""

    until_next_s = 0.05

    def tick(self, *, is_last=False):
        """Looks at nothing."""


def test_a_signal_that_comes_while_the_command_ends_reaches_nobody():
    old = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    child = Child((sys.executable, "-c", ""), os.environ)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    # To this thread, where it is blocked by now and waits; another thread would take it at once.
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    try:
        assert child.watch(Still()) == Ending(0, None)  # type: ignore[arg-type]  # all that is asked of a loop
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)
