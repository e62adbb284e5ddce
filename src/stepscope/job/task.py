"""What one process does at a time: read the files of one rank and keep its digest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.errors import InputError, OptionError
from stepscope.job.digest import RankDigest, digest_of
from stepscope.predict import Setting, together_gain
from stepscope.trace import ranks
from stepscope.trace.loading import join, read_file
from stepscope.trace.select import select_steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.schema.report import Gain
    from stepscope.trace.file import TraceFile
    from stepscope.trace.intervals import Ints
    from stepscope.trace.model import Trace
    from stepscope.trace.ranks import Identity, RankFiles


class Task(Struct, frozen=True):
    """How every rank is read.

    Attributes:
        steps: First number and bound of the steps to look at; ``None`` for all.
        with_timeline: Whether the bars of a typical step are kept.
        settings: What the recorder measured, by path of the trace.
        keep: Whether tables are kept beside each file, and used where they are.
        told: Called with the bytes read of a file; not for tasks that go to another process.
    """

    steps: tuple[int | None, int | None] | None = None
    with_timeline: bool = True
    settings: tuple[tuple[str, Setting], ...] = ()
    keep: bool = False
    told: Callable[[int], None] | None = None

    def file(self, path: str) -> FileDigest | InputError:
        """One file as if it were the whole of its rank; an error is a result, so that others go on."""
        try:
            file = self._read(path)
        except InputError as error:
            return error
        identity = ranks.identity_of(file)
        group = ranks.RankFiles(identity.rank, identity.rank_source, (identity,))
        try:
            return FileDigest(identity, self._digest([file], group))
        except OptionError as error:
            return FileDigest(identity, error)

    def rank(self, group: RankFiles) -> RankDigest | InputError:
        """All windows of one rank together.

        Raises:
            OptionError: None of them holds the steps asked for.
        """
        try:
            return self._digest([self._read(one.path) for one in group.files], group)
        except InputError as error:
            return error

    def together(self, rank: tuple[tuple[str, ...], Ints]) -> Gain | None:
        """What the rank gains when all arrive together: its files, and what ``shortest_calls`` gives for it."""
        paths, shortest_ns = rank
        files = [self._read(path) for path in paths]
        identities = tuple(ranks.identity_of(file) for file in files)
        trace = self._trace(files, ranks.RankFiles(identities[0].rank, "", identities))
        return together_gain(trace, shortest_ns, self._setting(paths[0]))

    def _read(self, path: str) -> TraceFile:
        return read_file(path, keep=self.keep, told=self.told)

    def _setting(self, path: str) -> Setting | None:
        return dict(self.settings).get(path)

    def _trace(self, files: list[TraceFile], group: RankFiles) -> Trace:
        trace = join(files, group)
        files.clear()
        return select_steps(trace, *self.steps) if self.steps else trace

    def _digest(self, files: list[TraceFile], group: RankFiles) -> RankDigest:
        trace = self._trace(files, group)
        digest = digest_of(trace, self._setting(group.files[0].path))
        return digest if self.with_timeline else digest.without_timeline()


class FileDigest(Struct, frozen=True):
    """What is kept of one file.

    Attributes:
        identity: What tells its rank and window.
        digest: It as the whole of its rank; the error where it holds none of the steps asked for,
            which another window of the rank may hold.
    """

    identity: Identity
    digest: RankDigest | OptionError
