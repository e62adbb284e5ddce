"""A gain in words: a range, a bound, a measurement, or nothing."""

from __future__ import annotations

import pytest

from stepscope.report.sentences import gain_sentence
from stepscope.schema.report import Gain


def said(low, high, basis):
    gain = Gain(
        low=low,
        high=high,
        unit="ratio",
        step_ms_low=100 / high,
        step_ms_high=100 / low,
        basis=basis,
    )
    return gain_sentence(gain)


@pytest.mark.parametrize(
    ("low", "high", "basis", "sentence"),
    [
        (
            1.25,
            2.0,
            "replay",
            "expected 1.25x to 2.00x: 50.0 ms to 80.0 ms in the mean step instead of 100 ms (replay of the recorded step)",
        ),
        (
            1.0,
            2.0,
            "bound",
            "expected at most 2.00x, 50.0 ms in the mean step instead of 100 ms; how much of it can be had is not known",
        ),
        (1.0, 1.019, "roofline", "expected to gain nothing by itself (roofline of the device)"),
        (
            1.0,
            1.01,
            "experiment",
            "measured 1.00x to 1.01x: 99.0 ms to 100 ms in the mean step instead of 100 ms",
        ),
    ],
)
def test_a_gain_in_words(low, high, basis, sentence):
    assert said(low, high, basis) == sentence
