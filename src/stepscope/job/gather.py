"""From paths to the digests of all ranks, with as little in memory as the largest of them needs."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from stepscope.errors import InputError, OptionError
from stepscope.job.digest import RankDigest
from stepscope.job.slurm import nodes_of, slurm_workers
from stepscope.job.task import FileDigest, Task
from stepscope.job.workers import Cluster, Processes
from stepscope.predict import shortest_calls
from stepscope.schema.notice import Notice
from stepscope.trace import ranks
from stepscope.trace.cores import usable_cores
from stepscope.trace.loading import find
from stepscope.trace.source import STANDARD_INPUT, is_address

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from stepscope.job.result import Job
    from stepscope.job.workers import Workers
    from stepscope.predict import Setting

    Progress = Callable[[int, int, str], None]

MOST_TIMELINES = 16
"""With more files than this, the bars of a typical step are read again for a few ranks only."""

MOST_REPLAYED = 8
"""With more ranks than this, what arriving together gains is told by a bound instead of a replay."""

LEAST_BYTES = 4_000_000
"""Starting processes takes longer than reading files that are smaller than this together."""


class Gathered(Struct, frozen=True):
    """All ranks of a job.

    Attributes:
        ranks: In order of rank, never empty.
        notices: What was odd about the set of files.
        job: The ranks compared; ``None`` where they cannot be.
    """

    ranks: tuple[RankDigest, ...]
    notices: tuple[Notice, ...]
    job: Job | None = None


def gather(
    paths: Sequence[str | Path],
    *,
    steps: tuple[int | None, int | None] | None = None,
    settings: Mapping[str, Setting] | None = None,
    jobs: int | str | None = 1,
    keep: bool = False,
    progress: Progress | None = None,
) -> Gathered:
    """Reads and analyses every file that paths name, one at a time in each process.

    Args:
        paths: Files and folders; folders are searched for traces.
        steps: Look only at these steps.
        settings: What the recorder measured, by path of the trace.
        jobs: Processes, or the address of a Dask scheduler, or ``slurm:N`` for so many Slurm nodes; ``None``
            for as many processes as there are cores, where that is worth their start.
        keep: Whether tables are kept beside each file, and used where they are.
        progress: Called with files done, files in all and the name of a file in work; where there is one
            file only, with its bytes read, its size and its name.

    Raises:
        InputError: Nothing that was named can be read as a trace.
        OptionError: No step has such a number.
    """
    files = find(paths)
    task = Task(
        steps,
        with_timeline=len(files) <= MOST_TIMELINES,
        settings=tuple((settings or {}).items()),
        keep=keep,
        told=None if isinstance(jobs, str) else _bytes_told(files, progress),
    )

    def told(count: int) -> None:
        if progress and not task.told:
            progress(count, len(files), files[count] if count < len(files) else "")

    told(0)
    with _workers(files, jobs) as workers:
        return _gathered(task, files, workers, told)


def _gathered(
    task: Task, files: Sequence[str], workers: Workers, told: Callable[[int], None]
) -> Gathered:
    """What the workers make of the files."""
    found = workers.work_off(task.file, files, told)
    read = {
        path: one for path, one in zip(files, found, strict=True) if isinstance(one, FileDigest)
    }
    refused = [
        error if error.path else InputError(error.what, path=path)
        for path, error in zip(files, found, strict=True)
        if isinstance(error, InputError)
    ]
    if not read:
        raise refused[0]
    groups, notices = ranks.group([one.identity for one in read.values()])
    digests = _of_groups(task, groups, read, workers)
    job = _compared(digests)
    return Gathered(
        _arriving_together(task, digests, job, workers),
        (*notices, *_foreign(refused, len(files)), *ranks.missing(groups)),
        job,
    )


def _compared(digests: Sequence[RankDigest]) -> Job | None:
    if len(digests) < 2:
        return None
    from stepscope.job.result import compare  # noqa: PLC0415  (only jobs need it)

    return compare(digests)


def _bytes_told(files: Sequence[str], progress: Progress | None) -> Callable[[int], None] | None:
    """How far the only file is; None where there are several, or nobody can tell."""
    if progress is None or len(files) != 1 or not Path(files[0]).is_file():
        return None
    size = Path(files[0]).stat().st_size
    return lambda read: progress(min(read, size), size, files[0])


def with_timelines(
    digests: Sequence[RankDigest],
    numbers: frozenset[int | None],
    steps: tuple[int | None, int | None] | None = None,
) -> list[RankDigest]:
    """The same digests with the bars of these ranks, whose files are read again where they were left out."""
    task = Task(steps)
    out = []
    for digest in digests:
        if digest.report.timeline is not None or digest.rank not in numbers:
            out.append(digest)
            continue
        again = [task.file(path) for path in digest.report.files[:1]]
        bars = [
            one.digest.report.timeline
            for one in again
            if isinstance(one, FileDigest) and isinstance(one.digest, RankDigest)
        ]
        out.append(
            replace(digest, report=replace(digest.report, timeline=bars[0])) if bars else digest
        )
    return out


def _arriving_together(
    task: Task, digests: Sequence[RankDigest], job: Job | None, workers: Workers
) -> tuple[RankDigest, ...]:
    """The digests with the gain of arriving together; few ranks are worth the second reading."""
    on_device = all(one.results.collectives.on_device for one in digests)
    if job is None or not job.loss_frac or len(digests) > MOST_REPLAYED or not on_device:
        return tuple(digests)
    shortest = shortest_calls([digest.results for digest in digests])
    if shortest is None:
        return tuple(digests)
    work = [(one.report.files, calls) for one, calls in zip(digests, shortest, strict=True)]
    found = workers.work_off(task.together, work)
    return tuple(
        one
        if isinstance(gain, InputError)
        else replace(one, gains=replace(one.gains, together=gain))
        for one, gain in zip(digests, found, strict=True)
    )


def _of_groups(
    task: Task,
    groups: Sequence[ranks.RankFiles],
    read: dict[str, FileDigest],
    workers: Workers,
) -> list[RankDigest]:
    """One digest a rank; ranks of several windows are read again, because windows are judged together."""
    several = [group for group in groups if len(group.files) > 1]
    joined = dict(zip((g.rank for g in several), workers.work_off(task.rank, several), strict=True))
    out = []
    for group in groups:
        made = joined.get(group.rank)
        if made is None or isinstance(made, InputError):
            alone = read[group.files[0].path].digest
            if isinstance(alone, OptionError):
                raise alone
            made = alone
        out.append(made.as_rank(group.rank, group.rank_source))
    return out


def _foreign(refused: Sequence[InputError], files: int) -> list[Notice]:
    if not refused:
        return []
    text = f"{len(refused)} of {files} files were passed over, for instance {refused[0]}."
    return [Notice(code="foreign-file", count=len(refused), text=text)]


def _workers(files: Sequence[str], jobs: int | str | None) -> AbstractContextManager[Workers]:
    """Standard input can be read by this process only."""
    if STANDARD_INPUT in files:
        return nullcontext(Processes(1))
    if isinstance(jobs, str):
        nodes = nodes_of(jobs)
        return nullcontext(Cluster(jobs)) if nodes is None else slurm_workers(nodes)
    return nullcontext(Processes(_processes(files) if jobs is None else jobs))


def _processes(files: Sequence[str]) -> int:
    """Processes that are worth starting for these files."""
    sizes = [Path(path).stat().st_size for path in files if Path(path).is_file()]
    # Over a network, reading several at a time pays whatever their size; memory is this process's own.
    remote = [path for path in files if is_address(path) and not path.startswith("memory:")]
    return usable_cores() if sum(sizes) >= LEAST_BYTES or len(remote) > 1 else 1
