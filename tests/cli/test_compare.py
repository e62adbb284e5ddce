import argparse
import json

import msgspec.structs
import pytest

from stepscope.cli import compare
from stepscope.errors import GateFailedError, InputError
from stepscope.report import saved
from stepscope.report.kept_gains import load_gains
from stepscope.schema.report import Gain
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


def test_a_run_folder_keeps_its_predictions_beside_what_was_measured(tmp_path, capsys):
    gain = Gain(low=1.1, high=1.3, unit="ratio", step_ms_low=1, step_ms_high=2, basis="replay")
    slow = with_steps(ms * 1.2 for ms in STEADY)
    (finding,) = (msgspec.structs.replace(one, gain=gain) for one in slow.findings[:1])
    run_folder = tmp_path / "before"
    run_folder.mkdir()
    (run_folder / "run.json").touch()
    saved.save(msgspec.structs.replace(slow, findings=(finding,)), run_folder / "report.json")
    after = tmp_path / "after.json"
    saved.save(msgspec.structs.replace(with_steps(STEADY), findings=()), after)
    run(run_folder, after)
    assert f"kept in {run_folder / 'gains.json'}" in capsys.readouterr().out
    (kept,) = load_gains(run_folder)
    assert (kept.code, kept.after, kept.held) == (finding.code, str(after), True)


def test_files_beside_a_report_are_left_alone(files, tmp_path, capsys):
    run(files["slow"], files["steady"])
    assert not (tmp_path / "gains.json").exists()
