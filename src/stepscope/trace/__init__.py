"""Trace files to checked tables: every quirk of a vendor, a version or a broken file dies here."""

from stepscope.trace.load import load
from stepscope.trace.model import Device, Trace, TraceMeta, Window

__all__ = ["Device", "Trace", "TraceMeta", "Window", "load"]
