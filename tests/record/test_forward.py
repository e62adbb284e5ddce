"""Calls of the model as steps: which modules are listened to, and what stays untouched."""

from __future__ import annotations

import copy
import io
import threading

import pytest

from stepscope.record.guard import Guard
from stepscope.record.hooks.forward import MOST_MODULES, SURE_CALLS, ForwardHook
from stepscope.record.steps import PATIENT_CALLS, StepFinder
from stepscope.record.voice import Voice
from tests.record.running import plain, profiled

pytest.importorskip("torch", reason="there are no models without PyTorch")

import torch
from torch import nn

ONE = torch.ones(1, 4)


class Net(nn.Module):
    """Two layers."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x):
        return self.inner(x)


class Odd(nn.Module):
    """A module that is called in its own way."""

    def __call__(self, x):
        return x + 1


@pytest.fixture
def listening():
    heard: list[int] = []
    before = nn.Module.__call__
    hook = ForwardHook(heard.append, Guard(Voice()))
    hook.install()
    yield hook, heard
    hook.remove()
    assert nn.Module.__call__ is before
    assert "__call__" not in vars(Net)


def test_only_the_outermost_module_is_heard_and_soon_only_its_class_is_touched(listening):
    _, heard = listening
    net, before = Net(), nn.Module.__call__
    for _ in range(SURE_CALLS + 4):
        net(ONE)
    assert heard == [id(net)] * (SURE_CALLS + 4)
    assert nn.Module.__call__ is not before
    assert "__call__" in vars(Net)
    assert "__call__" not in vars(nn.Linear)


def test_models_that_are_called_in_turn_are_all_heard(listening):
    _, heard = listening
    first, second = Net(), nn.Linear(4, 4)
    for _ in range(6):
        first(ONE)
        second(ONE)
    assert heard == [id(first), id(second)] * 6


def test_instances_can_be_copied_and_pickled(listening):
    _, heard = listening
    net = Net()
    for _ in range(SURE_CALLS):
        net(ONE)
    target = io.BytesIO()
    torch.save(net, target)
    target.seek(0)
    copies = (copy.deepcopy(net), torch.load(target, weights_only=False))
    for one in copies:
        one(ONE)
    assert heard[-2:] == [id(one) for one in copies]


def test_a_call_of_the_classs_own_stays_and_comes_back(listening):
    hook, heard = listening
    own = vars(Odd)["__call__"]
    net, odd = Net(), Odd()
    for _ in range(SURE_CALLS + 1):
        assert odd(1) == 2
        net(ONE)
    # Its class does not ask nn.Module, so that only calls below it could be heard.
    assert id(odd) not in heard
    hook.remove()
    assert vars(Odd)["__call__"] is own


def test_a_call_that_raises_leaves_the_next_one_outermost(listening):
    _, heard = listening
    net = Net()
    with pytest.raises(RuntimeError):
        net(torch.ones(1, 3))
    net(ONE)
    assert heard == [id(net)] * 2


def test_other_threads_are_not_heard(listening):
    _, heard = listening
    net = Net()
    net(ONE)
    other = threading.Thread(target=net, args=(ONE,))
    other.start()
    other.join()
    assert len(heard) == 1


def test_modules_that_are_never_called_again_are_given_up(listening):
    kept = [nn.Linear(4, 4) for _ in range(MOST_MODULES + 1)]
    hook, heard = listening
    for module in kept:
        module(ONE)
    assert len(heard) == MOST_MODULES + 1
    assert not hook._undo


def test_calls_begin_steps_where_nothing_else_does():
    finder = StepFinder()
    seen = [finder.forward_begins(7, 1, trains=bool) for _ in range(3)]
    assert seen == [(True, True), (True, False), (True, False)]
    assert finder.source == "forward"
    # Another thread, and then a loader and an optimizer, which overrule it.
    assert finder.forward_begins(7, 2, trains=bool) == (False, False)
    assert finder.loader_begins(1, 1) == (True, True)
    assert finder.forward_begins(7, 1, trains=bool) == (False, False)
    assert finder.optimizer_stepped(1, 1, may_move=True) == (True, True)


def test_an_optimizers_first_step_is_waited_for_a_while():
    finder = StepFinder()
    found = [finder.forward_begins(7, 1, trains=lambda: True)[0] for _ in range(PATIENT_CALLS + 2)]
    assert found == [False] * PATIENT_CALLS + [True] * 2


@pytest.mark.slow
def test_an_inference_without_loader_is_recorded_and_said_to_be_one(tmp_path):
    command = ("bare_inference.py",)
    options = ("--warmup", "2", "--clean", "3", "--active", "3")
    without, ended = plain(*command), profiled(tmp_path / "run", *command, options=options)
    assert (ended.status, ended.stdout) == (without.status, without.stdout)
    recording = ended.recording
    assert (recording.step_source, recording.steps_seen) == ("forward", 29)
    assert recording.window.kind == "steady"
    assert "steps-by-forward" in ended.codes


@pytest.mark.slow
def test_steps_of_a_compiled_optimizer_are_counted(tmp_path):
    options = ("--warmup", "2", "--clean", "3", "--active", "3")
    ended = profiled(tmp_path / "run", "compiled_optimizer.py", options=options)
    assert ended.status == 0, ended.stderr
    assert ended.stdout == plain("compiled_optimizer.py").stdout
    assert (ended.recording.step_source, ended.recording.steps_seen) == ("optimizer", 19)
    assert ended.recording.window.kind == "steady"
