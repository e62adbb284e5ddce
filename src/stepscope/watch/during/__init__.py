"""Mistakes that can be seen in a watched run, in the order in which they are told."""

from stepscope.watch.during import devices, host
from stepscope.watch.during.seen import During
from stepscope.watch.mistake import Mistake

MISTAKES: tuple[Mistake[During], ...] = (*devices.MISTAKES, *host.MISTAKES)

__all__ = ["MISTAKES", "During"]
