"""What a plan or a run costs: the document behind ``stepscope cost --json`` and the report's cost.

Every figure is an :class:`Estimate`: a value with its range, its basis and one sentence on how it was
made. What is not known is ``None`` with the reason, never 0.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

SCHEMA_VERSION = 1

Basis = Literal["measured", "attributed", "modelled", "not-known"]
"""``measured`` by the device itself; ``attributed``: a share of something measured; ``modelled`` from
rates and assumptions; ``not-known``."""


class Estimate(Struct, frozen=True, kw_only=True):
    """A figure with its range and where it comes from.

    Attributes:
        value: The figure; ``None`` when it is not known.
        low, high: Its range, ``low <= value <= high``; ``None`` when it is not known.
        unit: For instance ``EUR``, ``SBU``, ``J``, ``gCO2e``.
        basis: See :data:`Basis`.
        how: One sentence: the arithmetic, or why it is not known.
    """

    value: float | None
    low: float | None
    high: float | None
    unit: str
    basis: Basis
    how: str


class RateUsed(Struct, frozen=True, kw_only=True):
    """A rate that a figure rests on.

    Attributes:
        kind: ``price``, ``electricity``, ``exchange``, ``power``, ``draw``, ``host``, ``pue``, ``grid``,
            ``person`` or ``units``.
        key: Which of them, for instance ``H100`` or ``NL``.
        value, low, high: The rate and its range.
        unit: Its unit.
        date: Until when it was true as far as anybody looked, ISO 8601.
        source: Who says so.
        checked: False when it is general knowledge that was not read again.
        origin: ``built-in``, ``site``, ``file PATH``, ``environment`` or ``command line``.
    """

    kind: str
    key: str
    value: float
    low: float
    high: float
    unit: str
    date: str
    source: str
    checked: bool
    origin: str


class EnergyCost(Struct, frozen=True, kw_only=True):
    """Energy, part by part, in joules.

    Attributes:
        devices: What the GPUs draw.
        host: What the rest of the node draws for them: CPU, memory, network, fans.
        building: What cooling and power supply add (PUE less one).
        total: Their sum; where a part is not known it is not in it, and ``how`` says so.
    """

    devices: Estimate
    host: Estimate
    building: Estimate
    total: Estimate


class PublishedFigure(Struct, frozen=True, kw_only=True):
    """A published estimate of the same work, beside ours.

    Attributes:
        work: What was estimated.
        quantity: ``energy``, ``money`` or ``gpu-years``.
        published: The published figure.
        ours: Our figure for it; ``None`` when ours is not known.
        unit: Unit of both.
        source: Where it was published.
        why: Which inputs make the difference, in one sentence with factors.
    """

    work: str
    quantity: Literal["energy", "money", "gpu-years"]
    published: float
    ours: float | None
    unit: str
    source: str
    why: str


class CostReport(Struct, frozen=True, kw_only=True):
    """What a plan costs.

    Attributes:
        schema_version: Version of this document's form.
        stepscope_version: Version of the program that wrote it.
        subject: The plan in words.
        device: Name of the device as the rates spell it; ``""`` when none was stated.
        site: Name of the site; ``""`` when none.
        gpu_hours: Device hours in all.
        run_seconds: How long one run takes; 0 in reports of before that was kept.
        core_hours: Core hours in all of runs without a device, which are priced by them; 0 with a device.
        gpu_years: The same in years of 8,760 hours.
        waste: Money for time in which the devices were allocated and idle, or the cores of a run without one.
        money: Money for renting the devices, or the cores.
        units: The same in the site's own units; not known without a site.
        units_waste: The part of them that is paid for idle time; ``None`` in reports of before that was told.
        electricity: Money for the energy; a part of what a rent pays for, never added to it.
        energy: Energy, part by part.
        carbon: Greenhouse gas of making that energy; that of making the machines is not in it.
        published: Published estimates of the same work.
        rates: Every rate used.
        notes: Sentences that a reader must know.
    """

    schema_version: int = SCHEMA_VERSION
    stepscope_version: str
    subject: str
    device: str
    site: str
    gpu_hours: float
    gpu_years: float
    core_hours: float = 0.0
    run_seconds: float = 0.0
    waste: Estimate
    money: Estimate
    units: Estimate
    units_waste: Estimate | None = None
    electricity: Estimate
    energy: EnergyCost
    carbon: Estimate
    published: tuple[PublishedFigure, ...] = ()
    rates: tuple[RateUsed, ...] = ()
    notes: tuple[str, ...] = ()


class FindingWaste(Struct, frozen=True, kw_only=True):
    """What the idle time behind a finding is paid with.

    Attributes:
        code: The finding's code.
        rank: The rank that it was found on; ``None`` for all.
        run: Its waste in the run; not known with the reason.
        plan: The same for the plan; ``None`` without a plan.
    """

    code: str
    rank: int | None
    run: Estimate
    plan: Estimate | None


class RunCost(Struct, frozen=True, kw_only=True):
    """What a run costs, and what a plan of such runs does.

    Attributes:
        run: This run, or one hour of such steps where only traces are known.
        plan: The plan; ``None`` where none was stated.
        findings: One for each finding of the report, in its order.
    """

    run: CostReport
    plan: CostReport | None
    findings: tuple[FindingWaste, ...]
