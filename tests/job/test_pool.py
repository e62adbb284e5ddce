"""Work in several processes, one of which dies."""

from __future__ import annotations

import os
import signal

import pytest

from stepscope.errors import InputError
from stepscope.job.pool import work_off


def squared(number):
    return number * number


def dying(number):
    """A process that the kernel kills at one item, every time."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_results_come_in_the_order_of_the_items():
    done: list[int] = []
    assert work_off(squared, list(range(7)), 1, done.append) == [n * n for n in range(7)]
    assert done == list(range(1, 8))


@pytest.mark.slow
def test_processes_give_what_one_gives():
    assert work_off(squared, list(range(9)), 2) == work_off(squared, list(range(9)), 1)


@pytest.mark.slow
def test_an_item_that_kills_its_process_is_given_up_and_the_rest_is_done():
    found = work_off(dying, [0, 1, 2, 3, 4, 5], 2)
    assert isinstance(found[3], InputError)
    assert [one for one in found if not isinstance(one, InputError)] == [0, 1, 2, 4, 5]
