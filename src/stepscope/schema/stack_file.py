"""What the recorder writes about the training thread's Python stack: one file beside each trace.

::

    rank<N>/
      trace-<K>.pt.trace.json.gz
      stack-<K>.json              SampledStacks of the same window

Only frames of the user's own code are kept, so that the file stays small.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from stepscope.errors import InputError

STACK_SCHEMA_VERSION = 1

TRACE_PREFIX, STACK_PREFIX = "trace-", "stack-"


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of code that was seen on the stack.

    Attributes:
        file: As Python names it, or as a notebook names the cell; foreign text.
        function: The function that it stands in; foreign text.
        line: Its number.
        text: The line itself without the blanks around it; ``""`` when it could not be read; foreign text.
        is_users: Whether it is the user's own code, and not that of an installed package.
    """

    file: str
    function: str
    line: int
    text: str
    is_users: bool


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack that was seen.

    Attributes:
        lines: Positions in ``SampledStacks.code``, from the outermost call to the innermost.
        inner: File and function of the innermost frame where that is not the last of ``lines``; else ``""``.
    """

    lines: tuple[int, ...]
    inner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledStacks:
    """The samples of one window.

    Attributes:
        schema_version: Version of the file's form.
        begin_ns: When sampling began, in nanoseconds since 1970.
        pause_ns: The pause between two samples that was aimed at.
        cost_ns: CPU time that sampling took.
        own: Samples that found the recorder itself at work and are left out.
        code: The lines that were seen.
        stacks: The stacks that were seen.
        at_ns: One per sample: nanoseconds after ``begin_ns``.
        stack: One per sample: its position in ``stacks``.
    """

    schema_version: int = STACK_SCHEMA_VERSION
    begin_ns: int
    pause_ns: int
    cost_ns: int
    own: int
    code: tuple[CodeLine, ...]
    stacks: tuple[Stack, ...]
    at_ns: tuple[int, ...]
    stack: tuple[int, ...]


def stack_path(trace: Path) -> Path:
    """Where the samples of a trace's window are."""
    name = trace.name.partition(".")[0].removeprefix(TRACE_PREFIX)
    return trace.with_name(f"{STACK_PREFIX}{name}.json")


def write_stacks(path: Path, sampled: SampledStacks) -> None:
    """Write the samples in one move.

    Raises:
        OSError: The folder cannot be written to.
    """
    document = {
        **{name: getattr(sampled, name) for name in SampledStacks.__slots__},
        "code": [asdict(line) for line in sampled.code],
        "stacks": [asdict(stack) for stack in sampled.stacks],
    }
    temporary = path.with_name(f".{path.name}")
    temporary.write_text(json.dumps(document), encoding="utf-8", errors="backslashreplace")
    temporary.replace(path)


def load_stacks(trace: str | Path) -> SampledStacks | None:
    """The samples of a trace's window; ``None`` where no recorder left any.

    Raises:
        InputError: The file is there and cannot be read.
    """
    # msgspec is only needed by readers; the recorder must not import it into the training process.
    import msgspec  # noqa: PLC0415

    given = Path(trace)
    path = stack_path(given)
    if not given.name.startswith(TRACE_PREFIX) or not path.is_file():
        return None
    try:
        found = msgspec.json.decode(path.read_bytes(), type=SampledStacks)
    except (OSError, msgspec.MsgspecError) as error:
        raise InputError(
            f"this file of the run folder cannot be read ({error})",
            path=str(path),
            way_out="record the run again, or remove the file to do without lines of code",
        ) from error
    if len(found.at_ns) != len(found.stack):
        raise InputError("this file of the run folder has more times than stacks", path=str(path))
    return found
