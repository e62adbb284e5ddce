"""Which category of a trace event means what.

Host or device is decided by the category alone, never by the process id or by a stream argument.
Names are compared in lower case, so that the spellings of 2020 to 2022 (``Kernel``, ``Operator``)
read like those of today. Meanings as observed in public traces and in the sources of kineto.
"""

from __future__ import annotations

HOST_KIND = {
    "cpu_op": "operator",
    "operator": "operator",
    "hpu_op": "operator",
    "user_annotation": "annotation",
    "user": "annotation",
    "cuda_runtime": "runtime",
    "hip_runtime": "runtime",
    "runtime": "runtime",
    "xpu_runtime": "runtime",
    "mtia_runtime": "runtime",
    "glow_runtime": "runtime",
    "privateuse1_runtime": "runtime",
    "cuda_driver": "driver",
    "hip_driver": "driver",
    "xpu_driver": "driver",
    "privateuse1_driver": "driver",
    "overhead": "other",
}
"""Category in lower case to one of ``HOST_KINDS``; Python frames are apart, see PYTHON."""

DEVICE_KIND = {
    "kernel": "kernel",
    "concurrent_kernel": "kernel",
    "gpu_memcpy": "memcpy",
    "memcpy": "memcpy",
    "gpu_memset": "memset",
    "memset": "memset",
    "mtia_ccp_events": "accelerator",
}
"""Category in lower case to one of ``DEVICE_KINDS``."""

PYTHON = "python_function"

NOT_WORK = frozenset(
    {
        "gpu_user_annotation",
        "cuda_sync",
        "xpu_sync",
        "cuda_event",
        "trace",
        "mtia_insight",
        "cuda_profiler_range",
        "external_correlation",
        "collective_comm",
    }
)
"""Drawn in a viewer but neither host nor device work: waiting, markers, projections, the window itself."""
