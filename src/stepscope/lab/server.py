"""JupyterLab as a child process, and what it says of itself once it answers.

A server writes ``jpserver-<pid>.json`` into its runtime folder: port, token, process. The folder is made
readable for its owner alone, and the token is never on a command line, where others could see it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.errors import MissingExtraError, StepscopeError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

RUNTIME_VARIABLE = "JUPYTER_RUNTIME_DIR"
SECONDS_TO_END = 10
"""A server that was told to end and has not after so long is killed."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """A server that answers.

    Attributes:
        port: On 127.0.0.1 of its machine.
        token: What the address must hold.
        pid: Its process.
    """

    port: int
    token: str
    pid: int

    def address(self, port: int | None = None) -> str:
        """The address of JupyterLab, through a tunnel from another local port when given."""
        return f"http://127.0.0.1:{port or self.port}/lab?token={self.token}"


def need_jupyter() -> None:
    """Makes sure that there is a JupyterLab, which the base install does not bring.

    Raises:
        MissingExtraError: There is none.
    """
    if importlib.util.find_spec("jupyterlab") is None:
        raise MissingExtraError(
            "the lab runs in JupyterLab, which this Python does not have: "
            "pip install 'stepscope[lab]'"
        )


def server_command(folder: Path, *, port: int, idle_minutes: int, opens: bool) -> list[str]:
    """The command line of a server for a folder.

    Args:
        folder: What it shows.
        port: Its port, 0 for a free one.
        idle_minutes: Notebooks that idle so long are stopped, and the server once none is left; 0 for
            never.
        opens: Whether it opens a browser.
    """
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={folder}",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.log_level=WARN",
        f"--ServerApp.open_browser={opens}",
    ]
    if os.name == "posix" and os.geteuid() == 0:
        command.append("--ServerApp.allow_root=True")
    if idle_minutes:
        command += [
            f"--MappingKernelManager.cull_idle_timeout={60 * idle_minutes}",
            "--MappingKernelManager.cull_connected=True",
            f"--ServerApp.shutdown_no_activity_timeout={60 * idle_minutes}",
        ]
    return command


def make_runtime(folder: Path) -> None:
    """Makes a runtime folder that only its owner can read."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)


def read_info(runtime: Path) -> ServerInfo | None:
    """What the server in this runtime folder says of itself; ``None`` before it is up."""
    for path in sorted(runtime.glob("jpserver-*.json")):
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            return ServerInfo(int(told["port"]), str(told["token"]), int(told["pid"]))
        except (OSError, ValueError, KeyError):
            # It is being written, or its server has just ended.
            continue
    return None


def listens(port: int) -> bool:
    """Whether somebody takes connections at this port of 127.0.0.1."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            return True
    except OSError:
        return False


class Server:
    """A server that ends with the ``with`` around it, however that ends.

    Args:
        command: As :func:`server_command` makes it.
        runtime: Its runtime folder.
        environ: The environment that it inherits.
    """

    def __init__(self, command: list[str], runtime: Path, environ: Mapping[str, str]) -> None:
        self._command, self._runtime = command, runtime
        self._environ = {**environ, RUNTIME_VARIABLE: str(runtime)}
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        """Start it, in a group of its own, so that Ctrl-C reaches only us and does not make it ask."""
        make_runtime(self._runtime)
        for stale in self._runtime.glob("jpserver-*"):
            stale.unlink(missing_ok=True)
        self._child = subprocess.Popen(  # noqa: S603
            self._command, env=self._environ, stdin=subprocess.DEVNULL, start_new_session=True
        )
        return self

    def info(self, seconds: float = 120) -> ServerInfo:
        """Waits until it answers: it writes its file some time before it listens.

        Raises:
            StepscopeError: It ended, or took too long.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            info = read_info(self._runtime)
            if info is not None and listens(info.port):
                return info
            if self._child is None or self._child.poll() is not None:
                raise StepscopeError("JupyterLab ended before it was up; its own words are above")
            time.sleep(0.1)
        raise StepscopeError(f"JupyterLab did not come up within {seconds:.0f} seconds")

    def wait(self) -> int:
        """Waits until it ends by itself; its exit status."""
        return 0 if self._child is None else self._child.wait()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End it and, through it, its notebooks' kernels."""
        child, self._child = self._child, None
        if child is None or child.poll() is not None:
            return
        child.terminate()
        try:
            child.wait(timeout=SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
