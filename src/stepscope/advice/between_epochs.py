"""Training stands still between epochs.

What it does:
    Fires when the recorder saw two epochs or more end, and the time from the end of a training loader to the first
    batch of its next epoch is a tenth of the run or more; evaluations and checkpoints in it are left out, and so is
    what comes before the end of the first step and behind the last one.

Why it costs:
    Workers end and start, each with its copy of the data set; sampling is done anew; metrics and logs are written.
    With short epochs that comes often.

Example:
    Epochs of 20 steps, with workers that each load an index of the data set for two seconds when they start.

What to try:
    Keep workers between epochs (``persistent_workers=True``), make the DataLoader once, move what the data set
    does in its constructor out of the workers; or let one epoch be several passes over the data.

When this is wrong:
    When the pause is something that must be, such as a step of a scheduler that measures.

References:
    https://pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
"""

from __future__ import annotations

from stepscope.advice.part_of_run import PartOfRun, rule_of

LEAST_SHARE = 0.1
"""Starting workers takes some tens of milliseconds, and every epoch has to begin somehow."""

LEAST_GONE = 0.5
"""Half as many epochs of twice the length pause half as often."""

SNIPPET = """\
loader = DataLoader(..., num_workers=4, persistent_workers=True)      # made once, before the epochs"""

WORK = PartOfRun(
    part="between",
    what="pauses between epochs",
    one="pause",
    count=lambda time: time.epochs,
    least_share=LEAST_SHARE,
    least_gone=LEAST_GONE,
    action="Keep the loader and its workers between epochs, and see what else the program does there. The low end of "
    "the gain halves these pauses, the high end has none.",
    snippet=SNIPPET,
)

RULE = rule_of(
    "RU003", "Training stands still between epochs", WORK, __doc__ or "", explained_by=("IN004",)
)
