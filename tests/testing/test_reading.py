"""Reading a made trace gives what the builder knows, in every form."""

from dataclasses import astuple
from typing import get_args

import pytest

from stepscope.testing import ERAS, Form
from stepscope.testing.form import Clock, Layout
from stepscope.trace import load
from tests.testing.example import everything

FORMS = [
    *(
        Form(layout=layout, clock=clock)
        for layout in get_args(Layout)
        for clock in get_args(Clock)
        if layout != "event-list"
    ),
    *(form for _, form in ERAS),
    Form(flows=False),
    Form(header_last=True),
    Form(event_order="reversed"),
    Form(event_order="time"),
    Form(layout="json-line", key_order="sorted"),
    Form(layout="json-indent", key_order="reversed"),
    Form(layout="json-compact", header_last=True),
    Form(container="gzip"),
    Form(container="gzip-members"),
    Form(layout="python-lines", container="gzip-members", clock="epoch-decimal"),
]


def name_of(form):
    default = Form()
    return "-".join(
        str(getattr(form, name))
        for name in form.__slots__
        if getattr(form, name) != getattr(default, name)
    )


@pytest.mark.parametrize("python", [False, True], ids=["ops", "frames"])
@pytest.mark.parametrize("form", FORMS, ids=name_of)
def test_reading_gives_the_truth(tmp_path, form, python):
    made = everything()
    truth = made.truth(form, python=python)
    (read,) = load([made.write(tmp_path / "made.json", form)], with_python=python)
    for table in ("host", "device", "memory"):
        assert getattr(read, table).rows() == [astuple(row) for row in getattr(truth, table)], table
    steps = read.steps.select("number", "start_ns", "end_ns").rows()
    assert steps == [astuple(row) for row in truth.steps]


def test_an_event_list_keeps_names_and_times(tmp_path):
    made = everything()
    form = Form(layout="event-list")
    (read,) = load([made.write(tmp_path / "made.json", form)])
    columns = ("name", "start_ns", "end_ns")
    assert read.host.select(columns).rows() == [
        tuple(getattr(row, column) for column in columns) for row in made.truth(form).host
    ]
