"""The command line as a whole: help, versions, errors and exit statuses."""

import subprocess
import sys

import pytest

from stepscope._version import __version__
from stepscope.cli import main as program
from stepscope.errors import GateFailedError, InputError, OptionError


def stepscope(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "stepscope", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


def test_help_names_every_command_and_the_exit_statuses():
    done = stepscope("--help")
    assert done.returncode == 0
    for name in program.COMMANDS:
        assert f"  {name} " in done.stdout
    assert "exit status: 0 done" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize("name", program.COMMANDS)
def test_each_command_explains_itself(name):
    done = stepscope(name, "--help")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) > 10


def test_version():
    assert stepscope("--version").stdout == f"stepscope {__version__}\n"


def test_a_typo_is_one_line_that_names_the_way_out():
    done = stepscope("analyse", "x.json")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "invalid choice: 'analyse'" in done.stderr
    assert "stepscope --help" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InputError("is broken", path="a.json", place="byte 3", way_out="mend it"), 2),
        (OptionError("no such rank"), 2),
        (GateFailedError("slower"), 1),
    ],
)
def test_errors_become_one_line_and_their_status(monkeypatch, capsys, error, status):
    def fail(_):
        raise error

    monkeypatch.setattr("stepscope.cli.analyze.run", fail)
    assert program.main(["analyze", "x"]) == status
    assert capsys.readouterr().err == f"stepscope: {error}\n"


def test_our_own_fault_is_one_sentence_and_status_3(monkeypatch, capsys):
    def fail(_):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("stepscope.cli.analyze.run", fail)
    assert program.main(["analyze", "x"]) == 3
    told = capsys.readouterr().err
    assert "a fault of stepscope itself: ZeroDivisionError" in told
    assert "Traceback" not in told


def test_the_place_stands_in_an_input_error():
    error = InputError("is broken", path="a.json", place="byte 3", way_out="mend it")
    assert str(error) == "a.json: is broken at byte 3; mend it"


def test_no_argument_of_a_command_hides_what_runs_it():
    done = stepscope("cost", "--gpus", "1", "--hours", "1", "--device", "H100", "--site", "none")
    assert done.returncode == 0, done.stderr
    assert "Electricity" in done.stdout


def test_a_reading_command_imports_without_a_search_for_garbage_and_searches_afterwards():
    code = (
        "import gc, sys, stepscope.__main__ as program; program.import_readers();"
        "print(gc.isenabled(), gc.get_freeze_count() > 10_000, 'stepscope.api' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "True True True\n", done.stderr


@pytest.mark.parametrize("words", [("analyze", "--help"), ("watch", "--help"), ()])
def test_what_reads_nothing_does_not_import_the_readers(words):
    code = (
        "import sys, stepscope.__main__ as program; sys.argv[1:] = sys.argv[2:]\n"
        "try:\n    program.run()\n"
        "finally:\n    print('stepscope.api' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "stepscope", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr.splitlines()[-1] == "False"


def test_an_import_that_fails_is_told_in_one_line(tmp_path):
    (tmp_path / "polars.py").write_text("raise ImportError('polars is broken')")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import stepscope.__main__ as program;"
        "sys.argv[1:] = ['analyze', 'x.json']; program.run()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == program.OWN_FAULT
    assert "polars is broken" in done.stderr
    assert len(done.stderr.splitlines()) == 1
