"""Every error that stepscope raises on purpose.

::

    StepscopeError                 exit status 3 unless a subclass says otherwise
    ├── InputError                 2  the input cannot be used: what, where in the file, what to do
    │   ├── NotATraceError         2  the file is something else, recognised by its content
    │   └── LimitError             2  the input exceeds a documented limit
    ├── OptionError                2  the command line asks for something that does not exist
    ├── MissingExtraError          2  a package is needed that the base install does not bring
    └── GateFailedError            1  a comparison found what it was told to fail on

Only ``stepscope.cli.main`` turns an error into a line on stderr and an exit status.
"""

from __future__ import annotations

from typing import ClassVar


class StepscopeError(Exception):
    """Base of all errors that stepscope raises on purpose; its text is one clear sentence."""

    exit_status: ClassVar[int] = 3


class InputError(StepscopeError):
    """The input cannot be used.

    Args:
        what: What is wrong, as one sentence without a full stop.
        path: The file or folder that it is about, or ``""`` when there is none.
        place: Where in the file, for instance ``$.traceEvents[812].dur`` or ``byte 1024``.
        way_out: What the user can do about it, as one sentence without a full stop.
    """

    exit_status: ClassVar[int] = 2

    def __init__(self, what: str, *, path: str = "", place: str = "", way_out: str = "") -> None:
        self.what, self.path, self.place, self.way_out = what, path, place, way_out
        head = f"{path}: " if path else ""
        where = f" at {place}" if place else ""
        tail = f"; {way_out}" if way_out else ""
        super().__init__(f"{head}{what}{where}{tail}")


class NotATraceError(InputError):
    """The file is something other than a PyTorch trace."""


class LimitError(InputError):
    """The input exceeds a documented limit (see ``stepscope.trace.limits``)."""


class OptionError(StepscopeError):
    """An option or argument asks for something that does not exist."""

    exit_status: ClassVar[int] = 2


class MissingExtraError(StepscopeError):
    """A package is missing that the base install does not bring; the text names the extra."""

    exit_status: ClassVar[int] = 2


class GateFailedError(StepscopeError):
    """A gate such as ``compare --fail-if-slower`` found what it was told to fail on."""

    exit_status: ClassVar[int] = 1
