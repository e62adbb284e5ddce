"""The only place that chains the parts; the command line, notebooks and users' programs call it."""

from __future__ import annotations

import os
import shutil
import socket
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO

from msgspec.structs import replace

from stepscope._version import __version__
from stepscope.advice.findings import advise
from stepscope.analysis import summary
from stepscope.cost.options import CostOptions, with_environment
from stepscope.errors import InputError, OptionError
from stepscope.job.gather import gather, with_timelines
from stepscope.job.lost import lost_ranks
from stepscope.job.notices import merged
from stepscope.job.recorded_rank import memory_left, recorded_ranks, run_parts
from stepscope.job.waiting import waiting_of
from stepscope.job.workload import comparison_of
from stepscope.report import saved, terminal
from stepscope.schema.notice import Notice
from stepscope.schema.report import Health, Recording, Report
from stepscope.units import ns_to_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stepscope.analysis.results import Results
    from stepscope.job.digest import RankDigest
    from stepscope.job.gather import Gathered
    from stepscope.job.result import Job
    from stepscope.predict import Setting, Staging
    from stepscope.schema.job_report import JobReport
    from stepscope.schema.light_report import LightReport
    from stepscope.schema.loader import LoaderReport, PlaceRow
    from stepscope.schema.run_folder import RankRecording, RunFolder

# What only jobs, run folders or prices need is imported where it is used: importing all of it takes longer
# than diagnosing a usual trace.

REPORT_NAME = "report.json"

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  (its size is asked for, nothing is written)


