"""What was seen on a machine before a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystem:
    """A file system under a path.

    Attributes:
        path: The path that was asked for.
        mount: Where the file system is mounted.
        type: Its type as the kernel names it.
        kind: ``local``, ``network``, ``memory`` or ``unknown``.
        is_parallel: Whether it is one of those that are slow for many small files.
        free_bytes, total_bytes: Room in it.
    """

    path: str
    mount: str
    type: str
    kind: str
    is_parallel: bool
    free_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFolder:
    """Files under a data folder, by a look at some of them.

    Attributes:
        system: The file system.
        files: Files looked at.
        all_seen: Whether those are all.
        mean_bytes: Their mean size; ``None`` without any file.
    """

    system: FileSystem
    files: int
    all_seen: bool
    mean_bytes: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchFolder:
    """A folder that a job may write to, with a short measured speed.

    Attributes:
        system: The file system.
        note: What is known about the folder; ``""`` for nothing.
        write_bytes_per_s: Writing one file, flushed to the disk; ``None`` when not tried.
        files_per_s: Making, reading and removing small files; ``None`` when not tried.
        reason: Why nothing was measured; ``""`` when it was.
    """

    system: FileSystem
    note: str
    write_bytes_per_s: float | None
    files_per_s: float | None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchDevice:
    """A device as torch sees it.

    Attributes:
        name: Its name.
        memory_bytes: Its memory.
        capability: For instance ``9.0``; ``""`` for other vendors than NVIDIA.
    """

    name: str
    memory_bytes: int
    capability: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchFacts:
    """What torch says of itself and the machine.

    Attributes:
        python: The interpreter that was asked.
        version: Version of torch; ``None`` when it cannot be imported.
        error: Why not, or what it complained about when it looked for devices; ``""`` for nothing.
        cuda: Version of CUDA that it was built for; ``None`` for a build without.
        hip: Version of ROCm that it was built for; ``None`` for a build without.
        available: Whether it can use a device of CUDA or ROCm.
        other: Another kind of accelerator that it can use, such as ``mps``; ``""`` for none.
        devices: Devices that it sees.
        architectures: Those that its kernels were built for, for instance ``sm_90``.
        threads: Threads of one operator on the CPU.
        profiler_sees_device: Whether a tiny profile held a kernel; ``None`` when it was not tried.
    """

    python: str
    version: str | None
    error: str = ""
    cuda: str | None = None
    hip: str | None = None
    available: bool = False
    other: str = ""
    devices: tuple[TorchDevice, ...] = ()
    architectures: tuple[str, ...] = ()
    threads: int | None = None
    profiler_sees_device: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverDevice:
    """A device as its driver lists it, whether or not torch can use it.

    Attributes:
        uuid: Its own name.
        name: What the driver calls it.
        memory_bytes: Its memory; ``None`` where it does not tell.
    """

    uuid: str
    name: str
    memory_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderCall:
    """A ``DataLoader(...)`` in a script.

    Attributes:
        line: Where it stands.
        workers: Its ``num_workers`` when written as a number, 0 when left out; ``None`` when computed.
        pins: Whether ``pin_memory`` is given.
    """

    line: int
    workers: int | None
    pins: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptFacts:
    """What can be read from a training script without running it.

    Attributes:
        path: The script.
        loaders: Its DataLoaders.
        framework: A framework that moves the model and steps by itself, such as ``lightning``; ``""`` for none.
        moves_to_device: Whether anything in it could move a model to a device.
        lowers_precision: Whether it mentions autocast, bfloat16, half or TF32.
        error: Why it could not be read; ``""`` when it could.
    """

    path: str
    loaders: tuple[LoaderCall, ...] = ()
    framework: str = ""
    moves_to_device: bool = False
    lowers_precision: bool = False
    error: str = ""
