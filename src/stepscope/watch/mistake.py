"""What an obvious mistake is: a code, a cheap test with its threshold and source, and the finding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.schema.report import Finding

T = TypeVar("T")


class Mistake(Struct, Generic[T], frozen=True):
    """A mistake and how it is found.

    Attributes:
        code: Stable code, never reused: ``CK...`` before a run, ``WA...`` during one.
        title: The mistake in a few words.
        test: How it is found, with the threshold.
        source: Who says that this is a mistake, or whose threshold it is.
        find: From what was seen to the finding; ``None`` when there is nothing to say, also when what
            it needs was not seen.
    """

    code: str
    title: str
    test: str
    source: str
    find: Callable[[T], Finding | None]


def look_for(mistakes: tuple[Mistake[T], ...], seen: T) -> tuple[Finding, ...]:
    """All findings, severe ones first, otherwise in the order of the list."""
    order = {"high": 0, "medium": 1, "low": 2}
    found = [finding for mistake in mistakes if (finding := mistake.find(seen)) is not None]
    return tuple(sorted(found, key=lambda finding: order[finding.severity]))
