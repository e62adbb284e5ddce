"""The loaders' rows, put together."""

import dataclasses

import pytest

from stepscope.job.loaders import files_of, loader_reports, setting_of
from stepscope.schema import loader_rows as rows
from stepscope.schema.loader_rows import (
    BatchRow,
    BusyFunction,
    DataPlace,
    Delivery,
    LoaderUse,
    WorkerMemory,
    csv_line,
    json_line,
)
from stepscope.schema.run_folder import RankFolder, RankRecording
from tests.known import known

MS = 1_000_000


def batch(number, start, *, worker=0, items=6, cpu=1, collate=2, queued=0, count=1, read=100):
    return BatchRow(
        0, worker, 10 + worker, number, start * MS, items * MS, cpu * MS, collate * MS, collate * MS,
        1 * MS, 1 * MS, read, 0, 3, queued * MS, count,
    )  # fmt: skip


def use(number=0, **changes):
    plain = LoaderUse(
        number=number, role="training", where="/x/train.py:9", dataset="Images", items=100,
        is_iterable=False, workers=2, start_method="fork", prefetch=2, batch_size=4,
        sampler="RandomSampler", pins=False, persistent=False, epochs=1, batches=2, wait_ns=9 * MS,
        first_wait_ns=5 * MS,
    )  # fmt: skip
    return dataclasses.replace(plain, **changes)


@pytest.fixture
def folder_of(tmp_path):
    def make(loaders, batches=(), deliveries=(), functions=(), places=(), memory=()):
        for name, lines in (
            (rows.BATCHES_NAME, map(csv_line, batches)),
            (rows.DELIVERIES_NAME, map(csv_line, deliveries)),
            (rows.FUNCTIONS_NAME, map(json_line, functions)),
            (rows.PLACES_NAME, map(json_line, places)),
            (rows.MEMORY_NAME, map(json_line, memory)),
        ):
            # A process that was killed may leave half a line.
            (tmp_path / name).write_text("".join(lines) + '{"loader":0,1,2')
        recording = RankRecording(
            rank=0, world_size=1, pid=1, torch_version=None, device="cpu", step_source="optimizer",
            steps_seen=1, startup_ns=None, clean_steps_ns=(5,), windows=(), own_cost_ns=0, time_ns=0,
            perf_ns=0, complete=True, cores=4, loaders=tuple(loaders),
        )  # fmt: skip
        return RankFolder(0, tmp_path, recording, (), None, ())

    return make


def report_of(folder):
    (report,) = loader_reports(folder, lambda place: place)
    return report


def test_the_parts_of_a_batch_sum_to_its_time(folder_of):
    report = report_of(folder_of([use()], [batch(0, 0, queued=4), batch(1, 0, worker=1, cpu=3)]))
    times = report.times
    assert times.batches == 2
    assert (times.items_wall_ms, times.items_cpu_ms, times.collate_wall_ms) == (6, 2, 2)
    assert times.queued_ms == 2
    parts = times.compute_ms + times.wait_ms + times.collate_ms + times.queued_ms
    assert parts == pytest.approx(8)
    assert times.wait_ms == pytest.approx(4 - 2 * 6 / 8)
    assert (times.read_bytes, times.opened) == (100, 3)
    assert [row.worker for row in report.by_worker] == [0, 1]
    assert [row.cpu_frac for row in report.by_worker] == [3 / 8, 5 / 8]


def test_what_the_system_does_not_tell_is_not_told(folder_of):
    row = dataclasses.replace(batch(0, 0), queued_ns=-1, read_bytes=-1, opened=-1)
    times = report_of(folder_of([use()], [row, batch(1, 9)])).times
    assert (times.queued_ms, times.read_bytes, times.opened) == (None, None, None)
    assert times.wait_ms == 5


def test_handing_over_begins_when_a_batch_is_made_and_asked_for(folder_of):
    # Batch 0 is asked for while it is made and arrives 3 ms after; batch 1 lies ready and takes 2 ms.
    deliveries = [Delivery(0, 0, 4 * MS, 11 * MS, 0), Delivery(0, 1, 40 * MS, 42 * MS, 0)]
    report = report_of(folder_of([use()], [batch(0, 0), batch(1, 8)], deliveries))
    assert report.times.handover_ms == pytest.approx(2.5)


