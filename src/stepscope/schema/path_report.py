"""The critical path of one rank's steps, as the Report tells it."""

from __future__ import annotations

from msgspec import Struct

from stepscope.schema.gain import Gain  # noqa: TC001  (the JSON decoder resolves it)


class PathKernel(Struct, frozen=True, kw_only=True):
    """A kernel that holds much of the critical path.

    Attributes:
        name: Foreign text, never cut here.
        ms: Its time on the path, in the mean step.
        frac: The same as a share of the path, 0 to 1.
        gain: What twice its speed would gain.
    """

    name: str
    ms: float
    frac: float
    gain: Gain


class PathReport(Struct, frozen=True, kw_only=True):
    """What the steady step consists of, when of all that runs side by side only that counts which was waited for.

    Attributes:
        steps: Steady steps that were replayed; 0 where no steps could be told apart, and it is the window.
        step_ms: Mean length of these steps in the replay.
        is_clean: Whether they are as long as the steps that were timed without the profiler; else its weight is in
            what the host does.
        parts_ms: Exclusive parts of it that sum to it; keys are ``PATH_PARTS``.
        kernels: The kernels that hold most of it and whose doubled speed would shorten the step, longest first.
    """

    steps: int
    step_ms: float
    is_clean: bool
    parts_ms: dict[str, float]
    kernels: tuple[PathKernel, ...] = ()
