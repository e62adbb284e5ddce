"""Units: three significant digits, a fitting unit, and words for what was not measured."""

import pytest

from stepscope import units


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0.00 ms"),
        (0.0000005, "0.50 ns"),
        (0.0009994, "999 ns"),
        (0.0009996, "1.00 µs"),
        (0.0125, "12.5 µs"),
        (1.0, "1.00 ms"),
        (152.94, "153 ms"),
        (9999.4, "9999 ms"),
        (10_000, "10.0 s"),
        (599_000, "599 s"),
        (600_000, "10.0 min"),
        (36_000_000, "10.0 h"),
        (-2.5, "-2.50 ms"),
    ],
)
def test_durations_have_three_digits_and_a_fitting_unit(ms, text):
    assert units.format_ms(ms) == text


@pytest.mark.parametrize(
    ("frac", "text"),
    [
        (0, "0 %"),
        (0.0004, "<0.1 %"),
        (-0.0004, ">-0.1 %"),
        (0.0567, "5.7 %"),
        (0.0994, "9.9 %"),
        (0.0996, "10 %"),
        (0.72, "72 %"),
        (1.0, "100 %"),
    ],
)
def test_shares_keep_a_digit_while_it_matters(frac, text):
    assert units.format_frac(frac) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1500, "1.50 kB"), (34_084_028_416, "34.1 GB"), (2e12, "2.00 TB")],
)
def test_bytes_are_decimal(count, text):
    assert units.format_bytes(count) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "ms", "not measured"),
        ("sgemm", "text", "sgemm"),
        (45.46, "ms", "45.5 ms"),
        (12.5, "us", "12.5 µs"),
        (0.3, "frac", "30 %"),
        (12345, "count", "12,345"),
        (2000, "bytes", "2.00 kB"),
        (11.3, "GB/s", "11.3 GB/s"),
    ],
)
def test_evidence_reads_with_its_unit(value, unit, text):
    assert units.format_value(value, unit) == text
