import json
from time import perf_counter_ns

import pytest

from stepscope.errors import InputError
from stepscope.record import journal as journals
from stepscope.record.journal import Journal
from stepscope.schema.notice import Notice
from stepscope.schema.run_folder import (
    RankRecording,
    StepRow,
    WindowRecord,
    is_run_folder,
    load_run,
    write_document,
)

WINDOW = WindowRecord(
    trace="trace-1.pt.trace.json.gz",
    kind="steady",
    first_step=12,
    steps_ns=(110, 130, 120),
    prepare_ns=1,
    start_ns=2,
    stop_ns=3,
)
RECORDING = RankRecording(
    rank=1,
    world_size=2,
    pid=77,
    torch_version="2.13.0",
    device="cuda",
    step_source="optimizer",
    steps_seen=40,
    startup_ns=5,
    clean_steps_ns=(90, 100, 110),
    windows=(WINDOW,),
    own_cost_ns=6,
    time_ns=7,
    perf_ns=8,
    complete=True,
    notices=(Notice(code="stopped", count=1, text="A sentence."),),
)


def test_what_is_written_is_read(tmp_path):
    journal = Journal(tmp_path, ("train.py", "--lr", "1"), rank=0)
    journal.step(0, "warmup", 1000, 500, 20)
    journal.step(1, "clean", 1600, 400, 30)
    journal.finish(3)
    (tmp_path / "rank1").mkdir()
    write_document(tmp_path / "rank1" / "recording.json", RECORDING)
    for number in (0, 1, 10):
        (tmp_path / "rank1" / f"trace-{number}.pt.trace.json.gz").touch()

    assert is_run_folder(tmp_path)
    run = load_run(tmp_path)
    assert run.manifest.command == ("train.py", "--lr", "1")
    assert (run.manifest.state, run.manifest.exit_status) == ("finished", 3)
    assert run.manifest.wall_ns
    first, second = run.ranks
    assert (first.rank, first.recording, first.trace) == (0, None, None)
    assert first.steps == (StepRow(0, "warmup", 1000, 500, 20), StepRow(1, "clean", 1600, 400, 30))
    assert second.recording == RECORDING
    assert [path.name for path in second.traces][-1] == "trace-10.pt.trace.json.gz"
    assert second.trace == tmp_path / "rank1" / str(WINDOW.trace)


def test_a_running_run_is_readable_up_to_its_last_second(tmp_path, monkeypatch):
    monkeypatch.setattr(journals, "FLUSH_NS", 0)
    journal = Journal(tmp_path, ("train.py",), rank=0)
    journal.step(0, "warmup", perf_counter_ns(), 500, 20)
    steps = tmp_path / "rank0" / "steps.csv"
    whole = steps.read_text()
    steps.write_text(whole + "1,clean,5,6")
    run = load_run(tmp_path)
    assert (run.manifest.state, run.manifest.exit_status) == ("running", None)
    assert [row.number for row in run.ranks[0].steps] == [0]
    journal.finish(0)


def test_a_long_run_merges_its_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(journals, "MOST_ROWS", 10)
    journal = Journal(tmp_path, ("train.py",), rank=0)
    start = perf_counter_ns()
    for number in range(200):
        journal.step(number, "later", start + number, 2, 1)
        if number % 20 == 19:
            journal.flush()
    journal.finish(0)
    rows = load_run(tmp_path).ranks[0].steps
    assert len(rows) < 50
    assert sum(row.count for row in rows) == 200
    assert sum(row.duration_ns for row in rows) == 400
    assert sum(row.loader_wait_ns for row in rows) == 200


def test_the_profilers_cost_is_told_by_the_medians():
    assert RECORDING.clean_step_ns == 100
    assert RECORDING.profiled_step_ns == 120
    assert RECORDING.inflation_frac == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("{", "cannot be read"), ("[]", "cannot be read"), (None, "holds no run.json")],
)
def test_what_is_no_run_is_one_sentence(tmp_path, content, sentence):
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(InputError, match=sentence):
        load_run(tmp_path)


def test_later_versions_may_add_fields(tmp_path):
    Journal(tmp_path, ("train.py",), rank=0).finish(0)
    document = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps(document | {"new": 1}))
    assert load_run(tmp_path).manifest.exit_status == 0


def test_another_rank_writes_the_manifest_only_where_rank_0_was_not_recorded(tmp_path):
    other = Journal(tmp_path, ("other.py",), rank=3)
    assert not is_run_folder(tmp_path)
    first = Journal(tmp_path, ("train.py",), rank=0)
    other.finish(1)
    first.finish(0)
    assert load_run(tmp_path).manifest.exit_status == 0
    Journal(tmp_path / "rank3", ("other.py",), rank=3).finish(1)
    assert load_run(tmp_path / "rank3").manifest.command == ("other.py",)


def test_below_a_launcher_the_manifest_is_the_launchers(tmp_path):
    Journal(tmp_path, ("train.py",), rank=0, is_of_a_launcher=True).finish(0)
    assert not is_run_folder(tmp_path)
