"""A page for each saved document: every field, its type and its definition, from the dataclasses."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from reference_pages.words import attributes, head, markdown, table
from stepscope.schema import (
    check_report,
    cost,
    job_report,
    light,
    light_report,
    process_note,
    report,
    run_folder,
    samples,
    use_report,
    watch_summary,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

DOCUMENTS: tuple[tuple[str, str, ModuleType], ...] = (
    ("report", "report.json", report),
    ("job-report", "Ranks compared in report.json", job_report),
    ("use-report", "Utilisation and energy in report.json", use_report),
    ("run-folder", "The run folder", run_folder),
    ("process-note", "Processes below a launcher", process_note),
    ("light-steps", "Steps of a light run", light),
    ("light-report", "light.json", light_report),
    ("watch-samples", "Samples of a watched run", samples),
    ("watch-summary", "watch.json", watch_summary),
    ("check-report", "What check writes", check_report),
    ("cost-report", "What cost writes", cost),
)


def pages() -> Iterator[tuple[str, str]]:
    """One page a document."""
    for name, title, module in DOCUMENTS:
        yield f"{name}.md", page(title, module)


def page(title: str, module: ModuleType) -> str:
    """The page of one document."""
    parts = [f"# {title}\n", head(module.__doc__ or "") + "\n"]
    if module is report:
        parts.append("As a JSON Schema: {download}`report.schema.json <../report.schema.json>`.\n")
    for cls in classes(module):
        said = attributes(cls)
        parts.append(f"## {cls.__name__}\n")
        parts.append(head(cls.__doc__ or "") + "\n")
        rows = [(f"`{name}`", f"`{kind}`", said.get(name, "")) for name, kind in typed(cls)]
        parts.append(table(("field", "type", "definition"), rows))
    return markdown("\n".join(parts))


def classes(module: ModuleType) -> list[type]:
    """Classes of documents (structs, and dataclasses where a recorder writes them) of the module, in its order."""
    own = [
        cls
        for _, cls in inspect.getmembers(module, is_document)
        if cls.__module__ == module.__name__ and not cls.__name__.startswith("_")
    ]
    return sorted(own, key=lambda cls: inspect.getsourcelines(cls)[1])


def is_document(member: object) -> bool:
    """Whether this is a class of which documents are made."""
    return isinstance(member, type) and bool(names(member))


def names(cls: type) -> tuple[str, ...]:
    """Fields of a struct or a dataclass in their order; none for any other class."""
    found = getattr(cls, "__struct_fields__", getattr(cls, "__dataclass_fields__", ()))
    return tuple(found)


def typed(cls: type) -> list[tuple[str, str]]:
    """Fields with their types as they are written."""
    written = {
        name: kind
        for base in cls.__mro__[::-1]
        for name, kind in vars(base).get("__annotations__", {}).items()
    }
    return [(name, written[name]) for name in names(cls)]
