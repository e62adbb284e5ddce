"""A report of a run that was watched, made up: two devices, an evaluation, a plan of 100 runs."""

import tempfile
from pathlib import Path

from msgspec.structs import replace

from stepscope.cost.of_report import with_use_and_cost
from stepscope.cost.options import CostOptions
from stepscope.schema.cost import CostReport
from stepscope.schema.report import Report
from stepscope.schema.samples import End, MeterSample
from stepscope.watch.store import SampleWriter
from tests.known import known
from tests.report import examples
from tests.watch import recorded, rows
from tests.watch.recorded import BOOT_NS, ZERO_NS

from stepscope.schema.run_folder import load_run, write_document  # isort: skip

UUIDS = ("GPU-1", "GPU-2")


def folder_of(folder, uuids=UUIDS, seconds=120):
    """A run folder of two minutes: devices work in training steps, and idle elsewhere."""
    write_document(folder / "run.json", recorded.run().manifest)
    (folder / "rank0").mkdir()
    write_document(folder / "rank0" / "recording.json", recorded.recording())
    lines = ["number,kind,start_ns,duration_ns,loader_wait_ns,count\n"]
    lines += [row.line() for row in recorded.rank().steps]
    (folder / "rank0" / "steps.csv").write_text("".join(lines), encoding="utf-8")
    writer = SampleWriter(folder, rows.start(time_ns=BOOT_NS + ZERO_NS, perf_ns=ZERO_NS))
    writer.write(0.0, [rows.device_start(uuid) for uuid in uuids])
    joules = 0.0
    for at in (place / 2 for place in range(2 * seconds + 1)):
        works = 20 <= at - 0.5 < 60 or 70 <= at - 0.5 < 110
        joules += 250.0 if works else 50.0
        row = {"busy_frac": 0.9 if works else 0.0, "working_frac": 0.6 if works else 0.0}
        devices = [rows.device(at, uuid, energy_mj=int(1000 * joules), **row) for uuid in uuids]
        meter = MeterSample(at_s=at, meter="rapl:0:package-0", part="cpu", joules=80 * at)
        writer.write(at, [rows.host(at), *devices, meter])
    writer.close(End(at_s=float(seconds), own_cpu_s=0.12, own_rss_bytes=30_000_000))
    return folder


def used(options: CostOptions | None = None, uuids: tuple[str, ...] = UUIDS) -> Report:
    """The report."""
    options = options or CostOptions(runs=100, price=3.0, currency="EUR", site="snellius")
    with tempfile.TemporaryDirectory() as folder:
        run = load_run(folder_of(Path(folder), uuids))
        report = with_use_and_cost(examples.input_bound(), run, options, {})
    cost = known(report.cost)
    return replace(
        report, cost=replace(cost, run=_named(cost.run), plan=cost.plan and _named(cost.plan))
    )


def _named(one: CostReport) -> CostReport:
    """As if the run's folder had a name that is always the same."""
    return replace(one, subject="runs/a: " + one.subject.rpartition(": ")[2])
