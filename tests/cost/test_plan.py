"""A plan's figures against hand-made arithmetic and published estimates."""

import math
import re
from pathlib import Path

import msgspec
import pytest

from stepscope.cost.facts import RunFacts
from stepscope.cost.options import CostOptions, with_environment
from stepscope.cost.plan import price_plan
from stepscope.cost.published import entries
from stepscope.cost.span import Span, known, not_known
from stepscope.cost.text import render
from stepscope.errors import OptionError
from stepscope.schema.cost import CostReport
from stepscope.units import J_PER_KWH, J_PER_MWH

GPT3 = CostOptions(
    flops=3.14e23, flops_per_second=28e12, device="V100", watts=300, price=1.5, currency="USD"
)


@pytest.fixture(autouse=True)
def no_slurm(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _name: None)


def price(**stated):
    return price_plan(CostOptions(**stated), {})


def test_gpt3_time_and_money_are_the_published_ones():
    report = price_plan(GPT3, {})
    assert report.gpu_years == pytest.approx(355.6, abs=0.05)
    assert report.money.value == pytest.approx(4.67e6, rel=0.002)
    assert report.energy.devices.value == pytest.approx(934.5 * J_PER_MWH, rel=1e-3)
    rows = {(row.quantity, row.published) for row in report.published}
    assert rows == {("gpu-years", 355), ("money", 4.6e6), ("energy", 188.70192), ("energy", 1287)}


def test_published_energies_follow_from_their_own_inputs():
    energies = [entry for entry in entries() if entry.energy_mwh]
    assert len(energies) == 2
    for entry in energies:
        assert entry.reproduced_mwh() == pytest.approx(entry.energy_mwh, rel=1e-3)


@pytest.mark.parametrize(
    ("flops_per_second", "watts", "pue", "mwh"),
    [(130e12, 250, "1.125", 188.7), (24.6e12, 330, "1.1", 1287)],
)
def test_with_their_inputs_we_give_their_energy(flops_per_second, watts, pue, mwh):
    report = price(flops=3.14e23, flops_per_second=flops_per_second, watts=watts, pue=pue, host=0.0)
    assert report.energy.total.value == pytest.approx(mwh * J_PER_MWH, rel=1e-3)


def test_the_reasons_multiply_to_the_difference():
    rows = [row for row in price_plan(GPT3, {}).published if row.quantity == "energy"]
    assert len(rows) == 2
    for row in rows:
        assert row.ours is not None
        factors = [float(factor) for factor in re.findall(r"([0-9.]+) x from", row.why)]
        assert math.prod(factors) == pytest.approx(row.ours / row.published, rel=0.02)
        assert f"{row.ours / row.published:.2f} times that" in row.why


def test_other_work_has_nothing_beside_it():
    assert price(flops=1e22, flops_per_second=1e14).published == ()


def test_an_hour_of_an_h100_by_hand():
    """0.55 kWh, 0.12 EUR at 0.19 EUR and a PUE of 1.2, 164 g at 251 g a kWh."""
    report = price(
        gpus=1, hours=1, device="H100", watts=420, host=0.3, pue="1.2", grid="251",
        electricity="0.19", currency="EUR",
    )  # fmt: skip
    assert report.energy.total.value == pytest.approx(0.546 * 1.2 * J_PER_KWH)
    assert report.electricity.value == pytest.approx(0.1245, abs=1e-4)
    assert report.carbon.value == pytest.approx(164.5, abs=0.1)
    assert report.carbon.low == report.carbon.high


def test_every_known_figure_has_a_range_that_holds_it():
    report = price(gpus=8, hours=24, runs=10, device="H100", site="snellius", idle=0.3)
    parts = report.energy
    for figure in (
        report.waste, report.money, report.units, report.electricity, report.carbon,
        parts.devices, parts.host, parts.building, parts.total,
    ):  # fmt: skip
        low, value, high = figure.low, figure.value, figure.high
        assert low is not None
        assert value is not None
        assert high is not None
        assert low <= value <= high
        assert figure.basis == "modelled"
    assert report.gpu_hours == 1920
    assert report.waste.value == pytest.approx(0.3 * 3.5 * 1920)
    assert report.units.value == 1920 * 192
    assert {rate.key for rate in report.rates} >= {"H100", "NL", "gpu_h100", "cluster"}


def test_money_is_exchanged_only_where_it_must_be():
    dollars = price(gpus=1, hours=1, device="H100", currency="USD", electricity="US")
    assert "exchange" not in {rate.kind for rate in dollars.rates}
    euros = price(gpus=1, hours=1, device="H100", currency="EUR")
    assert "exchange" in {rate.kind for rate in euros.rates}
    assert euros.money.value == pytest.approx(3.5 / 1.08)
    assert euros.money.low == pytest.approx(2.69 / 1.20)


def test_what_is_not_known_is_said_and_never_zero():
    report = price(gpus=1, hours=1, device="abacus")
    for figure in (report.money, report.waste, report.electricity, report.carbon, report.units):
        assert figure.value is None
        assert figure.basis == "not-known"
        assert figure.how
    assert "abacus" in report.notes[0]


def test_waste_is_told_in_the_site_s_units_too():
    report = price(gpus=2, hours=10, device="H100", site="snellius", idle=0.25)
    assert report.units.value == 20 * 192
    wasted = report.units_waste
    assert wasted is not None
    assert (wasted.value, wasted.unit) == (pytest.approx(5 * 192), "SBU")
    lines = render(report).splitlines()
    names = [line[:13].strip() for line in lines]
    assert names.index("Wasted units") < names.index("Site units")
    unknown = price(gpus=2, hours=10, device="H100", site="snellius")
    assert unknown.units_waste is not None
    assert unknown.units_waste.value is None
    assert "Wasted units" not in render(unknown)


