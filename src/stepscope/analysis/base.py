"""What an analysis is: checked tables of one rank in, one frozen result out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.trace.model import Trace

R_co = TypeVar("R_co", covariant=True)


class Analysis(Struct, Generic[R_co], frozen=True):
    """An analysis: a name, a function from one rank's tables to one result, and a sentence.

    Attributes:
        name: Name of the field that it fills in ``analysis.results.Results``.
        run: The function; it reads the tables and changes nothing.
        doc: One sentence for the reference.
    """

    name: str
    run: Callable[[Trace], R_co]
    doc: str
