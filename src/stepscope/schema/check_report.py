"""What ``stepscope check`` found before a run."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from stepscope.schema.allocation import Allocation  # noqa: TC001  readers resolve types at run time
from stepscope.schema.machine import (  # noqa: TC001
    DataFolder,
    DriverDevice,
    FileSystem,
    ScratchFolder,
    ScriptFacts,
    TorchFacts,
)
from stepscope.schema.report import Finding  # noqa: TC001

SCHEMA_VERSION = 1

Care = Literal["look", "profile", "improve"]


class CarePlan(Struct, frozen=True, kw_only=True):
    """How much care a plan deserves, with the arithmetic.

    Attributes:
        level: ``look`` (watch it), ``profile`` (record a few steps) or ``improve`` (tune, compare).
        gpu_hours: Device hours of the plan.
        money: What the plan costs, in ``currency``; ``None`` when not known.
        currency: The currency; ``""`` when the money is not known.
        profile_pays_frac: How much faster a profile must make the plan to pay for itself.
        improve_pays_frac: The same for a day's tuning.
        how: The arithmetic in words.
    """

    level: Care
    gpu_hours: float
    money: float | None
    currency: str
    profile_pays_frac: float
    improve_pays_frac: float
    how: str


class CheckReport(Struct, frozen=True, kw_only=True):
    """A look at the machine before a run.

    Attributes:
        schema_version: Version of this document's form.
        stepscope_version: Version of the program that wrote it.
        host: Name of the machine.
        allocation: What this process may use.
        torch: What torch sees.
        driver: Devices that the driver lists; empty without a driver.
        driver_reason: Why the driver lists none; ``""`` when it does.
        script: The script, when one was given.
        data: The data folder, when one was given.
        working: The file system under the working folder.
        shared_memory: The one under ``/dev/shm``; ``None`` where there is none.
        environment_system: The one under the interpreter's packages.
        scratch: Folders to write to.
        findings: Mistakes visible before the run, most important first.
        care: How much care the plan deserves; ``None`` when no plan was stated.
    """

    schema_version: int = SCHEMA_VERSION
    stepscope_version: str
    host: str
    allocation: Allocation
    torch: TorchFacts
    driver: tuple[DriverDevice, ...]
    driver_reason: str
    script: ScriptFacts | None
    data: DataFolder | None
    working: FileSystem
    shared_memory: FileSystem | None
    environment_system: FileSystem
    scratch: tuple[ScratchFolder, ...]
    findings: tuple[Finding, ...] = ()
    care: CarePlan | None = None
