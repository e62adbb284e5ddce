"""How figures read."""

import pytest

from stepscope.units import format_energy, format_hours, format_mass, format_money


@pytest.mark.parametrize(
    ("joules", "text"),
    [(0, "0.00 J"), (3599, "3599 J"), (3600, "1.00 Wh"), (3.6e6, "1.00 kWh"), (9.99e8, "278 kWh"), (3.6e9, "1.00 MWh"), (3.6e15, "1000 GWh")],
)  # fmt: skip
def test_energy(joules, text):
    assert format_energy(joules) == text


@pytest.mark.parametrize(
    ("grams", "text"), [(164.2, "164 g"), (1000, "1.00 kg"), (1.245e9, "1,245 t"), (5e6, "5.00 t")]
)
def test_mass(grams, text):
    assert format_mass(grams) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0.00 EUR"), (0.00123, "0.00123 EUR"), (0.12, "0.12 EUR"), (6720, "6,720 EUR"), (4.672e6, "4.67 million EUR")],
)  # fmt: skip
def test_money(amount, text):
    assert format_money(amount, "EUR") == text


def test_hours():
    assert format_hours(0.25) == "0.25 GPU-hours"
    assert format_hours(3_115_079.4) == "3,115,079 GPU-hours"
