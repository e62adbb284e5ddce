import importlib.util
import json
import subprocess
import sys

import pytest

from stepscope.cli.main import main


@pytest.mark.slow
def test_the_demo_names_the_input_pipeline(tmp_path):
    folder = tmp_path / "run"
    ended = subprocess.run(
        [sys.executable, "-m", "stepscope", "demo", "--out", folder],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "INPUT-BOUND" in ended.stdout
    assert "num_workers" in ended.stdout
    report = json.loads((folder / "report.json").read_text())
    assert report["verdict"]["regime"] == "input"
    assert report["findings"][0]["regime"] == "input"
    assert report["recording"]["exit_status"] == 0
    assert report["recording"]["clean_steps"] >= 10
    assert "</html>" in (folder / "report.html").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_without_pillow_it_says_what_to_install(monkeypatch, capsys):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "PIL" else find(name)
    )
    assert main(["demo"]) == 2
    assert "pip install 'stepscope[record]'" in capsys.readouterr().err
