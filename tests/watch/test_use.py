"""Samples laid beside a run's phases and steps, and what a step draws."""

import itertools

import msgspec.structs
import pytest

from stepscope.schema.samples import MeterSample, Notice
from stepscope.watch.axis import OWN_CLOCK, WALL_CLOCK
from stepscope.watch.energy import no_energy
from stepscope.watch.store import Watched
from stepscope.watch.use import use_of
from tests.watch import recorded
from tests.watch.recorded import BOOT_NS, ZERO_NS, S
from tests.watch.rows import device, host, watched

LATE_S = 4
"""The watcher began so long after the script."""
NOTHING = no_energy("not asked here")


def beside(seconds=116.0, **changed):
    """A watcher on the same machine that began a little after the script; a row each half second."""
    base = {
        "step": 0.5, "time_ns": BOOT_NS + ZERO_NS + LATE_S * S, "perf_ns": ZERO_NS + LATE_S * S,
    }  # fmt: skip
    return watched(seconds, **{**base, **changed})


def use(run=None, *some):
    report = use_of(run or recorded.run(), some or (beside(),), NOTHING, NOTHING)
    assert report is not None
    return report


def track(report, kind):
    (found,) = [one for one in report.tracks if one.kind == kind]
    return found


def in_training(at_s):
    """Whether a moment of the watcher lies in training steps of the run."""
    return 20 <= at_s + LATE_S < 60 or 70 <= at_s + LATE_S < 110


def test_samples_and_phases_meet_exactly_on_one_machine():
    """A device that is busy in training steps only is so in the report, and nowhere else."""

    def busy(at_s, uuid):
        # A sample stands for the time before it.
        return device(at_s, uuid, busy_frac=1.0 if in_training(at_s - 0.5) else 0.0)

    report = use(None, beside(make_device=busy))
    assert report.alignment == OWN_CLOCK
    assert (report.start_s, report.start_s + report.stretch_s * report.stretches) == (4.0, 120.0)
    assert [(one.part, one.start_s, one.end_s) for one in report.phases] == [
        ("startup", 0.0, 20.0),
        ("steps", 20.0, 60.0),
        ("evaluation", 60.0, 70.0),
        ("steps", 70.0, 110.0),
        ("exit", 110.0, 120.0),
    ]
    assert track(report, "gpu-busy").by_part == {
        "startup": 0.0,
        "steps": 1.0,
        "evaluation": 0.0,
        "exit": 0.0,
    }
    assert report.steps[0].start_s == 20.0
    assert report.steps[-1].end_s == 110.0


def test_a_machine_of_another_boot_is_aligned_by_the_clock_since_1970():
    other = beside(time_ns=BOOT_NS + ZERO_NS + 10 * S, perf_ns=77 * S)
    report = use(None, other)
    assert report.alignment == WALL_CLOCK
    assert report.start_s == 10.0


def test_rows_of_before_the_steady_clock_was_kept_are_aligned_too():
    old = beside(perf_ns=None)
    assert use(None, old).start_s == pytest.approx(4.0)


def test_rates_gauges_and_their_limits():
    def row(at_s):
        size = 100 if at_s == 50.0 else 60
        return host(at_s, cpu_s=3 * at_s, rss_bytes=size << 30, read_bytes=int(2e6 * at_s))

    report = use(None, beside(make_host=row))
    cpu, memory, reads = (track(report, kind) for kind in ("cpu", "memory", "reads"))
    assert (cpu.unit, cpu.limit, cpu.mean, cpu.peak) == ("cores", 16.0, 3.0, 3.0)
    assert (memory.limit, memory.peak) == (180 << 30, pytest.approx(100 << 30, rel=1e-3))
    assert (reads.unit, reads.mean) == ("bytes/s", 2e6)
    assert len(cpu.values) == report.stretches == 232
    assert all(value is not None for value in cpu.values)


def test_what_a_device_does_not_tell_has_no_track():
    def silent(at_s, uuid):
        return device(at_s, uuid, working_frac=None, tensor_frac=None, watts=None, energy_mj=None)

    kinds = {one.kind for one in use(None, beside(make_device=silent)).tracks}
    assert kinds == {"cpu", "memory", "reads", "gpu-busy", "gpu-memory"}


def test_two_watchers_of_a_node_are_one_node_and_its_device_is_one():
    report = use(None, beside(task=0), beside(task=1))
    assert [(one.kind, one.mean) for one in report.tracks if one.kind == "cpu"] == [("cpu", 8.0)]
    assert len([one for one in report.tracks if one.kind == "gpu-power"]) == 1


def test_two_nodes_are_two():
    report = use(None, beside(), beside(node="n1", uuids=("GPU-2",)))
    assert {one.node for one in report.tracks} == {"n0", "n1"}
    assert {one.device for one in report.tracks} == {"", "GPU-1", "GPU-2"}


