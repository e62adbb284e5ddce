"""One NVIDIA device, or a MIG slice of one, and what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from stepscope.schema.samples import DeviceSample, DeviceStart
from stepscope.watch.nvml import text
from stepscope.watch.nvml_links import LinkReader

if TYPE_CHECKING:
    from collections.abc import Callable

MIG_SLICES = 7
"""Compute slices of a device that can be divided; a MIG slice's share is counted in them."""
MIB = 1 << 20


class Activity(Struct, frozen=True):
    """What the multiprocessors did since the last reading; ``None`` where the device does not tell."""

    working_frac: float | None = None
    tensor_frac: float | None = None
    pcie_sent_bytes_per_s: float | None = None
    pcie_received_bytes_per_s: float | None = None
    nvlink_bytes_per_s: float | None = None


class NvmlDevice:
    """A device that is sampled. What it once refuses as unsupported is not asked again.

    Args:
        library: The initialised library.
        handle: The library's handle of the device or the slice.
        parent: Handle of the whole device for a slice, else the same handle.
        first_s: When its links are asked for first, where that is dear.
    """

    def __init__(
        self,
        library: Any,  # noqa: ANN401
        handle: Any,  # noqa: ANN401
        parent: Any,  # noqa: ANN401
        first_s: float = 0.0,
    ) -> None:
        self._library, self._handle, self._parent = library, handle, parent
        self._refused: set[str] = set()
        self._activity: ActivityReader | None = None
        self._links: LinkReader | None = None
        self._first_s = first_s
        self.is_slice = handle is not parent
        self.is_lost = False
        self.uuid = text(library.nvmlDeviceGetUUID(handle))

    def describe(self) -> DeviceStart:
        """Name, memory, limit and share."""
        library = self._library
        memory = self._ask("nvmlDeviceGetMemoryInfo", self._handle)
        limit = self._ask("nvmlDeviceGetEnforcedPowerLimit", self._parent)
        share = 1.0
        if self.is_slice:
            attributes = self._ask("nvmlDeviceGetAttributes_v2", self._handle)
            slices = None if attributes is None else attributes.gpuInstanceSliceCount
            share = slices / MIG_SLICES if slices else 1.0 / MIG_SLICES
        self._activity = ActivityReader.of(library, self._handle, self._parent, self.is_slice)
        if self._activity is None and not self.is_slice:
            self._links = LinkReader(library, self._handle, self._first_s)
        return DeviceStart(
            uuid=self.uuid,
            name=text(library.nvmlDeviceGetName(self._handle)),
            memory_bytes=None if memory is None else int(memory.total),
            watts_limit=None if not limit else limit / 1000,
            slice_frac=share,
            parent=text(library.nvmlDeviceGetUUID(self._parent)) if self.is_slice else None,
        )

    def sample(self, at_s: float, pids: frozenset[int]) -> DeviceSample:
        """What the device answers now. Once it is lost it answers nothing more."""
        if self.is_lost:
            return DeviceSample(at_s=at_s, uuid=self.uuid, lost=True)
        library, handle, parent = self._library, self._handle, self._parent
        rates = self._ask("nvmlDeviceGetUtilizationRates", handle)
        memory = self._ask("nvmlDeviceGetMemoryInfo", handle)
        milliwatts = self._ask("nvmlDeviceGetPowerUsage", parent)
        energy = self._ask("nvmlDeviceGetTotalEnergyConsumption", parent)
        clock = self._ask("nvmlDeviceGetClockInfo", parent, library.NVML_CLOCK_SM)
        events = self._ask("nvmlDeviceGetCurrentClocksEventReasons", parent)
        seen = self._seen(at_s)
        if self.is_lost:
            return DeviceSample(at_s=at_s, uuid=self.uuid, lost=True)
        return DeviceSample(
            at_s=at_s,
            uuid=self.uuid,
            busy_frac=None if rates is None else rates.gpu / 100,
            working_frac=seen.working_frac,
            tensor_frac=seen.tensor_frac,
            memory_bytes=None if memory is None else int(memory.used),
            # A draw of 0 W is a driver that does not know: no device that answers draws nothing.
            watts=milliwatts / 1000 if milliwatts else None,
            energy_mj=energy,
            clock_mhz=clock,
            events=events,
            job_processes=self._job_processes(pids),
            pcie_sent_bytes_per_s=seen.pcie_sent_bytes_per_s,
            pcie_received_bytes_per_s=seen.pcie_received_bytes_per_s,
            nvlink_bytes_per_s=seen.nvlink_bytes_per_s,
        )

    def _seen(self, at_s: float) -> Activity:
        """Activity and traffic since the last reading, as far as the device tells."""
        if self._activity is not None:
            return self._activity.read(self._ask)
        if self._links is None:
            return Activity()
        sent, received = self._links.pcie(at_s, self._ask)
        return Activity(
            pcie_sent_bytes_per_s=sent,
            pcie_received_bytes_per_s=received,
            nvlink_bytes_per_s=self._links.nvlink(at_s, self._ask),
        )

    def close(self) -> None:
        """Gives back what reading the activity took."""
        if self._activity is not None:
            self._activity.close()

    def _job_processes(self, pids: frozenset[int]) -> int | None:
        """How many of the job's processes use the device; ``None`` where that cannot be seen.

        In a container the driver gives the host's process numbers, or none at all: where it lists only
        strangers, nothing is known.
        """
        running = self._ask("nvmlDeviceGetComputeRunningProcesses", self._handle)
        if running is None:
            return None
        listed = {process.pid for process in running}
        ours = len(listed & pids)
        return ours if ours or not listed else None

    def _ask(self, name: str, *arguments: Any) -> Any:  # noqa: ANN401
        """The library's answer; ``None`` where it refuses."""
        if name in self._refused or self.is_lost:
            return None
        library = self._library
        function: Callable[..., Any] = getattr(library, name)
        try:
            return function(*arguments)
        except library.NVMLError as error:
            if error.value == library.NVML_ERROR_GPU_IS_LOST:
                self.is_lost = True
            elif error.value in {
                library.NVML_ERROR_NOT_SUPPORTED,
                library.NVML_ERROR_NO_PERMISSION,
                library.NVML_ERROR_FUNCTION_NOT_FOUND,
            }:
                self._refused.add(name)
            return None


