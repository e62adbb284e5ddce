"""One rule a file: results in, one finding or none out; and the verdict over them.

Every module here but ``base``, ``findings`` and ``verdict`` ends in ``RULE`` and is listed below; a
test holds the list against the folder. Codes are never reused.
"""

from stepscope.advice import (
    allocator_calls,
    communication_exposed,
    copy_exposed,
    copy_pageable,
    device_unused,
    gpu_not_filled,
    gpu_not_recorded,
    hidden_sync,
    host_between,
    idle_unexplained,
    input_single_process,
    input_staging,
    input_workers,
    launch_bound,
    launches_unanswered,
    no_tensor_cores,
    nothing_recorded,
    pauses_between_kernels,
    startup_in_window,
    straggler,
)

RULES = (
    gpu_not_recorded.RULE,
    nothing_recorded.RULE,
    device_unused.RULE,
    startup_in_window.RULE,
    launches_unanswered.RULE,
    idle_unexplained.RULE,
    input_single_process.RULE,
    input_workers.RULE,
    input_staging.RULE,
    hidden_sync.RULE,
    launch_bound.RULE,
    host_between.RULE,
    copy_pageable.RULE,
    copy_exposed.RULE,
    straggler.RULE,
    communication_exposed.RULE,
    allocator_calls.RULE,
    no_tensor_cores.RULE,
    pauses_between_kernels.RULE,
    gpu_not_filled.RULE,
)
"""All rules; those about the data itself come first."""
