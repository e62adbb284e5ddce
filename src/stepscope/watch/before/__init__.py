"""Mistakes that can be seen before a run, in the order in which they are told."""

from stepscope.watch.before import cores, data, devices, jobs
from stepscope.watch.before.seen import Before
from stepscope.watch.mistake import Mistake

MISTAKES: tuple[Mistake[Before], ...] = (
    *devices.MISTAKES,
    *cores.MISTAKES,
    *data.MISTAKES,
    *jobs.MISTAKES,
)

__all__ = ["MISTAKES", "Before"]
