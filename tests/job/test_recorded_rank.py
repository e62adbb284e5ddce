"""What a recorded run tells of its cores and of its whole time."""

import dataclasses

import msgspec
import pytest
from msgspec.structs import replace

from stepscope.job.recorded_rank import memory_left, recorded_ranks
from stepscope.record.journal import Journal
from stepscope.schema.process_note import ProcessNote, note_process
from stepscope.schema.run_folder import load_run
from stepscope.schema.run_time import RunTime
from stepscope.schema.samples import SUMMARY_NAME
from stepscope.schema.watch_summary import NodeUse
from tests.cost.test_facts import device, summary
from tests.job.test_loaders import use
from tests.record.test_journal import RECORDING

MS = 1_000_000
TIME = RunTime(
    wall_ns=100 * MS, startup_ns=40 * MS, steps_ns=30 * MS, evaluation_ns=10 * MS,
    checkpoint_ns=20 * MS, between_ns=0, exit_ns=0, stepscope_ns=0, import_ns=None,
    first_step_ns=None, compile_ns=None, evaluations=1, checkpoints=2, epochs=0,
)  # fmt: skip


@pytest.fixture
def ranks(tmp_path):
    """Facts of ranks that ran on these machines with these cores."""

    def make(*places, **changes):
        for rank, (host, affinity) in enumerate(places):
            journal = Journal(tmp_path, ("train.py",), rank=rank)
            journal.recording(
                dataclasses.replace(RECORDING, rank=rank, affinity=affinity, **changes)
            )
            if host is not None:
                note = ProcessNote(
                    pid=100 + rank, parent=1, rank=rank, command=(), why="", host=host
                )
                note_process(tmp_path, note)
        return recorded_ranks(load_run(tmp_path))

    return make


def test_ranks_with_the_same_cores_of_one_machine_share_them(ranks):
    found = ranks(("a", "0-3"), ("a", "0-3"), ("a", "4-7"), ("b", "0-3"))
    assert [one.processes for one in found] == [2, 2, 1, 1]


def test_where_machine_or_cores_are_not_told_nobody_is_known_to_share_them(ranks):
    assert [one.processes for one in ranks(("a", ""), ("a", ""))] == [1, 1]


def test_ranks_without_a_note_are_taken_to_be_apart(ranks):
    assert [one.processes for one in ranks((None, "0-3"), (None, "0-3"))] == [1, 1]


def test_figures_are_those_of_the_recording(ranks):
    (one,) = ranks(
        ("a", "0-3"),
        cores=4,
        threads=3,
        steps_seen=7,
        run_time=TIME,
        loaders=(use(workers=2), use(number=1, role="evaluation", workers=9)),
    )
    assert (one.rank, one.cores, one.threads, one.steps, one.workers) == (0, 4, 3, 7, 2)
    assert one.time.parts_ms["checkpoint"] == 20
    assert one.time.checkpoints == 2


def test_a_run_of_which_the_time_is_not_known_has_none(ranks):
    (one,) = ranks(("a", "0-3"), run_time=None)
    assert one.time is None


def test_the_fullest_device_that_the_job_used_is_told(ranks, tmp_path):
    peaks = ((30, 80, True), (20, 40, None), (79, 80, False), (None, 80, True))
    devices = [
        replace(device(), memory_peak_bytes=peak, memory_bytes=whole, used=used)
        for peak, whole, used in peaks
    ]
    (tmp_path / SUMMARY_NAME).write_bytes(msgspec.json.encode(summary(*devices)))
    (one,) = ranks(("a", "0-3"))
    assert (one.device_used_bytes, one.device_bytes) == (20, 40)


@pytest.mark.parametrize("text", [None, b"{", b"{}"], ids=["none", "torn", "another"])
def test_without_samples_that_can_be_read_no_device_is_told(ranks, tmp_path, text):
    if text is not None:
        (tmp_path / SUMMARY_NAME).write_bytes(text)
    (one,) = ranks(("a", "0-3"))
    assert (one.device_used_bytes, one.device_bytes) == (None, None)


def node(**known):
    """Use of a node of which only this is known."""
    empty = {"str": "n0", "int": 0, "float": 0.0}
    kinds = NodeUse.__annotations__
    made = {name: empty.get(kinds[name]) for name in NodeUse.__struct_fields__}
    return msgspec.convert(made | {"network_reads": (), "processes": ()} | known, NodeUse)


@pytest.mark.parametrize(
    ("nodes", "left"),
    [
        ([{"memory_limit_bytes": 1000, "pss_peak_bytes": 300}], 300),
        (
            [{"memory_limit_bytes": 1000, "pss_peak_bytes": 300, "machine_memory_bytes": 9000}],
            300,
        ),
        ([{"machine_memory_bytes": 2000, "pss_peak_bytes": 300}], 750),
        ([{"memory_limit_bytes": 1000, "rss_peak_bytes": 300}], None),
        ([{"pss_peak_bytes": 300}], None),
        ([{"memory_limit_bytes": 1000, "pss_peak_bytes": 300}] * 2, None),
        ([], None),
    ],
)
def test_a_tenth_of_the_memory_stays_free_and_ranks_share_the_rest(ranks, tmp_path, nodes, left):
    document = replace(summary(), nodes=tuple(node(**one) for one in nodes))
    (tmp_path / SUMMARY_NAME).write_bytes(msgspec.json.encode(document))
    ranks(("a", "0-3"), ("a", "0-3"))
    assert memory_left(load_run(tmp_path)) == left


def test_without_samples_nobody_knows_what_memory_is_left(ranks, tmp_path):
    ranks(("a", "0-3"))
    assert memory_left(load_run(tmp_path)) is None
