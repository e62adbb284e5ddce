"""Frameworks under the recorder: no line of theirs changes, and nothing that they print."""

import importlib.util
from pathlib import Path

import pytest

from stepscope.schema.run_folder import load_run
from tests.record.running import PROGRAMS, plain, profiled

pytestmark = pytest.mark.slow
EXAMPLES = Path(__file__).parents[2] / "examples"
COUNTS = ("--warmup", "3", "--clean", "5", "--active", "4")


@pytest.fixture(
    scope="module",
    params=[("accelerate", 1, 0), ("lightning", 2, 3), ("transformers", 1, 0)],
    ids=lambda param: param[0],
)
def framework(request, tmp_path_factory):
    name, epochs, evaluations = request.param
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed; it comes with the extra 'frameworks'")
    program = f"with_{name}.py"
    folder = tmp_path_factory.mktemp(name) / "run"
    return plain(program), profiled(folder, program, options=COUNTS), epochs, evaluations


def last_line(ended):
    return ended.stdout.splitlines()[-1]


def test_the_framework_ends_as_without(framework):
    without, ended, _, _ = framework
    assert ended.status == without.status == 0, ended.stderr
    # The line before may tell how long training took.
    assert last_line(ended) == last_line(without)
    assert last_line(ended).split()[0] in ("loss", "weight")
    assert "recording stopped" not in ended.stderr


def test_its_steps_and_its_loaders_are_found(framework):
    _, ended, epochs, evaluations = framework
    recording = ended.recording
    assert recording.step_source == "optimizer"
    assert 38 <= recording.steps_seen <= 39
    assert recording.window is not None
    assert recording.window.kind == "steady"
    (training,) = [use for use in recording.loaders if use.role == "training"]
    assert (training.batches, training.epochs, training.workers) == (40, epochs, 0)
    assert recording.run_time.evaluations == evaluations


def test_the_loop_is_named_where_the_user_wrote_it(framework):
    _, ended, _, _ = framework
    training = next(use for use in ended.recording.loaders if use.role == "training")
    assert "with_" in training.where


CALLBACKS = {
    "lightning": ("Trainer(\n", "Trainer(\n    callbacks=[StepscopeCallback(**OPTIONS)],\n"),
    "transformers": (
        "train_dataset=Pairs())",
        "train_dataset=Pairs(), callbacks=[StepscopeCallback(**OPTIONS)])",
    ),
}


@pytest.mark.parametrize("name", CALLBACKS)
def test_the_callback_of_the_examples_records_one_training(name, tmp_path):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed; it comes with the extra 'frameworks'")
    folder = tmp_path / "run"
    counts = {"warmup": 3, "clean": 5, "active": 4, "analyze": False, "out": str(folder)}
    example = (EXAMPLES / f"{name}_callback.py").read_text(encoding="utf-8")
    program = (PROGRAMS / f"with_{name}.py").read_text(encoding="utf-8")
    before, after = CALLBACKS[name]
    assert program.count(before) == 1
    script = tmp_path / "script.py"
    script.write_text(f"OPTIONS = {counts!r}\n{example}\n{program.replace(before, after)}")
    ended = plain(script)
    assert ended.status == 0, ended.stderr
    recording = load_run(folder).ranks[0].recording
    assert recording is not None
    assert recording.window is not None
    assert recording.steps_seen >= 38