class ActivityReader:
    """Activity of multiprocessors and links from Hopper on (GPM), which needs no rights and no lock.

    Each reading compares the counters now with those of the last one, so that nothing is missed between.
    """

    def __init__(self, library: Any, parent: Any, instance: int | None) -> None:  # noqa: ANN401
        self._library, self._parent, self._instance = library, parent, instance
        self._samples = [library.nvmlGpmSampleAlloc(), library.nvmlGpmSampleAlloc()]
        self._filled = False

    @staticmethod
    def of(library: Any, handle: Any, parent: Any, is_slice: bool) -> ActivityReader | None:  # noqa: ANN401
        """A reader, ``None`` for a device that has no such counters."""
        try:
            if not library.nvmlGpmQueryDeviceSupport(parent).isSupportedDevice:
                return None
            instance = library.nvmlDeviceGetGpuInstanceId(handle) if is_slice else None
            return ActivityReader(library, parent, instance)
        except library.NVMLError:
            return None

    def read(self, ask: Callable[..., Any]) -> Activity:
        """Activity since the last reading; the first one has none."""
        old, new = self._samples
        if self._instance is None:
            taken = ask("nvmlGpmSampleGet", self._parent, new)
        else:
            taken = ask("nvmlGpmMigSampleGet", self._parent, self._instance, new)
        if taken is None:
            return Activity()
        self._samples = [new, old]
        if not self._filled:
            self._filled = True
            return Activity()
        library = self._library
        wanted = (
            library.NVML_GPM_METRIC_SM_UTIL,
            library.NVML_GPM_METRIC_ANY_TENSOR_UTIL,
            library.NVML_GPM_METRIC_PCIE_TX_PER_SEC,
            library.NVML_GPM_METRIC_PCIE_RX_PER_SEC,
            library.NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC,
            library.NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC,
        )
        question = library.c_nvmlGpmMetricsGet_t()
        question.version = library.NVML_GPM_METRICS_GET_VERSION
        question.numMetrics = len(wanted)
        question.sample1, question.sample2 = old, new
        for place, metric in enumerate(wanted):
            question.metrics[place].metricId = metric
        if ask("nvmlGpmMetricsGet", question) is None:
            return Activity()
        values = [
            question.metrics[place].value if question.metrics[place].nvmlReturn == 0 else None
            for place in range(len(wanted))
        ]
        working, tensor, sent, received, link_sent, link_received = values
        return Activity(
            working_frac=None if working is None else working / 100,
            tensor_frac=None if tensor is None else tensor / 100,
            pcie_sent_bytes_per_s=None if sent is None else sent * MIB,
            pcie_received_bytes_per_s=None if received is None else received * MIB,
            nvlink_bytes_per_s=(
                None
                if link_sent is None or link_received is None
                else (link_sent + link_received) * MIB
            ),
        )

    def close(self) -> None:
        """Frees the library's samples."""
        for sample in self._samples:
            self._library.nvmlGpmSampleFree(sample)
