"""The form of ``report.json`` as a JSON Schema, with the sentences of the dataclasses in it."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stepscope.report.path_words import WORDS as PATH
from stepscope.report.words import HOST, OVERVIEW, PARTS
from stepscope.schema import report as model
from stepscope.schema.report import (
    DEVICE_PARTS,
    HOST_PARTS,
    OVERVIEW_PARTS,
    PATH_PARTS,
    SCHEMA_VERSION,
    Report,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stepscope.report.words import Word

ADDRESS: Final = "https://stepscope.readthedocs.io/reference/report.schema.json"
_FIELD: Final = re.compile(r"^    (?P<names>\w+(?:, \w+)*): (?P<text>.*)$")

Node = dict[str, Any]
"""A node of a JSON Schema; schemas are documents, not results, so a dict is their natural form."""


def schema() -> Node:
    """The JSON Schema (draft 2020-12) that every report fulfils."""
    made: Node = msgspec.json.schema(Report)
    definitions: Node = made["$defs"]
    for name, node in definitions.items():
        _describe(node, getattr(model, name))
    _constrain(definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ADDRESS,
        "title": "stepscope report",
        "$ref": "#/$defs/Report",
        "$defs": definitions,
    }


def text() -> str:
    """The schema as the text of ``docs/reference/report.schema.json``."""
    compact = msgspec.json.encode(schema(), order="sorted")
    return msgspec.json.format(compact, indent=2).decode() + "\n"


def _describe(node: Node, owner: type) -> None:
    """Move the sentences of a class's docstring to the properties that they are about."""
    summary, fields = _sentences(inspect.getdoc(owner) or "")
    node["description"] = summary
    for name, prop in node["properties"].items():
        prop["description"] = fields[name]


def _sentences(doc: str) -> tuple[str, dict[str, str]]:
    """A docstring's text before ``Attributes:``, and one text per attribute."""
    summary, _, attributes = doc.partition("\nAttributes:\n")
    fields: dict[str, str] = {}
    names: list[str] = []
    for line in attributes.splitlines():
        match = _FIELD.match(line)
        if match:
            names = match["names"].split(", ")
            fields |= dict.fromkeys(names, match["text"])
        else:
            fields |= {name: f"{fields[name]} {line.strip()}".strip() for name in names}
    return _plain(summary.strip()), {name: _plain(text) for name, text in fields.items()}


def _plain(text: str) -> str:
    """Docstring markup as plain text; ``None`` is called null in JSON."""
    text = re.sub(r":\w+:`([^`]*)`", r"\1", text)
    return text.replace("``None``", "null").replace("``", "")


def _constrain(definitions: Node) -> None:
    """Say what types alone do not: the names of parts, that ranks exist, the version."""
    definitions["DeviceParts"] = _parts(DEVICE_PARTS, PARTS, "Parts of a step on a device.")
    definitions["HostParts"] = _parts(HOST_PARTS, HOST, "Parts of a step without a device.")
    definitions["OverviewParts"] = _parts(OVERVIEW_PARTS, OVERVIEW, "The classic overview.")
    definitions["PathParts"] = _parts(PATH_PARTS, PATH, "Parts of a critical path.")
    definitions["StepParts"] = {
        "description": "Milliseconds by part, on a device or without one; they sum to the step.",
        "anyOf": [{"$ref": "#/$defs/DeviceParts"}, {"$ref": "#/$defs/HostParts"}],
    }
    step = {"$ref": "#/$defs/StepParts"}
    rank = definitions["RankReport"]["properties"]
    rank["parts_ms"] = _keep(rank["parts_ms"], step)
    rank["steady_parts_ms"] = _keep(rank["steady_parts_ms"], {"anyOf": [step, {"type": "null"}]})
    rank["step_parts_ms"]["items"] = step
    rank["overview_ms"] = _keep(rank["overview_ms"], {"$ref": "#/$defs/OverviewParts"})
    path = definitions["PathReport"]["properties"]
    path["parts_ms"] = _keep(path["parts_ms"], {"$ref": "#/$defs/PathParts"})
    report = definitions["Report"]
    report["properties"]["ranks"]["minItems"] = 1
    report["properties"]["schema_version"]["const"] = SCHEMA_VERSION
    report["required"].append("schema_version")


def _keep(old: Node, new: Node) -> Node:
    """A new node that says the same sentence as the old one."""
    return {"description": old["description"], **new}


def _parts(names: tuple[str, ...], words: Mapping[str, Word], summary: str) -> Node:
    """An object with exactly these names, each a duration in milliseconds."""
    return {
        "title": summary.rstrip("."),
        "description": summary,
        "type": "object",
        "properties": {
            name: {"type": "number", "description": words[name].sentence} for name in names
        },
        "required": list(names),
        "additionalProperties": False,
    }
