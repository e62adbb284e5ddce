"""Trace files to checked tables: every quirk of a vendor, a version or a broken file dies here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope.trace.loading import load
    from stepscope.trace.model import Device, Trace, TraceMeta, Window

__all__ = ["Device", "Trace", "TraceMeta", "Window", "load"]
_HOME = {
    "load": "loading",
    "Device": "model",
    "Trace": "model",
    "TraceMeta": "model",
    "Window": "model",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  (of the protocol)
    """Imports on first use, so that worker processes do not pay for the table library."""
    if name not in _HOME:
        raise AttributeError(name)
    return getattr(import_module(f"stepscope.trace.{_HOME[name]}"), name)