def test_a_country_without_a_price_of_electricity_has_none():
    report = price(gpus=1, hours=1, device="H100", grid="CN")
    assert report.electricity.value is None
    assert report.carbon.value is not None


def test_the_command_line_goes_before_the_environment_before_the_table():
    environ = {"STEPSCOPE_PUE": "1.5", "STEPSCOPE_PRICE": "9", "STEPSCOPE_CURRENCY": "USD"}
    report = price_plan(CostOptions(gpus=1, hours=1, device="H100", pue="1.1"), environ)
    origins = {rate.kind: (rate.value, rate.origin) for rate in report.rates}
    assert origins["pue"] == (1.1, "command line")
    assert origins["price"] == (9.0, "environment")
    assert origins["power"] == (700.0, "built-in")
    report = price_plan(CostOptions(gpus=1, hours=1, device="H100"), {"STEPSCOPE_WATTS": "500"})
    assert next((r.value, r.origin) for r in report.rates if r.kind == "power") == (
        500.0,
        "environment",
    )
    assert report.energy.devices.value == 500 * 3600


def test_a_site_s_pue_goes_before_the_table_and_after_a_file(tmp_path):
    def used(**stated):
        report = price(gpus=1, hours=1, device="MI250X", site="lumi", **stated)
        return next(rate.value for rate in report.rates if rate.kind == "pue")

    assert used() == 1.04
    path = tmp_path / "rates.toml"
    path.write_text('[pue.LUMI]\nvalue = 1.02\nunit = "ratio"\ndate = "2027-01-01"\nsource = "s"\n')
    assert used(rates=(path,)) == 1.02


def facts(**changed):
    base = {
        "source": "runs/a",
        "seconds": 1800.0,
        "gpus": 2,
        "device": "NVIDIA H100 80GB HBM3",
        "devices": known(Span(1e6, 1e6, 1e6), "J", "measured", "energy counter"),
        "host": known(Span(2e5, 2e5, 2e5), "J", "attributed", "RAPL"),
        "idle_frac": 0.25,
    }
    return RunFacts(**{**base, **changed})


def test_a_watched_run_keeps_its_measured_energy():
    report = price_plan(CostOptions(), {}, facts())
    assert report.gpu_hours == 1.0
    assert report.device == "H100"
    assert (report.energy.devices.value, report.energy.devices.basis) == (1e6, "measured")
    assert (report.energy.host.value, report.energy.host.basis) == (2e5, "attributed")
    assert report.waste.value == pytest.approx(0.25 * 3.5)


def test_a_watched_run_many_times_is_a_model():
    report = price_plan(CostOptions(runs=10_000), {}, facts())
    assert report.gpu_hours == 10_000
    assert (report.energy.devices.value, report.energy.devices.basis) == (1e10, "modelled")
    assert "10,000 times" in report.energy.devices.how


def test_a_run_without_devices_is_priced_by_its_host():
    report = price_plan(CostOptions(price=1.0), {}, facts(gpus=0, device=""))
    assert report.energy.devices.value is None
    assert report.energy.total.value == pytest.approx(2e5 * 1.2)


def test_a_run_whose_host_is_not_known_and_has_no_device_has_no_energy():
    nothing = facts(gpus=0, device="", host=not_known("J", "RAPL is for root only"))
    report = price_plan(CostOptions(), {}, nothing)
    assert report.energy.total.value is None
    assert report.carbon.value is None


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        ({}, "say how long"),
        ({"hours": -1.0}, "--hours must be a finite number"),
        ({"hours": float("nan")}, "--hours must be a finite number"),
        ({"hours": 1.0, "gpus": 0}, "at least 1"),
        ({"hours": 1.0, "idle": 1.5}, "between 0 and 1"),
        ({"flops": 1e20}, "only of use together"),
        ({"flops": 1e20, "flops_per_second": 0.0}, "above 0"),
        ({"flops": 1e20, "flops_per_second": 1e12, "hours": 1.0}, "not both"),
        ({"hours": 1.0, "pue": "0.9"}, "at least 1"),
        ({"hours": 1.0, "pue": "moon"}, "cluster, laptop"),
        ({"hours": 1.0, "grid": "ZZ"}, "there is no grid rate"),
        ({"hours": 1.0, "currency": "DKK"}, "EUR, USD"),
        ({"hours": 1.0, "partition": "gpu"}, "needs a --site"),
        ({"hours": 1.0, "site": "lumi", "partition": "gpu"}, "standard-g, small-g"),
    ],
)
def test_a_plan_that_cannot_be_is_one_sentence(stated, says):
    with pytest.raises(OptionError, match=says):
        price(**stated)


def test_a_variable_that_is_no_number_is_named():
    with pytest.raises(OptionError, match="STEPSCOPE_PRICE must be a number"):
        with_environment(CostOptions(hours=1.0), {"STEPSCOPE_PRICE": "cheap"})


def test_files_of_rates_from_the_environment_come_first():
    options = with_environment(
        CostOptions(rates=(Path("b"),)), {"STEPSCOPE_RATES": "/etc/a.toml:/c.toml"}
    )
    assert options.rates == (Path("/etc/a.toml"), Path("/c.toml"), Path("b"))


def test_the_document_survives_its_own_form():
    report = price(gpus=1, hours=1, device="H100", site="snellius")
    assert msgspec.json.decode(msgspec.json.encode(report), type=CostReport) == report
