"""A page with the reader's limits: names, values and the sentences beside them in the source."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from typing import TYPE_CHECKING

from reference_pages.words import head, table
from stepscope.trace import limits

if TYPE_CHECKING:
    from collections.abc import Iterator


def pages() -> Iterator[tuple[str, str]]:
    """The page."""
    body = ast.parse(inspect.getsource(limits)).body
    rows = [
        (f"`{line.targets[0].id}`", f"{getattr(limits, line.targets[0].id):,}", said.value.value)
        for line, said in pairwise(body)
        if isinstance(line, ast.Assign)
        and isinstance(line.targets[0], ast.Name)
        and isinstance(said, ast.Expr)
        and isinstance(said.value, ast.Constant)
        and isinstance(said.value.value, str)
    ]
    yield (
        "limits.md",
        f"# Limits\n\n{head(limits.__doc__ or '')}\n\n"
        + table(("limit", "value", "meaning"), rows),
    )
