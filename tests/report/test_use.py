"""What a run used, drew and costs, in the text and on the page."""

import io

import msgspec.structs
import pytest
from bokeh.models import ColumnDataSource, Range1d
from bokeh.models.renderers import GlyphRenderer

from stepscope.cost.options import CostOptions
from stepscope.report.cost_words import waste_of
from stepscope.report.html import render
from stepscope.report.html.use_chart import MOST_BARS, full_height, use_chart
from stepscope.report.terminal import print_report
from stepscope.report.use_words import device_names, energy_sentence, track_name, use_sentence
from stepscope.schema.run_time import RUN_PARTS
from stepscope.schema.use_report import UseTrack
from stepscope.watch.energy import no_energy
from tests.known import known
from tests.report import examples
from tests.report.used import used


@pytest.fixture(scope="module")
def report():
    return used()


def printed(report):
    stream = io.StringIO()
    print_report(report, stream, 100)
    return " ".join(stream.getvalue().split())


def test_the_text_has_a_line_each_for_use_energy_and_cost(report):
    text = printed(report)
    assert "Use CPU 4.00 of 16 cores, 4.00 in steps; mean of 2 GPUs busy 60 %, working 40 %" in text
    assert "devices 24.4 Wh (measured); host 1.33 Wh (attributed); 1040 J a step; 32.5 J a" in text
    assert "2 device(s) for 120 s: wasted 0.08 EUR of 0.20 EUR (12.80 SBU)" in text
    assert "2 device(s) for 120 s, 100 runs: wasted 8.00 EUR of 20.00 EUR" in text


def test_each_finding_tells_its_waste(report):
    text = printed(report)
    assert "Idle for it: 0.06 EUR of what this run costs, 5.96 EUR (5.10 EUR to 6.32 EUR)" in text
    section = render(report)
    assert section.count("Idle for it: ") == 2


def test_without_a_plan_the_range_is_the_run_s():
    text = printed(used(CostOptions(price=3.0, currency="EUR", site="none")))
    assert "Idle for it: 0.06 EUR (0.05 EUR to 0.06 EUR) of what this run costs." in text
    assert "100 runs" not in text


def test_a_trace_alone_says_nothing_in_the_text_and_why_on_the_page():
    plain = examples.input_bound()
    assert "Energy" not in printed(plain)
    assert "Utilisation and energy: not measured: a trace holds no samples" in render(plain)


def test_a_trace_with_a_price_says_not_measured_beside_the_money():
    from stepscope.cost.of_report import with_use_and_cost  # noqa: PLC0415

    options = CostOptions(price=2.0, currency="EUR", site="none")
    text = printed(with_use_and_cost(examples.input_bound(), None, options, {}))
    assert "Energy not measured Cost 1 device(s) for 3,600 s: wasted 0.73 EUR of 2.00 EUR" in text


def test_what_is_not_known_is_never_shown_as_nothing(report):
    energy = msgspec.structs.replace(
        report.use.energy,
        devices=no_energy("no driver"),
        host=no_energy("RAPL is for root only"),
        per_step=no_energy("no driver"),
        per_sample=no_energy("no driver"),
    )
    use = msgspec.structs.replace(report.use, energy=energy)
    assert energy_sentence(use) == "not known: no driver"
    page = render(msgspec.structs.replace(report, use=use))
    section = page[page.index('id="use"') : page.index('id="use-data"')]
    assert "RAPL is for root only" in section
    assert ">0.00 J<" not in section
    without = msgspec.structs.replace(
        use, tracks=tuple(track for track in use.tracks if not track.device)
    )
    assert energy_sentence(without) == "not known: RAPL is for root only"


def test_the_page_has_a_table_of_every_track_and_part(report):
    page = render(report)
    section = page[page.index('id="use"') : page.index('id="use-data"')]
    for words in (
        "GPU 1 power",
        "training steps",
        "evaluation",
        "after training",
        "aligned exactly",
        "Cost of this run",
        "The plan: runs/a: 2 device(s) for 120 s, 100 runs",
        "Rates and their sources",
        "12.80 SBU",
    ):
        assert words in section
    assert section.index("Wasted") < section.index("Money")


