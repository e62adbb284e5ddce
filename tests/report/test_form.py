from pathlib import Path

import jsonschema
import msgspec
import pytest

from stepscope.report import form, saved
from tests.report import examples

COMMITTED = Path(__file__).parents[2] / "docs" / "reference" / "report.schema.json"


def document(report):
    return msgspec.json.decode(saved.encode(report))


@pytest.fixture(scope="module")
def validator():
    schema = msgspec.json.decode(COMMITTED.read_bytes())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_committed_schema_is_up_to_date():
    assert COMMITTED.read_text(encoding="utf-8") == form.text(), (
        "run python scripts/write_report_schema.py"
    )


@pytest.mark.parametrize("name", examples.ALL)
def test_every_example_fulfils_the_schema(validator, name):
    validator.validate(document(examples.ALL[name]()))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("verdict"),
        lambda d: d.pop("schema_version"),
        lambda d: d.update(schema_version=2),
        lambda d: d.update(ranks=[]),
        lambda d: d["ranks"][0]["parts_ms"].pop("sync"),
        lambda d: d["ranks"][0]["parts_ms"].update(forward=1.0),
        lambda d: d["ranks"][0]["parts_ms"].update(sync=None),
        lambda d: d["ranks"][0]["step_parts_ms"][0].pop("input"),
        lambda d: d["ranks"][0]["overview_ms"].pop("memset"),
        lambda d: d["verdict"].update(regime="bored"),
        lambda d: d["findings"][0].update(severity="dire"),
    ],
)
def test_a_broken_report_does_not(validator, change):
    broken = document(examples.input_bound())
    change(broken)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(broken)


def test_every_field_has_a_sentence():
    for name, node in form.schema()["$defs"].items():
        assert node["description"], name
        assert "Attributes" not in node["description"]
        for field, prop in node.get("properties", {}).items():
            assert prop["description"], f"{name}.{field}"
            assert "``" not in prop["description"]
