"""Where the whole run goes, in the text and on the page."""

import io

import msgspec.structs
import pytest

from stepscope.report.html import render
from stepscope.report.terminal import print_report
from stepscope.schema.report import Recording
from stepscope.schema.run_time import RunParts
from tests.report import examples

RUN = RunParts(
    rank=0, wall_ms=10_000.0,
    parts_ms={"startup": 2000.0, "steps": 5000.0, "evaluation": 3000.0, "exit": 0.0},
    import_ms=1500.0, first_step_ms=40.0, compile_ms=None, evaluations=2, checkpoints=1, epochs=0,
)  # fmt: skip
RECORDING = Recording(
    command=("x",), exit_status=0, clean_steps=0, clean_step_ms=None, profiled_step_ms=None,
    inflation_frac=None, own_cost_ms=None, stop_ms=None, run=RUN,
)  # fmt: skip


@pytest.fixture
def report():
    return msgspec.structs.replace(examples.cpu_only(), recording=RECORDING)


def printed(report):
    stream = io.StringIO()
    print_report(report, stream, 100)
    return stream.getvalue().partition("Where the whole run goes")[2]


def test_the_text_has_a_bar_for_each_part_that_has_time(report):
    text = printed(report)
    assert text.startswith(": of 10.0 s wall time\n")
    assert "training steps     5000 ms     50 %  #" in text
    assert "after training" not in text
    assert (
        "Importing torch took 1500 ms, the first step 40.0 ms. 2 evaluations, 1 checkpoint." in text
    )


def test_without_an_account_there_is_no_such_section(report):
    without = msgspec.structs.replace(RECORDING, run=None)
    assert printed(msgspec.structs.replace(report, recording=without)) == ""


def test_the_page_has_the_same_figures(report):
    page = render(report)
    section = page[page.index("The whole run") :]
    assert "3000 ms, 30 %" in section
    assert "Loops over loaders that do not feed training." in section
