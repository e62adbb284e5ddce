"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from stepscope.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` in one move; a half-written file never stands there.

    Raises:
        InputError: The path cannot be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            # A device or a pipe, such as /dev/stdout, can be written to but not replaced.
            path.write_bytes(data)
            return
        beside.write_bytes(data)
        beside.replace(path)
    except OSError as error:
        raise InputError(
            f"the file cannot be written ({error.strerror})", path=str(path)
        ) from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
