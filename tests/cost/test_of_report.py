"""Utilisation, energy and money in a report."""

import dataclasses

import msgspec
import msgspec.structs
import pytest

from stepscope.cost.facts import facts_of_run, read_facts, read_summary
from stepscope.cost.of_report import facts_of_trace, with_use_and_cost
from stepscope.cost.options import CostOptions
from stepscope.cost.plan import price_plan
from stepscope.cost.waste import StepTime, waste_of
from stepscope.errors import OptionError
from stepscope.schema.cost import Estimate
from stepscope.schema.run_folder import load_run, write_document
from stepscope.schema.samples import End
from stepscope.watch.store import SampleWriter
from tests.known import known
from tests.report import examples
from tests.watch import recorded, rows
from tests.watch.recorded import BOOT_NS, ZERO_NS

NO_SITE = CostOptions(site="none")


def run_folder(folder, *, uuids=("GPU-1",), busy_frac=0.75, samples=True, device="cuda"):
    """A recorded run of two minutes; watched by a device each half second, 500 W."""
    write_document(folder / "run.json", recorded.run().manifest)
    (folder / "rank0").mkdir()
    write_document(folder / "rank0" / "recording.json", recorded.recording(device=device))
    lines = ["number,kind,start_ns,duration_ns,loader_wait_ns,count\n"]
    lines += [row.line() for row in recorded.rank().steps]
    (folder / "rank0" / "steps.csv").write_text("".join(lines), encoding="utf-8")
    if samples:
        begun = {"time_ns": BOOT_NS + ZERO_NS, "perf_ns": ZERO_NS}
        writer = SampleWriter(folder, rows.start(**begun))
        writer.write(0.0, [rows.device_start(uuid) for uuid in uuids])
        for at in (place / 2 for place in range(241)):
            devices = [rows.device(at, uuid, busy_frac=busy_frac) for uuid in uuids]
            writer.write(at, [rows.host(at), *devices])
        writer.close(End(at_s=120.0, own_cpu_s=0.1, own_rss_bytes=30_000_000))
    return load_run(folder)


def priced(run, report=None, options=NO_SITE, **environ):
    return with_use_and_cost(report or examples.input_bound(), run, options, environ)


def test_a_watched_run_has_utilisation_energy_and_money(tmp_path):
    report = priced(run_folder(tmp_path))
    assert report.use.energy.devices.value == pytest.approx(60_000)
    assert report.use.energy.per_step.value == pytest.approx(500)
    assert report.use.energy.per_sample.value == pytest.approx(500 / 32)
    assert report.cost.plan is None
    assert report.cost.run.gpu_hours == pytest.approx(120 / 3600)
    # An H100 at the built-in price, a quarter of the time idle.
    assert report.cost.run.money.value == pytest.approx(3.5 / 30)
    assert report.cost.run.waste.value == pytest.approx(3.5 / 30 / 4)
    assert report.cost.run.energy.devices.basis == "measured"


def test_the_cost_command_gives_the_same_numbers(tmp_path):
    """For the run, and for the run 10,000 times."""
    report = priced(run_folder(tmp_path), options=CostOptions(runs=10_000, site="none"))
    facts = read_facts(tmp_path)
    assert price_plan(CostOptions(site="none"), {}, facts) == report.cost.run
    assert price_plan(CostOptions(runs=10_000, site="none"), {}, facts) == report.cost.plan
    assert report.cost.plan.money.value == pytest.approx(10_000 * report.cost.run.money.value)


def test_rates_of_environment_and_site_are_used(tmp_path):
    run = run_folder(tmp_path)
    report = priced(run, options=CostOptions(site="snellius"), STEPSCOPE_PRICE="30")
    assert report.cost.run.money.value == pytest.approx(1.0)
    assert (report.cost.run.units.value, report.cost.run.units.unit) == (
        pytest.approx(192 / 30),
        "SBU",
    )


def test_each_finding_has_its_waste_in_run_and_plan(tmp_path):
    options = CostOptions(price=30.0, runs=100, currency="EUR", site="none")
    report = priced(run_folder(tmp_path), options=options)
    first, second = report.cost.findings
    assert (first.code, second.code) == ("IN001", "CP001")
    # Its 29.8 % of a step, of which the profiler's 6.1 % of a clean step may be part.
    assert first.run.value == pytest.approx(0.298)
    assert first.run.low == pytest.approx((0.298 - 0.061 / 1.061) * 1.061)
    assert first.run.high == pytest.approx(0.298 * 1.061)
    assert first.plan.value == pytest.approx(29.8)


