"""The Report as one self-contained HTML page that loads nothing from anywhere."""

from stepscope.report.html.page import render, write

__all__ = ["render", "write"]
