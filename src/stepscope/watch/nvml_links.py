"""Traffic of links of NVIDIA devices before Hopper, which have no GPM: by other calls of the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

KIB = 1024
EVERY_S = 2.0
"""PCIe is asked for so seldom, because the driver looks for 20 ms each time before it answers."""
ALL_LINKS = 0xFFFFFFFF


class LinkReader:
    """Reads the links of one device.

    Args:
        library: The initialised library.
        handle: Its handle of the device.
        first_s: When PCIe is asked for first, so that several devices are not asked at once.
    """

    def __init__(self, library: Any, handle: Any, first_s: float = 0.0) -> None:  # noqa: ANN401
        self._library, self._handle = library, handle
        self._due_s = first_s
        self._has_nvlink = True
        self._last: tuple[float, int] | None = None

    def pcie(self, at_s: float, ask: Callable[..., Any]) -> tuple[float | None, float | None]:
        """Bytes a second sent and received within the last 20 ms; ``None`` when it is not time, or not told.

        Args:
            at_s: Seconds after the start.
            ask: Asks the library, with ``None`` for what it refuses.
        """
        if at_s < self._due_s:
            return None, None
        self._due_s = at_s + EVERY_S
        sent, received = (
            ask("nvmlDeviceGetPcieThroughput", self._handle, direction)
            for direction in (
                self._library.NVML_PCIE_UTIL_TX_BYTES,
                self._library.NVML_PCIE_UTIL_RX_BYTES,
            )
        )
        return (
            None if sent is None else float(sent * KIB),
            None if received is None else float(received * KIB),
        )

    def nvlink(self, at_s: float, ask: Callable[..., Any]) -> float | None:
        """Bytes a second in both directions over all links since the last reading; the first one has none."""
        if not self._has_nvlink:
            return None
        library = self._library
        fields = [
            (library.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, ALL_LINKS),
            (library.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, ALL_LINKS),
        ]
        told = ask("nvmlDeviceGetFieldValues", self._handle, fields)
        if told is None or any(field.nvmlReturn != library.NVML_SUCCESS for field in told):
            self._has_nvlink = False
            return None
        count = sum(int(field.value.ullVal) for field in told)
        before, self._last = self._last, (at_s, count)
        # A counter that fell has started anew.
        if before is None or at_s <= before[0] or count < before[1]:
            return None
        return (count - before[1]) * KIB / (at_s - before[0])