def analyze(  # noqa: PLR0913  (choices of a reader, each named at the call)
    paths: Sequence[str | os.PathLike[str]],
    *,
    rank: int | None = None,
    steps: tuple[int | None, int | None] | None = None,
    jobs: int | str | None = 1,
    cache: bool = False,
    staging: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Report:
    """Diagnoses traces.

    Args:
        paths: Trace files, folders of them (addresses such as ``s3://bucket/traces`` likewise), or one run folder
            of ``stepscope profile``.
        rank: Look at this rank only.
        steps: Look only at steps whose number is at least the first and below the second bound;
            ``None`` leaves a side open.
        jobs: Processes that read files at the same time; ``None`` for as many as there are cores where
            that is worth their start. With more than one, a program that calls this must guard its
            main part with ``if __name__ == "__main__":``, as :mod:`multiprocessing` demands. Or the
            address of a Dask scheduler, for instance ``tcp://node01:8786``, on whose workers ranks are read
            instead, or ``slurm:4`` for workers on so many nodes, which are jobs of their own and end with the
            analysis; they must see the files under the same paths.
        cache: Keep the tables of each trace as Parquet beside it, and use those that are there.
        staging: A folder on a faster file system, for a run folder only: some of the files that the run's data
            set opened are read where they lie and as copies there, and what copying all would gain is predicted.
        progress: Called with files read, files in all and the next file's name; where there is one file
            only, with its bytes read, its size and its name.

    Raises:
        InputError: Nothing that was named can be read as a trace.
        OptionError: There is no such rank or step.
    """
    run = _run_folder(paths)
    sources = _traces_of(run) if run else [os.fspath(p) for p in paths]
    measured = _staging(run, staging)
    gathered = gather(
        sources,
        steps=steps,
        settings=_settings(run, measured) if run else None,
        jobs=jobs,
        keep=cache,
        progress=progress,
    )
    report = _report_of(gathered, run, paths=tuple(map(str, paths)), rank=rank, steps=steps)
    if measured is not None:
        report = _with_notice(report, measured)
    return _with_use_and_cost(report, run, CostOptions())


def price(report: Report, options: CostOptions) -> Report:
    """The report with the cost of its run, of a plan, and of each finding's waste, by other rates.

    Args:
        report: A report of :func:`analyze`, whose run folder is still there.
        options: Plan and rates; the environment speaks where they are silent.

    Raises:
        InputError: A file of rates, or what was sampled, cannot be read.
        OptionError: The plan or the rates cannot be.
    """
    return _with_use_and_cost(report, _run_folder(report.paths), options)


def has_steps_only(paths: Sequence[str | os.PathLike[str]]) -> bool:
    """Whether what is named is one run folder in which there are step times of a whole run, and no traces."""
    folder = _only_folder(paths)
    if folder is None:
        return False
    from stepscope.schema.light import light_files  # noqa: PLC0415  (see above)
    from stepscope.schema.run_folder import TRACE_SUFFIX  # noqa: PLC0415

    return bool(light_files(folder)) and not any(folder.glob(f"rank*/*{TRACE_SUFFIX}"))


def load_light(path: str | os.PathLike[str]) -> LightReport:
    """What the step times of a whole run tell, of all ranks that left some.

    Raises:
        InputError: No rank left a whole step.
    """
    from stepscope.job.light import light_report  # noqa: PLC0415  (see above)

    return light_report(Path(path))


def load_report(path: str | os.PathLike[str]) -> Report:
    """The report of whatever stands there: a ``report.json``, a run folder that has one, or traces.

    Raises:
        InputError: It is none of these.
    """
    given = Path(path)
    inside = given / REPORT_NAME
    if inside.is_file():
        return saved.load(inside)
    if given.is_file() and _starts_like_a_report(given):
        return saved.load(given)
    return analyze([given])


def save_json(report: Report | LightReport, target: str | os.PathLike[str] | IO[bytes]) -> None:
    """Writes ``report.json`` to a path or an open binary file."""
    saved.save(report, target)


def save_html(report: Report, path: str | os.PathLike[str]) -> None:
    """Writes the report as one page that needs no network."""
    # Bokeh and the templates are loaded only when a page is wanted.
    from stepscope.report import html  # noqa: PLC0415

    html.write(report, path)


def print_report(report: Report, file: TextIO | None = None) -> None:
    """Prints the report as text."""
    terminal.print_report(report, file=file)


def _starts_like_a_report(path: Path) -> bool:
    with path.open("rb") as file:
        return b'"schema_version"' in file.read(256)


def _run_folder(paths: Sequence[str | os.PathLike[str]]) -> RunFolder | None:
    folder = _only_folder(paths)
    if folder is None:
        return None
    from stepscope.schema.run_folder import is_run_folder, load_run  # noqa: PLC0415  (see above)

    return load_run(folder) if is_run_folder(folder) else None


def _only_folder(paths: Sequence[str | os.PathLike[str]]) -> Path | None:
    """The folder that is all that was named; ``None`` for anything else."""
    only = Path(paths[0]) if len(paths) == 1 and str(paths[0]) != "-" else None
    return only if only is not None and only.is_dir() else None


def _traces_of(run: RunFolder) -> list[str]:
    traces = [str(folder.trace) for folder in run.ranks if folder.trace]
    if traces:
        return traces
    why = [n.text for folder in run.ranks if folder.recording for n in folder.recording.notices]
    raise InputError(
        f"the run recorded no trace{': ' + why[0].rstrip('.') if why else ''}",
        path=str(run.path),
        way_out="let the script train for more steps, or choose fewer with --warmup and --clean",
    )


def _report_of(
    gathered: Gathered,
    run: RunFolder | None,
    *,
    paths: tuple[str, ...],
    rank: int | None,
    steps: tuple[int | None, int | None] | None,
) -> Report:
    digests = _chosen(gathered.ranks, rank)
    results = [digest.results for digest in digests]
    loaders = _loaders(run) if run else ()
    job = gathered.job if rank is None else None
    comparison = comparison_of(digests, job)
    waiting = waiting_of(job, comparison)
    lines = [digest.report.lines for digest in digests]
    facts = recorded_ranks(run) if run else ()
    gains = [digest.gains for digest in digests]
    advice = advise(results, gains, loaders, waiting, lines, facts)
    shown = frozenset({digests[0].rank, *(one.rank for one in advice.findings)})
    withheld = [_withheld(digests[place]) for place in advice.withheld]
    notices = _notices(digests, [*gathered.notices], withheld, run)
    return Report(
        stepscope_version=__version__,
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        paths=paths,
        health=_health(results, notices),
        verdict=advice.verdict,
        ranks=tuple(digest.report for digest in with_timelines(digests, shown, steps)),
        findings=advice.findings,
        kernels=summary.kernel_rows(results),
        operators=summary.operator_rows(results),
        recording=_recording(run) if run else None,
        job=_job_report(digests, job, comparison) if job is not None else None,
        loaders=loaders,
    )


def _job_report(digests: Sequence[RankDigest], job: Job, comparison: str) -> JobReport:
    from stepscope.job.report import job_report  # noqa: PLC0415  (see above)

    return job_report(digests, job, comparison)


def _with_use_and_cost(report: Report, run: RunFolder | None, options: CostOptions) -> Report:
    """Of a trace alone, nothing tells use, and cost is told only where rates were asked for."""
    if run is None and with_environment(options, os.environ) == CostOptions():
        return report
    from stepscope.cost.of_report import with_use_and_cost  # noqa: PLC0415  (see above)

    return with_use_and_cost(report, run, options, os.environ)


def _notices(
    digests: Sequence[RankDigest],
    of_job: list[Notice],
    withheld: list[Notice],
    run: RunFolder | None,
) -> list[Notice]:
    """Those of lost ranks, of the first rank, of the job, of the others, of the rules and of the recorder."""
    others = [notice for digest in digests[1:] for notice in digest.notices]
    folders = run.ranks if run else ()
    recorded = [n for folder in folders if folder.recording for n in folder.recording.notices]
    lost = lost_ranks(run) if run else []
    return [*merged([*lost, *digests[0].notices, *of_job, *others, *withheld]), *recorded]


def _chosen(digests: Sequence[RankDigest], rank: int | None) -> Sequence[RankDigest]:
    if rank is None:
        return digests
    chosen = [digest for digest in digests if digest.rank == rank]
    if not chosen:
        there = ", ".join(str(d.rank) for d in digests if d.rank is not None) or "no rank is named"
        raise OptionError(f"there is no rank {rank} in these traces; there: {there}")
    return chosen


def _staging(run: RunFolder | None, folder: str | os.PathLike[str] | None) -> Staging | None:
    if folder is None:
        return None
    if run is None:
        raise OptionError(
            "only a run folder of 'stepscope profile' knows the data set's files, which staging needs"
        )
    from stepscope.job.staging import measured_staging  # noqa: PLC0415  (see above)

    return measured_staging(run, Path(folder))


def _with_notice(report: Report, staging: Staging) -> Report:
    """The report with both reads, which are of interest also where staging gains nothing."""
    from stepscope.job.staging import staging_sentence  # noqa: PLC0415  (see above)

    notice = Notice(code="staging-measured", count=1, text=staging_sentence(staging))
    health = replace(report.health, notices=(notice, *report.health.notices))
    return replace(report, health=health)


def _settings(run: RunFolder, staging: Staging | None) -> dict[str, Setting]:
    """What the recorder measured, by path of the trace; shared memory only on the machine of the run."""
    from stepscope.job.loaders import setting_of  # noqa: PLC0415  (see above)

    is_here = run.manifest.host == socket.gethostname()
    shared = _free_bytes(SHARED_MEMORY) if is_here else None
    left = memory_left(run)
    return {
        str(folder.trace): replace(
            setting_of(folder), staging=staging, shared_bytes=shared, left_bytes=left
        )
        for folder in run.ranks
        if folder.trace and folder.recording
    }


def _free_bytes(folder: Path) -> int | None:
    return shutil.disk_usage(folder).free if folder.is_dir() else None


def _loaders(run: RunFolder) -> tuple[LoaderReport, ...]:
    """The loaders of all ranks; where data lies can only be told on the machine that read it."""
    from stepscope.job.loaders import loader_reports  # noqa: PLC0415  (see above)

    is_here = run.manifest.host == socket.gethostname()
    place_of = _with_file_system if is_here else _as_it_is
    return tuple(one for folder in run.ranks for one in loader_reports(folder, place_of))


def _as_it_is(place: PlaceRow) -> PlaceRow:
    return place


def _with_file_system(place: PlaceRow) -> PlaceRow:
    from stepscope.watch.filesystem import file_system  # noqa: PLC0415  (see above)

    system = file_system(Path(place.folder))
    return replace(place, mount=system.mount, type=system.type, kind=system.kind)


def _withheld(digest: RankDigest) -> Notice:
    text = f"What a cure gains is not predicted: {digest.gains.withheld}."
    return Notice(code="gain-withheld", count=1, text=text, rank=digest.rank)


def _health(results: Sequence[Results], notices: Sequence[Notice]) -> Health:
    recorded = [one.facts.gpu_recorded for one in results]
    return Health(
        usable=any(one.facts.usable for one in results),
        gpu_recorded=False if False in recorded else (True if True in recorded else None),
        notices=tuple(notices),
    )


def _recording(run: RunFolder) -> Recording:
    """What was measured beside the trace; of several ranks, the first that has clean steps."""
    recordings = [folder.recording for folder in run.ranks if folder.recording]
    recordings.sort(key=lambda r: (not r.clean_steps_ns, r.rank))
    first: RankRecording | None = recordings[0] if recordings else None
    window = first.window if first else None
    return Recording(
        command=run.manifest.command,
        exit_status=run.manifest.exit_status,
        clean_steps=len(first.clean_steps_ns) if first else 0,
        clean_step_ms=_ms(first.clean_step_ns) if first else None,
        profiled_step_ms=_ms(first.profiled_step_ns) if first else None,
        inflation_frac=first.inflation_frac if first else None,
        own_cost_ms=_ms(first.own_cost_ns) if first else None,
        stop_ms=_ms(window.stop_ns) if window else None,
        clean_durations_ms=tuple(ns_to_ms(ns) for ns in first.clean_steps_ns) if first else (),
        run=run_parts(first) if first else None,
    )


def _ms(ns: float | None) -> float | None:
    return None if ns is None else ns_to_ms(ns)
