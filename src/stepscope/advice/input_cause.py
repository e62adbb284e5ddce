"""What making batches spends its time on, and so what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from stepscope.schema.report import Evidence

if TYPE_CHECKING:
    from stepscope.schema.loader import BatchTimes, FunctionRow, LoaderReport

Kind = Literal["compute", "storage", "collate", "handover", "cores"]

MOST_OF_IT = 0.5
"""A part that holds less of the time of making a batch is not called its cause."""

NAMED_SHARE = 0.25
"""A function that holds less of the sampled time is not named."""


class Cause(Struct, frozen=True):
    """Why batches take as long as they do.

    Attributes:
        kind: What most of the time goes to.
        share: Of the time of making a batch and handing it over, waiting for a core left out unless it is the kind.
        title: A few words behind a finding's title.
        action: Sentences.
    """

    kind: Kind
    share: float
    title: str
    action: str


def cause_of(loader: LoaderReport | None) -> Cause | None:
    """The part that holds most of the time of making and handing over a batch; ``None`` when none does."""
    if loader is None or loader.times is None:
        return None
    parts = _parts(loader.times, in_process=not loader.workers)
    # Waiting for a core stretches every part; it is the cause only where it is most of everything.
    queued = loader.times.queued_ms or 0.0
    whole = sum(parts.values())
    kind: Kind = max(parts, key=lambda name: parts[name])
    if queued >= MOST_OF_IT * (whole + queued) > 0:
        kind, parts["cores"], whole = "cores", queued, whole + queued
    if whole <= 0 or parts[kind] < MOST_OF_IT * whole:
        return None
    function = _function(loader, kind)
    title, action = _words(kind, function, loader)
    return Cause(kind, parts[kind] / whole, title, action)


def evidence_of(loader: LoaderReport | None) -> tuple[Evidence, ...]:
    """The measured parts of making a batch, and the function and folder behind them."""
    if loader is None or loader.times is None:
        return ()
    times = loader.times
    found = [
        Evidence(name="making a batch: computing items", value=times.compute_ms, unit="ms"),
        Evidence(name="making a batch: items waiting", value=times.wait_ms, unit="ms"),
        Evidence(name="making a batch: without a core", value=times.queued_ms, unit="ms"),
        Evidence(name="making a batch: collating", value=times.collate_ms, unit="ms"),
        Evidence(name="handing a batch over", value=_handover(times), unit="ms"),
    ]
    if loader.functions and loader.functions[0].share >= NAMED_SHARE:
        busiest = loader.functions[0]
        where = f"{_name(busiest)} ({busiest.file}:{busiest.line})"
        found.append(Evidence(name="busiest function of the data set", value=where, unit=""))
    if loader.places:
        found.append(Evidence(name="data read from", value=_place(loader), unit=""))
    return tuple(found)


def _parts(times: BatchTimes, *, in_process: bool) -> dict[Kind, float]:
    return {
        "compute": times.compute_ms,
        "storage": times.wait_ms,
        "collate": times.collate_ms,
        "handover": times.handover_ms if in_process else _handover(times),
    }


def _handover(times: BatchTimes) -> float:
    """Packing happens beside the making of the next batch, but takes the worker's core all the same."""
    return max(times.send_ms, times.handover_ms)


def _function(loader: LoaderReport, kind: Kind) -> FunctionRow | None:
    """The busiest function of the phase."""
    phase = "collate" if kind == "collate" else "items"
    for row in loader.functions:
        if row.phase == phase and row.share >= NAMED_SHARE:
            return row
    return None


def _name(row: FunctionRow) -> str:
    return " > ".join(row.path) if row.path else row.function


def _short(row: FunctionRow) -> str:
    """The function with the one that calls it, because a helper's name says little."""
    called_by = f" (called by {row.path[-2]})" if len(row.path) > 1 else ""
    return f"{row.function}{called_by}"


def _place(loader: LoaderReport) -> str:
    place = loader.places[0]
    system = f" on {place.mount} ({place.type})" if place.type else ""
    return f"{place.folder}{system}"


def _words(kind: Kind, function: FunctionRow | None, loader: LoaderReport) -> tuple[str, str]:
    inside = f" in {_short(function)}" if function else ""
    if kind == "compute":
        return f": computing{inside}", (
            f"The time goes to computing{inside}. Make that cheaper (decode smaller, fewer or cheaper transforms, "
            "transforms on the GPU, store the result), or spread it over more workers while cores are free."
        )
    if kind == "collate":
        return f": collating{inside}", (
            f"The time goes to making one batch of the items{inside}. Stack tensors instead of converting lists, pad "
            "less, or do that work per item in the data set, where more workers share it."
        )
    if kind == "storage":
        place = f" ({_place(loader)})" if loader.places else ""
        return f": waiting for storage{inside}", (
            f"The time goes to waiting for data{inside}{place}, not to computing. Copy the data to a local disk or to "
            "memory first, or store it in fewer, larger files; more workers wait at the same time, and prefetch helps."
        )
    if kind == "handover":
        return ": handing batches over", (
            "Batches are made quickly, and most of the time goes to packing, moving and pinning them. Send smaller "
            "batches: smaller types (uint8 images, converted on the GPU), no Python objects inside, fewer tensors."
        )
    return ": waiting for a core", (
        "The processes that make batches spend most of their time waiting for a core. Ask for more cores, or let "
        "fewer processes and threads share them (OMP_NUM_THREADS, other jobs on the machine)."
    )