def test_waste_counts_in_steps_only(tmp_path):
    report = examples.input_bound()
    from tests.report.test_run import RUN  # noqa: PLC0415

    recording = msgspec.structs.replace(known(report.recording), run=RUN, inflation_frac=None)
    report = msgspec.structs.replace(report, recording=recording)
    found = priced(run_folder(tmp_path), report, CostOptions(price=30.0, site="none"))
    assert found.cost.findings[0].run.value == pytest.approx(0.298 / 2)


MONEY = Estimate(value=100.0, low=50.0, high=200.0, unit="EUR", basis="modelled", how="")


@pytest.mark.parametrize(
    ("changed", "ranks", "value"),
    [
        ({}, 4, 29.8),
        ({"rank": 2}, 4, 29.8 / 4),
        ({"rank": 2, "regime": "straggler"}, 4, 29.8),
        ({"regime": "compute"}, 4, None),
        ({"share_frac": None}, 4, None),
        ({"regime": "device-unused", "share_frac": 1.0}, 1, 100.0),
    ],
)
def test_waste_by_regime_and_rank(changed, ranks, value):
    finding = msgspec.structs.replace(examples.INPUT_FINDING, **changed)
    waste = waste_of(finding, MONEY, StepTime(steps_frac=1.0, profiler_frac=0.0, ranks=ranks))
    if value is None:
        assert waste.value is None
        assert "gain" in waste.how
    else:
        assert waste.value == pytest.approx(value)
        assert waste.low == pytest.approx(value / 2)
        assert waste.high == pytest.approx(2 * value)


def test_a_run_without_a_device_is_priced_by_its_cores(tmp_path):
    run = run_folder(tmp_path, uuids=(), device="cpu")
    # What a device costs is nothing to it.
    options = CostOptions(price=2.0, core_price=0.5, currency="USD", runs=10)
    report = priced(run, options=options)
    one = report.cost.run
    facts = facts_of_run(run, read_summary(run.path), "run")
    assert facts.cores > 0
    assert one.gpu_hours == 0
    assert one.core_hours == pytest.approx(facts.cores * facts.seconds / 3600)
    assert one.money.value == pytest.approx(0.5 * one.core_hours)
    assert one.money.unit == "USD"
    assert one.waste.value == pytest.approx(one.money.value * facts.idle_frac)
    assert "cores were idle" in one.waste.how
    assert report.cost.plan.money.value == pytest.approx(10 * one.money.value)
    assert [rate.key for rate in one.rates if rate.kind == "core"] == ["hour"]
    for waste in report.cost.findings:
        assert waste.run.value is None
        assert "no device" in waste.run.how
    assert report.use.energy.per_step.value is None


def test_cores_are_charged_in_the_units_of_the_site(tmp_path):
    run = run_folder(tmp_path, uuids=(), device="cpu")
    one = priced(run, options=CostOptions(site="snellius")).cost.run
    assert one.units.value == pytest.approx(one.core_hours)
    assert "rome" in one.units.how
    assert ("units", "rome", "SBU per core-hour") in {(r.kind, r.key, r.unit) for r in one.rates}
    stated = priced(run, options=CostOptions(site="snellius", partition="genoa")).cost.run
    assert "genoa" in stated.units.how
    elsewhere = priced(run, options=CostOptions(site="lumi")).cost.run
    assert elsewhere.units.value is None


def test_idle_cores_are_those_that_the_run_held_and_did_not_use(tmp_path):
    run = run_folder(tmp_path, uuids=(), device="cpu")
    summary = known(read_summary(run.path))
    facts = facts_of_run(run, summary, "run")
    held = sum(node.cores * node.wall_s for node in summary.nodes)
    used = sum(node.cpu_s for node in summary.nodes)
    assert 0 < used < held
    assert facts.idle_frac == pytest.approx(1 - used / held)
    assert facts.idle_of == "time of the allocated cores"


def test_a_recording_that_nobody_watched_has_no_price_without_a_device(tmp_path):
    run = run_folder(tmp_path, uuids=(), device="cpu", samples=False)
    one = priced(run, options=CostOptions(core_price=1.0)).cost.run
    assert one.money.value is None
    assert "how many cores" in one.money.how


def test_devices_that_no_sampler_saw_are_known_from_the_recorder(tmp_path):
    report = priced(run_folder(tmp_path, uuids=()), options=CostOptions(price=30.0))
    assert report.cost.run.money.value == pytest.approx(1.0)
    assert report.use.energy.devices.value is None
    assert report.cost.run.waste.value is None


