"""Runs a script or a module as ``python`` itself would, inside this process."""

from __future__ import annotations

import builtins
import importlib.util
import io
import sys
import threading
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

from stepscope.errors import OptionError

INTERRUPTED = 130
"""What a shell shows for a process that Ctrl-C has ended."""

if TYPE_CHECKING:
    from collections.abc import Callable

_OWN_CODE = str(Path(__file__).resolve().parent.parent)


@dataclass(frozen=True, slots=True)
class Script:
    """What to run.

    Attributes:
        target: Path of the script, or name of the module.
        is_module: Whether it is the name of a module, as after ``python -m``.
        arguments: The script's own.
    """

    target: str
    is_module: bool
    arguments: tuple[str, ...]

    @property
    def command(self) -> tuple[str, ...]:
        """The command line behind ``python``."""
        return (*(("-m",) if self.is_module else ()), self.target, *self.arguments)

    @property
    def name(self) -> str:
        """A short name for folders."""
        return self.target.rpartition(".")[2] if self.is_module else Path(self.target).stem


@dataclass(frozen=True, slots=True)
class Ending:
    """How the script ended.

    Attributes:
        status: Its exit status.
        was_interrupted: Whether Ctrl-C ended it, so that the process should end by that signal.
    """

    status: int
    was_interrupted: bool = False


def run(script: Script, ready: Callable[[], None]) -> Ending:
    """Run to the end, and say on stderr what Python would say.

    Waits for threads as Python does at exit, so that what follows comes after all of the script's work.

    Args:
        script: What to run.
        ready: Called when it is certain that there is something to run, right before it runs.

    Raises:
        OptionError: There is no such script or module.
    """
    try:
        main, code = _load_module(script) if script.is_module else _load_file(script)
        ready()
        sys.modules["__main__"] = main
        exec(code, main.__dict__)  # noqa: S102  to run the user's program is the purpose
        ending = Ending(0)
    except OptionError:
        raise
    except SystemExit as error:
        ending = Ending(_status(error.code))
    except BaseException as error:  # noqa: BLE001  Python itself catches everything here
        _forget_own_frames(error)
        sys.excepthook(type(error), error, error.__traceback__)
        was_interrupted = isinstance(error, KeyboardInterrupt)
        ending = Ending(INTERRUPTED if was_interrupted else 1, was_interrupted)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    return ending


def _load_file(script: Script) -> tuple[ModuleType, CodeType]:
    path = Path(script.target)
    if path.is_dir():
        raise OptionError(f"{script.target} is a folder, not a script")
    try:
        with io.open_code(str(path.absolute())) as stream:
            source = stream.read()
    except OSError as error:
        raise OptionError(f"the script {script.target} cannot be read: {error.strerror}") from error
    file = str(path.absolute())
    sys.argv[:] = [script.target, *script.arguments]
    _set_first_path(str(path.resolve().parent))
    code = compile(source, file, "exec", dont_inherit=True)
    return _main_module(file, SourceFileLoader("__main__", file), None), code


def _load_module(script: Script) -> tuple[ModuleType, CodeType]:
    _set_first_path(str(Path.cwd()))
    # Importing parent packages runs their code, which may look at the arguments.
    sys.argv[:] = ["-m", *script.arguments]
    spec = _spec(script.target)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = _spec(f"{script.target}.__main__")
    loader: Any = spec.loader if spec is not None else None
    code = loader.get_code(spec.name) if spec is not None and hasattr(loader, "get_code") else None
    if spec is None or code is None:
        raise OptionError(f"there is no module {script.target} that can be run")
    file = spec.origin or script.target
    sys.argv[0] = file
    return _main_module(file, loader, spec), code


def _spec(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ModuleNotFoundError, ValueError):
        return None


def _main_module(file: str, loader: object, spec: ModuleSpec | None) -> ModuleType:
    main = ModuleType("__main__")
    main.__dict__.update(
        __file__=file,
        __loader__=loader,
        __spec__=spec,
        __package__=spec.parent if spec is not None else None,
        __cached__=spec.cached if spec is not None else None,
        __builtins__=builtins,
        __annotations__={},
    )
    return main


def _set_first_path(folder: str) -> None:
    # With -P or PYTHONSAFEPATH Python puts no folder first, neither for us nor for the script.
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder


def _status(code: object) -> int:
    """The exit status that Python makes of the argument of ``sys.exit``."""
    if code is None:
        return 0
    if isinstance(code, int):
        return int(code)
    print(code, file=sys.stderr)  # noqa: T201  Python prints it there too
    return 1


def _forget_own_frames(error: BaseException) -> None:
    """Take stepscope's frames out of the tracebacks, which are about the user's code."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        current = pending.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        current.__traceback__ = _without_own(current.__traceback__)
        pending += [current.__cause__, current.__context__]


def _without_own(traceback: TracebackType | None) -> TracebackType | None:
    kept = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(_OWN_CODE):
            kept.append(traceback)
        traceback = traceback.tb_next
    for position, link in enumerate(kept):
        link.tb_next = kept[position + 1] if position + 1 < len(kept) else None
    return kept[0] if kept else None
