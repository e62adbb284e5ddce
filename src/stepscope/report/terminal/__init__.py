"""The Report as text for a terminal, a job's log or a pipe."""

from stepscope.report.terminal.printer import print_report, print_sections

__all__ = ["print_report", "print_sections"]
