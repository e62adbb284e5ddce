"""stepscope: why a PyTorch training step takes as long as it does, and what to change.

Importing it costs next to nothing: neither torch nor bokeh nor polars is imported before it is needed.

>>> import stepscope
>>> report = stepscope.analyze(["trace.json.gz"])  # doctest: +SKIP
>>> print(report.verdict.sentence)  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from stepscope._version import __version__

if TYPE_CHECKING:
    from stepscope.api import analyze, load_report
    from stepscope.by_hand import profile

__all__ = ["__version__", "analyze", "load_report", "profile"]

_HOMES = {
    "analyze": "stepscope.api",
    "load_report": "stepscope.api",
    "profile": "stepscope.by_hand",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  (module attributes have any type)
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'stepscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])


def load_ipython_extension(shell: object) -> None:
    """``%load_ext stepscope`` in a notebook: makes the cell magic ``%%stepscope`` known."""
    import_module("stepscope.cli.magic").register(shell)
