"""Gradients are sent with every micro-batch.

What it does:
    Fires when several forward passes of ``DistributedDataParallel`` share one step of the optimizer, and those
    before the last one send at least half as much as it does; when what they send is a twentieth of the steady step
    or more, and the replay without it gains 2 % or more.

Why it costs:
    While gradients accumulate, only the sum is needed. Each micro-batch before the last one sends all gradients
    for nothing.

Example:
    ``loss.backward()`` four times before ``optimizer.step()``: three of four all-reduces are thrown away.

What to try:
    ``with model.no_sync():`` around forward and backward of all micro-batches but the last.

When this is wrong:
    When memory is short: without synchronisation gradients of FSDP stay whole on each device.

References:
    https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html#torch.nn.parallel.DistributedDataParallel.no_sync
"""

from __future__ import annotations

from stepscope.advice.kind_of_work import KindOfWork, rule_of

LEAST_SHARE = 0.05
"""Less exposed communication is lost among what is unavoidable."""

LEAST_GAIN = 1.02
"""Where the replay is sure of less, the messages hide behind the backward pass."""

SNIPPET = """\
for number, batch in enumerate(micro_batches):
    is_last = number == len(micro_batches) - 1
    with contextlib.nullcontext() if is_last else model.no_sync():
        loss_fn(model(batch)).backward()
optimizer.step()"""

WORK = KindOfWork(
    kind="micro",
    what="gradients sent before the last micro-batch",
    least_share=LEAST_SHARE,
    least_gain=LEAST_GAIN,
    confidence="high",
    action="Leave synchronisation out for all micro-batches but the last one before each step of the optimizer.",
    snippet=SNIPPET,
)

RULE = rule_of(
    "CM003",
    "communication",
    "Gradients are sent with every micro-batch",
    WORK,
    __doc__ or "",
    explained_by=("REC004",),
)
