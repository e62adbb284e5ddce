"""From samples to quantities over a run's time axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.schema.use_report import UseTrack
from stepscope.watch.curve import Curve, added, of_counter, of_means, of_rate
from stepscope.watch.energy import device_curve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stepscope.schema.samples import DeviceSample, DeviceStart, HostSample
    from stepscope.schema.use_report import PhaseSpan, TrackKind
    from stepscope.watch.axis import Axis
    from stepscope.watch.store import Watched

Points = list[tuple[float, float]]


class Placed(Struct, frozen=True):
    """A watcher's rows and where they lie on the run's axis.

    Attributes:
        watched: The rows.
        offset_s: What to add to their ``at_s``.
    """

    watched: Watched
    offset_s: float


class DeviceRows(Struct, frozen=True):
    """One device as the watcher saw it that has most samples of it.

    Attributes:
        node: Where it is.
        start: What it is.
        rows: Its samples, without those after it was lost.
        offset_s: What to add to their ``at_s``.
    """

    node: str
    start: DeviceStart
    rows: tuple[DeviceSample, ...]
    offset_s: float


def devices_in(placed: Sequence[Placed]) -> list[DeviceRows]:
    """Every device once."""
    best: dict[str, DeviceRows] = {}
    for one in placed:
        for start in one.watched.device_starts:
            rows = tuple(row for row in one.watched.devices.get(start.uuid, ()) if not row.lost)
            if start.uuid not in best or len(rows) > len(best[start.uuid].rows):
                best[start.uuid] = DeviceRows(one.watched.start.node, start, rows, one.offset_s)
    return list(best.values())


def tracks_of(
    placed: Sequence[Placed], axis: Axis, phases: Sequence[PhaseSpan]
) -> tuple[UseTrack, ...]:
    """All quantities of all nodes and devices."""
    maker = _Maker(axis, phases)
    by_node: dict[str, list[Placed]] = {}
    for one in placed:
        by_node.setdefault(one.watched.start.node, []).append(one)
    found = [track for node, some in by_node.items() for track in maker.of_node(node, some)]
    found += [track for device in devices_in(placed) for track in maker.of_device(device)]
    return tuple(track for track in found if track is not None)


class _What(Struct, frozen=True):
    """What a track is of; see :class:`~stepscope.schema.use_report.UseTrack`."""

    kind: TrackKind
    node: str
    device: str
    unit: str
    limit: float | None


class _Maker:
    """Makes tracks on one axis.

    Args:
        axis: The axis.
        phases: The run's parts on it.
    """

    def __init__(self, axis: Axis, phases: Sequence[PhaseSpan]) -> None:
        self._axis = axis
        self._parts: dict[str, list[tuple[float, float]]] = {}
        for phase in phases:
            self._parts.setdefault(phase.part, []).append((phase.start_s, phase.end_s))

    def of_node(self, node: str, some: Sequence[Placed]) -> list[UseTrack | None]:
        """Processors, memory and reads of a node; what its watchers see is added."""
        start = some[0].watched.start
        memory = [_host_points(one, lambda row: float(row.rss_bytes)) for one in some]
        reads = [_host_points(one, lambda row: row.read_bytes) for one in some]
        cpu = [_host_points(one, lambda row: row.cpu_s) for one in some]
        room = start.memory_limit_bytes or start.machine_memory_bytes
        what = _What("memory", node, "", "bytes", room)
        return [
            self._rate(_What("cpu", node, "", "cores", start.cores), added(map(of_counter, cpu))),
            self._gauge(what, memory),
            self._rate(_What("reads", node, "", "bytes/s", None), added(map(of_counter, reads))),
        ]

    def of_device(self, device: DeviceRows) -> list[UseTrack | None]:
        """Activity, memory and draw of a device; what it does not tell is left out."""
        where, uuid, start = device.node, device.start.uuid, device.start
        drawn = device_curve(start, device.rows)
        share = start.slice_frac
        power = Curve(
            tuple(time + device.offset_s for time in drawn.curve.times),
            tuple(total * share for total in drawn.curve.totals),
        )
        limit = None if start.watts_limit is None else start.watts_limit * share
        memory = _device_points(device, lambda row: row.memory_bytes)
        room = _What("gpu-memory", where, uuid, "bytes", start.memory_bytes)
        shares: tuple[tuple[TrackKind, str], ...] = (
            ("gpu-busy", "busy_frac"),
            ("gpu-working", "working_frac"),
            ("gpu-tensor", "tensor_frac"),
        )
        found = [
            self._rate(_What(kind, where, uuid, "frac", 1.0), _means(device, column))
            for kind, column in shares
        ]
        found.append(self._gauge(room, [memory]))
        if drawn.basis == "measured":
            found.append(self._rate(_What("gpu-power", where, uuid, "W", limit), power))
        return found

    def _rate(self, what: _What, curve: Curve) -> UseTrack | None:
        """A quantity that is so much a second; ``None`` where it was never seen twice."""
        values = [curve.rate([edge]) for edge in self._axis.edges()]
        return self._track(what, curve, values)

    def _gauge(self, what: _What, sources: Sequence[Points]) -> UseTrack | None:
        """A quantity of which there is so much at a moment: its most in each stretch, sources added."""
        each = [_highest(points, self._axis.edges()) for points in sources]
        values = [
            sum(known) if (known := [v for v in column if v is not None]) else None
            for column in zip(*each, strict=True)
        ]
        curve = added(of_rate(points) for points in sources)
        return self._track(what, curve, values)

    def _track(self, what: _What, curve: Curve, values: Sequence[float | None]) -> UseTrack | None:
        if not curve.is_known:
            return None
        means = {part: curve.rate(spans) for part, spans in self._parts.items()}
        mean = curve.rate([(curve.times[0], curve.times[-1])])
        return UseTrack(
            kind=what.kind,
            node=what.node,
            device=what.device,
            unit=what.unit,
            limit=what.limit,
            mean=None if mean is None else _short(mean),
            peak=max((_short(value) for value in values if value is not None), default=None),
            values=tuple(None if value is None else _short(value) for value in values),
            by_part={part: _short(mean) for part, mean in means.items() if mean is not None},
        )


def _short(value: float) -> float:
    """A value with four digits, which is more than any sampler knows, and keeps the report small."""
    return float(f"{value:.4g}")


def _host_points(one: Placed, get: Callable[[HostSample], float | None]) -> Points:
    """A column of a watcher's processes on the axis."""
    return [
        (row.at_s + one.offset_s, float(value))
        for row in one.watched.hosts
        if (value := get(row)) is not None
    ]


def _device_points(device: DeviceRows, get: Callable[[DeviceSample], float | None]) -> Points:
    """A column of a device on the axis."""
    return [
        (row.at_s + device.offset_s, float(value))
        for row in device.rows
        if (value := get(row)) is not None
    ]


def _means(device: DeviceRows, name: str) -> Curve:
    """A share that a device tells for the time before each sample."""
    return of_means(_device_points(device, lambda row: getattr(row, name)))


def _highest(points: Points, edges: Sequence[tuple[float, float]]) -> list[float | None]:
    """The highest value in each stretch; where none was taken, the one before it."""
    found: list[float | None] = []
    place, last = 0, None
    for _, end in edges:
        here = []
        while place < len(points) and points[place][0] <= end:
            here.append(points[place][1])
            place += 1
        last = here[-1] if here else last
        found.append(max(here) if here else last if place < len(points) else None)
    return found
