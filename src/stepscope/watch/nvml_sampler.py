"""The sampler of NVIDIA devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.schema.samples import Notice
from stepscope.watch.nvml import NvmlUnavailableError, load_library, open_library, reason, text
from stepscope.watch.nvml_device import NvmlDevice
from stepscope.watch.nvml_links import EVERY_S
from stepscope.watch.visible import wanted

if TYPE_CHECKING:
    from stepscope.schema.sampler import Moment
    from stepscope.schema.samples import Sample


class NvmlSampler:
    """Samples the job's NVIDIA devices, slices included.

    Args:
        visible: Value of ``CUDA_VISIBLE_DEVICES`` of the watched process; ``None`` when unset.
        library: The library, or what stands in for it; the real one without.
    """

    def __init__(self, visible: str | None, library: Any = None) -> None:  # noqa: ANN401
        self._visible, self._library = visible, library
        self._devices: list[NvmlDevice] = []
        self._is_open = False

    def open(self) -> tuple[Sample, ...]:
        """Opens the driver and finds the job's devices."""
        try:
            if self._library is None:
                self._library = load_library()
            else:
                open_library(self._library)
        except NvmlUnavailableError as error:
            return (Notice(code="no-nvml", text=f"no NVIDIA device is watched: {error}"),)
        self._is_open = True
        library = self._library
        try:
            self._devices = self._find()
            rows: list[Sample] = [device.describe() for device in self._devices]
        except library.NVMLError as error:
            self._devices = []
            why = f"no NVIDIA device is watched: {reason(library, error)}"
            return (Notice(code="no-nvml", text=why),)
        if not rows:
            shown = (
                "the driver lists none"
                if self._visible is None
                else f"{self._visible!r} shows none"
            )
            rows.append(Notice(code="no-device", text=f"no NVIDIA device is watched: {shown}"))
        if any(device.is_slice for device in self._devices):
            rows.append(
                Notice(
                    code="mig",
                    text="MIG slices have no meter of their own: their energy is the device's by share of slices",
                )
            )
        return tuple(rows)

    def sample(self, moment: Moment) -> tuple[Sample, ...]:
        """A row for each device; a lost one gives one last row that says so."""
        return tuple(
            device.sample(moment.at_s, moment.pids)
            for device in self._devices
            if not device.is_lost
        )

    def close(self) -> None:
        """Closes the driver."""
        for device in self._devices:
            device.close()
        if self._is_open:
            self._library.nvmlShutdown()

    def _find(self) -> list[NvmlDevice]:
        """The job's devices; a device in MIG mode stands for its slices."""
        library = self._library
        handles = []
        for number in range(library.nvmlDeviceGetCount()):
            try:
                handles.append(library.nvmlDeviceGetHandleByIndex(number))
            except library.NVMLError:
                # Under a scheduler that hides devices the driver still counts them.
                continue
        by_uuid = {text(library.nvmlDeviceGetUUID(handle)): handle for handle in handles}
        found: list[NvmlDevice] = []
        for uuid in wanted(self._visible, tuple(by_uuid)):
            if uuid in by_uuid:
                found += self._whole_or_slices(by_uuid[uuid], len(found))
                continue
            handle = library.nvmlDeviceGetHandleByUUID(uuid)
            parent = library.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle)
            found.append(NvmlDevice(library, handle, parent))
        return found

    def _whole_or_slices(self, handle: Any, place: int) -> list[NvmlDevice]:  # noqa: ANN401
        library = self._library
        try:
            current, _ = library.nvmlDeviceGetMigMode(handle)
        except library.NVMLError:
            current = library.NVML_DEVICE_MIG_DISABLE
        if current != library.NVML_DEVICE_MIG_ENABLE:
            return [NvmlDevice(library, handle, handle, first_s=place % 8 * EVERY_S / 8)]
        slices = []
        for number in range(library.nvmlDeviceGetMaxMigDeviceCount(handle)):
            try:
                piece = library.nvmlDeviceGetMigDeviceHandleByIndex(handle, number)
            except library.NVMLError:
                # Places for slices that were not made.
                continue
            slices.append(NvmlDevice(library, piece, handle))
        return slices
