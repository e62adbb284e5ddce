import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import psutil
import pytest

from stepscope.cli.main import main
from stepscope.errors import StepscopeError
from stepscope.lab import server


def test_without_jupyter_it_says_what_to_install(monkeypatch, capsys, tmp_path):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "jupyterlab" else find(name),
    )
    assert main(["lab", str(tmp_path / "lab")]) == 2
    assert "pip install 'stepscope[lab]'" in capsys.readouterr().err
    assert not (tmp_path / "lab").exists()


def test_copying_needs_no_jupyter(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    assert main(["lab", "--copy", str(tmp_path)]) == 0
    assert "5 notebooks copied" in capsys.readouterr().out
    assert main(["lab", "--copy", str(tmp_path)]) == 0
    assert "notebooks in" in capsys.readouterr().out


def test_what_a_server_says_is_read_once_it_is_whole(tmp_path):
    assert server.read_info(tmp_path / "absent") is None
    told = tmp_path / "jpserver-7.json"
    told.write_text('{"port": 88')
    assert server.read_info(tmp_path) is None
    told.write_text(json.dumps({"port": 8888, "token": "abc", "pid": 7, "url": "x"}))
    info = server.read_info(tmp_path)
    assert info is not None
    assert info.address() == "http://127.0.0.1:8888/lab?token=abc"
    assert info.address(9000) == "http://127.0.0.1:9000/lab?token=abc"


def test_a_server_that_does_not_come_up_is_one_sentence(tmp_path):
    with (
        server.Server([sys.executable, "-c", "pass"], tmp_path / "run", os.environ) as started,
        pytest.raises(StepscopeError, match="ended before it was up"),
    ):
        started.info()


def test_printing_a_script_needs_slurm_to_be_asked_for(capsys):
    assert main(["lab", "--print"]) == 2
    assert "--slurm" in capsys.readouterr().err


def answer(address):
    try:
        with urllib.request.urlopen(address, timeout=10) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_jupyterlab_answers_with_its_token_only_and_leaves_nothing(ending, tmp_path):
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
    folder = tmp_path / "lab"
    with subprocess.Popen(
        [sys.executable, "-m", "stepscope", "lab", str(folder), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("SLURM")},
    ) as lab:
        assert lab.stdout is not None
        lines = [lab.stdout.readline() for _ in range(3)]
        address = lines[1].split()[-1]
        assert address.startswith("http://127.0.0.1:")
        below = psutil.Process(lab.pid).children(recursive=True)
        assert below
        assert not [word for child in below for word in child.cmdline() if "token" in word]
        assert answer(address) == 200
        assert answer(address.partition("/lab?")[0] + "/api/contents") == 403
        (runtime,) = folder.glob(".lab-*")
        assert runtime.stat().st_mode & 0o077 == 0
        lab.send_signal(ending)
        assert lab.wait(timeout=30) == 0
    end = time.monotonic() + 5
    while [child for child in below if child.is_running()] and time.monotonic() < end:
        time.sleep(0.1)
    assert [child for child in below if child.is_running()] == []
    assert sorted(path.suffix for path in folder.iterdir()) == [".ipynb"] * 5