def test_a_long_run_has_few_stretches_and_joined_steps():
    rows = recorded.steps(first=20, last=1020)
    report = use(recorded.run(recorded.rank(rows=rows)), beside(seconds=1100.0))
    assert report.stretches == 240
    assert len(report.steps) == 200
    assert report.steps[0].last == 4
    assert all(one.mean_ms == 1000.0 for one in report.steps)


def test_energy_of_a_step_is_that_of_the_steps_only():
    """100 W outside of training, 600 W inside: 600 J a step of a second, not the 437 J of the mean."""
    joules = list(
        itertools.accumulate(300.0 if in_training(at / 2 - 0.5) else 50.0 for at in range(233))
    )

    def drawing(at_s, uuid):
        return device(at_s, uuid, energy_mj=int(1000 * joules[round(2 * at_s)]))

    energy = use(None, beside(make_device=drawing)).energy
    assert (energy.steps, energy.samples_per_step) == (80, 32.0)
    assert energy.per_step.value == pytest.approx(600.0)
    assert energy.per_step.basis == "measured"
    assert "the host's is not in it" in energy.per_step.how
    assert energy.per_step.low < 600 < energy.per_step.high
    assert energy.per_sample.value == pytest.approx(600 / 32)


def with_meters(one: Watched) -> Watched:
    """40 W of the package."""
    rows = tuple(
        MeterSample(at_s=row.at_s, meter="rapl:0:package-0", part="cpu", joules=40 * row.at_s)
        for row in one.hosts
    )
    return msgspec.structs.replace(one, meters=rows)


def test_the_host_is_added_where_it_is_known():
    """Half of the node's busy time is the job's, so half of its 40 W."""
    energy = use(None, with_meters(beside())).energy
    assert energy.per_step.value == pytest.approx(500 + 20)
    assert energy.per_step.basis == "attributed"
    assert "devices and host" in energy.per_step.how


def test_a_run_without_devices_has_its_host():
    energy = use(None, with_meters(beside(uuids=()))).energy
    assert energy.per_step.value == pytest.approx(20)


def test_a_host_without_counters_says_why_as_the_summary_does():
    told = Notice(code="no-rapl", text="counters are for root only")
    without = msgspec.structs.replace(beside(uuids=()), notices=(told,))
    assert use(None, without).energy.per_step.how == "counters are for root only"


def test_steps_under_the_profiler_and_of_start_up_are_left_out():
    rows = (
        *recorded.steps("startup", 20, 25), *recorded.steps("profiled", 25, 40, 5),
        *recorded.steps("clean", 40, 60, 20),
    )  # fmt: skip
    assert use(recorded.run(recorded.rank(rows=rows))).energy.steps == 20


@pytest.mark.parametrize(
    ("rows", "some", "says"),
    [
        ((), {}, "no step ran without the profiler"),
        (recorded.steps(first=20, last=21), {}, "in all; samples tell"),
        (None, {"seconds": 30.0}, "too little of the steps was sampled"),
        (None, {"uuids": ()}, "no energy counter"),
    ],
)
def test_an_energy_of_a_step_that_cannot_be_told_is_not_known(rows, some, says):
    energy = use(recorded.run(recorded.rank(rows=rows)), beside(**some)).energy
    for estimate in (energy.per_step, energy.per_sample):
        assert (estimate.value, estimate.basis) == (None, "not-known")
        assert says in estimate.how


@pytest.mark.parametrize(
    ("loaders", "world", "samples", "says"),
    [
        ((recorded.loader(),), 1, 32.0, ""),
        ((recorded.loader(batches=321),), 1, 128.0, ""),
        ((recorded.loader(), recorded.loader(number=1, batch_size=8)), 1, 40.0, ""),
        ((recorded.loader(), recorded.loader(number=1, role="evaluation")), 1, 32.0, ""),
        ((recorded.loader(sampler="DistributedSampler"),), 4, 128.0, ""),
        ((recorded.loader(),), 4, None, "whether ranks take different samples is not known"),
        ((recorded.loader(batch_size=None),), 1, None, "does not tell its batch size"),
        ((), 1, None, "no loader that feeds training"),
    ],
)
def test_samples_in_a_step(loaders, world, samples, says):
    run = recorded.run(recorded.rank(loaders=loaders, world_size=world))
    energy = use(run).energy
    assert energy.samples_per_step == samples
    assert says in energy.per_sample.how


def test_the_cost_of_watching_is_told_where_the_end_was_seen():
    assert use(None, beside()).own_frac == pytest.approx(1.0 / 116)
    assert use(None, beside(end=None)).own_cpu_s is None


def test_a_run_that_was_hardly_sampled_has_no_report():
    assert use_of(recorded.run(), (beside(seconds=0.0),), NOTHING, NOTHING) is None
    assert use_of(recorded.run(), (), NOTHING, NOTHING) is None
