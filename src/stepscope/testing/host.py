"""The host's half of a made trace: threads with a clock each, and what they do one after another."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.testing.records import Flow, MemoryEvent, Recording, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stepscope.testing.models import DeviceModel
    from stepscope.testing.records import Category

START_NS = 1_796_028_000_000_000_000
CPU_TYPE, CUDA_TYPE, HIP_TYPE = 0, 1, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The process that is recorded.

    Attributes:
        rank, world_size: Its place in a distributed job; rank ``None`` when there is no job.
        gpus: Devices that the header lists; none for a machine without.
        device: The one that the process uses.
        records_device: Whether device work reaches the trace; ``False`` is a recording whose device side
            failed: launches without kernels.
        flags: Recording options, for instance ``with_stack``.
        pid: Process id, also that of the main thread.
        host_name: The machine.
        start_ns: Nanoseconds since 1970 at which the window opens.
        launch_ns: How long a launching call takes the host.
        latency_ns: From the start of a launching call to the earliest start of its work.
    """

    rank: int | None = None
    world_size: int = 1
    gpus: tuple[DeviceModel, ...] = ()
    device: int = 0
    records_device: bool = True
    flags: tuple[str, ...] = ()
    pid: int = 4000
    host_name: str = "made"
    start_ns: int = START_NS
    launch_ns: int = 5_000
    latency_ns: int = 6_000


@dataclass(slots=True)
class _Thread:
    tid: int
    name: str
    now_ns: int
    open_ids: list[int] = field(default_factory=list)
    open_frames: list[int] = field(default_factory=list)


