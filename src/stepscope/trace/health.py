"""Trace health: what the data can carry, said before any bottleneck is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.schema.notice import Notice
from stepscope.trace import call_names, device_health, text_health
from stepscope.trace.call_names import of_kind

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from stepscope.trace.file import TraceFile

    Say = Callable[[str, int, str], None]

ON_DEVICE = r"(?i)cudnn|miopen|_cuda\b|_flash_attention|^nccl:|cublas"
"""Operators that exist on a device only."""


class Judgement(Struct, frozen=True):
    """What the data of one rank can carry.

    Attributes:
        usable: Whether a verdict about a bottleneck can rest on it.
        gpu_recorded: Whether device work was recorded; None when no device was in use.
        notices: Most important first.
    """

    usable: bool
    gpu_recorded: bool | None
    notices: tuple[Notice, ...]


def judge(
    files: tuple[TraceFile, ...],
    host: pl.DataFrame,
    device: pl.DataFrame,
    steps: pl.DataFrame,
    rank: int | None,
) -> Judgement:
    """Judges the files of one rank.

    Args:
        files: Its windows.
        host, device, steps: Their tables, joined.
        rank: Its number, for the notices.
    """
    notices: list[Notice] = []

    def say(code: str, count: int, text: str) -> None:
        notices.append(Notice(code=code, count=count, text=text, rank=rank))

    launches = device_health.launches_of(host)
    operators = int(of_kind(host, "operator").sum())
    recorded = _recorded(host, device, launches)
    nothing = not len(device) and not operators and not len(launches)
    if nothing:
        say(
            "nothing-recorded",
            int(of_kind(host, "operator", "annotation").sum()),
            "Nothing was recorded: no operator ran in the window. Usual causes: the profiler wraps other code "
            "than the training loop, the work runs in another thread or process, or the schedule ended "
            "before the loop began.",
        )
    elif recorded is False:
        say("gpu-not-recorded", len(launches), _not_recorded(len(launches)))
    elif recorded is None and operators and (listed := _listed(files[0])):
        say("device-unused", listed, "The trace lists a GPU, but all work ran on the CPU.")
    empty_share = device_health.say_steps(host, device, steps, launches, say)
    device_health.say_links(files, device, launches, say)
    for file in files:
        text_health.say_all(file, say)
    usable = not nothing and recorded is not False and empty_share <= device_health.MOST_EMPTY
    return Judgement(usable, recorded, tuple(notices))


def _not_recorded(launches: int) -> str:
    seen = f"{launches} launches" if launches else "operators that exist on a GPU only"
    return (
        f"The GPU side was not recorded ({seen}, no kernel): device time is unknown, which is not the same "
        "as idle. Usual causes: another profiler (nsys, DCGM) holds the device, missing permission for GPU "
        "counters, or only CPU activity was asked for."
    )


def _listed(file: TraceFile) -> int:
    """Number of devices that the header lists."""
    value = file.header.values.get("deviceProperties")
    return len(value) if isinstance(value, list) else 0


def _recorded(host: pl.DataFrame, device: pl.DataFrame, launches: pl.DataFrame) -> bool | None:
    if len(device):
        return True
    if len(launches):
        return False
    on_device = call_names.matching(host, ON_DEVICE, ("operator",))
    calls = of_kind(host, *call_names.CALLS)
    return False if on_device.any() and not calls.any() else None
