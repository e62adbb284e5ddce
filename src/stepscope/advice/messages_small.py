"""Many small messages travel one by one.

What it does:
    Fires when at least 16 messages of 1 MiB or less in a step follow each other in fours or more, of one kind in one
    group, with nothing computed between them; when they are half of the time of all communication and a twentieth
    of the steady step or more; and when the replay with each row of them sent as one message gains 2 % or more.

Why it costs:
    A message takes some ten microseconds before its first byte arrives, however small it is, and each is a launch.
    A hundred messages of 40 kB take as long as one of many megabytes.

Example:
    ``for p in model.parameters(): dist.all_reduce(p.grad)``, or metrics that are each reduced by themselves.

What to try:
    ``DistributedDataParallel``, which packs gradients into buckets (``bucket_cap_mb``, 25 MiB by default); else one
    flat tensor for all, or ``torch.distributed._coalescing_manager``. Metrics: stack them and reduce once.

When this is wrong:
    When a message needs something that the host makes of the one before.

References:
    https://pytorch.org/docs/stable/notes/ddp.html,
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/usage/groups.html
"""

from __future__ import annotations

from stepscope.advice.kind_of_work import KindOfWork, rule_of

LEAST_SHARE = 0.05
"""Less exposed communication is lost among what is unavoidable."""

LEAST_GAIN = 1.02
"""Where the replay is sure of less, the messages hide behind something else."""

LEAST_MESSAGES = 16
"""Fewer cost less than a millisecond."""

SNIPPET = """\
grads = [p.grad for p in model.parameters()]
flat = torch._utils._flatten_dense_tensors(grads)      # or DistributedDataParallel(model, bucket_cap_mb=25)
torch.distributed.all_reduce(flat)"""

WORK = KindOfWork(
    kind="messages",
    what="small messages in a row",
    least_share=LEAST_SHARE,
    least_gain=LEAST_GAIN,
    least_kernels=LEAST_MESSAGES,
    confidence="medium",
    action="Send them together: gradients in buckets, as DistributedDataParallel does, metrics as one tensor. At the "
    "high end of the gain all but the longest message of a row is latency, at the low end half of it.",
    snippet=SNIPPET,
)

RULE = rule_of(
    "CM002",
    "communication",
    "Many small messages travel one by one",
    WORK,
    __doc__ or "",
    explained_by=("REC004", "SG001"),
)
