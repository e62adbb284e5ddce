"""A recording as the JSON objects of ``traceEvents``, in the order in which PyTorch writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.testing.jsontext import Literally
from stepscope.testing.records import DEVICE_KIND, HOST_KIND

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stepscope.testing.clock import ClockText
    from stepscope.testing.form import Form
    from stepscope.testing.records import Flow, MemoryEvent, Recording, Span

OLD_CATEGORIES: Mapping[str, str] = {
    "cpu_op": "Operator",
    "user_annotation": "User",
    "cuda_runtime": "Runtime",
    "kernel": "Kernel",
    "gpu_memcpy": "Memcpy",
    "gpu_memset": "Memset",
}
LAUNCHES = ("Launch", "Memcpy", "Memset")
"""Parts of names of runtime calls that start an arrow; all other calls only end one."""

JsonObject = dict[str, object]


@dataclass(frozen=True, slots=True)
class EventWriter:
    """Turns records into JSON objects.

    Attributes:
        recording: What was recorded.
        form: How it is spelt.
        clock: How its times are written.
    """

    recording: Recording
    form: Form
    clock: ClockText

    def all(self) -> list[JsonObject]:
        """The events in the order that the form asks for, without those that its layout cannot hold."""
        if self.form.layout == "event-list":
            return [self._legacy(span) for span in self._host(python=False)]
        metadata, rest = self._metadata(), self.timed()
        metadata_first = self.form.layout == "kineto-2026"
        events = [*metadata, *rest] if metadata_first else [*rest, *metadata]
        events += self._frame()
        if self.form.event_order == "reversed":
            events.reverse()
        elif self.form.event_order == "time":
            events.sort(key=lambda event: float(str(event["ts"])))
        return events

    def _host(self, *, python: bool) -> list[Span]:
        """Operators and annotations (or Python frames) in order of their start, the longer first."""
        wanted = ("python_function",) if python else ("cpu_op", "user_annotation")
        spans = [span for span in self.recording.spans if span.category in wanted]
        return sorted(spans, key=lambda span: (span.start_ns, -span.end_ns))

    def timed(self) -> Iterable[JsonObject]:
        """The events with a time of their own, in the blocks in which PyTorch writes them."""
        index = 0
        flows = {(flow.tid, flow.time_ns): flow for flow in self.recording.flows}
        for span in self._host(python=False):
            yield self._span(span, index)
            index += 1
            flow = flows.pop((span.tid, span.start_ns), None)
            if flow is not None:
                yield self._flow(flow)
        for event in sorted(self.recording.memory, key=lambda event: event.time_ns):
            yield self._memory(event, index)
            index += 1
        for span in self._host(python=True):
            yield self._span(span, index)
            index += 1
        for span in self.recording.spans:
            if span.category in ("cpu_op", "user_annotation", "python_function"):
                continue
            yield self._span(span, None)
            if self.form.flows:
                yield from self._arrow(span)

    def _span(self, span: Span, index: int | None) -> JsonObject:
        args = dict(span.args)
        if index is not None and not self.form.old_names:
            args["Ev Idx"] = index
        category: str = span.category
        if self.form.old_names:
            category = OLD_CATEGORIES.get(category, category)
            if span.category not in ("cpu_op", "user_annotation") and "External id" in args:
                args["external id"] = args.pop("External id")
        event: JsonObject = {
            "ph": "X",
            "cat": category,
            "name": span.name,
            "pid": span.pid,
            "tid": self._tid(span),
            "ts": Literally(self.clock.time(span.start_ns)),
            "dur": Literally(self.clock.duration(span.start_ns, span.end_ns)),
        }
        if args:
            event["args"] = args
        return event

    def _tid(self, span: Span) -> int | str:
        if not self.form.text_threads:
            return span.tid
        return f"stream {span.tid}" if span.category not in HOST_KIND else str(span.tid)

    def _arrow(self, span: Span) -> Iterable[JsonObject]:
        """The arrow's end that kineto draws at this span: from launches, to everything else."""
        correlation = span.args.get("correlation")
        is_call = span.category in ("cuda_runtime", "cuda_driver")
        if correlation is None or not (is_call or span.category in {*DEVICE_KIND, "cuda_sync"}):
            return
        is_start = is_call and any(part in span.name for part in LAUNCHES)
        name = "launch" if self.form.old_names else "ac2g"
        event: JsonObject = {
            "ph": "s" if is_start else "f",
            "id": correlation,
            "pid": span.pid,
            "tid": self._tid(span),
            "ts": Literally(self.clock.time(span.start_ns)),
            "cat": "async" if self.form.old_names else "ac2g",
            "name": name,
        }
        if not is_start:
            event["bp"] = "e"
        yield event

    def _flow(self, flow: Flow) -> JsonObject:
        event: JsonObject = {
            "ph": "s" if flow.is_start else "f",
            "id": flow.number,
            "pid": flow.pid,
            "tid": flow.tid,
            "ts": Literally(self.clock.time(flow.time_ns)),
            "cat": "fwdbwd",
            "name": "fwdbwd",
        }
        if not flow.is_start:
            event["bp"] = "e"
        return event

    def _memory(self, event: MemoryEvent, index: int) -> JsonObject:
        where: JsonObject = {
            "name": "[memory]",
            "pid": event.pid,
            "tid": event.tid,
            "ts": Literally(self.clock.time(event.time_ns)),
        }
        args = {**event.args, "Ev Idx": index}
        if self.form.layout == "python-lines":  # draws an instant as lasting until the window's end
            lasting = Literally(self.clock.duration(event.time_ns, self.recording.end_ns))
            return {"ph": "X", "cat": "cpu_instant_event", **where, "dur": lasting, "args": args}
        if self.form.old_names:
            return {"ph": "i", "s": "t", **where, "args": dict(event.args)}
        return {"ph": "i", "cat": "cpu_instant_event", "s": "t", **where, "args": args}

    def _metadata(self) -> list[JsonObject]:
        pid = self.recording.pid
        rows: list[tuple[str, int, int, JsonObject]] = [
            ("process_name", pid, 0, {"name": "python"}),
            ("process_labels", pid, 0, {"labels": "CPU"}),
            ("process_sort_index", pid, 0, {"sort_index": pid}),
        ]
        for number in range(8 if self.recording.devices else 0):  # always eight, whatever is there
            rows += [
                ("process_name", number, 0, {"name": "python"}),
                ("process_labels", number, 0, {"labels": f"GPU {number}"}),
            ]
        for tid, name in self.recording.threads.items():
            rows += [
                ("thread_name", pid, tid, {"name": name}),
                ("thread_sort_index", pid, tid, {"sort_index": tid}),
            ]
        ts = Literally(self.clock.time(self.recording.start_ns))
        return [
            {"ph": "M", "name": name, "ts": ts, "pid": owner, "tid": tid, "args": args}
            for name, owner, tid, args in rows
        ]

    def _frame(self) -> list[JsonObject]:
        """The window itself, as a span and two instants."""
        start, end = self.recording.start_ns, self.recording.end_ns
        ts = Literally(self.clock.time(start))
        return [
            {
                "ph": "X",
                "cat": "Trace",
                "name": "PyTorch Profiler (0)",
                "pid": "Spans",
                "tid": "PyTorch Profiler",
                "ts": ts,
                "dur": Literally(self.clock.duration(start, end)),
                "args": {"Op count": 0},
            },
            {
                "ph": "i",
                "s": "g",
                "name": "Iteration Start: PyTorch Profiler",
                "pid": "Traces",
                "tid": "Trace PyTorch Profiler",
                "ts": ts,
            },
            {
                "ph": "i",
                "s": "g",
                "name": "Record Window End",
                "pid": "",
                "tid": "",
                "ts": Literally(self.clock.time(end)),
            },
        ]

    def _legacy(self, span: Span) -> JsonObject:
        return {
            "name": span.name,
            "ph": "X",
            "ts": Literally(self.clock.time(span.start_ns)),
            "dur": Literally(self.clock.duration(span.start_ns, span.end_ns)),
            "tid": 1,
            "pid": "CPU functions",
            "args": {},
        }
