"""One file read by several threads or processes gives what one gives, and leaves none behind."""

from __future__ import annotations

import gzip
import subprocess
import sys
import time

import psutil
import pytest

from stepscope.errors import InputError, LimitError
from stepscope.trace import compiled, limits, load, reading, workers
from stepscope.trace import file as trace_file
from stepscope.trace.worker import Batch
from stepscope.trace.workers import NeedsOneReader, decode_all
from tests.trace import small
from tests.trace.test_same_tables import same

TEXT = small.text_of(small.training(300), distributedInfo={"rank": 2, "world_size": 3})


@pytest.fixture
def processes(monkeypatch):
    """As where there is no compiled core."""
    monkeypatch.setattr(compiled, "core", None)


@pytest.fixture(params=["threads", "processes"])
def way(request):
    """Both ways of sharing the work."""
    if request.param == "processes":
        request.getfixturevalue("processes")
    elif compiled.core is None:
        pytest.skip("the compiled core was not built: no C compiler here")


@pytest.fixture
def several(monkeypatch, way):
    """Lets small files be read by two workers, in batches of 3000 bytes; tells how often it was so."""
    monkeypatch.setattr(limits, "PARALLEL_BYTES", 1)
    monkeypatch.setattr(limits, "BATCH_BYTES", 3000)
    monkeypatch.setattr(reading, "usable_cores", lambda: 2)
    done = []

    def counted(batches, count):
        found = decode_all(batches, count)
        done.append(len(found))
        return found

    monkeypatch.setattr(reading, "decode_all", counted)
    return done


def alone(path, **options):
    """The same file read by one process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "usable_cores", lambda: 1)
        (trace,) = load([path], **options)
    return trace


def check(path, several, *, parts=True, **options):
    (trace,) = load([path], **options)
    reference = alone(path, **options)
    same(trace, reference)
    assert trace.meta == reference.meta
    assert [n.text for n in trace.notices] == [n.text for n in reference.notices]
    assert bool(several) == parts
    return trace


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_a_file_in_batches(tmp_path, several, name):
    trace = check(small.write(tmp_path, TEXT, name), several)
    assert len(trace.steps) == 300
    assert several[0] > 20 or name.endswith("gz")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["with_stack", "all_flags", "weird_names", "profile_memory", "threads"]
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_recorded_traces_in_batches(tmp_path, several, monkeypatch, name, packed):
    monkeypatch.setattr(limits, "PIECE_BYTES", 2000)
    path = small.RECORDED / f"{name}.json.gz"
    if not packed:
        path = small.write(tmp_path, gzip.decompress(path.read_bytes()))
    for with_python in (False, True):
        check(path, several, with_python=with_python)


def test_repairs_are_counted_with_places_in_the_whole_file(tmp_path, several):
    text = TEXT
    for number in (50, 200, 299):
        text = text.replace(f"ProfilerStep#{number}".encode(), b'a"b')
    trace = check(small.write(tmp_path, text), several)
    assert small.notice(trace, "repaired").count == 3
    assert "$.traceEvents[200]" in small.notice(trace, "repaired").text


def test_a_truncated_file(tmp_path, several):
    trace = check(small.write(tmp_path, TEXT[: len(TEXT) * 2 // 3]), several)
    assert "truncated" in small.codes(trace)


def test_an_event_that_cannot_be_cut_goes_to_one_reader(tmp_path, several):
    stack = [{"name": "f" * 200, "ts": n} for n in range(300)]
    events = [small.op(f"op{n}", n, 1, frames=stack) for n in range(6)]
    check(small.write(tmp_path, events), several, parts=False)


def test_a_list_that_ends_before_the_last_batch_goes_to_one_reader(tmp_path, several):
    more = b",".join(b'{"name": "GPU %d"}' % n for n in range(2000))
    text = TEXT[:-1] + b', "deviceProperties": [' + more + b"]}"
    trace = check(small.write(tmp_path, text), several, parts=False)
    assert len(trace.meta.devices) == 2000


def test_text_without_any_border_goes_to_one_reader(tmp_path, several):
    text = b'{"traceEvents": [' + b" " * 20_000 + b'{"ph": "M"}' + b" " * 20_000 + b"]}"
    with pytest.raises(InputError, match="no complete event"):
        load([small.write(tmp_path, text)])
    assert not several


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_what_is_no_trace_is_refused_as_ever(tmp_path, several, name):
    with pytest.raises(InputError, match="without a list"):
        load([small.write(tmp_path, b'{"a": "' + b"x" * 50_000 + b'"}', name)])


def batches(*texts):
    last = len(texts) - 1
    return [
        Batch("made.json", text, 0, None, is_final=number == last, with_python=False)
        for number, text in enumerate(texts)
    ]


EVENT = b'{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}'


def children():
    return {child.pid for child in psutil.Process().children()}


def test_results_come_in_order_and_no_process_is_left(way):
    before = children()
    parts = decode_all(batches(*[EVENT] * 40, EVENT + b"], }"), 3)
    assert [part.count for part in parts] == [1] * 41
    assert parts[-1].after == b", }"
    assert children() == before


def test_a_limit_that_a_worker_meets_is_raised_here(way):
    before = children()
    broken = batches(
        EVENT, b'{"x": "' + b"y" * (limits.EVENT_BYTES + 2 * limits.PIECE_BYTES), EVENT
    )
    with pytest.raises(LimitError, match="no event ends within"):
        decode_all(broken, 2)
    assert children() == before


def test_a_worker_that_dies_is_noticed(monkeypatch, processes):
    before = children()
    monkeypatch.setattr(workers, "START", "import sys; sys.exit(3)")
    with pytest.raises(NeedsOneReader):
        decode_all(batches(EVENT, EVENT, EVENT), 2)
    assert children() == before


def test_a_worker_that_is_dead_before_it_was_asked_is_noticed_too(monkeypatch, processes):
    """Then what it was to be told is still in the pipe's buffer when the pipe is closed."""
    before = children()
    monkeypatch.setattr(workers, "START", "import sys; sys.exit(3)")

    def late():
        for number in children() - before:
            while psutil.Process(number).status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.01)
        yield from batches(EVENT, EVENT)

    with pytest.raises(NeedsOneReader):
        decode_all(late(), 2)


@pytest.mark.parametrize("way", ["processes"], indirect=True)
def test_a_file_is_read_all_the_same_when_workers_die(tmp_path, several, monkeypatch):
    monkeypatch.setattr(workers, "START", "import sys; sys.exit(3)")
    check(small.write(tmp_path, TEXT), several, parts=False)


def test_what_the_reader_of_the_batches_raises_ends_the_workers(way):
    before = children()

    def failing():
        yield from batches(EVENT, EVENT)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        decode_all(failing(), 2)
    assert children() == before


def test_workers_import_no_table_library():
    code = (
        "import sys, stepscope.trace.worker; print('polars' in sys.modules, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
@pytest.mark.parametrize("cores", [1, 2])
def test_how_far_the_reading_is_is_told(tmp_path, several, monkeypatch, name, cores):
    monkeypatch.setattr(reading, "usable_cores", lambda: cores)
    monkeypatch.setattr(limits, "PIECE_BYTES", 1000)
    path = small.write(tmp_path, TEXT, name)
    heard: list[int] = []
    trace_file.read(str(path), told=heard.append)
    assert heard == sorted(heard)
    assert 0 <= heard[0] <= heard[-1] <= path.stat().st_size
    assert heard[-1] > path.stat().st_size // 2
