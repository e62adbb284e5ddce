"""What only several ranks together tell; see ``schema.report`` for units and what ``None`` means."""

from __future__ import annotations

from msgspec import Struct


class HostClock(Struct, frozen=True, kw_only=True):
    """The clock of one host against that of the first rank.

    Attributes:
        host: Its name; ``None`` where not recorded.
        ranks: Ranks on it.
        offset_ms: How far its clock is ahead of the first rank's.
    """

    host: str | None
    ranks: int
    offset_ms: float


class CollectiveRow(Struct, frozen=True, kw_only=True):
    """All matched calls of one kind in one process group, over steady steps.

    Attributes:
        group: Name of the group; ``""`` where not recorded.
        description: What the program calls it; ``""`` when it says nothing.
        kind: For instance ``all-reduce``.
        ranks: Ranks of the group.
        count: Collectives, each counted once.
        waiting_ms: Waiting for the last rank, summed over ranks.
        transfer_ms: From the last arrival to the end, summed over ranks.
        exposed_ms: Time in them with nothing else beside it, summed over ranks.
        longest_ms, longest_waiting_ms: The longest of them on the rank that came last, and what the others
            waited for it at most.
        bytes: Larger side of the messages of one rank, summed; ``None`` where not recorded.
        algorithm_gb_s: Bytes over the transfer's time in 1e9 bytes a second; ``None`` where sizes were not
            recorded or transfers are shorter than the clocks are certain.
        bus_gb_s: The same, comparable with the hardware's; ``None`` likewise.
    """

    group: str
    description: str
    kind: str
    ranks: int
    count: int
    waiting_ms: float
    transfer_ms: float
    exposed_ms: float
    longest_ms: float
    longest_waiting_ms: float
    bytes: int | None
    algorithm_gb_s: float | None
    bus_gb_s: float | None


class OverlapRow(Struct, frozen=True, kw_only=True):
    """Communication of one process group, in the mean of its ranks and steady steps.

    Attributes:
        group, description: As in :class:`CollectiveRow`.
        ranks: Ranks whose calls were recorded.
        calls: Calls of a rank in a step (in the window without steps).
        ms: Time in them.
        exposed_ms: What of it had nothing else beside it on the rank, waiting included.
        hidden_frac: The rest, as a share of ``ms``, 0 to 1.
    """

    group: str
    description: str
    ranks: int
    calls: float
    ms: float
    exposed_ms: float
    hidden_frac: float


class BucketRow(Struct, frozen=True, kw_only=True):
    """One message of a step, as DistributedDataParallel's buckets are, in the mean of ranks and steady steps.

    Attributes:
        group, description, kind: As in :class:`CollectiveRow`.
        number, of: Its place among the step's messages of this kind in this group, counted from 1.
        bytes: Larger side of the message; ``None`` where not recorded.
        ms: Its length.
        exposed_ms: What of it had nothing else beside it on the rank, waiting included.
        waiting_ms: What of it was waiting for the last rank; ``None`` where not every call has partners.
        hidden_frac: What of it was hidden, 0 to 1.
    """

    group: str
    description: str
    kind: str
    number: int
    of: int
    bytes: int | None
    ms: float
    exposed_ms: float
    waiting_ms: float | None
    hidden_frac: float


class StageRow(Struct, frozen=True, kw_only=True):
    """One stage of pipeline parallelism.

    Attributes:
        stage: Its number, from 0.
        ranks: The ranks that hold it.
        bubble_ms: How long they wait for neighbours in a steady step (in the window without steps), in the mean.
        share: The same as a share of the step, 0 to 1.
    """

    stage: int
    ranks: tuple[int, ...]
    bubble_ms: float
    share: float


class PipelineReport(Struct, frozen=True, kw_only=True):
    """Bubbles of pipeline parallelism: waiting in sends and receives with nothing else on the device.

    Attributes:
        share: Of the steady steps, in the mean of ranks, 0 to 1.
        stages: By number.
    """

    share: float
    stages: tuple[StageRow, ...]


