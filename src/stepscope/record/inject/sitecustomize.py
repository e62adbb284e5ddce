"""Runs at the start of every Python that a profiled command starts: has those that train recorded.

This folder is on PYTHONPATH only below ``stepscope profile -- COMMAND``. It hands on to the
``sitecustomize`` that would have run without it, and takes itself off the script's path.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
_other = PathFinder.find_spec("sitecustomize", sys.path)
if _other is not None and _other.loader is not None:
    _module = module_from_spec(_other)
    sys.modules["sitecustomize"] = _module
    _other.loader.exec_module(_module)
if PathFinder.find_spec("stepscope", sys.path) is not None:
    from stepscope.record.inside import begin

    begin()
