"""Torch, asked in a child process."""

import importlib.util
import sys

import pytest

from stepscope.watch.torch_probe import probe_torch


def interpreter(tmp_path, text):
    path = tmp_path / "python"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


@pytest.mark.slow
def test_the_real_torch_answers():
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    facts = probe_torch(sys.executable)
    assert facts.version
    assert facts.threads
    assert len(facts.devices) > 0 or not facts.available


def test_an_interpreter_without_torch_says_why(tmp_path):
    (tmp_path / "torch.py").write_text("raise ImportError('libcudart.so.12: not found')")
    path = interpreter(tmp_path, f'PYTHONPATH={tmp_path} exec {sys.executable} "$@"')
    facts = probe_torch(path)
    assert facts.version is None
    assert facts.error == "ImportError: libcudart.so.12: not found"


def test_noise_before_the_answer_is_passed_over(tmp_path):
    facts = probe_torch(
        interpreter(tmp_path, 'echo hello; echo \'{"python": "p", "version": "2"}\'')
    )
    assert facts.version == "2"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("echo boom >&2; exit 7", "status 7: boom"),
        ("kill -SEGV $$", "without a word"),
        ("echo '{\"python\": 3}'", "could not be read"),
    ],
)
def test_a_child_that_dies_is_told(tmp_path, text, says):
    facts = probe_torch(interpreter(tmp_path, text))
    assert facts.version is None
    assert says in facts.error


def test_a_child_that_hangs_is_given_up(tmp_path):
    assert "no answer" in probe_torch(interpreter(tmp_path, "exec sleep 60"), seconds=0.2).error


def test_no_interpreter_is_told(tmp_path):
    assert "cannot be started" in probe_torch(str(tmp_path / "none")).error
