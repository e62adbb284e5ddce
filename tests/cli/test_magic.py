"""The cell magic: profiles a cell and shows the report under it."""

from typing import Any

import pytest

from stepscope.cli.magic import magic_of

interactive = pytest.importorskip(
    "IPython.core.interactiveshell",
    reason="IPython is not installed; it comes with the extra 'lab'",
)
pytest.importorskip("torch", reason="torch is not installed")

CELL = """
import torch
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    loss = model(torch.ones(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
answer = 42
"""


@pytest.fixture
def shell(monkeypatch, tmp_path):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    made = interactive.InteractiveShell()
    yield made
    interactive.InteractiveShell.clear_instance()
    made.history_manager.end_session()


@pytest.mark.slow
def test_the_cell_runs_and_its_report_is_shown(shell, tmp_path, monkeypatch, capsys):
    shown: list[Any] = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    assert shell.run_cell("%load_ext stepscope").success
    folder = tmp_path / "run"
    magic = shell.find_cell_magic("stepscope")
    magic(f"--out {folder} --warmup 2 --clean 3 --active 3", CELL)
    assert shell.user_ns["answer"] == 42
    assert (folder / "report.html").exists()
    assert str(folder / "report.html") in capsys.readouterr().out
    (frame,) = shown
    assert 'sandbox="allow-scripts"' in frame.data
    assert "&lt;!DOCTYPE html&gt;" in frame.data
    assert frame.data.count("<") == 4


def test_an_option_that_is_not_there_is_said_and_ends_nothing(shell, capsys):
    magic_of(shell)("--no-such-option", CELL)
    assert "%%stepscope: unrecognized arguments: --no-such-option" in capsys.readouterr().err
    assert "answer" not in shell.user_ns
