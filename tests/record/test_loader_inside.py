"""Batches are timed where they are made, and the cause of a slow loader is told from the others."""

import itertools
import os

import pytest

from stepscope import api
from stepscope.advice.input_cause import cause_of
from stepscope.schema.loader_rows import load_records
from tests.record.running import finish, plain, profile_command, start

pytestmark = [pytest.mark.slow, pytest.mark.alone]
COUNTS = ("--warmup", "2", "--clean", "4", "--active", "4")
BATCHES, ITEMS = 24, 4
FASHIONS = [
    *itertools.product(("computes", "waits", "collates"), ("0", "1", "4"), ("fork",), ((),)),
    ("computes", "2", "spawn", ()),
    ("waits", "2", "forkserver", ()),
    ("waits", "0", "fork", ("--iterable",)),
    ("computes", "2", "fork", ("--iterable",)),
]
CAUSES = {
    "computes": ("compute", "burn", "planted_transform"),
    "waits": ("storage", "planted_read", "make"),
    "collates": ("collate", "burn", "planted_collate"),
}


class Clocked:
    """A program that clocks itself, under the recorder."""

    def __init__(self, folder, kind, workers, context, more):
        self.kind, self.workers = kind, int(workers)
        self.clocks = folder / "clocks"
        self.clocks.mkdir()
        self.folder = folder / "run"
        script = ("clocked.py", kind, "--workers", workers, "--context", context, *more)
        command = profile_command(self.folder, *script, options=COUNTS)
        environment = {**os.environ, "CLOCKED_FOLDER": str(self.clocks)}
        self.ended = finish(start(command, env=environment), self.folder)

    def clock(self, name):
        """Wall and CPU time of all processes by the data set's own clock."""
        texts = [path.read_text().split() for path in self.clocks.glob(f"{name}-*")]
        return tuple(sum(int(text[place]) for text in texts) for place in (0, 1))


@pytest.fixture(
    scope="module", params=FASHIONS, ids=lambda fashion: "-".join([*fashion[:3], *fashion[3]])
)
def clocked(request, tmp_path_factory):
    return Clocked(tmp_path_factory.mktemp("clocked"), *request.param)


def test_the_split_is_that_of_the_data_sets_own_clock(clocked):
    assert clocked.ended.status == 0, clocked.ended.stderr
    rows = load_records(clocked.folder / "rank0").batches
    # A batch that is made ahead of the last one of an epoch of items is made, too.
    assert BATCHES <= sum(row.count for row in rows) <= BATCHES + 1
    phases = (
        ("items", "items_ns", "items_cpu_ns"),
        ("collate", "collate_ns", "collate_cpu_ns"),
    )
    # A tenth of the whole batch: a core that is taken away between two clocks belongs to neither.
    slack = 20_000_000 + 0.1 * sum(clocked.clock(name)[0] for name, _, _ in phases)
    for name, wall, cpu in phases:
        own_wall, own_cpu = clocked.clock(name)
        assert sum(getattr(row, wall) for row in rows) == pytest.approx(own_wall, 0, slack)
        assert sum(getattr(row, cpu) for row in rows) == pytest.approx(own_cpu, 0, slack)


def test_each_batch_is_told_by_its_worker_and_arrives_once(clocked):
    records = load_records(clocked.folder / "rank0")
    expected = set(range(clocked.workers)) if clocked.workers else {-1}
    assert {row.worker for row in records.batches} == expected
    assert len({row.pid for row in records.batches}) == max(clocked.workers, 1)
    assert len(records.deliveries) == BATCHES
    # Only the first worker looks how much memory it holds.
    assert {row.worker for row in records.memory} == ({0} if clocked.workers else set())
    assert all(row.own_bytes > 0 for row in records.memory)
    if clocked.workers:
        made = sorted(row.batch for row in records.batches)
        assert made == sorted(set(made))
        assert {one.batch for one in records.deliveries} <= set(made)
        assert all(row.send_ns > 0 for row in records.batches if row.batch < BATCHES // 2)


def test_the_cause_and_the_planted_function_are_named(clocked):
    report = api.analyze([clocked.folder])
    (loader,) = report.loaders
    cause = cause_of(loader)
    kind, function, caller = CAUSES[clocked.kind]
    assert loader.role == "training"
    assert (loader.workers, loader.batch_size) == (clocked.workers, ITEMS)
    # On a machine with more to do than cores, waiting for a core is a true answer as well.
    assert cause is not None
    if cause.kind != "cores":
        assert cause.kind == kind
        assert f"{function} (called by {caller})" in cause.title
    assert loader.functions[0].function == function
    assert caller in loader.functions[0].path


def test_the_folder_and_the_size_of_the_files_are_named(clocked):
    if clocked.kind != "waits" or not clocked.workers:
        return
    places = {row.folder: row for row in api.analyze([clocked.folder]).loaders[0].places}
    place = places[str(clocked.clocks)]
    # A worker sees the files of its own batches only.
    assert {1: 8}.get(clocked.workers, 4) <= place.files <= 8
    assert place.mean_bytes == 3000.0
    assert place.type
    rows = load_records(clocked.folder / "rank0").batches
    assert all(row.opened == ITEMS * row.count for row in rows)
    assert sum(row.read_bytes for row in rows) >= 3000 * ITEMS * BATCHES


def test_a_batch_that_fails_is_not_counted(tmp_path):
    ended = finish(start(profile_command(tmp_path / "run", "fails.py", options=COUNTS)))
    assert ended.status == plain("fails.py").status == 1
    assert len(load_records(tmp_path / "run" / "rank0").batches) == 12
