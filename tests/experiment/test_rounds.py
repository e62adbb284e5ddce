"""The experiment, with trials that are made up."""

from __future__ import annotations

import itertools
import json

import pytest

from stepscope.errors import InputError, OptionError
from stepscope.experiment import Order, trial, tune
from stepscope.experiment.text import lines_of
from stepscope.record.hooks.changes import Changes
from tests.experiment.test_variant import CPU
from tests.known import known


@pytest.fixture
def made_up(monkeypatch):
    """Trials whose step times depend on the change; returns the list of what was run."""
    run = []
    noise = itertools.cycle((1.0, 1.01, 0.99, 1.005, 0.992, 1.002, 1.008))

    def one(command, changes, folder, *, steps, first):
        run.append((command, changes, folder.name, first))
        step = {None: 100e6, 1: 90e6, 4: 50e6}.get(changes.workers, 100e6)
        step *= 2 if "--batch-size=64" in command else 1
        if changes.compile:
            return "the script ended with status 1; see a log"
        losses = (2.0, 1.0, *[0.9 if changes.autocast else 0.5] * 4)
        return trial.Trial(folder, (round(step * next(noise)),) * 3, losses)

    monkeypatch.setattr(trial, "run", one)
    monkeypatch.setattr("stepscope.experiment.rounds.situation_of", lambda _: CPU)
    return run


def order(folder, **more):
    return Order(
        **{"command": ("train.py",), "folder": folder, "budget_s": 60, "tell": str, **more}
    )


def test_changes_are_tried_beside_trials_without_them_until_they_are_certain(made_up, tmp_path):
    done = tune(order(tmp_path, only=("worker",)))
    best = done.changes[0]
    assert best.name == "4 loader workers"
    assert best.gain == pytest.approx(2, rel=0.03)
    assert (best.end, best.rounds, best.losses_alike) == ("certain", 3, True)
    assert None not in (best.low, best.high)
    assert best.low < best.gain < best.high  # type: ignore[operator]
    rounds = [name.partition("-")[0] for _, changes, name, _ in made_up if changes == Changes()]
    assert rounds[:4] == ["first", "round1", "round2", "round3"]
    assert [first for *_, first in made_up].count(True) == 1


def test_a_certain_gain_is_measured_on_until_it_is_precise(made_up, tmp_path, monkeypatch):
    noise = itertools.cycle((1.0, 1.3, 0.9, 1.1))
    plain = trial.run

    def loud(command, changes, folder, *, steps, first):
        made = plain(command, changes, folder, steps=steps, first=first)
        assert isinstance(made, trial.Trial)
        return trial.Trial(made.folder, (round(made.steps_ns[0] * next(noise)),) * 3, made.losses)

    monkeypatch.setattr(trial, "run", loud)
    best = tune(order(tmp_path, only=("4 loader",))).changes[0]
    assert (best.end, best.rounds) == ("certain", 6)
    assert known(best.high) > 1.1 * known(best.low)


def test_bunches_are_measured_by_means(made_up, tmp_path, monkeypatch):
    def bunched(command, changes, folder, *, steps, first):
        fast = changes.workers == 4
        return trial.Trial(folder, (2_000_000, 78_000_000) * 6 if fast else (80_000_000,) * 12, ())

    monkeypatch.setattr(trial, "run", bunched)
    best = tune(order(tmp_path, only=("4 loader",))).changes[0]
    assert best.by == "means"
    assert best.gain == pytest.approx(2.0)
    assert "2.00x by means" in "\n".join(lines_of(tune(order(tmp_path, only=("4 loader",)))))


def test_the_result_is_kept_and_says_what_to_write(made_up, tmp_path):
    done = tune(order(tmp_path, only=("worker",)))
    kept = json.loads((tmp_path / "tune.json").read_text(encoding="utf-8"))
    assert kept["changes"][0]["name"] == "4 loader workers"
    text = "\n".join(lines_of(done))
    assert "num_workers=4" in text
    assert "num_workers=2" not in text


def test_a_change_without_effect_ends_as_such(made_up, tmp_path):
    done = tune(order(tmp_path, only=("thread",)))
    assert {one.end for one in done.changes} <= {"no difference", "budget"}
    assert "No change makes" in lines_of(done)[-1]


def test_losses_that_differ_are_said(made_up, tmp_path):
    done = tune(order(tmp_path, only=("precision",)))
    assert done.changes[0].losses_alike is False
    assert any("differ" in line for line in lines_of(done))


def test_a_script_that_fails_with_a_change_ends_that_change_only(made_up, tmp_path):
    done = tune(order(tmp_path, only=("compiled", "4 loader")))
    ends = {one.name: one.end for one in done.changes}
    assert ends == {"4 loader workers": "certain", "compiled model": "failed"}
    assert any("status 1" in line for line in lines_of(done))


def test_options_of_the_script_are_varied(made_up, tmp_path):
    done = tune(order(tmp_path, vary=("--batch-size=64",)))
    (one,) = done.changes
    assert one.gain == pytest.approx(0.5, rel=0.03)
    assert not one.is_gain
    assert ("train.py", "--batch-size=64") in {command for command, *_ in made_up}
    assert any("other work" in line for line in lines_of(done))


def test_a_spent_budget_ends_it(made_up, tmp_path):
    done = tune(order(tmp_path, budget_s=0.0, only=("worker",)))
    assert all(one.end == "budget" and one.gain is None for one in done.changes)
    assert len(made_up) == 1


def test_a_script_that_does_not_run_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(trial, "run", lambda *_, **__: "too few steps were seen")
    with pytest.raises(InputError, match="too few steps"):
        tune(order(tmp_path))


def test_nothing_to_try_is_refused(made_up, tmp_path):
    with pytest.raises(OptionError, match="nothing to try"):
        tune(order(tmp_path, only=("no such change",)))
