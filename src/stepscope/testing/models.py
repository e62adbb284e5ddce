"""Devices that a made trace may list in its header, with the figures of the real ones."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeviceModel:
    """A GPU as a trace's header describes it.

    Attributes:
        name: As the driver reports it.
        memory_bytes: Its memory.
        multiprocessors: Number of SMs (compute units).
        capability: Major and minor number.
        warp_size: Threads in a warp (wavefront).
        max_threads: Threads that fit on one multiprocessor.
        vendor: Decides how launches and copies are named.
    """

    name: str
    memory_bytes: int
    multiprocessors: int
    capability: tuple[int, int]
    warp_size: int = 32
    max_threads: int = 2048
    vendor: str = "nvidia"

    def properties(self, number: int) -> dict[str, object]:
        """The entry of ``deviceProperties``, as kineto writes it."""
        return {
            "id": number,
            "name": self.name,
            "totalGlobalMem": self.memory_bytes,
            "computeMajor": self.capability[0],
            "computeMinor": self.capability[1],
            "maxThreadsPerBlock": 1024,
            "maxThreadsPerMultiprocessor": self.max_threads,
            "regsPerBlock": 65536,
            "warpSize": self.warp_size,
            "sharedMemPerBlock": 49152 if self.vendor == "nvidia" else 65536,
            "numSms": self.multiprocessors,
        }


A100 = DeviceModel("NVIDIA A100-SXM4-40GB", 42_297_524_224, 108, (8, 0))
H100 = DeviceModel("NVIDIA H100 80GB HBM3", 85_018_279_936, 132, (9, 0))
MI300X = DeviceModel(
    "AMD Instinct MI300X", 206_141_652_992, 304, (9, 4), warp_size=64, vendor="amd"
)
