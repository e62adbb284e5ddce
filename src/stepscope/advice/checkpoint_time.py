"""Checkpoints hold up training.

What it does:
    Fires when the recorder saw two checkpoints or more, and they take a twentieth of the run or more; what comes
    before the end of the first step and behind the last one is left out. Checkpoints in every second step or more
    are told as the program's own work in the step (HO001), where that fires.

Why it costs:
    ``torch.save`` copies the state from the device, packs it and writes it, and the device does nothing meanwhile.

Example:
    The model and the optimizer's state, 4 GB, written to a network file system every 200 steps: 20 s each time.

What to try:
    Copy the state into the host's memory and let a thread or a process write it
    (``torch.distributed.checkpoint.async_save``); save less often; keep the optimizer's state for every tenth
    checkpoint only; write to a local disk and move the file later.

When this is wrong:
    In a short test run that saves as often as the real one saves in hours.

References:
    https://pytorch.org/docs/stable/distributed.checkpoint.html,
    https://pytorch.org/blog/reducing-checkpointing-times/
"""

from __future__ import annotations

from stepscope.advice.part_of_run import PartOfRun, rule_of

LEAST_SHARE = 0.05
"""Twenty minutes of training should buy more than a minute of saving."""

LEAST_GONE = 0.5
"""Saving half as often is always possible."""

SNIPPET = """\
state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
saving = torch.distributed.checkpoint.async_save(state, checkpoint_id=folder)
# before the next one: saving.result()"""

WORK = PartOfRun(
    part="checkpoint",
    what="saving checkpoints",
    one="checkpoint",
    count=lambda time: time.checkpoints,
    least_share=LEAST_SHARE,
    least_gone=LEAST_GONE,
    action="Write checkpoints beside training instead of in it, or less often. The low end of the gain saves half as "
    "often, the high end waits for no checkpoint at all.",
    snippet=SNIPPET,
)

RULE = rule_of("RU001", "Checkpoints hold up training", WORK, __doc__ or "")
