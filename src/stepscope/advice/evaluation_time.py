"""Evaluation takes much of the run.

What it does:
    Fires when the recorder saw two evaluations or more (loops over loaders that do not feed training), and they
    take a fifth of the run or more; what comes before the end of the first step and behind the last one is left
    out.

Why it costs:
    Training stands still meanwhile.

Example:
    The whole validation set after every 100 steps, with a batch as small as that of training.

What to try:
    Evaluate less often, or on a fixed part of the set and on all of it at the end; ``torch.inference_mode()`` and a
    batch several times as large, because no gradients are kept; workers for that loader too.

When this is wrong:
    When training is so short, or stops so early by what evaluation says, that it is worth its time. The first evaluation of
    a script that leaves gradients on counts as steps, up to 256 batches of it: only later ones are told from training.

References:
    https://pytorch.org/docs/stable/generated/torch.autograd.grad_mode.inference_mode.html
"""

from __future__ import annotations

from stepscope.advice.part_of_run import PartOfRun, rule_of

LEAST_SHARE = 0.2
"""Less is a usual price of knowing how training goes."""

LEAST_GONE = 0.5
"""Evaluating half as often, or half of the set, is always possible."""

SNIPPET = """\
if step % 1000 == 0:
    with torch.inference_mode():
        evaluate(model, DataLoader(part, batch_size=4 * batch_size, num_workers=4))"""

WORK = PartOfRun(
    part="evaluation",
    what="evaluation",
    one="evaluation",
    count=lambda time: time.evaluations,
    least_share=LEAST_SHARE,
    least_gone=LEAST_GONE,
    action="Evaluate less often or on a part of the set, without gradients and with larger batches. The low end of the "
    "gain takes half as long for it, the high end nothing.",
    snippet=SNIPPET,
)

RULE = rule_of("RU002", "Evaluation takes much of the run", WORK, __doc__ or "")
