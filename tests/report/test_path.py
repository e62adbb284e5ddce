"""The critical path in words, in the text and on the page."""

from __future__ import annotations

import io

import pytest
from msgspec.structs import replace

from stepscope.report import path_words
from stepscope.report.html.page import render
from stepscope.report.terminal import print_report
from stepscope.schema.report import PATH_PARTS, PathReport
from tests.report import examples


def path_of(step_ms=100.0, *, steps=3, is_clean=False, **parts):
    both = dict.fromkeys(PATH_PARTS, 0.0) | parts
    return PathReport(steps=steps, step_ms=step_ms, is_clean=is_clean, parts_ms=both)


def text_of(report):
    file = io.StringIO()
    print_report(report, file=file, width=100)
    return file.getvalue()


def test_every_part_has_a_word():
    assert set(path_words.WORDS) == set(PATH_PARTS)


def test_parts_come_longest_first_and_small_ones_together():
    path = path_of(input=61.0, compute=37.6, python=0.9, latency=0.5)
    said = path_words.parts_sentence(path)
    assert said == "loader 61 % (61.0 ms), kernels 38 % (37.6 ms), the rest 1.4 %"
    assert sum(row.frac for row in path_words.shares(path)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("steps", "said"),
    [(0, "the replayed window"), (1, "the steady step as"), (1200, "the mean of 1,200 steady")],
)
def test_the_denominator_is_named(steps, said):
    assert path_words.whole(path_of(steps=steps)).startswith(said)


def test_without_a_kernel_on_it_faster_kernels_gain_nothing():
    assert path_words.kernels_sentence(path_of(compute=20.0, input=80.0)) == ""
    assert "as recorded" in path_words.kernels_sentence(path_of(input=100.0))
    clean = path_words.kernels_sentence(path_of(input=100.0, is_clean=True))
    assert clean == "No kernel lies on it: faster kernels alone would gain nothing."


def test_the_page_says_what_the_text_says():
    report = examples.input_bound()
    page = render(report)
    for one in (
        "Critical path",
        "what the",
        "loader",
        "1.06x to 1.11x",
        "profiler slowing the host",
    ):
        assert one in page, one
    clean = replace(report.ranks[0], path=path_of(operators=100.0, is_clean=True))
    page = render(replace(report, ranks=(clean,)))
    assert "faster kernels alone would gain nothing" in page
    assert "profiler slowing the host" not in page


def test_a_reason_stands_in_the_place_of_a_path():
    report = examples.with_startup()
    assert "Critical path: not shown, because replaying" in text_of(report)
    assert "Not shown, because replaying" in render(report)


def test_without_a_device_there_is_nothing_to_say():
    report = examples.cpu_only()
    rank = replace(
        report.ranks[0], path_reason="nothing ran on a device beside the training thread"
    )
    report = replace(report, ranks=(rank,))
    assert "Critical path" not in text_of(report)
    assert "Critical path" not in render(report)
