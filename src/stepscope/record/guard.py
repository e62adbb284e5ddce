"""The one broad except: whatever fails in stepscope is said once, and training goes on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.record.voice import Voice

P = ParamSpec("P")
R = TypeVar("R")


class Guard:
    """Runs stepscope's code inside the user's process and lets no exception of it out.

    The first exception is said on stderr and switches everything off that goes through this guard.
    ``KeyboardInterrupt`` and ``SystemExit`` belong to the user and pass.

    Args:
        voice: Where the failure is said.

    Attributes:
        failure: The exception that switched it off; ``None`` while all is well.
        is_on: Whether guarded code still runs. Also turned off in forked children, whose steps are
            not this process's steps.
    """

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._cleanups: list[Callable[[], None]] = []
        self._told: list[Callable[[], None]] = []
        self.failure: Exception | None = None
        self.is_on = True
        self._pid = os.getpid()
        os.register_at_fork(after_in_child=self.switch_off)

    def switch_off(self) -> None:
        """Let nothing guarded run any more."""
        self.is_on = False
        for tell in self._told:
            tell()

    def when_off(self, tell: Callable[[], None]) -> None:
        """Have something called when this is switched off, that cannot fail; in a forked child too."""
        self._told.append(tell)

    def on_failure(self, cleanup: Callable[[], None]) -> None:
        """Have something undone when the guard trips; what fails in it is ignored."""
        self._cleanups.append(cleanup)

    def finish(self, function: Callable[[], None]) -> None:
        """Call at the end of the run, also when the guard has tripped, but never in a forked child."""
        if os.getpid() != self._pid:
            return
        try:
            function()
        except Exception as error:
            if self.failure is None:
                self._trip(error)
        self.switch_off()

    def call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R | None:
        """The function's result; ``None`` when it failed or when all is switched off."""
        if not self.is_on:
            return None
        try:
            return function(*args, **kwargs)
        except Exception as error:
            self._trip(error)
            return None

    def wrap(self, function: Callable[P, None]) -> Callable[P, None]:
        """The function behind the guard, for hooks that run in every step; what it gets has no names."""
        call: Callable[..., None] = function

        def guarded(*args: object) -> None:
            if self.is_on:
                try:
                    call(*args)
                except Exception as error:
                    self._trip(error)

        return cast("Callable[P, None]", guarded)

    def _trip(self, error: Exception) -> None:
        self.failure = error
        self.switch_off()
        self._voice.warn(f"recording stopped, the script goes on: {type(error).__name__}: {error}")
        for cleanup in self._cleanups:
            try:
                cleanup()
            except Exception as second:
                self._voice.warn(f"and could not be tidied up: {type(second).__name__}: {second}")
