"""Read-ahead: chunks are read and decompressed in a thread while the ones before are decoded.

Decompression gives up the interpreter's lock, so that on two cores it costs no time of its own.
"""

from __future__ import annotations

import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from concurrent.futures import Future

CHUNKS_AHEAD = 4
POLL_S = 0.05


@contextmanager
def read_ahead(chunks: Generator[bytes, None, None]) -> Iterator[Iterator[bytes]]:
    """The same chunks, read by a thread that ends with the block whatever happens in it."""
    ready: queue.Queue[bytes | None] = queue.Queue(CHUNKS_AHEAD)
    stop = threading.Event()

    def put(item: bytes | None) -> None:
        while not stop.is_set():
            try:
                ready.put(item, timeout=POLL_S)
            except queue.Full:
                continue
            return

    def work() -> None:
        try:
            for chunk in chunks:
                put(chunk)
                if stop.is_set():
                    return
        finally:
            put(None)

    with ThreadPoolExecutor(1, "stepscope-read-ahead") as pool:
        working = pool.submit(work)
        try:
            yield _taken(ready, working)
        finally:
            stop.set()
    chunks.close()


def _taken(ready: queue.Queue[bytes | None], working: Future[None]) -> Iterator[bytes]:
    while (chunk := ready.get()) is not None:
        yield chunk
    working.result()
