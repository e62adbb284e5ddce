"""What the recorder of a run knows beside the traces: where its whole time goes, and how it uses its cores."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from stepscope.predict import Behind, behind
from stepscope.predict.whole_run import TRAINING
from stepscope.schema.run_time import RUN_PARTS, RunParts
from stepscope.schema.samples import SUMMARY_NAME
from stepscope.schema.watch_summary import WatchSummary
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.schema.run_folder import RankFolder, RankRecording, RunFolder


KEPT_FREE = 0.1
"""Share of the memory that is left to the system and to what grows."""


class RecordedRank(Struct, frozen=True, kw_only=True):
    """One rank of a recorded run.

    Attributes:
        rank: The rank.
        steps: Whole steps that were timed.
        time: Where the wall time of the whole run goes; ``None`` where it was not recorded.
        cores: Cores that the process may use at a time; ``None`` where not known.
        threads: Threads of an operator on the CPU; ``None`` likewise.
        processes: Ranks that share these very cores, this one included.
        workers: Loader workers that feed training, of one rank.
        behind: What interruptions of training leave behind in the steps that follow, for each part that shows it.
        device_used_bytes, device_bytes: Peak of the memory in use of the fullest device of the run, and all that it
            has; ``None`` where nobody sampled devices.
    """

    rank: int
    steps: int
    time: RunParts | None = None
    cores: int | None = None
    threads: int | None = None
    processes: int = 1
    workers: int = 0
    behind: tuple[Behind, ...] = ()
    device_used_bytes: int | None = None
    device_bytes: int | None = None


def recorded_ranks(run: RunFolder) -> tuple[RecordedRank, ...]:
    """The facts of each rank that left a recording."""
    hosts = {note.rank: note.host for note in run.processes if note.rank is not None}
    places = {
        folder.rank: (hosts.get(folder.rank, ""), folder.recording.affinity)
        for folder in run.ranks
        if folder.recording
    }
    # Where the machine or the set of cores was not told, nobody is known to share them.
    shared = Counter(place for place in places.values() if all(place))
    used, whole = _fullest_device(run.path)
    return tuple(
        replace(
            _facts(folder, folder.recording, shared.get(places[folder.rank], 1)),
            device_used_bytes=used,
            device_bytes=whole,
        )
        for folder in run.ranks
        if folder.recording
    )


def run_parts(recording: RankRecording) -> RunParts | None:
    """Where the wall time of one rank's run goes, for the report."""
    time = recording.run_time
    if time is None:
        return None
    return RunParts(
        rank=recording.rank,
        wall_ms=ns_to_ms(time.wall_ns),
        parts_ms={part: ns_to_ms(getattr(time, f"{part}_ns")) for part in RUN_PARTS},
        import_ms=_ms(time.import_ns),
        first_step_ms=_ms(time.first_step_ns),
        compile_ms=_ms(time.compile_ns),
        evaluations=time.evaluations,
        checkpoints=time.checkpoints,
        epochs=time.epochs,
    )


def memory_left(run: RunFolder) -> int | None:
    """Memory of the node that each rank may still take for its workers; ``None`` where it was not measured.

    That is what the job was given less what its processes took at most, pages that they share counted once, and a
    tenth kept free. Of a run on several nodes nobody knows which ranks share one.
    """
    summary = _summary(run.path)
    ranks = sum(folder.recording is not None for folder in run.ranks)
    if summary is None or len(summary.nodes) != 1 or not ranks:
        return None
    node = summary.nodes[0]
    whole = node.memory_limit_bytes or node.machine_memory_bytes
    if whole is None or node.pss_peak_bytes is None:
        return None
    return int((1 - KEPT_FREE) * whole - node.pss_peak_bytes) // ranks


def _summary(run: Path) -> WatchSummary | None:
    """The summary of what was sampled; one that cannot be read is told elsewhere."""
    try:
        return msgspec.json.decode((run / SUMMARY_NAME).read_bytes(), type=WatchSummary)
    except (OSError, msgspec.MsgspecError):
        return None


def _fullest_device(run: Path) -> tuple[int | None, int | None]:
    """Peak and size of its memory."""
    summary = _summary(run)
    if summary is None:
        return None, None
    known = [
        (one.memory_peak_bytes, one.memory_bytes)
        for one in summary.devices
        if one.memory_peak_bytes and one.memory_bytes and one.used is not False
    ]
    return max(known, key=lambda both: both[0] / both[1], default=(None, None))


def _facts(folder: RankFolder, recording: RankRecording, neighbours: int) -> RecordedRank:
    feeding = [use.workers for use in recording.loaders if use.role == "training"]
    return RecordedRank(
        rank=folder.rank,
        steps=recording.steps_seen,
        time=run_parts(recording),
        cores=recording.cores,
        threads=recording.threads,
        processes=neighbours,
        workers=max(feeding, default=0),
        behind=_behind(folder, recording),
    )


def _behind(folder: RankFolder, recording: RankRecording) -> tuple[Behind, ...]:
    phases = () if recording.run_time is None else recording.run_time.phases
    found = [behind(part, folder.steps, phases) for part in TRAINING if part != "steps"]
    return tuple(one for one in found if one is not None)


def _ms(ns: int | None) -> float | None:
    return None if ns is None else ns_to_ms(ns)
