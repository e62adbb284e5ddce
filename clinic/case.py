"""What a case of the clinic is, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from stepscope.testing import TraceBuilder


class Build(Protocol):
    """Makes traces."""

    def __call__(self, *, is_fixed: bool, steps: int) -> tuple[TraceBuilder, ...]:
        """The traces of all ranks."""


@dataclass(frozen=True, slots=True)
class Made:
    """A case on a GPU, as traces with a known cause.

    Attributes:
        name: For instance ``item-every-step``.
        plant: What is wrong, in words; ``""`` for a healthy run.
        code: Code of the rule that must come first; ``""`` when no rule may fire.
        build: Makes the traces of all ranks, planted or fixed, with so many steps.
    """

    name: str
    plant: str
    code: str
    build: Build


@dataclass(frozen=True, slots=True)
class Program:
    """A case on the CPU, run for real.

    Attributes:
        name, plant, code: As of :class:`Made`.
        script: File in ``clinic/programs``.
        arguments: Those of the planted run; ``--fixed`` is added for the other.
    """

    name: str
    plant: str
    code: str
    script: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """What came of a case.

    Attributes:
        name, plant, code: Of the case.
        where: ``GPU trace`` or ``CPU run``.
        found: Codes of all findings, most important first.
        low, high: Predicted gain of the first finding; ``None`` when none is claimed.
        measured: Step time planted over step time fixed; ``None`` for a healthy run.
    """

    name: str
    plant: str
    code: str
    where: str
    found: tuple[str, ...]
    low: float | None
    high: float | None
    measured: float | None

    @property
    def is_named(self) -> bool:
        """Whether the planted cause comes first; for a healthy run, whether nothing was found."""
        return self.found[:1] == (self.code,) if self.code else not self.found

    @property
    def is_held(self) -> bool | None:
        """Whether the measured gain lies in the predicted range; ``None`` without a range."""
        if self.low is None or self.high is None or self.measured is None:
            return None
        return self.low <= self.measured <= self.high

    @property
    def width(self) -> float | None:
        """High over low; ``None`` without a range."""
        return None if self.low is None or self.high is None else self.high / self.low
