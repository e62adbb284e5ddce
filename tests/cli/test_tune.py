"""The command line of the experiment."""

from __future__ import annotations

import pytest

from stepscope.cli.main import main
from stepscope.experiment.outcome import Experiment, Measured

pytest.importorskip("torch", reason="trials need PyTorch")


@pytest.fixture
def orders(monkeypatch):
    given = []

    def tune(order):
        given.append(order)
        best = Measured(
            name="2 loader workers",
            lines="num_workers=2",
            rounds=3,
            gain=1.5,
            low=1.4,
            high=1.6,
            predicted_low=1.3,
            predicted_high=1.7,
            end="certain",
        )
        return Experiment(command=order.command, base_step_ms=12.0, seconds=9.0, changes=(best,))

    monkeypatch.setattr("stepscope.experiment.tune", tune)
    return given


def test_it_prints_measured_beside_predicted(orders, tmp_path, capsys):
    out = tmp_path / "new"
    status = main(["tune", "--budget", "5", "--out", str(out), "train.py", "--only", "his"])
    assert status == 0
    (order,) = orders
    assert order.command == ("train.py", "--only", "his")
    assert (order.budget_s, order.only, order.folder) == (5.0, (), out)
    text = capsys.readouterr().out
    assert "1.50x" in text
    assert "1.30 to 1.70, held" in text
    assert "num_workers=2" in text


def test_a_module_may_be_tried(orders, tmp_path):
    assert main(["tune", "--out", str(tmp_path / "new"), "-m", "my.trainer", "--fast"]) == 0
    assert orders[0].command == ("-m", "my.trainer", "--fast")


@pytest.mark.parametrize("words", [[], ["-m"]])
def test_without_a_script_it_says_so(words, capsys):
    assert main(["tune", *words]) == 2
    assert "script" in capsys.readouterr().err


@pytest.mark.parametrize("budget", ["0", "-3", "much"])
def test_a_budget_is_a_positive_number(budget, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["tune", "--budget", budget, "train.py"])
    assert ended.value.code == 2
    assert "--budget" in capsys.readouterr().err
