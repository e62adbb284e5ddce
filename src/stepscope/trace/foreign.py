"""Files that are no trace, recognised by their content: what each is, and the way out."""

from __future__ import annotations

import re

import msgspec

from stepscope.errors import NotATraceError

MAGIC = (
    (b"PK\x03\x04", "a zip archive", "unpack it and give the trace inside"),
    (b"PK\x05\x06", "an empty zip archive", "give the profiler's JSON trace"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it with 'zstd -d'"),
    (b"\xfd7zXZ", "compressed with xz", "unpack it with 'unxz'"),
    (b"BZh", "compressed with bzip2", "unpack it with 'bunzip2'"),
    (b"SQLite format 3", "an SQLite database", "export a Chrome trace from the profiler instead"),
    (b"\x80\x02", "a pickle, such as a CUDA memory snapshot", "give the profiler's JSON trace"),
    (b"\x80\x04", "a pickle, such as a CUDA memory snapshot", "give the profiler's JSON trace"),
    (b"\x80\x05", "a pickle, such as a CUDA memory snapshot", "give the profiler's JSON trace"),
    (b"\x89HDF", "an HDF5 file", "give the profiler's JSON trace"),
    (b"PAR1", "a Parquet file", "give the profiler's JSON trace"),
    (b"\xff\xfe", "UTF-16 text", "convert it with 'iconv -f UTF-16 -t UTF-8'"),
    (b"\xfe\xff", "UTF-16 text", "convert it with 'iconv -f UTF-16 -t UTF-8'"),
    (b"{\0", "UTF-16 text", "convert it with 'iconv -f UTF-16LE -t UTF-8'"),
    (b"[\0", "UTF-16 text", "convert it with 'iconv -f UTF-16LE -t UTF-8'"),
)
LFS_POINTER = b"version https://git-lfs.github.com/spec"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NO_EVENTS_WAY_OUT = "give a trace that torch.profiler exported with export_chrome_trace"
HEAD = 65_536

CHAKRA = (re.compile(rb'"schema"\s{0,64}:\s{0,64}"'), re.compile(rb'"nodes"\s{0,64}:\s{0,64}\['))
ROCPROF = re.compile(rb'^\s*\{\s*"rocprofiler-sdk-tool"')
OWN_REPORT = re.compile(rb'^\s*\{\s*"schema_version"\s*:\s*\d+\s*,\s*"stepscope_version"')
MEMORY_TIMELINE = re.compile(rb"^\s*\[\s*\[")
NO_EVENT_LIST = re.compile(rb"^\s*\[\s*[^{\s\]]")


def refuse_bytes(start: bytes, path: str) -> None:
    """Raise :class:`NotATraceError` when the first bytes of a file show that it is no JSON text."""
    for magic, what, way_out in MAGIC:
        if start.startswith(magic):
            raise NotATraceError(f"is {what}, not a JSON trace", path=path, way_out=way_out)
    text = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    if text.startswith(LFS_POINTER):
        raise NotATraceError(
            "is a Git LFS pointer, not the file itself",
            path=path,
            way_out="fetch it with 'git lfs pull'",
        )
    if text[:1] == b"<":
        raise NotATraceError(
            "is an HTML or XML page, not a trace",
            path=path,
            way_out="download the raw file instead of the page that shows it",
        )
    if text and text[:1] not in b"{[":
        raise NotATraceError(
            "is not JSON: it starts with neither '{' nor '['", path=path, way_out=NO_EVENTS_WAY_OUT
        )


def refuse_document(start: bytes, path: str) -> None:
    """Raise :class:`NotATraceError` when a JSON text's first characters show another kind of document."""
    head = start[:HEAD]
    if MEMORY_TIMELINE.match(head):
        raise NotATraceError(
            "is a memory timeline (export_memory_timeline), which holds sizes and no events",
            path=path,
            way_out="give the trace of the same run; with profile_memory=True it holds the memory too",
        )
    if NO_EVENT_LIST.match(head):
        raise NotATraceError(
            "is a JSON list of something other than events", path=path, way_out=NO_EVENTS_WAY_OUT
        )
    if b'"traceEvents"' in head:
        return
    if CHAKRA[0].search(head) and CHAKRA[1].search(head):
        raise NotATraceError(
            "is an execution trace (Chakra), which holds no times of a profile",
            path=path,
            way_out=NO_EVENTS_WAY_OUT,
        )
    if ROCPROF.match(head):
        raise NotATraceError(
            "is a result of rocprof, not a trace of PyTorch's profiler",
            path=path,
            way_out=NO_EVENTS_WAY_OUT,
        )
    if OWN_REPORT.match(head):
        raise NotATraceError(
            "is a report of stepscope, not a trace",
            path=path,
            way_out="give the trace that the report was made from",
        )


def recognise(text: bytes) -> str:
    """What a text without a list of events is, as a sentence."""
    if not text.strip():
        return "holds nothing but blanks"
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return "is neither a whole JSON text nor the start of a trace"
    return "is JSON without a list of trace events"