class LateRow(Struct, frozen=True, kw_only=True):
    """A collective that waited for a rank.

    Attributes:
        step: Number of the step; ``None`` outside steps.
        kind, group: As in :class:`CollectiveRow`.
        rank: The rank that came last.
        culprit: The rank to which it goes back, where the last one had waited in another group itself.
        late_ms: How long the first rank waited for it.
        cause: The part of a step in which it was longer than the others before; ``None`` where none stands
            out.
        first_call_ms: How much of it is first calls (loading of kernels, set-up of communicators,
            compilation) that it made longer than the others; 0 where there are steps, because start-up steps
            are left out.
    """

    step: int | None
    kind: str
    group: str
    rank: int
    culprit: int
    late_ms: float
    cause: str | None
    first_call_ms: float = 0.0


class OutlierRow(Struct, frozen=True, kw_only=True):
    """A rank whose mean steady step has far more of a part than those of the others.

    Attributes:
        rank: Its number.
        part: A part of a step.
        ms: Its time.
        median_ms: The median over ranks.
    """

    rank: int
    part: str
    ms: float
    median_ms: float


class PathShare(Struct, frozen=True, kw_only=True):
    """What a rank, or the network, holds of the job's critical path.

    Attributes:
        rank: The rank whose work all others waited for; ``None`` for transfer.
        share: Of the path's length, from the first to the last collective of the steady steps, 0 to 1.
    """

    rank: int | None
    share: float


class StragglerRow(Struct, frozen=True, kw_only=True):
    """The rank that caused most of the waiting.

    Attributes:
        rank: Its number.
        is_named: Whether the data carry that it is this rank; if not, ranks come last by turns.
        host, device: Where it runs; ``None`` where not recorded.
        node: Its host, where several ranks of this host are late and no others.
        share: Its share of the waiting, 0 to 1.
        times: Collectives that it made wait.
        steps, all_steps: Steady steps in which it was to blame, of how many.
        pattern: ``constant``, ``drifting``, ``irregular``, ``once`` or ``unknown``.
        loss_ms: What the job loses by it per steady step (in the window without steps).
        loss_frac: The same as a share of it, without steps as a share of the window less its first calls.
        cause: The part of a step that explains it; ``None`` where none does.
        comparison: How its work compares with that of the others; ``""`` where that cannot be told.
        first_call_ms: How much of its lateness, in all, is first calls, as in :class:`LateRow`.
    """

    rank: int
    is_named: bool
    host: str | None
    device: str | None
    node: str | None
    share: float
    times: int
    steps: int
    all_steps: int
    pattern: str
    loss_ms: float
    loss_frac: float
    cause: str | None
    comparison: str
    first_call_ms: float = 0.0


class JobReport(Struct, frozen=True, kw_only=True):
    """Ranks compared.

    Attributes:
        ranks: Their numbers, in the order of ``Report.ranks``.
        steps: Numbers of the steps that the matrices show.
        wait_ms: Waiting of each rank in each step, ranks by steps; empty without steps.
        own_ms: The step's length less that waiting; ``None`` where the rank lacks the step.
        clocks: By host, the first rank's first.
        clock_uncertainty_ms: Ends of one collective lie this far apart or less on the aligned clock, in
            nine collectives of ten; ``None`` where nothing could be aligned.
        collectives: Longest waiting first.
        late: The collectives that waited longest, in order of time.
        outliers: Ranks that stand out by a part of the step, most first.
        path: Shares of the critical path, largest first; empty where no collective was matched.
        straggler: The rank that caused most of the waiting; ``None`` where nobody was late.
        cannot_tell: What the data do not carry, in sentences.
        overlap: Communication hidden and exposed by process group, most exposed first.
        buckets: The messages of a step in their order, where it has several of a kind.
        pipeline: Bubbles; ``None`` where no rank sends to a neighbour.
    """

    ranks: tuple[int, ...]
    steps: tuple[int, ...]
    wait_ms: tuple[tuple[float, ...], ...]
    own_ms: tuple[tuple[float | None, ...], ...]
    clocks: tuple[HostClock, ...]
    clock_uncertainty_ms: float | None
    collectives: tuple[CollectiveRow, ...]
    late: tuple[LateRow, ...]
    outliers: tuple[OutlierRow, ...]
    path: tuple[PathShare, ...]
    straggler: StragglerRow | None
    cannot_tell: tuple[str, ...] = ()
    overlap: tuple[OverlapRow, ...] = ()
    buckets: tuple[BucketRow, ...] = ()
    pipeline: PipelineReport | None = None
