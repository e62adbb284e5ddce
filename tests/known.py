"""What must be there in a test."""

from typing import TypeVar

T = TypeVar("T")


def known(value: T | None) -> T:
    """The value itself, of which the type says that it may be missing."""
    assert value is not None
    return value
