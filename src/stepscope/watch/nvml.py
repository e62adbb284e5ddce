"""NVIDIA's management library behind a small door: opened once, every fault turned into words.

A test puts a replayed library in its place: any object with the functions and constants of ``pynvml``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from stepscope.schema.machine import DriverDevice


class NvmlUnavailableError(Exception):
    """There is no NVIDIA driver to ask, with the reason as one sentence; it never leaves this package."""


def load_library() -> Any:  # noqa: ANN401  a C library behind a module without types
    """The module, initialised.

    Raises:
        NvmlUnavailableError: There is no driver, or it refuses.
    """
    try:
        library = import_module("pynvml")
    except ImportError as error:
        why = "the package nvidia-ml-py, which asks the NVIDIA driver, is not installed"
        raise NvmlUnavailableError(why) from error
    open_library(library)
    return library


def open_library(library: Any) -> None:  # noqa: ANN401
    """Initialises the library.

    Raises:
        NvmlUnavailableError: There is no driver, or it refuses.
    """
    try:
        library.nvmlInit()
    except library.NVMLError as error:
        raise NvmlUnavailableError(reason(library, error)) from error


def reason(library: Any, error: Any) -> str:  # noqa: ANN401
    """Why the library cannot be used, in words."""
    code = getattr(error, "value", None)
    if code == library.NVML_ERROR_LIBRARY_NOT_FOUND:
        return "no NVIDIA driver is installed here (libnvidia-ml.so.1 was not found)"
    if code == library.NVML_ERROR_DRIVER_NOT_LOADED:
        return "the NVIDIA driver is installed but not loaded"
    if code == library.NVML_ERROR_NO_PERMISSION:
        return "the NVIDIA driver refuses to answer this user"
    return f"the NVIDIA driver answers: {error}"


def text(value: str | bytes) -> str:
    """A name: older versions of the binding give bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def list_devices(library: Any = None) -> tuple[tuple[DriverDevice, ...], str]:  # noqa: ANN401
    """Devices that the driver lists, and why there is none: ``""`` when there are."""
    try:
        if library is None:
            library = load_library()
        else:
            open_library(library)
    except NvmlUnavailableError as error:
        return (), str(error)
    try:
        found = [
            describe(library, library.nvmlDeviceGetHandleByIndex(number))
            for number in range(library.nvmlDeviceGetCount())
        ]
    except library.NVMLError as error:
        return (), reason(library, error)
    finally:
        library.nvmlShutdown()
    return tuple(found), "" if found else "the NVIDIA driver lists no device"


def describe(library: Any, handle: Any) -> DriverDevice:  # noqa: ANN401
    """A device's name, UUID and memory."""
    try:
        memory = int(library.nvmlDeviceGetMemoryInfo(handle).total)
    except library.NVMLError:
        # A device that is in MIG mode, or shares its memory with the host, does not tell.
        memory = None
    return DriverDevice(
        uuid=text(library.nvmlDeviceGetUUID(handle)),
        name=text(library.nvmlDeviceGetName(handle)),
        memory_bytes=memory,
    )