def test_a_run_without_a_price_has_its_reason_on_the_page_only(report):
    nothing = msgspec.structs.replace(
        report.cost.run.money, value=None, low=None, high=None, how="no price"
    )
    run = msgspec.structs.replace(report.cost.run, money=nothing, waste=nothing, units=nothing)
    without = msgspec.structs.replace(
        report, cost=msgspec.structs.replace(report.cost, run=run, plan=None, findings=())
    )
    assert "Cost" not in printed(without)
    assert "no price" in render(without)


def test_mistakes_that_samples_show_are_told(report):
    seen = msgspec.structs.replace(
        examples.INPUT_FINDING, code="WA003", title="GPU hardly <b>busy</b>", action="Look."
    )
    told = msgspec.structs.replace(report, seen=(seen,))
    assert "Seen WA003 GPU hardly <b>busy</b>: Look." in printed(told)
    assert "GPU hardly &lt;b&gt;busy&lt;/b&gt;" in render(told)


def test_the_chart_has_phases_steps_and_tracks_on_one_axis(report):
    chart = use_chart(report.use)
    (quads,) = chart.renderers
    assert isinstance(quads, GlyphRenderer)
    assert isinstance(quads.data_source, ColumnDataSource)
    assert isinstance(chart.x_range, Range1d)
    columns = quads.data_source.data
    assert (chart.x_range.start, chart.x_range.end) == (0.0, 120.0)
    assert columns["text"][:5] == [
        "start-up, 20.0 s",
        "training steps, 40.0 s",
        "evaluation, 10.0 s",
        "training steps, 40.0 s",
        "after training, 10.0 s",
    ]
    assert list(columns["title"]).count("step 1") == 1
    labels = chart.yaxis[0].major_label_overrides.values()
    assert "GPU 0 power, to 700 W" in labels
    assert "CPU, to 16.0 cores" in labels
    assert len({len(column) for column in columns.values()}) == 1
    assert all(top <= bottom for top, bottom in zip(columns["top"], columns["bottom"], strict=True))


def test_many_devices_keep_the_page_small():
    use = known(used(uuids=tuple(f"GPU-{place}" for place in range(8))).use)
    (quads,) = use_chart(use).renderers
    assert isinstance(quads, GlyphRenderer)
    assert isinstance(quads.data_source, ColumnDataSource)
    of_tracks = len(quads.data_source.data["left"]) - len(use.steps) - len(use.phases)
    assert of_tracks <= MOST_BARS + len(use.tracks)
    assert len(device_names(use)) == 8
    assert "mean of 8 GPUs" in use_sentence(use)


def test_a_lane_is_as_high_as_what_there_is_unless_hardly_any_is_used():
    track = UseTrack(
        kind="memory", node="n", device="", unit="bytes", limit=100.0, mean=1.0, peak=30.0,
        values=(), by_part={},
    )  # fmt: skip
    assert full_height(track) == 100.0
    assert full_height(msgspec.structs.replace(track, peak=3.0)) == 3.0
    assert full_height(msgspec.structs.replace(track, peak=None, limit=None)) == 1.0


def test_nodes_are_named_where_there_are_several(report):
    other = msgspec.structs.replace(report.use.tracks[0], node="n<1>")
    both = msgspec.structs.replace(report.use, tracks=(*report.use.tracks, other))
    assert track_name(other, both) == "n<1> CPU"
    assert "n&lt;1&gt; CPU" in render(msgspec.structs.replace(report, use=both))
    assert track_name(report.use.tracks[0], report.use) == "CPU"


def test_every_part_and_track_has_a_colour():
    from stepscope.report import palette  # noqa: PLC0415
    from stepscope.report.use_words import LABELS  # noqa: PLC0415

    assert set(palette.RUN) == set(RUN_PARTS)
    assert set(palette.TRACKS) == set(LABELS)


def test_a_finding_that_has_no_waste_shows_none(report):
    compute = msgspec.structs.replace(examples.COPY_FINDING, code="TC001", regime="compute")
    changed = msgspec.structs.replace(report, findings=(compute,))
    assert waste_of(changed, compute) is None
