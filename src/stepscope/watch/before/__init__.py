"""Mistakes that can be seen before a run, in the order in which they are told."""

from stepscope.watch.before import (
    build_without_device,
    cores_not_bound,
    device_refused,
    fewer_devices,
    full_precision,
    kernels_missing,
    more_than_the_share,
    no_torch,
    no_workers,
    not_confined,
    on_login_node,
    one_thread,
    outside_the_job,
    packages_on_shared,
    profiler_blind,
    small_files,
    small_shared_memory,
    spread_over_nodes,
    stays_on_cpu,
    too_many_threads,
    too_many_workers,
)
from stepscope.watch.before.seen import Before
from stepscope.watch.mistake import Mistake

MISTAKES: tuple[Mistake[Before], ...] = (
    no_torch.MISTAKE,
    build_without_device.MISTAKE,
    device_refused.MISTAKE,
    kernels_missing.MISTAKE,
    fewer_devices.MISTAKE,
    profiler_blind.MISTAKE,
    cores_not_bound.MISTAKE,
    not_confined.MISTAKE,
    too_many_threads.MISTAKE,
    one_thread.MISTAKE,
    small_shared_memory.MISTAKE,
    small_files.MISTAKE,
    packages_on_shared.MISTAKE,
    no_workers.MISTAKE,
    too_many_workers.MISTAKE,
    stays_on_cpu.MISTAKE,
    full_precision.MISTAKE,
    on_login_node.MISTAKE,
    outside_the_job.MISTAKE,
    more_than_the_share.MISTAKE,
    spread_over_nodes.MISTAKE,
)

__all__ = ["MISTAKES", "Before"]
