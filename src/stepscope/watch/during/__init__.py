"""Mistakes that can be seen in a watched run, in the order in which they are told."""

from stepscope.watch.during import (
    busy_not_working,
    device_leak,
    few_workers,
    hardly_used,
    held_back,
    host_leak,
    idle_notebook,
    long_limit,
    low_draw,
    memory_short,
    memory_unused,
    no_tensor_cores,
    none_used,
    oversubscribed,
    serial_program,
    shared_memory_full,
    small_reads,
    some_unused,
    too_much_gpu,
)
from stepscope.watch.during.seen import During
from stepscope.watch.mistake import Mistake

MISTAKES: tuple[Mistake[During], ...] = (
    none_used.MISTAKE,
    some_unused.MISTAKE,
    hardly_used.MISTAKE,
    busy_not_working.MISTAKE,
    low_draw.MISTAKE,
    held_back.MISTAKE,
    no_tensor_cores.MISTAKE,
    too_much_gpu.MISTAKE,
    idle_notebook.MISTAKE,
    few_workers.MISTAKE,
    oversubscribed.MISTAKE,
    small_reads.MISTAKE,
    memory_short.MISTAKE,
    memory_unused.MISTAKE,
    shared_memory_full.MISTAKE,
    host_leak.MISTAKE,
    device_leak.MISTAKE,
    long_limit.MISTAKE,
    serial_program.MISTAKE,
)

__all__ = ["MISTAKES", "During"]
