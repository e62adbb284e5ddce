"""The run folder: the only thing that the recorder and the offline half share.

::

    <run>/
      run.json                          Manifest: written at the start, replaced as the run goes on
      rank<N>/
        steps.csv                       one StepRow a line, appended while training runs
        recording.json                  RankRecording: replaced after each window and at the end
        batches.csv, deliveries.csv,
        functions.jsonl, places.jsonl,
        worker_memory.jsonl             the input pipeline from inside: see ``loader_rows``
        trace-<K>.pt.trace.json.gz      one profiler window each
      processes.jsonl                   ProcessNote lines: which processes were recorded, and which not
      report.json, report.html          written by the analysis
      gains.json                        predictions beside what a comparison measured after the change

Every JSON file is replaced atomically and ``steps.csv`` is only appended to, so that the folder of
a run that was killed is readable up to about its last second. This module needs nothing beyond the
standard library to write, because it is imported inside the user's training process.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Literal, TypeVar

from stepscope.errors import InputError
from stepscope.schema.loader_rows import LoaderUse  # noqa: TC001  readers resolve the type at run time
from stepscope.schema.notice import Notice  # noqa: TC001  readers resolve the type at run time
from stepscope.schema.process_note import ProcessNote, load_processes
from stepscope.schema.run_time import RunTime  # noqa: TC001  likewise

RUN_SCHEMA_VERSION = 1
MANIFEST_NAME = "run.json"
RECORDING_NAME = "recording.json"
STEPS_NAME = "steps.csv"
STEPS_HEADER = "number,kind,start_ns,duration_ns,loader_wait_ns,count\n"
TRACE_SUFFIX = ".pt.trace.json.gz"

State = Literal["running", "finished"]
StepOrigin = Literal["optimizer", "dataloader", "forward", "manual", "none"]
WindowKind = Literal["steady", "early", "evaluation", "detail"]
StepKind = Literal["startup", "warmup", "clean", "profiled", "disturbed", "later"]

_RANK_FOLDER = re.compile(r"rank(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What was run.

    Attributes:
        schema_version: Version of the run folder's form.
        stepscope_version: Version of the program that recorded it.
        command: The script or ``-m module`` and its arguments, as given.
        directory: Working directory at the start.
        python: Version of the interpreter.
        host: Name of the machine.
        pid: Process that wrote this file.
        started: When, ISO 8601 with time zone.
        started_ns: The same in nanoseconds since 1970.
        wall_ns: From the start to the script's end; ``None`` while it runs, or when it was killed.
        state: ``running`` until the script has ended; a run that was killed stays ``running``.
        exit_status: The script's own exit status; negative for a signal; ``None`` while unknown.
    """

    schema_version: int = RUN_SCHEMA_VERSION
    stepscope_version: str
    command: tuple[str, ...]
    directory: str
    python: str
    host: str
    pid: int
    started: str
    started_ns: int
    wall_ns: int | None = None
    state: State = "running"
    exit_status: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRecord:
    """One profiler window.

    Attributes:
        trace: File name of its trace inside the rank's folder; ``None`` when it could not be written.
        kind: ``steady`` when steps had settled, ``early`` when the run ended or may end before that,
            ``evaluation`` when only a DataLoader had been seen although an optimizer existed, ``detail``
            with shapes, memory and stacks, which slow the steps and are not what figures rest on.
        first_step: Number of its first step.
        steps_ns: Durations of its whole steps.
        prepare_ns, start_ns, stop_ns: Time that the profiler took in the training thread.
        export_ns: Time that writing took in the background; ``None`` while it has not ended.
        trace_bytes: Size of the compressed file; ``None`` like ``export_ns``.
        cut: Why it ended early, as words; ``""`` when it did not.
        expected_bytes: What the trace was expected to take before the window opened; ``None`` where no
            earlier trace told.
        wanted_steps: Steps that it was to have by their length; more than it has where a budget for the
            trace, or what cut the window, has left some out.
    """

    trace: str | None
    kind: WindowKind
    first_step: int
    steps_ns: tuple[int, ...]
    prepare_ns: int
    start_ns: int
    stop_ns: int
    export_ns: int | None = None
    trace_bytes: int | None = None
    cut: str = ""
    expected_bytes: int | None = None
    wanted_steps: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRecording:
    """What the recorder measured in one process beside the traces.

    Attributes:
        schema_version: Version of the run folder's form.
        rank, world_size: As the launcher gave them; 0 and 1 without one.
        pid: The process.
        torch_version: Version of PyTorch; ``None`` when the script never imported it.
        device: ``cpu`` or the kind of accelerator, for instance ``cuda``.
        step_source: What steps were found by: ``forward`` for calls of the model, where there was neither
            optimizer nor DataLoader; ``none`` when there was nothing to find them by.
        steps_seen: Whole steps that were timed.
        startup_ns: From the process's start of the script to the end of the first step.
        clean_steps_ns: Durations of steps that ran without any profiler, after warm-up, near the window.
        windows: The profiler windows in order; the last with a trace and not in detail is the one to read.
        own_cost_ns: Time that stepscope took outside the profiler's calls: in the training thread, calls of
            its shortest functions estimated, and CPU time of its samplers.
        time_ns, perf_ns: One moment on the clock since 1970 and on the clock of ``steps.csv``.
        complete: Whether the recorder could finish.
        notices: What a reader must know.
        cores: Cores that the process may use at a time; ``None`` when not known.
        threads: Threads of an operator on the CPU (``torch.get_num_threads()``); ``None`` when not known.
        affinity: The cores that the process may run on, as Linux lists them (``0-7,16``); ``""`` when not known.
        loaders: The DataLoaders that were read, in order of first use.
        run_time: Where the wall time of the whole run goes; until now, while it runs.
    """

    schema_version: int = RUN_SCHEMA_VERSION
    rank: int
    world_size: int
    pid: int
    torch_version: str | None
    device: str
    step_source: StepOrigin
    steps_seen: int
    startup_ns: int | None
    clean_steps_ns: tuple[int, ...]
    windows: tuple[WindowRecord, ...]
    own_cost_ns: int
    time_ns: int
    perf_ns: int
    complete: bool
    notices: tuple[Notice, ...] = ()
    cores: int | None = None
    threads: int | None = None
    affinity: str = ""
    loaders: tuple[LoaderUse, ...] = ()
    run_time: RunTime | None = None

    @property
    def window(self) -> WindowRecord | None:
        """The window to read: the last one that has a trace and is not one in detail."""
        with_trace = [
            window
            for window in self.windows
            if window.trace is not None and window.kind != "detail"
        ]
        return with_trace[-1] if with_trace else None

    @property
    def clean_step_ns(self) -> float | None:
        """Median of the clean steps; ``None`` without any."""
        return median(self.clean_steps_ns) if self.clean_steps_ns else None

    @property
    def profiled_step_ns(self) -> float | None:
        """Median of the whole steps of the window to read; ``None`` without any."""
        window = self.window
        return median(window.steps_ns) if window is not None and window.steps_ns else None

    @property
    def inflation_frac(self) -> float | None:
        """How much longer a step took under the profiler, 0.1 for 10 %; ``None`` when not measured."""
        clean, profiled = self.clean_step_ns, self.profiled_step_ns
        return None if clean is None or profiled is None or clean <= 0 else profiled / clean - 1


