"""Lines of code in the text, on the page and in the JSON."""

import io

import msgspec.structs
import pytest

from stepscope.report import line_words, saved
from stepscope.report.html import render
from stepscope.report.terminal import print_report
from stepscope.schema.source_lines import LineRow, SourceLines
from tests.report import examples

ROW = LineRow(
    file="/x/<b>train.py", line=9, function="step", text="log(loss.item())  # \x1b[2J<script>", is_users=True,
    samples=40, self_ms=21.5, self_frac=0.5, total_ms=30.0, total_frac=0.7, part="other",
    inner="json.encoder.iterencode",
)  # fmt: skip
LINES = SourceLines(
    samples=80,
    pause_ms=10.0,
    cost_ms=3.0,
    rows=(ROW, *(msgspec.structs.replace(ROW, line=n, self_frac=0.05, inner="", part=None) for n in range(20, 26)),
          msgspec.structs.replace(ROW, line=99, self_frac=0.01)),
)  # fmt: skip


@pytest.fixture
def report():
    rank = msgspec.structs.replace(examples.cpu_only().ranks[0], lines=LINES)
    return msgspec.structs.replace(examples.cpu_only(), ranks=(rank,))


def printed(report, width=100):
    stream = io.StringIO()
    print_report(report, stream, width)
    return stream.getvalue().partition("Lines of code")[2].partition("\n\n")[0]


def test_the_longest_lines_are_printed_with_their_place(report):
    text = printed(report)
    assert text.startswith(", by 80 samples")
    assert r"<b>train.py:9  log(loss.item())  # \x1b[2J<script>" in text
    assert "21.5 ms" in text
    assert "50 %" in text
    assert [n for n in range(20, 100) if f".py:{n} " in text] == [20, 21, 22, 23]


@pytest.mark.parametrize("width", [40, 80, 110])
def test_no_line_is_too_wide(report, width):
    assert all(len(line) <= width for line in printed(report, width).splitlines())


def test_without_samples_nothing_is_said(report):
    without = msgspec.structs.replace(
        report, ranks=(msgspec.structs.replace(report.ranks[0], lines=None),)
    )
    assert printed(without) == ""
    assert "Lines of code" not in render(without)


def test_the_page_shows_them_as_text(report):
    page = render(report)
    shown = page.partition("<h2>Lines of code</h2>")[2].partition("</table>")[0]
    assert "&lt;b&gt;train.py:9 in step, mostly in json.encoder.iterencode" in shown
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert "Python and rest" in shown
    assert "train.py:99" not in shown


def test_words():
    assert line_words.part(msgspec.structs.replace(ROW, part="sync")) == "synchronisation"
    assert line_words.part(msgspec.structs.replace(ROW, part="new")) == "new"
    assert line_words.part(msgspec.structs.replace(ROW, part=None)) == ""


def test_they_are_saved(report, tmp_path):
    saved.save(report, tmp_path / "report.json")
    assert saved.load(tmp_path / "report.json").ranks[0].lines == LINES