def test_a_run_that_was_not_watched_has_money_and_no_utilisation(tmp_path):
    report = priced(run_folder(tmp_path, samples=False), options=CostOptions(price=30.0))
    assert (report.use, report.seen) == (None, ())
    assert report.cost.run.money.value == pytest.approx(1.0)
    assert "not watched" in read_facts(tmp_path).devices.how


def test_a_run_that_was_killed_is_priced_by_its_samples(tmp_path):
    run = run_folder(tmp_path)
    killed = dataclasses.replace(run.manifest, wall_ns=None, state="running")
    write_document(tmp_path / "run.json", killed)
    assert priced(load_run(tmp_path)).cost.run.gpu_hours == pytest.approx(120 / 3600)


def test_a_killed_run_without_samples_has_no_cost(tmp_path):
    run = run_folder(tmp_path, samples=False)
    killed = dataclasses.replace(run, manifest=dataclasses.replace(run.manifest, wall_ns=None))
    assert priced(killed).cost is None


def test_only_a_summary_gives_money_without_utilisation(tmp_path):
    run = run_folder(tmp_path)
    from stepscope.watch.closing import summary_of, write  # noqa: PLC0415

    write(tmp_path, summary_of(tmp_path))
    before = priced(run).cost.run
    for path in (tmp_path / "watch").iterdir():
        path.unlink()
    report = priced(run)
    assert report.use is None
    assert report.cost.run == before


def test_samples_that_cannot_be_read_are_told_and_the_rest_stands(tmp_path):
    run = run_folder(tmp_path, samples=False)
    (tmp_path / "watch.json").write_text("{}", encoding="utf-8")
    report = priced(run)
    assert report.use is None
    assert report.findings
    told = [notice for notice in report.health.notices if notice.code == "samples-unreadable"]
    assert len(told) == 1
    # Pricing again says it no second time.
    assert priced(run, report).health == report.health


def test_mistakes_that_samples_show_are_in_the_report(tmp_path):
    run = run_folder(tmp_path, busy_frac=0.0)
    assert priced(run).seen == ()
    for path in (tmp_path / "watch").glob("*.jsonl"):
        path.unlink()
    writer = SampleWriter(tmp_path, rows.start())
    writer.write(0.0, [rows.device_start()])
    for at in range(0, 400, 2):
        writer.write(at, [rows.host(float(at)), rows.device(float(at), busy_frac=0.0)])
    assert [finding.code for finding in priced(run).seen] == ["WA003"]
    assert "unfinished" in [notice.code for notice in priced(run).health.notices]


def test_a_trace_is_priced_by_the_hour_where_a_rate_is_asked_for():
    report = priced(None, options=CostOptions(price=2.0, currency="EUR", site="none"))
    assert report.use is None
    assert report.cost.run.subject.startswith("an hour of such steps: 1 device(s)")
    assert report.cost.run.money.value == 2.0
    assert report.cost.run.waste.value == pytest.approx(2 * (1 - 0.637))
    assert "of the time of the recorded steps" in report.cost.run.waste.how
    assert report.cost.run.energy.devices.basis == "modelled"
    assert facts_of_trace(report).devices.how == "a trace measures no energy"


def test_a_plan_of_a_trace_takes_its_hours():
    options = CostOptions(price=2.0, hours=24.0, runs=3, gpus=8, site="none")
    report = priced(None, options=options)
    assert report.cost.plan.gpu_hours == 24 * 3 * 8
    assert report.cost.run.gpu_hours == 1


def test_a_trace_without_a_rate_or_without_a_device_has_no_cost():
    assert priced(None, options=CostOptions()).cost is None
    assert priced(None, examples.cpu_only(), CostOptions(price=1.0)).cost is None


def test_rates_that_cannot_be_are_an_error(tmp_path):
    with pytest.raises(OptionError, match="STEPSCOPE_PRICE"):
        priced(run_folder(tmp_path), STEPSCOPE_PRICE="dear")


def test_longer_runs_and_more_devices_take_as_much_more_energy(tmp_path):
    run_folder(tmp_path)
    facts = read_facts(tmp_path)
    options = CostOptions(hours=1 / 10, gpus=4, runs=2, site="none")
    plan = price_plan(options, {}, facts)
    assert plan.energy.devices.value == pytest.approx(60_000 * 3 * 4 * 2)


def test_the_report_survives_its_own_form(tmp_path):
    report = priced(run_folder(tmp_path), options=CostOptions(runs=5, site="none"))
    assert msgspec.json.decode(msgspec.json.encode(report), type=type(report)) == report
