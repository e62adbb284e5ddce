"""The tables that the reader produces and the analyses consume.

All times are int64 nanoseconds on one clock per trace. Row numbers refer to positions in the table
named, after sorting. Null always means "not recorded".
"""

from __future__ import annotations

from stepscope.schema.column import Column, Table

HOST_KINDS = ("operator", "annotation", "runtime", "driver", "python", "other")
"""Kinds of host events: PyTorch operators, record_function ranges, calls of the device's runtime API,
calls of its driver API, Python frames, anything else that ran on the host."""

DEVICE_KINDS = ("kernel", "memcpy", "memset", "accelerator")
"""Kinds of device work; ``accelerator`` is work of another vendor's device that is not called a kernel."""

HOST = Table(
    "host",
    "What ran on the host, sorted by (start_ns, longest first, order in the file).",
    (
        Column("kind", "cat", "", "One of HOST_KINDS."),
        Column("name", "cat", "", "Name as recorded; foreign text."),
        Column("pid", "i64", "id", "Process id."),
        Column("tid", "i64", "id", "Thread id; text ids are numbered from -1000 downwards."),
        Column("start_ns", "i64", "ns", "Start."),
        Column("end_ns", "i64", "ns", "End, never before the start."),
        Column(
            "parent",
            "i64",
            "row",
            "Row of the innermost event of the same thread that encloses it.",
            True,
        ),
        Column("depth", "i64", "count", "Number of events of the same thread that enclose it."),
        Column(
            "self_ns",
            "i64",
            "ns",
            "Duration less that of the events directly inside it, never negative.",
        ),
        Column(
            "correlation",
            "i64",
            "id",
            "Ties a runtime call to the device work that it launched.",
            True,
        ),
        Column("external_id", "i64", "id", "The profiler's id of the operator.", True),
        Column(
            "sequence",
            "i64",
            "id",
            "Autograd sequence number that forward and backward share.",
            True,
        ),
        Column(
            "forward_thread", "i64", "id", "Above 0 for an operator of the backward pass.", True
        ),
        Column(
            "input_dims",
            "str",
            "",
            "Shapes of the inputs as JSON text, when shapes were recorded.",
            True,
        ),
        Column(
            "input_types",
            "str",
            "",
            "Types of the inputs as JSON text, when shapes were recorded.",
            True,
        ),
    ),
)

DEVICE = Table(
    "device",
    "What ran on devices, sorted by (start_ns, device, stream).",
    (
        Column("kind", "cat", "", "One of DEVICE_KINDS."),
        Column("name", "cat", "", "Name as recorded; foreign text."),
        Column(
            "device", "i64", "id", "Device number as the trace gives it (on AMD an agent number)."
        ),
        Column("stream", "i64", "id", "Stream or queue number; -1 when not recorded."),
        Column("start_ns", "i64", "ns", "Start."),
        Column("end_ns", "i64", "ns", "End, never before the start."),
        Column("correlation", "i64", "id", "Ties it to the runtime call that launched it.", True),
        Column("launch", "i64", "row", "Row in host of the call that launched it.", True),
        Column(
            "operator",
            "i64",
            "row",
            "Row in host of the innermost operator that launched it.",
            True,
        ),
        Column("is_communication", "bool", "", "Whether it moves data between ranks."),
        Column("bytes", "i64", "bytes", "Bytes copied or set.", True),
        Column("direction", "cat", "", "Copies: HtoD, DtoH, DtoD, PtoP or HtoH.", True),
        Column(
            "is_pageable", "bool", "", "Copies: whether the host side is pageable memory.", True
        ),
        Column("blocks", "i64", "count", "Kernels: thread blocks in the grid.", True),
        Column("threads_per_block", "i64", "count", "Kernels: threads in a block.", True),
        Column(
            "blocks_per_sm",
            "f64",
            "",
            "Kernels: blocks per multiprocessor as the profiler gives it.",
            True,
        ),
        Column(
            "warps_per_sm",
            "f64",
            "",
            "Kernels: warps per multiprocessor as the profiler gives it.",
            True,
        ),
        Column(
            "occupancy_percent", "f64", "", "Kernels: estimated achieved occupancy, 0 to 100.", True
        ),
        Column("collective", "str", "", "Communication: name of the collective.", True),
        Column("collective_dtype", "str", "", "Communication: element type.", True),
        Column(
            "collective_elements",
            "i64",
            "count",
            "Communication: elements of the larger side of the message.",
            True,
        ),
        Column("group_name", "str", "", "Communication: name of the process group.", True),
        Column("group_size", "i64", "count", "Communication: ranks in the process group.", True),
        Column("sequence", "i64", "id", "Communication: sequence number within the group.", True),
    ),
)

MEMORY = Table(
    "memory",
    "The allocator's events, sorted by time, when memory was recorded.",
    (
        Column("time_ns", "i64", "ns", "When."),
        Column(
            "device_type",
            "i64",
            "id",
            "PyTorch's device type: 0 CPU, 1 CUDA, 6 HIP, 12 XPU, 19 MTIA, 20 other.",
        ),
        Column("device_id", "i64", "id", "Device number, -1 for the CPU."),
        Column("bytes", "i64", "bytes", "Bytes allocated, negative when freed."),
        Column("total_allocated_bytes", "i64", "bytes", "Allocated after the event.", True),
        Column(
            "total_reserved_bytes",
            "i64",
            "bytes",
            "Held by the caching allocator after the event.",
            True,
        ),
        Column("address", "i64", "id", "Address of the block, by which it is known again.", True),
        Column("pid", "i64", "id", "Process that asked for it or gave it back.", True),
        Column("tid", "i64", "id", "Thread that did.", True),
    ),
)

STEPS = Table(
    "steps",
    "Training steps in order of time; they never overlap.",
    (
        Column("number", "i64", "id", "The recorder's number of the step, else counted from 0."),
        Column("window", "i64", "row", "Which of the trace's windows it lies in."),
        Column("start_ns", "i64", "ns", "Start."),
        Column("end_ns", "i64", "ns", "End."),
        Column(
            "is_startup",
            "bool",
            "",
            "Whether first calls fill it, so that steady figures leave it out.",
        ),
        Column("is_partial", "bool", "", "Whether the window cuts it."),
    ),
)

ALL = (HOST, DEVICE, MEMORY, STEPS)
