"""Where the step goes, as bars, and the figures of steps, device, loader and recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table

from stepscope.report import palette
from stepscope.report.sentences import (
    Whole,
    gpu_figures,
    has_device,
    loader_sentence,
    outliers_sentence,
    rank_name,
    recording_sentence,
    startup_sentence,
    step_whole,
    steps_sentence,
)
from stepscope.report.terminal.look import Look, labelled
from stepscope.report.words import part_word
from stepscope.units import format_bytes, format_frac, format_ms

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stepscope.schema.report import RankReport, Report

_NAME: Final = 15
_MS: Final = 9
_FRAC: Final = 7


def parts_section(report: Report, rank: RankReport, look: Look) -> list[RenderableType]:
    """A bar for every part of the step, with its denominator in the heading."""
    whole = step_whole(rank)
    if not whole.shares:
        return []
    of_rank = f" ({rank_name(rank)})" if len(report.ranks) > 1 else ""
    heading = look.say("Where the step goes" if rank.steps.count else "Where the time goes")
    heading.stylize("bold underline" if look.is_rich else "")
    heading.append_text(look.say(f": of {whole.of}{of_rank}"))
    return [heading, _bars(whole, look, is_device=has_device(rank))]


def _bars(whole: Whole, look: Look, *, is_device: bool) -> RenderableType:
    """The parts in their order, the longest bar as wide as there is room."""
    room = look.width - _NAME - _MS - _FRAC - 8
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=_NAME, no_wrap=True)
    table.add_column(width=_MS, justify="right", no_wrap=True)
    table.add_column(width=_FRAC, justify="right", no_wrap=True)
    table.add_column(width=max(room, 4), no_wrap=True)
    for share in whole.shares:
        table.add_row(
            look.say(part_word(share.name, has_device=is_device).label),
            look.say(format_ms(share.ms)),
            look.say(format_frac(share.frac)),
            look.say(look.bar(share.frac, max(room, 4)), palette.part(share.name)),
        )
    return table


def figures_section(report: Report, rank: RankReport, look: Look) -> list[RenderableType]:
    """One line each about steps, device, loader, memory and recording."""
    rows = [("Steps", steps_sentence(rank.steps))]
    rows += _present(
        ("Start-up", startup_sentence(rank.steps)), ("Outliers", outliers_sentence(rank.steps))
    )
    rows.append(("GPU", _gpu(rank)))
    rows.append(("DataLoader", loader_sentence(rank)))
    rows += _present(("Memory", _memory(rank)))
    if report.recording is not None:
        rows.append(("Recording", recording_sentence(report.recording)))
    return [labelled(look, [(label, look.say(text)) for label, text in rows])]


def _present(*rows: tuple[str, str]) -> list[tuple[str, str]]:
    """Those rows that have something to say."""
    return [row for row in rows if row[1]]


def _gpu(rank: RankReport) -> str:
    """The device figures with their denominators."""
    gpu = rank.gpu
    if gpu is None:
        return "not measured" if rank.device != "cpu" else "none in use"
    span = "the steps" if rank.steps.count else "the window"
    busy, efficiency, occupancy, tensor = (figure.text for figure in gpu_figures(gpu))
    mean = (
        "" if gpu.mean_kernel_us is None else f" of {format_ms(gpu.mean_kernel_us / 1e3)} in mean"
    )
    return (
        f"busy {busy} of {span}; est. SM efficiency {efficiency}; est. occupancy {occupancy}; "
        f"Tensor Cores {tensor} of kernel time; {gpu.kernel_count:,} kernels{mean}"
    )


def _memory(rank: RankReport) -> str:
    """Peaks of the devices."""
    peaks = []
    for peak in rank.memory:
        of = "" if peak.capacity_bytes is None else f" of {format_bytes(peak.capacity_bytes)}"
        peaks.append(f"{peak.device} peak {format_bytes(peak.allocated_bytes)}{of}")
    return "; ".join(peaks)
