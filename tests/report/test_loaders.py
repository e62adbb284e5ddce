"""The input pipeline in the text and on the page."""

import io

import msgspec.structs
import pytest

from stepscope.report import saved
from stepscope.report.html import render
from stepscope.report.terminal import print_report
from stepscope.schema.loader import BatchTimes, FunctionRow, LoaderReport, PlaceRow, WorkerRow
from tests.report import examples

TIMES = BatchTimes(
    batches=24, compute_ms=1.5, wait_ms=24.3, queued_ms=3.0, collate_ms=0.5, send_ms=1.4,
    handover_ms=3.4, pin_ms=0.25, items_wall_ms=29.0, items_cpu_ms=1.5, collate_wall_ms=0.5,
    collate_cpu_ms=0.5, read_bytes=32500.0, storage_bytes=0.0, opened=4.0,
)  # fmt: skip
LOADER = LoaderReport(
    rank=0, number=0, role="training", where="/x/<b>train.py:9", dataset="Images\x1b[2J", items=96,
    is_iterable=False, workers=2, start_method="fork", prefetch=2, batch_size=4,
    sampler="RandomSampler", pins=True, persistent=False, epochs=3, batches=72, wait_ms=412.0,
    first_wait_ms=120.0, times=TIMES,
    by_worker=(WorkerRow(worker=0, batches=24, batch_ms=29.5, cpu_frac=0.07),),
    functions=(
        FunctionRow(
            function="read<script>", path=("Images.__getitem__", "read<script>"), file="/x/d.py",
            line=7, phase="items", samples=90, share=0.9, cpu_frac=0.02,
        ),
        FunctionRow(
            function="rare", path=("rare",), file="/x/d.py", line=9, phase="items", samples=1,
            share=0.01, cpu_frac=None,
        ),
    ),
    places=(PlaceRow(folder="/data", files=8, mean_bytes=3000.0, mount="/data", type="nfs4", kind="network"),),
)  # fmt: skip


@pytest.fixture
def report():
    evaluation = msgspec.structs.replace(
        LOADER, number=1, role="evaluation", workers=0, pins=False, wait_ms=3.0, times=None,
        functions=(), places=(), by_worker=(), batch_size=None,
    )  # fmt: skip
    rank = msgspec.structs.replace(examples.cpu_only().ranks[0], rank=0)
    return msgspec.structs.replace(examples.cpu_only(), ranks=(rank,), loaders=(LOADER, evaluation))


def printed(report):
    stream = io.StringIO()
    print_report(report, stream, 200)
    return stream.getvalue().partition("Input pipeline")[2]


def test_each_loader_is_named_with_its_settings_and_its_parts(report):
    text = printed(report)
    assert r"training (Images\x1b[2J, <b>train.py:9)" in text
    assert "2 workers by fork, prefetch 2, started anew each epoch, pinned, batch size 4" in text
    assert "waited for 412 ms in total, of which 120 ms for first batches" in text
    assert "items computed 1.50 ms, items waiting 24.3 ms, collated 500 µs" in text
    assert "(mean of 24); 32.5 kB read, 4 files opened" in text
    assert "Images.__getitem__ > read<script> (d.py:7): 90 % of the samples" in text
    assert "/data on /data (nfs4, network): at least 8 files of 3.00 kB in mean" in text
    assert "evaluation (Images" in text
    assert "no workers, not pinned, RandomSampler" in text
    assert "rare" not in text


def test_the_loaders_of_another_rank_are_not_printed(report):
    other = tuple(msgspec.structs.replace(one, rank=3) for one in report.loaders)
    assert printed(msgspec.structs.replace(report, loaders=other)) == ""


def test_the_page_shows_foreign_text_as_text(report):
    page = render(report)
    section = page[page.index('id="loaders"') :]
    assert "read&lt;script&gt;" in section
    assert "read<script>" not in page
    assert "Worker 0" in section


def test_it_is_saved_and_read_back(report, tmp_path):
    saved.save(report, tmp_path / "report.json")
    assert saved.load(tmp_path / "report.json").loaders == report.loaders
