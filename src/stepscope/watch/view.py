"""The live view: a few lines at the foot of the terminal, above which the command's output scrolls.

The terminal's scrolling region keeps the foot free, as package managers do for their progress bar. The
command still writes to the terminal itself and cannot tell.
"""

from __future__ import annotations

import io
import os
import time
from collections import deque
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stepscope.schema.samples import DeviceSample, DeviceStart, HostSample
from stepscope.units import format_bytes, format_ms
from stepscope.watch.allowance import Allowance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.schema.samples import Sample, Start

BARS = "▁▂▃▄▅▆▇█"
HISTORY = 24
LEAST_ROWS = 12
MOST_DEVICES = 8
CREDIT_S, SHARE = 0.1, 0.003
"""What drawing may take in advance, because the first time is dear, and of a core."""


def sparkline(values: Sequence[float | None]) -> str:
    """Shares between 0 and 1 as bars; a dot where nothing was told."""
    return "".join(
        "·" if value is None else BARS[min(int(max(value, 0.0) * len(BARS)), len(BARS) - 1)]
        for value in values
    )


class Board:
    """What the view shows, line by line; it knows nothing of terminals.

    Args:
        start: Who is watched.
    """

    def __init__(self, start: Start) -> None:
        self._start = start
        self._names: dict[str, DeviceStart] = {}
        self._busy: dict[str, deque[float | None]] = {}
        self._last: dict[str, DeviceSample] = {}
        self._cores: deque[float | None] = deque(maxlen=HISTORY)
        self._host: HostSample | None = None

    def take(self, rows: Sequence[Sample]) -> None:
        """Takes a tick's rows."""
        for row in rows:
            if isinstance(row, DeviceStart):
                self._names[row.uuid] = row
                self._busy[row.uuid] = deque(maxlen=HISTORY)
            elif isinstance(row, DeviceSample) and row.uuid in self._busy:
                self._busy[row.uuid].append(row.busy_frac)
                self._last[row.uuid] = row
            elif isinstance(row, HostSample):
                self._take_host(row)

    def _take_host(self, row: HostSample) -> None:
        before = self._host
        if before is not None and row.at_s > before.at_s:
            used = (row.cpu_s - before.cpu_s) / (row.at_s - before.at_s)
            self._cores.append(used / max(self._start.cores, 1e-9))
        self._host = row

    def lines(self, width: int) -> list[str]:
        """The lines, with colour, no wider than the terminal."""
        table = Table.grid(padding=(0, 2))
        host = self._host
        if host is not None:
            used = (self._cores[-1] or 0.0) * self._start.cores if self._cores else 0.0
            table.add_row(
                Text("CPU", style="bold"),
                Text(sparkline(self._cores), style="cyan"),
                f"{used:.1f}/{self._start.cores:g} cores",
                f"{format_bytes(host.rss_bytes)}",
                f"{host.processes} proc, {host.threads} thr",
                format_ms(host.at_s * 1e3),
            )
        for uuid in list(self._last)[:MOST_DEVICES]:
            table.add_row(*self._device_cells(uuid))
        console = Console(
            file=io.StringIO(), width=width, force_terminal=True, color_system="standard"
        )
        with console.capture() as capture:
            console.print(table, overflow="crop", no_wrap=True)
        return capture.get().rstrip("\n").split("\n")

    def _device_cells(self, uuid: str) -> tuple[str | Text, ...]:
        row = self._last[uuid]
        busy = "lost" if row.lost else "-" if row.busy_frac is None else f"{row.busy_frac:.0%} busy"
        working = "" if row.working_frac is None else f", {row.working_frac:.0%} working"
        memory = "-" if row.memory_bytes is None else format_bytes(row.memory_bytes)
        watts = "" if row.watts is None else f"{row.watts:.0f} W"
        return (
            Text(self._names[uuid].name[-16:], style="bold"),
            Text(sparkline(self._busy[uuid]), style="green"),
            f"{busy}{working}",
            memory,
            watts,
            uuid[:12],
        )


class TerminalView:
    """Draws a board at the foot of a terminal.

    Args:
        board: What is shown.
        terminal: File number of the terminal.
    """

    def __init__(self, board: Board, terminal: int) -> None:
        self._board, self._terminal = board, terminal
        self._size = os.get_terminal_size(terminal)
        self._height = 0
        self._began_s = time.monotonic()
        self._drawing = Allowance(CREDIT_S, SHARE)

    def show(self, rows: Sequence[Sample]) -> None:
        """Takes a tick, and draws it unless the last ones were dear to draw: many devices are drawn less often."""
        self._board.take(rows)
        at_s = time.monotonic() - self._began_s
        if self._drawing.allows(at_s):
            with self._drawing.spending(at_s, 0.0):
                self._draw()

    def _draw(self) -> None:
        size = os.get_terminal_size(self._terminal)
        lines = self._board.lines(size.columns)[: max(size.lines - 4, 0)]
        if not lines:
            return
        text = ""
        if len(lines) != self._height or size != self._size:
            text += self._make_room(size.lines, len(lines))
        self._size, self._height = size, len(lines)
        foot = size.lines - len(lines)
        drawn = "".join(
            f"\x1b[{foot + place + 1};1H\x1b[2K{line}" for place, line in enumerate(lines)
        )
        self._put(f"{text}\x1b7{drawn}\x1b8")

    def close(self) -> None:
        """Gives the foot back and clears it."""
        if not self._height:
            return
        foot = self._size.lines - self._height
        cleared = "".join(f"\x1b[{foot + place + 1};1H\x1b[2K" for place in range(self._height))
        self._put(f"\x1b7{cleared}\x1b[r\x1b8")
        self._height = 0

    def _make_room(self, rows: int, height: int) -> str:
        """Scrolls what is there up by the height of the foot, and keeps the foot out of scrolling."""
        return f"\x1b[r{chr(10) * height}\x1b[{height}A\x1b7\x1b[1;{rows - height}r\x1b8"

    def _put(self, text: str) -> None:
        os.write(self._terminal, text.encode("utf-8"))


def open_view(start: Start, terminal: int = 2) -> TerminalView | None:
    """A view on a terminal; ``None`` where there is none that can show it."""
    if not os.isatty(terminal) or os.environ.get("TERM", "dumb") == "dumb":
        return None
    if os.get_terminal_size(terminal).lines < LEAST_ROWS:
        return None
    return TerminalView(Board(start), terminal)
