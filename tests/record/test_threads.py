"""How many threads an operator has, asked of PyTorch and not known before it is imported, and on which cores."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

from stepscope.record.cores import affinity, operator_threads


def test_pytorch_is_asked_once_it_is_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(get_num_threads=lambda: 3))
    assert operator_threads() == 3
    monkeypatch.delitem(sys.modules, "torch")
    assert operator_threads() is None


def test_a_torch_that_is_still_being_imported_does_not_tell(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    assert operator_threads() is None


def test_cores_are_listed_as_linux_does(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {5, 0, 1, 2, 7, 8}, raising=False)
    assert affinity() == "0-2,5,7-8"


def test_a_system_that_does_not_tell_the_cores_gives_none(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert affinity() == ""