def test_a_delivery_belongs_to_the_making_of_its_own_epoch(folder_of):
    made = [batch(0, 0), batch(0, 100)]
    deliveries = [Delivery(0, 0, 1 * MS, 9 * MS, 0), Delivery(0, 0, 101 * MS, 109 * MS, 0)]
    assert report_of(folder_of([use()], made, deliveries)).times.handover_ms == pytest.approx(1)


def test_samples_of_all_workers_count_together(folder_of):
    def busy(function, worker, wall, cpu):
        path = ("Images.__getitem__", function)
        return BusyFunction(0, worker, "items", function, "/x/d.py", 7, path, "inner", 5, wall, cpu)

    functions = [busy("a", 0, 10, 10), busy("b", 0, 10, 0), busy("a", 1, 20, 5)]
    report = report_of(folder_of([use()], [batch(0, 0)], functions=functions))
    assert [(row.function, row.share, row.cpu_frac) for row in report.functions] == [
        ("a", 0.75, 0.5),
        ("b", 0.25, 0.0),
    ]


def test_files_that_several_workers_saw_count_once(folder_of):
    places = [DataPlace(0, 0, "/d", 3, 2, 10), DataPlace(0, 1, "/d", 4, 0, 0)]
    (place,) = report_of(folder_of([use()], [batch(0, 0)], places=places)).places
    assert (place.folder, place.files, place.mean_bytes) == ("/d", 4, 5)


def test_predictions_get_the_batches_of_the_loader_that_feeds_training(folder_of):
    batches = [batch(0, 0), batch(1, 9, cpu=5), batch(2, 9, count=7)]
    folder = folder_of([use(), use(1, role="evaluation")], batches)
    setting = setting_of(folder)
    assert setting.work_ns == (9 * MS, 9 * MS)
    assert setting.cpu_frac == pytest.approx((4 + 8) / 18)
    assert (setting.cores, setting.clean_step_ns) == (4, 5)
    # With two that feed it nobody knows which batches a step takes.
    assert setting_of(folder_of([use(), use(1)], batches)).work_ns is None
    other = use(1, where="other.py:3", batches=0)
    assert setting_of(folder_of([use(batches=1), other], batches)).work_ns is None


def test_loaders_that_one_line_makes_for_each_epoch_are_one(folder_of):
    batches = [batch(0, 0), dataclasses.replace(batch(0, 9), loader=1)]
    made = [use(batches=1, epochs=1), use(1, batches=0, epochs=1)]
    setting = setting_of(folder_of(made, batches))
    assert len(known(setting.work_ns)) == 2
    assert setting.epoch_batches == 1


def test_the_very_files_are_known_folders_by_turns(folder_of):
    places = [
        DataPlace(0, 0, "/a", 2, 2, 10, ("1.png", "2.png")),
        DataPlace(0, 1, "/b", 1, 1, 5, ("3.png",)),
        DataPlace(0, 1, "/a", 1, 1, 5, ("1.png",)),
    ]
    found = files_of(folder_of([use()], places=places))
    assert [str(path) for path in found] == ["/a/1.png", "/b/3.png", "/a/2.png"]


def test_a_loader_of_which_nothing_was_timed_keeps_its_settings(folder_of):
    report = report_of(folder_of([use()]))
    assert report.times is None
    assert (report.workers, report.first_wait_ms) == (2, 5)


def test_the_most_that_a_worker_of_the_training_loader_held_is_what_one_takes(folder_of):
    memory = [WorkerMemory(0, 0, 100), WorkerMemory(0, 0, 300), WorkerMemory(1, 0, 900)]
    loaders = [use(), use(1, role="evaluation")]
    assert setting_of(folder_of(loaders, [batch(0, 0)], memory=memory)).worker_bytes == 300
    assert setting_of(folder_of(loaders, [batch(0, 0)])).worker_bytes is None


@pytest.mark.parametrize(
    ("batches", "steps", "each"),
    [(24, 23, 1.0), (96, 23, 4.0), (1043, 1000, 1.043), (23, 46, 0.5), (7, 0, None)],
)
def test_a_step_that_was_only_begun_makes_no_batch_more_of_each(folder_of, batches, steps, each):
    folder = folder_of([use(batches=batches)], [batch(0, 0)])
    seen = dataclasses.replace(folder.recording, steps_seen=steps)
    assert setting_of(dataclasses.replace(folder, recording=seen)).per_step == each
