"""Runs at the start of every Python below ``stepscope profile -- COMMAND`` and ``stepscope watch -- COMMAND``.

It hands on to the ``sitecustomize`` that would have run without it, and takes itself off the script's path.
What it leaves behind waits for the first question for torch, and only then loads what records: a Python
that never asks for torch pays next to nothing.
"""

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from time import perf_counter_ns

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]


class _Waiting:
    """A finder that finds nothing; hearing of torch it makes way for the recorder's own."""

    def __init__(self) -> None:
        self._begin_ns = perf_counter_ns()

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        if fullname != "torch" or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        if PathFinder.find_spec("stepscope", sys.path) is None:
            return None
        from importlib.util import find_spec

        from stepscope.record.inside import begin

        begin(self._begin_ns)
        # Finders that have been put in place since are asked as well.
        return find_spec(fullname)


if os.environ.get("STEPSCOPE_RUN"):
    sys.meta_path.insert(0, _Waiting())
_other = PathFinder.find_spec("sitecustomize", sys.path)
if _other is not None and _other.loader is not None:
    from importlib.util import module_from_spec

    _module = module_from_spec(_other)
    sys.modules["sitecustomize"] = _module
    _other.loader.exec_module(_module)
