"""The sampler of AMD devices, through amdsmi where it is installed."""

from __future__ import annotations

import contextlib
import io
from importlib import import_module
from typing import TYPE_CHECKING, Any

from stepscope.schema.samples import DeviceSample, DeviceStart, Notice

if TYPE_CHECKING:
    from stepscope.schema.sampler import Moment
    from stepscope.schema.samples import Sample

MIB = 1 << 20


def load_amdsmi() -> Any | None:  # noqa: ANN401  a C library behind a module without types
    """The module, initialised; ``None`` where it is not installed or does not fit the driver.

    Importing it without the driver's library prints to standard output and raises KeyError,
    AttributeError or OSError by version, so what it prints is swallowed and these are caught.
    """
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            library = import_module("amdsmi")
        except (ImportError, KeyError, AttributeError, OSError):
            return None
        try:
            library.amdsmi_init()
        except library.AmdSmiException:
            return None
    return library


class AmdSampler:
    """Samples AMD devices; each die of a card is a device, and one that shows no draw has none of its own.

    Args:
        visible: Value of ``ROCR_VISIBLE_DEVICES`` or ``HIP_VISIBLE_DEVICES``; ``None`` when unset.
        library: The initialised library, or what stands in for it; the real one without.
    """

    def __init__(self, visible: str | None, library: Any = None) -> None:  # noqa: ANN401
        self._visible, self._library = visible, library
        self._devices: list[tuple[str, Any]] = []

    def open(self) -> tuple[Sample, ...]:
        """Finds the devices; silent where there is no AMD driver, which is most machines."""
        if self._library is None:
            self._library = load_amdsmi()
        library = self._library
        if library is None:
            return ()
        try:
            handles = library.amdsmi_get_processor_handles()
            named = [
                (str(library.amdsmi_get_gpu_device_uuid(handle)), handle) for handle in handles
            ]
        except library.AmdSmiException as error:
            return (Notice(code="no-amdsmi", text=f"no AMD device is watched: {error}"),)
        self._devices = self._shown(named)
        return tuple(self._describe(uuid, handle) for uuid, handle in self._devices)

    def sample(self, moment: Moment) -> tuple[Sample, ...]:
        """A row for each device."""
        return tuple(self._sample(uuid, handle, moment) for uuid, handle in self._devices)

    def close(self) -> None:
        """Closes the driver."""
        if self._library is not None:
            with contextlib.suppress(self._library.AmdSmiException):
                self._library.amdsmi_shut_down()

    def _shown(self, named: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        if self._visible is None:
            return named
        tokens = [word.strip() for word in self._visible.split(",") if word.strip()]
        chosen = []
        for token in tokens:
            if token.isdigit() and int(token) < len(named):
                chosen.append(named[int(token)])
            chosen += [(uuid, handle) for uuid, handle in named if uuid == token]
        return chosen

    def _describe(self, uuid: str, handle: Any) -> DeviceStart:  # noqa: ANN401
        name = self._ask("amdsmi_get_gpu_asic_info", handle)
        memory = self._ask("amdsmi_get_gpu_vram_usage", handle)
        cap = self._ask("amdsmi_get_power_cap_info", handle)
        watts = None if cap is None else number(cap.get("power_cap"))
        return DeviceStart(
            uuid=uuid,
            name=str((name or {}).get("market_name", "AMD device")),
            memory_bytes=None if memory is None else int(memory["vram_total"]) * MIB,
            # Some versions tell microwatts.
            watts_limit=watts / 1e6 if watts is not None and watts > 1e5 else watts,
        )

    def _sample(self, uuid: str, handle: Any, moment: Moment) -> DeviceSample:  # noqa: ANN401
        activity = self._ask("amdsmi_get_gpu_activity", handle) or {}
        memory = self._ask("amdsmi_get_gpu_vram_usage", handle)
        power = self._ask("amdsmi_get_power_info", handle) or {}
        energy = self._ask("amdsmi_get_energy_count", handle)
        processes = self._ask("amdsmi_get_gpu_process_list", handle)
        busy = number(activity.get("gfx_activity"))
        watts = number(power.get("current_socket_power")) or number(
            power.get("average_socket_power")
        )
        listed = None if processes is None else {pid_of(process) for process in processes}
        ours = None if listed is None else len(listed & moment.pids)
        return DeviceSample(
            at_s=moment.at_s,
            uuid=uuid,
            busy_frac=None if busy is None else busy / 100,
            memory_bytes=None if memory is None else int(memory["vram_used"]) * MIB,
            watts=watts or None,
            energy_mj=None if energy is None else counted(energy),
            job_processes=None if ours is None or (listed and not ours) else ours,
        )

    def _ask(self, name: str, handle: Any) -> Any:  # noqa: ANN401
        """The library's answer; ``None`` where it refuses."""
        library = self._library
        try:
            return getattr(library, name)(handle)
        except library.AmdSmiException:
            return None


def number(value: object) -> float | None:
    """A number; the library gives the text ``N/A`` for what it does not know."""
    return float(value) if isinstance(value, (int, float)) else None


def pid_of(process: Any) -> int:  # noqa: ANN401
    """Process number from a row of the library, which has been a dictionary and a handle."""
    return int(process["pid"]) if isinstance(process, dict) else int(getattr(process, "pid", 0))


def counted(energy: dict[str, Any]) -> int | None:
    """Millijoules from the accumulator (older versions call it ``power``) and its resolution in microjoules."""
    count = number(energy.get("energy_accumulator", energy.get("power")))
    resolution = number(energy.get("counter_resolution"))
    return None if count is None or not resolution else int(count * resolution / 1000)
