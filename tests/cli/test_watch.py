"""The command as typed."""

import argparse
import signal

import pytest

from stepscope.cli import watch
from stepscope.errors import InputError, OptionError
from stepscope.watch.store import SampleWriter
from tests.watch.rows import device, device_start, host, start


def run(*words):
    parser = argparse.ArgumentParser()
    watch.add_arguments(parser)
    return watch.run(parser.parse_args(words))


@pytest.mark.parametrize(
    "words", [(), ("--",), ("--pid", "1", "--", "true"), ("--summary", "x", "--", "true")]
)
def test_one_thing_is_watched(words):
    with pytest.raises(OptionError, match="say what to watch"):
        run(*words)


@pytest.mark.parametrize("interval", ["0", "-1", "nan", "1e9"])
def test_an_interval_that_cannot_be(interval):
    with pytest.raises(OptionError, match="--interval"):
        run("--interval", interval, "--", "true")


def test_a_job_needs_slurm(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _name: None)
    with pytest.raises(OptionError, match="srun"):
        run("--job", "7")


@pytest.mark.skipif(not hasattr(signal, "sigtimedwait"), reason="needs Linux's signals")
def test_a_program_that_is_not_there(tmp_path):
    with pytest.raises(OptionError, match="cannot run no-such-program"):
        run("--out", str(tmp_path), "--", "no-such-program")
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == set()


def test_a_process_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="there is no process"):
        run("--out", str(tmp_path), "--pid", str(2**22 + 1))


def test_a_watched_run_is_told_again(tmp_path, capsys):
    writer = SampleWriter(tmp_path, start())
    writer.write(0.0, [device_start()])
    for second in range(0, 601, 2):
        writer.write(float(second), [host(float(second)), device(float(second), busy_frac=0.1)])
    assert run("--summary", str(tmp_path)) == 0
    text = capsys.readouterr().out
    assert "no end seen after 10.0 min" in text
    assert "WA003 high: the GPU(s) were busy for 10 % of the time" in text
    assert (tmp_path / "watch.json").is_file()


def test_a_folder_without_samples(tmp_path):
    with pytest.raises(InputError, match="holds no samples"):
        run("--summary", str(tmp_path))


def test_the_command_s_own_options_stay_its_own():
    parser = argparse.ArgumentParser()
    watch.add_arguments(parser)
    words = ["--out", "x", "--", "python", "t.py", "--pid", "3", "--out", "y", "--", "z"]
    args = parser.parse_args(words)
    assert args.pid is None
    assert args.command[-8:] == words[3:]
