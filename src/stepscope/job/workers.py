"""Where ranks are worked off: in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import Struct

from stepscope.errors import InputError, MissingExtraError
from stepscope.job.pool import work_off

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
R = TypeVar("R")

ATTEMPTS = 2
"""A task whose worker died is tried again so often, on another one."""

CONNECT_S = 30
"""A scheduler that does not answer within this time is not there."""


class Workers(Protocol):
    """Applies a function to items, in any order, and gives the results in the order of the items."""

    def work_off(
        self,
        function: Callable[[T], R],
        items: Sequence[T],
        done: Callable[[int], None] | None = None,
    ) -> list[R | InputError]:
        """As ``job.pool.work_off`` does it."""


class Processes(Struct, frozen=True):
    """Processes of this machine.

    Attributes:
        count: How many; with 1 this process does it all.
    """

    count: int

    def work_off(
        self,
        function: Callable[[T], R],
        items: Sequence[T],
        done: Callable[[int], None] | None = None,
    ) -> list[R | InputError]:
        """See ``job.pool.work_off``."""
        return work_off(function, items, self.count, done)


class Cluster(Struct, frozen=True):
    """A Dask cluster, whose workers see the same files under the same paths.

    Attributes:
        scheduler: Address of its scheduler, for instance ``tcp://node01:8786``.
    """

    scheduler: str

    def work_off(
        self,
        function: Callable[[T], R],
        items: Sequence[T],
        done: Callable[[int], None] | None = None,
    ) -> list[R | InputError]:
        """As ``job.pool.work_off``; what a lost worker had in work goes to another one.

        Raises:
            MissingExtraError: Dask is not installed.
            InputError: The scheduler does not answer.
        """
        try:
            distributed: Any = import_module("distributed")
        except ModuleNotFoundError:
            raise MissingExtraError(
                "a Dask cluster needs the extra: pip install 'stepscope[distributed]'"
            ) from None
        try:
            client = distributed.Client(self.scheduler, timeout=CONNECT_S)
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                f"no Dask scheduler answers ({error})",
                path=self.scheduler,
                way_out="start one with 'dask scheduler' and give its address",
            ) from None
        with client:
            futures = client.map(function, items, pure=False, retries=ATTEMPTS)
            place = {future.key: number for number, future in enumerate(futures)}
            found: dict[int, R | InputError] = {}
            for future in distributed.as_completed(futures):
                try:
                    found[place[future.key]] = future.result()
                except distributed.KilledWorker:
                    found[place[future.key]] = InputError(
                        "the workers that analysed it died, most often for memory"
                    )
                # What is held here need not be computed again when the worker that has it is lost.
                future.release()
                if done:
                    done(len(found))
        return [found[number] for number in range(len(items))]
