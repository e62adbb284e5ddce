"""The live view: what it shows, and that a terminal is left as it was."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios

import pytest

from stepscope.watch.view import Board, TerminalView, open_view, sparkline
from tests.watch.rows import device, device_start, host, start
from tests.watch.test_child import RUN

RUN_LINE = [sys.executable, "-c", RUN]


def plain(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[78]", "", text)


def test_bars():
    assert sparkline([0.0, 0.5, 1.0, None, 2.0]) == "▁▅█·█"


def board():
    made = Board(start())
    made.take([device_start("GPU-1"), host(0.0), device(0.0)])
    made.take([host(1.0), device(1.0, busy_frac=0.25)])
    return made


def test_one_line_for_the_processor_and_one_for_each_device():
    lines = [plain(line) for line in board().lines(120)]
    assert len(lines) == 2
    assert "4.0/16 cores" in lines[0]
    assert "64.4 GB" in lines[0]
    assert "NVIDIA H100" in lines[1]
    assert "█▃" in lines[1]
    assert "25% busy, 70% working" in lines[1]


@pytest.mark.parametrize("width", [20, 40, 80])
def test_lines_are_no_wider_than_the_terminal(width):
    for line in board().lines(width):
        assert len(plain(line).rstrip()) <= width


def test_a_name_that_looks_like_markup_stays_text():
    made = Board(start())
    made.take([device_start("GPU-1", name="[red]x[/red]"), device(0.0)])
    assert "[red]x[/red]" in plain(made.lines(120)[0])


def test_what_is_not_told_is_a_dash():
    made = Board(start())
    made.take([device_start("GPU-1"), device(0.0, busy_frac=None, memory_bytes=None, watts=None)])
    made.take([device(1.0, lost=True)])
    assert "lost" in plain(made.lines(120)[0])


def test_no_view_where_there_is_no_terminal(tmp_path, monkeypatch):
    with (tmp_path / "out").open("w") as file:
        assert open_view(start(), file.fileno()) is None
    inside, outside = pty.openpty()
    monkeypatch.setenv("TERM", "dumb")
    assert open_view(start(), outside) is None
    monkeypatch.setenv("TERM", "xterm")
    os.close(inside)
    os.close(outside)


def test_the_foot_is_kept_free_and_given_back():
    inside, outside = pty.openpty()
    fcntl.ioctl(outside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    view = TerminalView(Board(start()), outside)
    view.show([host(0.0)])
    drawn = os.read(inside, 65536).decode()
    assert "\x1b[1;23r" in drawn
    assert "\x1b[24;1H" in drawn
    view.close()
    closed = os.read(inside, 65536).decode()
    assert closed.endswith("\x1b[r\x1b8")
    view.close()
    os.close(inside)
    os.close(outside)


def test_samples_that_are_dear_to_draw_are_all_taken_and_drawn_less_often(monkeypatch):
    now, spent = [0.0], [0.0]
    monkeypatch.setattr("stepscope.watch.view.time.monotonic", lambda: now[0])
    monkeypatch.setattr("stepscope.watch.allowance.time.thread_time", lambda: spent[0])
    taken: list[object] = []
    drawn = []

    class Dear(Board):
        def take(self, rows):
            taken.extend(rows)

        def lines(self, width):
            drawn.append(now[0])
            spent[0] += 0.006
            return ["line"]

    inside, outside = pty.openpty()
    fcntl.ioctl(outside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    view = TerminalView(Dear(start()), outside)
    for tick in range(400):
        now[0] = tick / 2
        view.show([host(now[0])])
        os.read(inside, 65536) if drawn and drawn[-1] == now[0] else None
    os.close(inside)
    os.close(outside)
    assert len(taken) == 400
    assert drawn[:10] == [tick / 2 for tick in range(10)], "the first ones in advance"
    assert spent[0] <= 0.1 + 0.003 * 200 + 0.006
    assert len(drawn) > 100


TYPIST = """
import os, pty, select, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], sys.argv[1:])
seen, sent, end = b"", False, time.monotonic() + 60
while time.monotonic() < end:
    if select.select([terminal], [], [], 0.1)[0]:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    if b"tty True" in seen and not sent:
        os.write(terminal, bytes([3]))
        sent = True
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Sits at a terminal, starts a program there, and types Ctrl-C once it says that it is at one."""

INTERRUPTED = """
import signal, sys, time
got = []
signal.signal(signal.SIGINT, lambda n, f: got.append(n))
print('tty', sys.stdout.isatty(), flush=True)
end = time.monotonic() + 20
while not got and time.monotonic() < end: time.sleep(0.01)
time.sleep(0.3)
print('got', len(got), flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "sigtimedwait"), reason="needs Linux's signals")
def test_on_a_terminal_the_command_sees_a_terminal_and_ctrl_c_reaches_it_once(tmp_path):
    watched = [
        *RUN_LINE,
        f"--out={tmp_path}",
        "--interval=0.05",
        "--",
        sys.executable,
        "-c",
        INTERRUPTED,
    ]
    run = subprocess.run(
        [sys.executable, "-c", TYPIST, *watched], capture_output=True, timeout=90, check=False
    )
    assert run.returncode == 0
    assert b"got 1" in run.stdout
    assert b"exit status 0" in run.stdout
