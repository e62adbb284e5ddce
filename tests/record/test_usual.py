"""The short way of the recorder: the same figures as by the long one, and left for whatever is not usual."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch

from stepscope.record.guard import Guard
from stepscope.record.job import Job, JobOptions
from stepscope.record.loaders import ROLE_EVERY
from stepscope.record.plan import Plan
from stepscope.record.usual_way import UsualWay
from stepscope.record.voice import Voice
from stepscope.schema.light import LIGHT_NAME, load_light
from stepscope.schema.loader_rows import load_records
from stepscope.schema.run_folder import load_run
from tests.known import known

EPOCHS, BATCHES = 3, 100
STEPS = EPOCHS * BATCHES
SAVED = 150
"""A checkpoint follows this step, which the next one is disturbed by."""


class Ones(torch.utils.data.Dataset[torch.Tensor]):
    """Items of ones."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return self.items

    def __getitem__(self, _):
        return torch.ones(4)


class Data(Ones):
    """Items some of which come from a loader inside, as those of a data set that packs others do."""

    def __init__(self, items):
        super().__init__(items)
        self.inner = torch.utils.data.DataLoader(Ones(1), batch_size=None)

    def __getitem__(self, index):
        if index % 40:
            return torch.full((4,), index / 100)
        (inner,) = self.inner
        return inner


def train(folder):
    """Epochs over a training loader, each with an evaluation behind it, and a checkpoint."""
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    loader = torch.utils.data.DataLoader(Data(2 * BATCHES), batch_size=2)
    others = torch.utils.data.DataLoader(Ones(20), batch_size=2)
    step = 0
    for _ in range(EPOCHS):
        for batch in loader:
            model(batch).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            if step == SAVED:
                torch.save(model.state_dict(), folder / "checkpoint.pt")
        with torch.no_grad():
            for batch in others:
                model(batch)


@pytest.fixture
def counted(monkeypatch):
    """How many steps and batches went the short way."""
    counts = {"steps": 0, "batches": 0}
    for name in counts:
        method = f"_count_{name[:-1] if name == 'steps' else 'batch'}"
        original = getattr(UsualWay, method)

        def count(self, *given, _original=original, _name=name):
            counts[_name] += 1
            return _original(self, *given)

        monkeypatch.setattr(UsualWay, method, count)
    return counts


def recorded(folder, plan, function):
    run = folder / "run"
    job = Job(JobOptions(name="usual", command=("usual",), plan=plan, out=str(run), analyze=False))
    job.begin()
    function(folder)
    job.end(None)
    return load_run(run).ranks[0]


@pytest.mark.parametrize("light", [False, True])
def test_usual_steps_and_batches_are_counted_as_all_others(tmp_path, counted, light):
    rank = recorded(tmp_path, Plan(warmup=2, clean=3, active=2, light=light), train)
    recording = known(rank.recording)
    # Most steps and batches behind the first few dozen went the short way.
    assert counted["steps"] > STEPS - 2 * ROLE_EVERY
    assert counted["batches"] > STEPS - 3 * ROLE_EVERY
    uses = {one.items: one for one in recording.loaders if one.batches}
    training, others = uses[2 * BATCHES], uses[20]
    assert (training.role, training.epochs, training.batches) == ("training", EPOCHS, STEPS)
    assert (others.role, others.epochs, others.batches) == ("evaluation", EPOCHS, EPOCHS * 10)
    run_time = known(recording.run_time)
    assert (run_time.evaluations, run_time.checkpoints, run_time.epochs) == (EPOCHS, 1, EPOCHS)
    parts = [
        getattr(run_time, f"{part}_ns")
        for part in ("startup", "steps", "evaluation", "checkpoint", "between", "exit", "stepscope")
    ]
    assert sum(parts) == run_time.wall_ns
    assert min(parts) >= 0
    if light:
        steps = known(load_light(rank.path / LIGHT_NAME))
        assert sum(row.count for row in steps.rows) == STEPS - 1
        return
    # The first step has no beginning, and those of the windows are not for timing.
    assert [row.number for row in rank.steps] == list(range(STEPS - 1))
    assert rank.steps[SAVED - 1].kind == "disturbed"
    assert {row.kind for row in rank.steps[ROLE_EVERY : BATCHES - 2]} == {"later"}
    given = [row for row in load_records(rank.path).deliveries if row.loader == training.number]
    assert len(given) == STEPS
    assert sum(row.delivered_ns - row.asked_ns for row in given) == training.wait_ns


def train_with_breaks(folder):
    """Epochs that are left early, so that the next loader's iterator may lie where the last one lay."""
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    loader = torch.utils.data.DataLoader(Ones(2 * BATCHES), batch_size=2)
    others = torch.utils.data.DataLoader(Ones(20), batch_size=2)
    for _ in range(EPOCHS):
        for number, batch in enumerate(loader):
            if number == BATCHES - 20:
                break
            model(batch).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        with torch.no_grad():
            for number, batch in enumerate(others):
                if number == 5:
                    break
                model(batch)


def test_a_loader_is_not_taken_for_one_whose_place_in_memory_it_has(tmp_path, counted):
    rank = recorded(tmp_path, Plan(warmup=2, clean=3, active=2), train_with_breaks)
    assert counted["batches"] > BATCHES
    recording = known(rank.recording)
    uses = {one.items: one for one in recording.loaders if one.batches}
    training, others = uses[2 * BATCHES], uses[20]
    assert (training.role, training.batches) == ("training", EPOCHS * (BATCHES - 19))
    assert (others.role, others.batches) == ("evaluation", EPOCHS * 6)
    assert known(recording.run_time).evaluations == EPOCHS


def test_what_is_usual_ends_with_the_object(tmp_path):
    way = UsualWay(Guard(Voice()))
    for name in ("loader", "optimizer"):
        one = Ones(1)
        way._watch(name, one)
        assert getattr(way._usual, name) == id(one)
        other = Ones(2)
        way._watch(name, other)
        del one
        assert getattr(way._usual, name) == id(other)
        del other
        assert getattr(way._usual, name) == 0


def test_a_forked_child_notes_nothing(tmp_path):
    """What the parent finds usual is of no use to a child that goes on training, and must not pile up there."""

    class Way(UsualWay):
        pass

    way = Way(Guard(Voice()))
    way._usual.loader = way._usual.optimizer = 7
    child = os.fork()
    if not child:
        os._exit(int(bool(way._usual.loader or way._usual.optimizer)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (way._usual.loader, way._usual.optimizer) == (7, 7)


def test_a_guard_that_trips_ends_the_short_way():
    way = UsualWay(Guard(Voice()))
    way._usual.loader = way._usual.optimizer = 7
    # Nothing is noted, so that looking at the last of it fails.
    way._usual.counts()
    assert (way._usual.loader, way._usual.optimizer) == (0, 0)
