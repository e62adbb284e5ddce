"""TraceBuilder: a trace as a short program that says what host and device did."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from stepscope.testing import truth, writer
from stepscope.testing.form import Form
from stepscope.testing.host import HostBuilder, Setup
from stepscope.testing.models import A100
from stepscope.testing.records import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stepscope.testing.models import DeviceModel
    from stepscope.testing.records import Category
    from stepscope.testing.truth import Truth

Direction = Literal["HtoD", "DtoH", "DtoD", "PtoP"]
DEFAULT_STREAM = 7
COMMUNICATION_STREAM = 20
GAP_NS = 1_000
RETURN_NS = 2_000
COLLECTIVE_NAMES = {
    "allreduce": ("all_reduce", "AllReduce_Sum"),
    "allgather": ("all_gather", "AllGather"),
    "reduce_scatter": ("reduce_scatter", "ReduceScatter_Sum"),
    "broadcast": ("broadcast", "Broadcast"),
    "send": ("send", "SendRecv"),
    "recv": ("recv", "SendRecv"),
}
"""What NCCL's record calls a collective, to what PyTorch's annotation and NCCL's kernel call it."""
COPY_NAMES = {
    "HtoD": "Memcpy HtoD ({host} -> Device)",
    "DtoH": "Memcpy DtoH (Device -> {host})",
    "DtoD": "Memcpy DtoD (Device -> Device)",
    "PtoP": "Memcpy PtoP (Device -> Device)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A process group of a distributed job.

    Attributes:
        name: As PyTorch numbers it.
        ranks: Its members.
        dtype: Element type of what it is used for, in PyTorch's spelling.
    """

    name: str = "0"
    ranks: tuple[int, ...] = (0, 1)
    dtype: str = "Float"


class TraceBuilder(HostBuilder):
    """Builds a trace in memory: host operators, launches, device work, waits, memory, collectives.

    Host methods move the current thread's clock. Device methods record the host's call and queue the work
    on a stream, where it starts when the stream is free. ::

        trace = TraceBuilder()
        for number in range(3):
            with trace.step(number):
                trace.loader_wait(20_000_000)
                with trace.op("aten::linear"):
                    trace.launch("ampere_sgemm_128x64_tn", 4_000_000)
                trace.synchronize()
        trace.write("made.pt.trace.json.gz", Form(container="gzip"))
        assert trace.truth().device[0].name == "ampere_sgemm_128x64_tn"

    Args:
        setup: The process; by default one on a machine with one A100.
    """

    def __init__(self, setup: Setup | None = None) -> None:
        super().__init__(setup or Setup(gpus=(A100,)))
        self._free_ns: dict[int, int] = {}
        self._correlations = 1_000
        self._sequences: dict[str, int] = {}

    def launch(
        self,
        kernel: str,
        ns: int,
        *,
        stream: int = DEFAULT_STREAM,
        grid: Sequence[int] = (432, 1, 1),
        driver: bool = False,
    ) -> int:
        """Launch a kernel of 256 threads a block.

        Args:
            kernel: Its name.
            ns: How long it runs.
            stream: The stream that it is queued on.
            grid: Its blocks.
            driver: Whether the launch goes through the driver's API, as Triton's does.

        Returns:
            The end of the kernel in nanoseconds.
        """
        call = "cuLaunchKernel" if driver else self._api("LaunchKernel")
        correlation, earliest = self._call(call, self.setup.launch_ns, driver=driver)
        return self._queue(
            "kernel", kernel, (earliest, ns), stream, self._kernel_args(correlation, grid, stream)
        )

    def replay_graph(
        self, kernels: Sequence[tuple[str, int]], *, stream: int = DEFAULT_STREAM
    ) -> int:
        """Launch a graph: one call, many kernels (name and nanoseconds) that share its correlation.

        Returns:
            The end of the last kernel in nanoseconds.
        """
        correlation, earliest = self._call(self._api("GraphLaunch"), self.setup.launch_ns)
        end = earliest
        for name, ns in kernels:
            args = self._kernel_args(correlation, (432, 1, 1), stream)
            args.pop("External id", None)
            end = self._queue("kernel", name, (earliest, ns), stream, args)
        return end

    def copy(
        self,
        direction: Direction,
        count: int,
        ns: int,
        *,
        pinned: bool = True,
        stream: int = DEFAULT_STREAM,
    ) -> int:
        """Copy memory; with pageable memory of the host the call waits until it is done.

        Args:
            direction: From where to where.
            count: Bytes.
            ns: How long the copy runs.
            pinned: Whether the host's side is pinned memory.
            stream: The stream that it is queued on.

        Returns:
            The end of the copy in nanoseconds.
        """
        start = self.now_ns
        end = self._copy(direction, count, ns, "Pinned" if pinned else "Pageable", stream)
        if not pinned:
            self._lengthen_call(start, end + RETURN_NS)
        return end

    def set_memory(self, count: int, ns: int, *, stream: int = DEFAULT_STREAM) -> int:
        """Fill memory of the device; returns the end in nanoseconds."""
        correlation, earliest = self._call(self._api("MemsetAsync"), self.setup.launch_ns)
        args = {**self._device_args(correlation, stream), "bytes": count}
        args["memory bandwidth (GB/s)"] = count / ns
        return self._queue("gpu_memset", "Memset (Device)", (earliest, ns), stream, args)

    def synchronize(self, stream: int | None = None) -> None:
        """Wait until a stream, or every stream, is empty."""
        start = self.now_ns
        free = self._free_ns.values() if stream is None else [self._free_ns.get(stream, 0)]
        done = max([*free, start + RETURN_NS])
        name = "DeviceSynchronize" if stream is None else "StreamSynchronize"
        correlation, _ = self._call(self._api(name), done + RETURN_NS - start)
        kind = "Context Sync" if stream is None else "Stream Sync"
        args = {"cuda_sync_kind": kind, "stream": -1 if stream is None else stream}
        args.update({"correlation": correlation, "device": self.setup.device, "context": 1})
        if self.setup.records_device:
            self.add(Span("cuda_sync", kind, self.setup.device, 1, start, done, args))

    def item(self) -> None:
        """Read one value back, as ``loss.item()`` does: a copy of four bytes, and a wait for it."""
        with self.op("aten::item"), self.op("aten::_local_scalar_dense"):
            self._copy("DtoH", 4, 2_000, "Pageable", DEFAULT_STREAM)
            self.synchronize(DEFAULT_STREAM)

    def call(self, name: str, ns: int) -> None:
        """Any other call of the device's runtime, for instance ``cudaMalloc``."""
        self._call(name, ns)

    def collective(
        self,
        name: str,
        elements: int,
        ns: int,
        *,
        group: Group | None = None,
        until_ns: int = 0,
    ) -> int:
        """A collective on the communication stream, which starts when the default stream is done.

        Args:
            name: A key of ``COLLECTIVE_NAMES``.
            elements: Elements sent.
            ns: How long its kernel runs at least.
            group: The process group; all ranks by default.
            until_ns: The kernel does not end before this time: it waits for the last rank.

        Returns:
            The end of the kernel in nanoseconds.
        """
        group = group or Group(ranks=tuple(range(self.setup.world_size)))
        annotation, kernel = COLLECTIVE_NAMES[name]
        record = self._collective_args(name, elements, group)
        with self.op(f"c10d::{name}_"), self._ranged("cpu_op", "record_param_comms", record):
            self.pause(500)
            with self.annotation(f"nccl:{annotation}"):
                correlation, earliest = self._call(
                    self._api("LaunchKernelExC"), self.setup.launch_ns
                )
            start = max(
                earliest,
                self._free_ns.get(DEFAULT_STREAM, 0),
                self._free_ns.get(COMMUNICATION_STREAM, 0),
            )
            args = {**self._kernel_args(correlation, (24, 1, 1), COMMUNICATION_STREAM), **record}
            full = f"ncclDevKernel_{kernel}_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"
            lasting = max(ns, until_ns - start)
            return self._queue("kernel", full, (start, lasting), COMMUNICATION_STREAM, args)

    def wait_for_communication(self) -> None:
        """Let the default stream wait for the communication stream; the host goes on."""
        self._call(self._api("StreamWaitEvent"), 1_000)
        joined = max(
            self._free_ns.get(DEFAULT_STREAM, 0), self._free_ns.get(COMMUNICATION_STREAM, 0)
        )
        self._free_ns[DEFAULT_STREAM] = joined

    @contextmanager
    def backward(self, tid: int = 4100) -> Iterator[None]:
        """The backward pass, in autograd's own thread."""
        with self.thread(tid):
            yield

    def truth(self, form: Form | None = None, *, python: bool = False) -> Truth:
        """The rows that reading this trace must give.

        Args:
            form: The form that it is read from, which loses what its writer lost.
            python: Whether Python frames are among them.
        """
        return truth.tell(self.recording(), form or Form(), python=python)

    def text(self, form: Form | None = None) -> str:
        """The trace as text, whatever the form's container."""
        return writer.to_text(self.recording(), form or Form())

    def to_bytes(self, form: Form | None = None) -> bytes:
        """The trace as the content of a file."""
        return writer.to_bytes(self.recording(), form or Form())

    def write(self, path: str | Path, form: Form | None = None) -> Path:
        """Write the trace to a file; without a form, gzip when the name ends in ``.gz``.

        Returns:
            The path.
        """
        path = Path(path)
        form = form or Form(container="gzip" if path.suffix == ".gz" else "plain")
        path.write_bytes(self.to_bytes(form))
        return path

    @property
    def _gpu(self) -> DeviceModel:
        if not self.setup.gpus:
            raise ValueError("this process has no device: give its Setup a GPU")
        return self.setup.gpus[self.setup.device]

    @property
    def _is_amd(self) -> bool:
        return self._gpu.vendor == "amd"

    def _api(self, name: str) -> str:
        return ("hip" if self._is_amd else "cuda") + name

    def _call(self, name: str, ns: int, *, driver: bool = False) -> tuple[int, int]:
        """A call of the runtime: its correlation, and the earliest start of what it launches."""
        self._correlations += 1
        start = self.now_ns
        self.pause(ns)
        args: dict[str, object] = {
            "cbid": 211,
            "correlation": self._correlations,
            **self._external(),
        }
        category: Category = "cuda_driver" if driver else "cuda_runtime"
        self.add(Span(category, name, self.setup.pid, self._thread.tid, start, self.now_ns, args))
        return self._correlations, start + self.setup.latency_ns

    def _copy(self, direction: Direction, count: int, ns: int, memory: str, stream: int) -> int:
        correlation, earliest = self._call(self._api("MemcpyAsync"), self.setup.launch_ns)
        name = COPY_NAMES[direction].format(host="Host" if self._is_amd else memory)
        args = self._device_args(correlation, stream)
        args.update({"kind": direction} if self._is_amd else {})
        args.update({"bytes": count, "memory bandwidth (GB/s)": count / ns})
        return self._queue("gpu_memcpy", name, (earliest, ns), stream, args)

    def _lengthen_call(self, start_ns: int, end_ns: int) -> None:
        """Let the call that started then return later."""
        for slot in range(len(self._spans) - 1, -1, -1):
            span = self._spans[slot]
            if span is not None and span.category == "cuda_runtime" and span.start_ns == start_ns:
                self._spans[slot] = Span(
                    span.category, span.name, span.pid, span.tid, start_ns, end_ns, span.args
                )
                self.wait_until(end_ns)
                return

    def _queue(
        self,
        category: Category,
        name: str,
        when: tuple[int, int],
        stream: int,
        args: dict[str, object],
    ) -> int:
        """Queue work: ``when`` is its earliest start and its length."""
        start = max(when[0], self._free_ns.get(stream, 0))
        end = start + when[1]
        self._free_ns[stream] = end + GAP_NS
        if self.setup.records_device:
            self.add(Span(category, name, self.setup.device, stream, start, end, args))
        return end

    def _external(self) -> dict[str, object]:
        number = self._current_id()
        return {} if number is None else {"External id": number}

    def _device_args(self, correlation: int, stream: int) -> dict[str, object]:
        where: dict[str, object] = {"device": self.setup.device, "context": 1, "stream": stream}
        return {**self._external(), **where, "correlation": correlation}

    def _kernel_args(self, correlation: int, grid: Sequence[int], stream: int) -> dict[str, object]:
        args = self._device_args(correlation, stream)
        if self._is_amd:
            return {**args, "kind": "Dispatch Kernel", "grid": list(grid), "block": [256, 1, 1]}
        per_sm = grid[0] * grid[1] * grid[2] / self._gpu.multiprocessors
        args.update({"queued": 0, "registers per thread": 64, "shared memory": 0})
        args.update({"blocks per SM": round(per_sm, 6), "warps per SM": round(per_sm * 8, 6)})
        args.update({"grid": list(grid), "block": [256, 1, 1]})
        args["est. achieved occupancy %"] = min(100, round(per_sm * 8 / 64 * 100))
        return args

    def _collective_args(self, name: str, elements: int, group: Group) -> dict[str, object]:
        sequence = self._sequences[group.name] = self._sequences.get(group.name, 0) + 1
        return {
            "Collective name": name,
            "In msg nelems": elements,
            "Out msg nelems": elements,
            "Group size": len(group.ranks),
            "dtype": group.dtype,
            "In split size": "[]",
            "Out split size": "[]",
            "Process Group Name": group.name,
            "Process Group Description": "default_pg",
            "Process Group Ranks": str(list(group.ranks)),
            "Rank": self.setup.rank or 0,
            "Seq": sequence,
        }
