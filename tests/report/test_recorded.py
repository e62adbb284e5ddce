"""Reports of real recorded traces pass through every renderer and fulfil the schema."""

import io
from pathlib import Path

import jsonschema
import msgspec
import pytest

from stepscope import api
from stepscope.errors import NotATraceError
from stepscope.report import form, html, saved
from stepscope.report.terminal import print_report

FOLDER = Path(__file__).parents[1] / "data" / "recorded"
TRACES = sorted(FOLDER.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.name)
def test_a_recorded_trace_can_be_saved_and_shown(path):
    try:
        report = api.analyze([path])
    except NotATraceError:
        # The folder also holds what is no trace, for the tests of the reader.
        return
    data = saved.encode(report)
    assert saved.decode(data) == report
    jsonschema.Draft202012Validator(form.schema()).validate(msgspec.json.decode(data))
    file = io.StringIO()
    print_report(report, file=file, width=80)
    assert max(len(line) for line in file.getvalue().splitlines()) <= 80
    assert len(html.render(report)) < 3_000_000
