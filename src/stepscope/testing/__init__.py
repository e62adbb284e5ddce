"""Traces made in memory, with known content, for tests: the package's own and its users'.

``TraceBuilder`` says what host and device did and writes it in any form that PyTorch ever wrote;
``scenarios`` holds small runs with a known bottleneck. Nothing here reads a trace.
"""

from stepscope.testing.builder import Group, TraceBuilder
from stepscope.testing.form import ERAS, Form
from stepscope.testing.host import Setup
from stepscope.testing.models import A100, H100, MI300X, DeviceModel
from stepscope.testing.records import Span

__all__ = [
    "A100",
    "ERAS",
    "H100",
    "MI300X",
    "DeviceModel",
    "Form",
    "Group",
    "Setup",
    "Span",
    "TraceBuilder",
]