@dataclass(frozen=True, slots=True)
class StepRow:
    """One line of ``steps.csv``.

    Attributes:
        number: Number of the step, counted from 0; of the first one when several share the line.
        kind: ``startup`` for the first, ``warmup``, ``clean``, ``profiled``, ``disturbed`` when
            something else than training was known to run in it, ``later`` after all windows.
        start_ns: Start on the recorder's clock (see ``RankRecording.perf_ns``).
        duration_ns: Length, without stepscope's own work; summed when several share the line.
        loader_wait_ns: Time in the DataLoader's ``__next__`` of the training thread; summed likewise.
        count: How many steps share the line: 1, until a long run's lines become too many.
    """

    number: int
    kind: StepKind
    start_ns: int
    duration_ns: int
    loader_wait_ns: int
    count: int = 1

    def line(self) -> str:
        """The row as a line of the file, with its line end."""
        return f"{self.number},{self.kind},{self.start_ns},{self.duration_ns},{self.loader_wait_ns},{self.count}\n"


@dataclass(frozen=True, slots=True)
class RankFolder:
    """What one process left.

    Attributes:
        rank: Its rank.
        path: Its folder.
        recording: Its measurements; ``None`` when it ended before the first were written.
        traces: Every whole trace, in order of the windows.
        trace: The trace to read; ``None`` without any.
        steps: Its step times.
    """

    rank: int
    path: Path
    recording: RankRecording | None
    traces: tuple[Path, ...]
    trace: Path | None
    steps: tuple[StepRow, ...]


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run folder, read.

    Attributes:
        path: The folder.
        manifest: What was run.
        ranks: One per process that recorded, by rank.
        processes: What became of the processes below a launcher; empty without one.
    """

    path: Path
    manifest: Manifest
    ranks: tuple[RankFolder, ...]
    processes: tuple[ProcessNote, ...] = ()


def rank_folder_name(rank: int) -> str:
    """Name of the folder of a rank."""
    return f"rank{rank}"


def trace_name(window: int) -> str:
    """File name of the trace of the window of that number."""
    return f"trace-{window}{TRACE_SUFFIX}"


def write_document(path: Path, document: Manifest | RankRecording) -> None:
    """Replace a JSON file of the run folder in one move.

    Raises:
        OSError: The folder cannot be written to.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(asdict(document), indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)


