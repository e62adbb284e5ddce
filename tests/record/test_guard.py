import os

import pytest

from stepscope.record.guard import Guard
from stepscope.record.voice import Voice


class Listener(Voice):
    def __init__(self):
        super().__init__()
        self.said: list[str] = []

    def warn(self, text):
        self.said.append(text)


def fail():
    raise LookupError("broken")


def test_the_first_failure_is_said_once_and_ends_everything():
    voice, calls = Listener(), []
    guard = Guard(voice)
    guard.on_failure(lambda: calls.append("tidied"))

    def count_and_fail(number):
        calls.append(number)
        raise ValueError("broken")

    hook = guard.wrap(count_and_fail)
    hook(1)
    hook(2)
    assert guard.call(len, "abc") is None
    assert calls == [1, "tidied"]
    assert voice.said == ["recording stopped, the script goes on: ValueError: broken"]
    assert isinstance(guard.failure, ValueError)


def test_tidying_up_may_fail_too():
    voice = Listener()
    guard = Guard(voice)
    guard.on_failure(fail)
    guard.call(fail)
    assert len(voice.said) == 2
    assert "LookupError: broken" in voice.said[1]


@pytest.mark.parametrize("signal", [KeyboardInterrupt, SystemExit])
def test_what_belongs_to_the_user_passes(signal):
    guard = Guard(Listener())

    def leave():
        raise signal

    with pytest.raises(signal):
        guard.wrap(leave)()
    assert guard.is_on


def test_the_end_is_done_even_after_a_failure():
    guard, calls = Guard(Listener()), []
    guard.call(fail)
    guard.finish(lambda: calls.append("end"))
    assert calls == ["end"]


def test_nothing_runs_in_a_forked_child():
    guard = Guard(Listener())
    child = os.fork()
    if child == 0:
        calls = []
        guard.wrap(lambda: calls.append(1))()
        guard.finish(lambda: calls.append(2))
        os._exit(len(calls))
    assert os.waitpid(child, 0)[1] == 0
    assert guard.call(len, "abc") == 3
