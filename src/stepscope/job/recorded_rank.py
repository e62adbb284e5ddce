"""What the recorder of a run knows beside the traces: where its whole time goes, and how it uses its cores."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from stepscope.schema.run_time import RUN_PARTS, RunParts
from stepscope.schema.samples import SUMMARY_NAME
from stepscope.schema.watch_summary import WatchSummary
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.schema.run_folder import RankFolder, RankRecording, RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRank:
    """One rank of a recorded run.

    Attributes:
        rank: The rank.
        steps: Whole steps that were timed.
        time: Where the wall time of the whole run goes; ``None`` where it was not recorded.
        cores: Cores that the process may use at a time; ``None`` where not known.
        threads: Threads of an operator on the CPU; ``None`` likewise.
        processes: Ranks that share these very cores, this one included.
        workers: Loader workers that feed training, of one rank.
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


def _fullest_device(run: Path) -> tuple[int | None, int | None]:
    """Peak and size of its memory, from the summary of what was sampled; one that cannot be read is told elsewhere."""
    try:
        summary = msgspec.json.decode((run / SUMMARY_NAME).read_bytes(), type=WatchSummary)
    except (OSError, msgspec.MsgspecError):
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
    )


def _ms(ns: int | None) -> float | None:
    return None if ns is None else ns_to_ms(ns)
