"""Reading TOML with errors that name the file and the place."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from stepscope.errors import InputError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path


def read_toml(path: Path | Traversable) -> dict[str, object]:
    """The document of a TOML file.

    Raises:
        InputError: The file cannot be read or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is not TOML: {error}", path=str(path)) from error
