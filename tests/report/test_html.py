import base64
import hashlib
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

from stepscope.errors import InputError
from stepscope.report.html import assets, render, write
from stepscope.report.html.step_chart import MOST_BARS, bars, steps_per_bar
from stepscope.report.html.timeline_chart import timeline_chart
from stepscope.report.html.view import MOST_CHARTED, page_view
from stepscope.schema.report import Lane, Span, Timeline
from tests.report import examples


class Outline(HTMLParser):
    """The tags of a page, what its scripts hold and the text that people see."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.scripts, self.seen, self.attributes = [], [], [], [], []
        self._inside = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        self._inside = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside == "script":
            attrs, text = self.scripts[-1]
            self.scripts[-1] = (attrs, text + data)
        elif self._inside != "style":
            self.seen.append(data)


@pytest.fixture(scope="module", params=examples.ALL)
def page(request):
    report = examples.ALL[request.param]()
    return report, render(report)


def test_the_page_is_small_and_loads_nothing(page):
    _, text = page
    assert len(text) < 3_000_000
    outline = Outline(text)
    for tag, name, value in outline.attributes:
        if name in {"src", "href", "data", "action", "srcset"}:
            assert value.startswith("#") or value == "data:,", (tag, name, value)
    assert not {"img", "iframe", "object", "embed", "base"} & set(outline.tags)


def test_ids_are_unique_and_links_lead_somewhere(page):
    outline = Outline(page[1])
    assert len(outline.ids) == len(set(outline.ids))
    links = [value[1:] for tag, name, value in outline.attributes if name == "href" and tag == "a"]
    # Of a report without findings the skip link still leads to the section that says so.
    assert set(links) <= set(outline.ids)


def test_the_policy_knows_exactly_the_scripts_of_the_page(page):
    outline = Outline(page[1])
    running = [text for attrs, text in outline.scripts if "type" not in attrs]
    policy = next(
        value
        for _, name, value in outline.attributes
        if name == "content" and "script-src" in value
    )
    hashes = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in running}
    assert set(re.findall(r"'sha256-([^']*)'", policy)) == hashes
    assert "unsafe-eval" not in policy
    assert policy.startswith("default-src 'none'")


def test_everything_that_matters_is_in_words(page):
    report, text = page
    seen = " ".join(" ".join(Outline(text).seen).split())
    for finding in report.findings:
        assert finding.code in seen
    for row in report.kernels:
        if row.name.isprintable():
            assert " ".join(row.name.split()) in seen
    assert "None" not in seen.replace("None of these", "").replace("None could", "")


def test_tables_are_complete():
    report = replace(
        examples.input_bound(),
        kernels=examples.kernel_rows(500.0, 400),
        operators=examples.operator_rows(100.0, 700),
    )
    assert Outline(render(report)).tags.count("tr") > 1100


def test_foreign_names_end_no_script_and_open_no_tag():
    text = render(examples.hostile())
    outline = Outline(text)
    assert len(outline.scripts) == 4
    assert "img" not in outline.tags
    assert "<img" not in text
    assert "{{ 7*7 }}" in " ".join(outline.seen)
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_data_in_a_script_element_cannot_end_it():
    assert assets.data(["</script><!--\u2028&"]) == (
        '["\\u003c/script\\u003e\\u003c!--\\u2028\\u0026"]'
    )


def test_many_ranks_get_few_charts():
    view = page_view(examples.many_ranks(256, slow=200))
    assert len(view.charted) == MOST_CHARTED
    assert view.charted[view.focus].rank.rank == 200
    assert len(view.rows) == 256
    assert view.rows[0].rank in [ranked.rank for ranked in view.charted]


def test_many_steps_share_bars_and_nothing_is_lost():
    rank = examples.many_steps(3001).ranks[0]
    drawn = bars(rank)
    assert len(drawn) <= MOST_BARS
    assert drawn[0].first == 0
    assert drawn[-1].last == 3000
    steps = [bar.last - bar.first + 1 for bar in drawn]
    whole = sum(bar.ms * n for bar, n in zip(drawn, steps, strict=True))
    assert whole == pytest.approx(sum(rank.steps.durations_ms))
    assert all(sum(bar.parts.values()) == pytest.approx(bar.ms) for bar in drawn)
    assert sum(bar.is_outlier for bar in drawn) == len(rank.steps.outliers)


@pytest.mark.parametrize(("count", "size"), [(0, 1), (1, 1), (300, 1), (301, 2), (3000, 10)])
def test_how_many_steps_share_a_bar(count, size):
    assert steps_per_bar(count) == size


def span(start, length):
    return Span(name="x", start_us=start, duration_us=length, depth=0, kind="kernel")


def test_a_long_lane_loses_its_shortest_bars_and_a_short_one_none():
    long = Lane(
        label="a", is_device=False, spans=tuple(span(i * 10.0, 1.0 + i % 9) for i in range(90))
    )
    short = Lane(label="b", is_device=True, spans=(span(0.0, 0.1), span(5.0, 0.1)), hidden=3)
    drawn = timeline_chart(Timeline(step=1, duration_ms=1.0, lanes=(long, short)), 22)
    assert drawn.shown == 22
    assert drawn.hidden == 70 + 3
    assert drawn.bars.row.count(0.0) == 20
    assert min(drawn.bars.length[:20]) == pytest.approx(8e-3)
    assert drawn.bars.start[:20] == sorted(drawn.bars.start[:20])


def test_a_timeline_of_nothing_is_drawn():
    drawn = timeline_chart(Timeline(step=None, duration_ms=0.0, lanes=()), 10)
    assert (drawn.shown, drawn.hidden) == (0, 0)


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write(examples.healthy(), tmp_path / "file" / "report.html")


@pytest.mark.parametrize(
    "module",
    [
        "stepscope.report",
        "stepscope.report.html",
        "stepscope.report.terminal",
        "stepscope.report.saved",
    ],
)
def test_bokeh_is_imported_only_when_a_page_is_made(module):
    code = f"import sys, {module}; sys.exit('bokeh' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
