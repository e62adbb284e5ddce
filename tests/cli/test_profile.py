import importlib.util
import json

import pytest

from stepscope.cli import profile
from stepscope.cli.main import main, parser
from tests.record.running import finish, start


def script_of(*arguments):
    return profile._script(parser().parse_args(["profile", *arguments]))


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["t.py"], ("t.py",)),
        (["t.py", "--out", "x", "--stop", "-m", "y"], ("t.py", "--out", "x", "--stop", "-m", "y")),
        (["--stop", "t.py", "--a", "--", "b", "--"], ("t.py", "--a", "--", "b", "--")),
        (["-m", "pkg.mod", "--out", "x", "-m"], ("-m", "pkg.mod", "--out", "x", "-m")),
        (["--out", "x", "-m", "pkg", "--", "b"], ("-m", "pkg", "--", "b")),
        (["t.py", "--acti", "-h", "--help"], ("t.py", "--acti", "-h", "--help")),
    ],
)
def test_what_follows_the_script_belongs_to_the_script(arguments, command):
    assert script_of(*arguments).command == command


def test_options_before_the_script_are_ours():
    options = parser().parse_args(
        ["profile", "--out", "x", "--warmup", "0", "--clean", "2", "--active", "3", "t.py", "--out"]
    )
    assert (options.out, options.warmup, options.clean, options.active) == ("x", 0, 2, 3)
    assert not options.stop
    assert not options.no_analyze


@pytest.mark.parametrize("bad", [["--active", "0"], ["--warmup", "-1"], ["--clean", "x"]])
def test_counts_that_make_no_sense_are_refused(bad, capsys):
    with pytest.raises(SystemExit) as error:
        parser().parse_args(["profile", *bad, "t.py"])
    assert error.value.code == 2
    assert bad[0] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "is_module", "name"),
    [("a/b/train.py", False, "train"), ("pkg.train", True, "train"), ("train", False, "train")],
)
def test_runs_are_named_after_the_script(target, is_module, name):
    arguments = ["-m", target] if is_module else [target]
    assert script_of(*arguments).name == name


def test_without_torch_it_says_what_to_install(monkeypatch, capsys, tmp_path):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "torch" else find(name)
    )
    monkeypatch.chdir(tmp_path)
    assert main(["profile", "train.py"]) == 2
    assert "pip install 'stepscope[record]'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_run_is_analysed_and_the_report_goes_to_stderr(tmp_path):
    folder = tmp_path / "run"
    ended = finish(start(["-m", "stepscope", "profile", "--out", folder, "accumulate.py"]))
    assert ended.status == 0, ended.stderr
    assert [line.split()[0] for line in ended.stdout.splitlines()] == ["before", "epoch", "epoch"]
    report = json.loads((folder / "report.json").read_text())
    assert report["verdict"]["sentence"]
    assert report["ranks"][0]["steps"]["source"] == "profiler-step"
    assert report["recording"]["command"] == ["accumulate.py"]
    assert "Where the step goes" in ended.stderr
    assert "</html>" in (folder / "report.html").read_text()
