"""Scripts and modules are run as Python itself runs them (none of these scripts imports torch)."""

import pytest

from tests.record.running import plain, profiled

pytest.importorskip("torch", reason="profiling needs PyTorch")


@pytest.mark.parametrize("end", ["fall", "0", "3", "256", "-1", "text", "raise"])
def test_a_script_cannot_tell_the_difference(tmp_path, end):
    without = plain("identity.py", end, "--stop", "--", "-m", "x")
    ended = profiled(tmp_path / "run", "identity.py", end, "--stop", "--", "-m", "x")
    assert ended.stdout == without.stdout
    assert ended.status == without.status
    assert without.stderr in ended.stderr
    assert ended.run.manifest.exit_status is not None
    assert ended.run.manifest.exit_status % 256 == without.status
    assert ended.codes == {"torch-not-imported"}


def test_a_script_that_leaves_at_once_has_its_way(tmp_path):
    ended = profiled(tmp_path / "run", "identity.py", "os._exit")
    assert ended.status == 7
    assert ended.run.manifest.state == "running"


@pytest.mark.parametrize("module", ["pkg", "pkg.part"])
def test_a_module_cannot_tell_the_difference(tmp_path, module):
    without = plain("-m", module, "--out", "x")
    ended = profiled(tmp_path / "run", "-m", module, "--out", "x")
    assert (ended.status, ended.stdout) == (without.status, without.stdout)
    assert ended.run.manifest.command == ("-m", module, "--out", "x")


def test_a_script_that_is_no_python_fails_as_it_does_without(tmp_path):
    script = tmp_path / "broken.py"
    script.write_text("print('a'\n")
    without, ended = plain(script), profiled(tmp_path / "run", script)
    assert (ended.status, ended.stdout, ended.stderr) == (1, "", without.stderr)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ((), "give a script, or -m and a module, to profile"),
        (("missing.py",), "the script missing.py cannot be read: No such file or directory"),
        (("pkg",), "pkg is a folder, not a script"),
        (("-m", "pkg.missing"), "there is no module pkg.missing that can be run"),
        (("-m", "missing.part"), "there is no module missing.part that can be run"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(tmp_path, command, sentence):
    ended = profiled(tmp_path / "run", *command)
    assert (ended.status, ended.stdout) == (2, "")
    assert ended.stderr == f"stepscope: {sentence}\n"
    assert not (tmp_path / "run").exists()


def test_a_folder_that_holds_something_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    ended = profiled(tmp_path, "identity.py", "fall")
    assert (ended.status, ended.stdout) == (2, "")
    assert "is not empty; give --out a new folder" in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_earlier_run_is_not_overwritten(tmp_path):
    first = profiled(tmp_path / "run", "identity.py", "fall")
    second = profiled(tmp_path / "run", "identity.py", "fall")
    assert (first.status, second.status) == (0, 2)
    assert "already holds a run" in second.stderr
