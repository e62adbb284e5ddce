"""What is known about a computing centre: partitions, what they charge, and where scratch lies."""

from __future__ import annotations

from msgspec import Struct


class Partition(Struct, frozen=True, kw_only=True):
    """A partition with GPUs.

    Attributes:
        name: As Slurm spells it.
        device: Name of the device, as the price tables spell it.
        gpus_per_node: Devices in a node.
        cores_per_gpu: Cores that belong to one device's share.
        memory_gib_per_gpu: Memory that belongs to one device's share.
        units_per_gpu_hour: What an hour of one device's share is charged.
    """

    name: str
    device: str
    gpus_per_node: int
    cores_per_gpu: int
    memory_gib_per_gpu: float
    units_per_gpu_hour: float


class CorePartition(Struct, frozen=True, kw_only=True):
    """A partition without GPUs.

    Attributes:
        name: As Slurm spells it.
        units_per_core_hour: What an hour of one core is charged.
    """

    name: str
    units_per_core_hour: float


class Scratch(Struct, frozen=True, kw_only=True):
    """A folder for data that a job reads again and again.

    Attributes:
        path: May hold environment variables such as ``$TMPDIR``.
        kind: ``local``, ``shared`` or ``memory``.
        note: One sentence.
    """

    path: str
    kind: str
    note: str


class Site(Struct, frozen=True, kw_only=True):
    """A computing centre.

    Attributes:
        name: As people say it.
        organisation: Who runs it.
        country: Two letters, key of the grid and electricity tables.
        cluster_names: What Slurm calls it (``SLURM_CLUSTER_NAME``).
        unit: What it charges in.
        charging: The rule of charging, in words.
        date: When this was read, ISO 8601.
        source: Where.
        partitions: Partitions with GPUs.
        core_partitions: Partitions without, the usual one first.
        scratch: Folders for data, best first.
        origin: Where this description comes from: ``built-in`` or a path.
    """

    name: str
    organisation: str
    country: str
    cluster_names: tuple[str, ...]
    unit: str
    charging: str
    date: str
    source: str
    partitions: tuple[Partition, ...]
    core_partitions: tuple[CorePartition, ...] = ()
    scratch: tuple[Scratch, ...] = ()
    origin: str = "built-in"

    def partition(self, name: str) -> Partition | None:
        """The partition of that name, ``None`` when the site has none."""
        return next((part for part in self.partitions if part.name == name), None)

    def core_partition(self, name: str | None) -> CorePartition | None:
        """The partition without GPUs of that name, the usual one for ``None``; ``None`` when there is none."""
        fitting = (part for part in self.core_partitions if name in {None, part.name})
        return next(fitting, None)