def is_run_folder(path: str | Path) -> bool:
    """Whether the path is a folder that a recorder wrote."""
    return (Path(path) / MANIFEST_NAME).is_file()


def load_run(path: str | Path) -> RunFolder:
    """Read a run folder, also that of a run which was killed.

    Raises:
        InputError: It is no run folder, or its manifest cannot be read.
    """
    root = Path(path)
    if not is_run_folder(root):
        raise InputError(f"this folder holds no {MANIFEST_NAME}", path=str(root))
    manifest = _decode(root / MANIFEST_NAME, Manifest)
    ranks = []
    for folder in root.iterdir():
        match = _RANK_FOLDER.fullmatch(folder.name)
        if match and folder.is_dir():
            ranks.append(_load_rank(int(match.group(1)), folder))
    ranks.sort(key=lambda rank: rank.rank)
    return RunFolder(root, manifest, tuple(ranks), load_processes(root))


def is_complete(folder: Path, rank: int) -> bool:
    """Whether the recorder of a rank has written all."""
    try:
        text = (folder / rank_folder_name(rank) / RECORDING_NAME).read_text(encoding="utf-8")
    except OSError:
        return False
    return bool(json.loads(text)["complete"])


def _load_rank(rank: int, folder: Path) -> RankFolder:
    path = folder / RECORDING_NAME
    recording = _decode(path, RankRecording) if path.is_file() else None
    traces = tuple(sorted(folder.glob(f"trace-*{TRACE_SUFFIX}"), key=_window_number))
    trace = traces[-1] if traces else None
    if recording is not None and recording.window is not None:
        named = folder / str(recording.window.trace)
        trace = named if named in traces else trace
    return RankFolder(rank, folder, recording, traces, trace, load_steps(folder / STEPS_NAME))


def load_steps(path: Path) -> tuple[StepRow, ...]:
    """The rows of a ``steps.csv``; a line that was cut by a kill ends the reading."""
    if not path.is_file():
        return ()
    rows = []
    for line in path.read_text(encoding="utf-8").split("\n")[1:-1]:
        fields = line.split(",")
        if len(fields) != 6 or not all(
            re.fullmatch(r"-?\d+", field) for field in fields[:1] + fields[2:]
        ):
            break
        number, start, duration, wait, count = (int(field) for field in fields[:1] + fields[2:])
        rows.append(StepRow(number, fields[1], start, duration, wait, count))  # type: ignore[arg-type]
    return tuple(rows)


def _window_number(path: Path) -> int:
    digits = re.search(r"trace-(\d+)", path.name)
    return int(digits.group(1)) if digits else -1


_Document = TypeVar("_Document", Manifest, RankRecording)


def _decode(path: Path, kind: type[_Document]) -> _Document:
    import msgspec  # noqa: PLC0415

    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError) as error:
        raise InputError(
            f"this file of the run folder cannot be read ({error})",
            path=str(path),
            way_out="record the run again",
        ) from error
