import argparse
import json

import pytest

from stepscope.cli import compare
from stepscope.errors import GateFailedError, InputError
from stepscope.report import saved
from tests.report import examples
from tests.report.test_compare import STEADY, with_steps


@pytest.fixture
def files(tmp_path):
    """Saved reports by name."""
    reports = {
        "steady": with_steps(STEADY),
        "slow": with_steps(ms * 1.2 for ms in STEADY),
        "few": with_steps((130.0, 131.0, 132.0)),
        "window": examples.nothing_recorded(),
    }
    for name, report in reports.items():
        saved.save(report, tmp_path / f"{name}.json")
    return {name: str(tmp_path / f"{name}.json") for name in reports}


def run(*arguments):
    parser = argparse.ArgumentParser()
    compare.add_arguments(parser)
    return compare.run(parser.parse_args([str(argument) for argument in arguments]))


def test_two_reports_are_printed(files, capsys):
    assert run(files["steady"], files["slow"]) == 0
    assert capsys.readouterr().out.startswith("SLOWER: 0.83x by medians")


def test_json_to_stdout_sends_the_text_to_stderr(files, capsys):
    assert run(files["steady"], files["slow"], "--json", "-") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["verdict"] == "slower"
    assert captured.err.startswith("SLOWER")


def test_json_to_a_file(files, tmp_path, capsys):
    run(files["slow"], files["steady"], "--json", tmp_path / "out.json")
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["verdict"] == "faster"
    assert document["certain"] is True


def test_a_slower_run_fails_the_gate(files, capsys):
    with pytest.raises(GateFailedError, match=r"20\.0 % longer, more than the 5 % allowed"):
        run(files["steady"], files["slow"], "--fail-if-slower", "5%")
    assert GateFailedError.exit_status == 1
    assert capsys.readouterr().out.startswith("SLOWER")


@pytest.mark.parametrize(
    "arguments",
    [
        ("steady", "slow", "--fail-if-slower", "25%"),
        ("slow", "steady", "--fail-if-slower", "5%"),
        ("steady", "steady", "--fail-if-slower", "0%"),
        ("steady", "few", "--fail-if-slower", "5%", "--only-if-certain"),
    ],
)
def test_other_runs_pass_it(files, arguments):
    assert run(*(files.get(argument, argument) for argument in arguments)) == 0


def test_an_unproven_slowdown_fails_it_unless_told_otherwise(files):
    with pytest.raises(GateFailedError):
        run(files["steady"], files["few"], "--fail-if-slower", "0.05")


def test_a_gate_without_steps_is_an_unusable_input(files):
    with pytest.raises(InputError, match="only one of the two has steps"):
        run(files["steady"], files["window"], "--fail-if-slower", "5%")


@pytest.mark.parametrize("share", ["5", "five", "-1%", "5%x", ""])
def test_a_share_must_be_one(files, share, capsys):
    with pytest.raises(SystemExit) as stop:
        run(files["steady"], files["slow"], f"--fail-if-slower={share}")
    assert stop.value.code == 2
    assert "no share" in capsys.readouterr().err
