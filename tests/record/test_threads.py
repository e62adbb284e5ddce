"""How many threads an operator has: asked of PyTorch, and not known before it is imported."""

from __future__ import annotations

import sys
from types import SimpleNamespace

from stepscope.record.cores import operator_threads


def test_pytorch_is_asked_once_it_is_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(get_num_threads=lambda: 3))
    assert operator_threads() == 3
    monkeypatch.delitem(sys.modules, "torch")
    assert operator_threads() is None


def test_a_torch_that_is_still_being_imported_does_not_tell(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    assert operator_threads() is None
