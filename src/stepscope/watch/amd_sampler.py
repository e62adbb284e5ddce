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
        visible: Values of ``ROCR_VISIBLE_DEVICES`` and of ``HIP_VISIBLE_DEVICES``, which counts among what the first
            one leaves; ``None`` where unset.
        library: The initialised library, or what stands in for it; the real one without.
    """

    def __init__(
        self,
        visible: tuple[str | None, ...],
        library: Any = None,  # noqa: ANN401
    ) -> None:
        self._visible, self._library = visible, library
        self._devices: list[tuple[str, Any]] = []
        self._answered: set[str] = set()
        self._lost: set[str] = set()

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
        for tokens in self._visible:
            named = shown(tokens, named)
        self._devices = named
        return tuple(self._describe(uuid, handle) for uuid, handle in self._devices)

    def sample(self, moment: Moment) -> tuple[Sample, ...]:
        """A row for each device; a lost one gives one last row that says so."""
        return tuple(
            self._sample(uuid, handle, moment)
            for uuid, handle in self._devices
            if uuid not in self._lost
        )

    def close(self) -> None:
        """Closes the driver."""
        if self._library is not None:
            with contextlib.suppress(self._library.AmdSmiException):
                self._library.amdsmi_shut_down()

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
        clock = self._ask("amdsmi_get_clock_info", handle, self._graphics_clock()) or {}
        links = (self._ask("amdsmi_get_pcie_info", handle) or {}).get("pcie_metric") or {}
        if memory is None and energy is None and not activity and not power and not clock:
            return self._silent(uuid, moment.at_s)
        self._answered.add(uuid)
        busy = number(activity.get("gfx_activity"))
        speed = number(clock.get("clk", clock.get("cur_clk")))
        megabits = number(links.get("pcie_bandwidth"))
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
            clock_mhz=None if not speed else int(speed),
            # Both directions together; it is not told which half went where.
            pcie_sent_bytes_per_s=None if megabits is None else megabits * 1e6 / 8,
            pcie_received_bytes_per_s=None if megabits is None else 0.0,
        )

    def _silent(self, uuid: str, at_s: float) -> DeviceSample:
        """The row of a device that answers nothing: it is lost when it has answered before."""
        is_lost = uuid in self._answered
        if is_lost:
            self._lost.add(uuid)
        return DeviceSample(at_s=at_s, uuid=uuid, lost=is_lost)

    def _graphics_clock(self) -> Any:  # noqa: ANN401
        """The library's name of the clock of the compute units; ``None`` in versions that lack it."""
        return getattr(getattr(self._library, "AmdSmiClkType", None), "GFX", None)

    def _ask(self, name: str, *arguments: Any) -> Any:  # noqa: ANN401
        """The library's answer; ``None`` where it refuses, or is of a version that lacks the call."""
        library = self._library
        function = getattr(library, name, None)
        if function is None:
            return None
        try:
            return function(*arguments)
        except library.AmdSmiException:
            return None


def shown(tokens: str | None, named: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Devices that a variable leaves, in its order.

    Args:
        tokens: Its value; ``None`` when it is unset.
        named: UUIDs and handles that are there.
    """
    if tokens is None:
        return named
    chosen: list[tuple[str, Any]] = []
    for token in (word.strip() for word in tokens.split(",")):
        if token.isdigit() and int(token) < len(named):
            chosen.append(named[int(token)])
        chosen += [(uuid, handle) for uuid, handle in named if uuid == token]
    return chosen


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
