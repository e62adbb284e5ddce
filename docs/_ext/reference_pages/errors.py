"""A page with the error tree, from its module's docstring."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from reference_pages.words import head, table
from stepscope import errors

if TYPE_CHECKING:
    from collections.abc import Iterator


def pages() -> Iterator[tuple[str, str]]:
    """The page."""
    found = [
        cls
        for cls in vars(errors).values()
        if inspect.isclass(cls) and issubclass(cls, errors.StepscopeError)
    ]
    rows = [
        (f"`{cls.__name__}`", str(cls.exit_status), head(cls.__doc__ or "").replace("\n", " "))
        for cls in found
    ]
    tree = inspect.cleandoc(errors.__doc__ or "").partition("::\n\n")[2].partition("\n\nOnly")[0]
    yield (
        "errors.md",
        "# Errors and exit statuses\n\nEvery error that stepscope raises on purpose has one clear sentence. The"
        " command line prints it on standard error and ends with its status; `0` is success, `130` an"
        " interruption. Under `stepscope profile` the script's own status wins.\n\n"
        f"```text\n{inspect.cleandoc(tree)}\n```\n\n" + table(("error", "status", "meaning"), rows),
    )
