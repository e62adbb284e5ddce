"""What a sampler is: something that is asked about twice a second and answers with rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from stepscope.schema.samples import Sample


class Moment(Struct, frozen=True):
    """When a sample is taken, and of what.

    Attributes:
        at_s: Seconds after the start of the watch.
        pids: The watched processes.
        is_last: Whether no sample follows.
    """

    at_s: float
    pids: frozenset[int]
    is_last: bool = False


class Sampler(Protocol):
    """A source of samples.

    A sampler never raises because something cannot be seen: ``open`` answers with a notice, and a value
    that is refused later is left out of its rows.
    """

    def open(self) -> tuple[Sample, ...]:
        """Finds out what can be seen; called once, before the first sample."""

    def sample(self, moment: Moment) -> tuple[Sample, ...]:
        """What is so now."""

    def close(self) -> None:
        """Lets go of what ``open`` took; called once, also when ``open`` found nothing."""