class HostBuilder:
    """Builds what happens on the host. Every method moves the current thread's clock on.

    Args:
        setup: The process; by default one without device and without a job.
    """

    def __init__(self, setup: Setup | None = None) -> None:
        self.setup = setup or Setup()
        main = _Thread(self.setup.pid, "python", self.setup.start_ns + 10_000)
        self._threads = {main.tid: main}
        self._thread = main
        self._spans: list[Span | None] = []
        self._memory: list[MemoryEvent] = []
        self._flows: list[Flow] = []
        self._allocated: dict[int, int] = {}
        self._blocks: dict[tuple[int, int], list[int]] = {}
        self._addresses = 0
        self._ids = 0
        self._frames = 0

    @property
    def now_ns(self) -> int:
        """The current thread's clock."""
        return self._thread.now_ns

    def pause(self, ns: int) -> None:
        """Let time pass without an event: Python code that nothing records."""
        self._thread.now_ns += ns

    def wait_until(self, ns: int) -> None:
        """Move the clock to a time that is not before now."""
        self._thread.now_ns = max(self._thread.now_ns, ns)

    @contextmanager
    def thread(self, tid: int, name: str = "pt_autograd_0") -> Iterator[None]:
        """Go on in another thread, whose clock joins this one's; the caller waits for it."""
        caller = self._thread
        self._thread = self._threads.setdefault(tid, _Thread(tid, name, caller.now_ns))
        self.wait_until(caller.now_ns)
        try:
            yield
        finally:
            finished = self._thread.now_ns
            self._thread = caller
            self.wait_until(finished)

    @contextmanager
    def op(
        self,
        name: str,
        *,
        ns: int = 1_000,
        sequence: int | None = None,
        backward: bool = False,
        inputs: Sequence[tuple[Sequence[int], str]] | None = None,
    ) -> Iterator[None]:
        """An operator around what the block does.

        Args:
            name: For instance ``aten::linear``.
            ns: Its own time, spent before the block.
            sequence: Autograd sequence number that the forward and the backward operator share.
            backward: Whether it belongs to the backward pass of thread 1.
            inputs: Shape and type of each input, when shapes are recorded.
        """
        args: dict[str, object] = {}
        if sequence is not None:
            args["Sequence number"] = sequence
            args["Fwd thread id"] = int(backward)
        if inputs is not None:
            args["Input Dims"] = [list(shape) for shape, _ in inputs]
            args["Input type"] = [dtype for _, dtype in inputs]
        if sequence is not None and sequence > 0:
            self._flows.append(
                Flow(not backward, sequence, self.setup.pid, self._thread.tid, self.now_ns)
            )
        with self._ranged("cpu_op", name, args):
            self.pause(ns)
            yield

    def work(self, name: str, ns: int) -> None:
        """An operator with nothing inside it."""
        with self.op(name, ns=ns):
            pass

    @contextmanager
    def annotation(self, name: str) -> Iterator[None]:
        """A ``record_function`` range around what the block does."""
        with self._ranged("user_annotation", name, {}):
            yield

    @contextmanager
    def step(self, number: int) -> Iterator[None]:
        """A training step, marked as the profiler's schedule marks it."""
        with self.annotation(f"ProfilerStep#{number}"):
            self.pause(1_000)
            yield

    def loader_wait(self, ns: int, *, workers: bool = True) -> None:
        """Wait for the next batch, which worker processes or this one makes."""
        kind = "MultiProcessing" if workers else "SingleProcess"
        with self.annotation(f"enumerate(DataLoader)#_{kind}DataLoaderIter.__next__"):
            self.pause(ns)

    @contextmanager
    def optimizer(self, name: str = "SGD") -> Iterator[None]:
        """An optimizer's step around what the block does."""
        with self.annotation(f"Optimizer.step#{name}.step"):
            self.pause(1_000)
            yield

    @contextmanager
    def frame(self, name: str) -> Iterator[None]:
        """A Python frame, as ``with_stack`` records it, for instance ``train.py(12): main``."""
        self._frames += 1
        number, around = self._frames, self._thread.open_frames
        parent = around[-1] if around else None
        args: dict[str, object] = {"Python id": number, "Python parent id": parent}
        around.append(number)
        slot, start = self._open()
        yield
        around.pop()
        self._close(slot, "python_function", name, start, args)

    def allocate(self, count: int, *, device: int | None = None) -> None:
        """An event of the allocator: bytes taken, or given back when negative.

        What is given back is the newest block of that size, or a block of nobody where there is none.

        Args:
            count: Bytes.
            device: Device number; ``None`` for memory of the host.
        """
        key = -1 if device is None else device
        self._allocated[key] = self._allocated.get(key, 0) + count
        on_amd = device is not None and self.setup.gpus[device].vendor == "amd"
        total = self._allocated[key]
        args = {
            "Total Reserved": 0 if device is None else -(-total // 2_097_152) * 2_097_152,
            "Total Allocated": total,
            "Bytes": count,
            "Addr": self._address(key, count),
            "Device Id": key,
            "Device Type": CPU_TYPE if device is None else HIP_TYPE if on_amd else CUDA_TYPE,
        }
        self._memory.append(MemoryEvent(self.setup.pid, self._thread.tid, self.now_ns, args))
        self.pause(100)

    def _address(self, key: int, count: int) -> int:
        """Where a new block lies, or the one that is given back."""
        if count < 0:
            held = self._blocks.get((key, -count), [])
            return held.pop() if held else 139_500_000_000_000
        self._addresses += 1
        address = 139_600_000_000_000 + 512 * self._addresses
        self._blocks.setdefault((key, count), []).append(address)
        return address

    def add(self, span: Span) -> None:
        """Add a span exactly as given; no clock moves."""
        self._spans.append(span)

    def recording(self) -> Recording:
        """What was recorded so far.

        Raises:
            ValueError: A range is still open.
        """
        spans = [span for span in self._spans if span is not None]
        if len(spans) != len(self._spans):
            raise ValueError("a range is still open: take the recording outside all with-blocks")
        times = [span.end_ns for span in spans] + [
            thread.now_ns for thread in self._threads.values()
        ]
        return Recording(
            header=self._header(),
            pid=self.setup.pid,
            threads={
                thread.tid: f"thread {thread.tid} ({thread.name})"
                for thread in self._threads.values()
            },
            devices=len(self.setup.gpus),
            start_ns=self.setup.start_ns,
            end_ns=max(times) + 10_000,
            spans=tuple(spans),
            memory=tuple(self._memory),
            flows=tuple(self._flows),
        )

    def _header(self) -> dict[str, object]:
        setup = self.setup
        header: dict[str, object] = {
            "deviceProperties": [gpu.properties(number) for number, gpu in enumerate(setup.gpus)]
        }
        if setup.rank is not None:
            ranks = list(range(setup.world_size))
            header["distributedInfo"] = {
                "backend": "nccl" if setup.gpus else "gloo",
                "rank": setup.rank,
                "world_size": setup.world_size,
                "pg_count": 1,
                "pg_config": [
                    {
                        "pg_name": "0",
                        "pg_desc": "default_pg",
                        "pg_size": setup.world_size,
                        "ranks": ranks,
                    }
                ],
            }
        header.update(dict.fromkeys(setup.flags, 1))
        header["trace_id"] = f"{setup.start_ns + (setup.rank or 0):032X}"
        header["host_name"] = setup.host_name
        return header

    @contextmanager
    def _ranged(self, category: Category, name: str, args: dict[str, object]) -> Iterator[None]:
        self._ids += 1
        number = self._ids
        self._thread.open_ids.append(number)
        slot, start = self._open()
        yield
        self._thread.open_ids.pop()
        self._close(
            slot, category, name, start, {"External id": number, "Record function id": 0, **args}
        )

    def _open(self) -> tuple[int, int]:
        """Keep a place among the spans, so that a parent always comes before its children."""
        self._spans.append(None)
        return len(self._spans) - 1, self.now_ns

    def _close(
        self, slot: int, category: Category, name: str, start_ns: int, args: dict[str, object]
    ) -> None:
        self._spans[slot] = Span(
            category, name, self.setup.pid, self._thread.tid, start_ns, self.now_ns, args
        )

    def _current_id(self) -> int | None:
        """Id of the innermost open operator or annotation of this thread."""
        return self._thread.open_ids[-1] if self._thread.open_ids else None
