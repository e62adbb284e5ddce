# ruff: noqa: N802  the names are those of the library
"""NVIDIA's library, replayed: the functions of ``pynvml`` answering from recorded calls.

Constants and errors are the real binding's. What a call answers stands in ``calls``, by function name and
device; a list is played one answer a call, the last one again and again. An answer that is a number of an
NVML error is raised.
"""

import pynvml  # type: ignore[import-untyped]


class Refusal:
    """An answer that is an error of the library."""

    def __init__(self, code):
        self.code = code


NOT_SUPPORTED = Refusal(pynvml.NVML_ERROR_NOT_SUPPORTED)
NO_PERMISSION = Refusal(pynvml.NVML_ERROR_NO_PERMISSION)
LOST = Refusal(pynvml.NVML_ERROR_GPU_IS_LOST)


class Answer:
    """A structure of the library."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


def gpu(number, **changed):
    """Calls of a healthy H100 that is half busy."""
    calls = {
        "nvmlDeviceGetUUID": f"GPU-{number:08x}-aaaa",
        "nvmlDeviceGetName": "NVIDIA H100 80GB HBM3",
        "nvmlDeviceGetMemoryInfo": Answer(total=80 << 30, used=40 << 30),
        "nvmlDeviceGetEnforcedPowerLimit": 700_000,
        "nvmlDeviceGetUtilizationRates": Answer(gpu=50, memory=20),
        "nvmlDeviceGetPowerUsage": 350_000,
        "nvmlDeviceGetTotalEnergyConsumption": [1_000_000, 1_175_000, 1_350_000, 1_525_000],
        "nvmlDeviceGetClockInfo": 1980,
        "nvmlDeviceGetCurrentClocksEventReasons": 0,
        "nvmlDeviceGetComputeRunningProcesses": [[Answer(pid=100 + number)]],
        "nvmlDeviceGetMigMode": [[0, 0]],
        "nvmlGpmQueryDeviceSupport": Answer(isSupportedDevice=0),
    }
    return {**calls, **changed}


class ReplayedNvml:
    """The library with these devices.

    Args:
        devices: Calls of each device, as ``gpu`` makes them.
        slices: MIG slices by number of the device: calls of each, ``None`` for an empty place.
        init: What ``nvmlInit`` answers.
        activity: Values of GPM metrics, by metric, in percent or MiB a second.
    """

    def __init__(self, *devices, slices=None, init=None, activity=None):
        self.devices = list(devices)
        self.slices = slices or {}
        self.init = init
        self.activity = activity or {}
        self.asked = []
        self.is_open = False
        self.allocated = 0

    def __getattr__(self, name):
        if not name.startswith("nvml") or isinstance(getattr(pynvml, name, None), int):
            return getattr(pynvml, name)

        def call(handle, *arguments):
            return self._answer(name, handle)

        return call

    def _answer(self, name, handle):
        self.asked.append((name, handle["nvmlDeviceGetUUID"]))
        answer = handle.get(name, NOT_SUPPORTED)
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if isinstance(answer, Refusal):
            raise pynvml.NVMLError(answer.code)
        return answer

    def nvmlInit(self):
        if self.init is not None:
            raise pynvml.NVMLError(self.init.code)
        self.is_open = True

    def nvmlShutdown(self):
        self.is_open = False

    def nvmlDeviceGetCount(self):
        return len(self.devices)

    def nvmlDeviceGetHandleByIndex(self, number):
        device = self.devices[number]
        if isinstance(device, Refusal):
            raise pynvml.NVMLError(device.code)
        return device

    def nvmlDeviceGetHandleByUUID(self, uuid):
        for pieces in self.slices.values():
            for piece in pieces:
                if piece is not None and piece["nvmlDeviceGetUUID"] == uuid:
                    return piece
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)

    def nvmlDeviceGetDeviceHandleFromMigDeviceHandle(self, handle):
        for number, pieces in self.slices.items():
            if any(piece is handle for piece in pieces):
                return self.devices[number]
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)

    def nvmlDeviceGetMaxMigDeviceCount(self, handle):
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle, place):
        number = next(n for n, device in enumerate(self.devices) if device is handle)
        pieces = self.slices.get(number, [])
        if place >= len(pieces) or pieces[place] is None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return pieces[place]

    def nvmlGpmSampleAlloc(self):
        self.allocated += 1
        return pynvml.c_nvmlGpmSample_t()

    def nvmlGpmSampleFree(self, sample):
        self.allocated -= 1

    def nvmlGpmSampleGet(self, handle, sample):
        return self._answer("nvmlGpmSampleGet", handle)

    def nvmlGpmMigSampleGet(self, handle, instance, sample):
        return self._answer("nvmlGpmMigSampleGet", handle)

    def nvmlGpmMetricsGet(self, question):
        for place in range(question.numMetrics):
            metric = question.metrics[place]
            value = self.activity.get(metric.metricId)
            metric.nvmlReturn = pynvml.NVML_ERROR_NOT_SUPPORTED if value is None else 0
            metric.value = 0.0 if value is None else value
        return question
