"""The cause of a slow loader is the part that holds most of the time of a batch."""

import msgspec.structs
import pytest

from stepscope.advice.base import Context
from stepscope.advice.input_cause import cause_of, evidence_of
from stepscope.advice.input_workers import RULE
from stepscope.schema.loader import BatchTimes, FunctionRow, LoaderReport, PlaceRow
from tests.advice.cases import CASES

FUNCTION = FunctionRow(
    function="decode", path=("Images.__getitem__", "decode"), file="/x/d.py", line=7, phase="items",
    samples=9, share=0.9, cpu_frac=1.0,
)  # fmt: skip
PLACE = PlaceRow(
    folder="/data", files=3, mean_bytes=9.0, mount="/data", type="nfs4", kind="network"
)


def loader(*, workers=2, functions=(FUNCTION,), **parts):
    nothing = {field.name: 0.0 for field in msgspec.structs.fields(BatchTimes)}
    times = BatchTimes(**{**nothing, "batches": 10, **parts})
    return LoaderReport(
        rank=0, number=0, role="training", where="", dataset="Images", items=1, is_iterable=False,
        workers=workers, start_method="fork", prefetch=2, batch_size=4, sampler="S", pins=False,
        persistent=False, epochs=1, batches=10, wait_ms=5.0, first_wait_ms=0.0, times=times,
        functions=functions, places=(PLACE,),
    )  # fmt: skip


def known(found):
    """What was found, which is not nothing."""
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ({"compute_ms": 6.0, "wait_ms": 3.0}, "compute"),
        ({"compute_ms": 3.0, "wait_ms": 6.0}, "storage"),
        ({"collate_ms": 6.0, "wait_ms": 3.0}, "collate"),
        ({"handover_ms": 6.0, "wait_ms": 3.0}, "handover"),
        ({"send_ms": 6.0, "wait_ms": 3.0}, "handover"),
        ({"queued_ms": 6.0, "compute_ms": 3.0}, "cores"),
        ({"queued_ms": 4.0, "compute_ms": 6.0}, "compute"),
        ({"queued_ms": None, "compute_ms": 6.0}, "compute"),
    ],
)
def test_the_largest_part_is_the_cause(parts, kind):
    assert known(cause_of(loader(**parts))).kind == kind


def test_without_a_part_that_holds_half_no_cause_is_named():
    assert cause_of(loader(compute_ms=3.0, wait_ms=3.0, collate_ms=3.0)) is None
    assert cause_of(loader()) is None
    assert cause_of(None) is None
    assert evidence_of(None) == ()


def test_packing_in_the_training_process_does_not_exist():
    assert known(cause_of(loader(workers=0, send_ms=6.0, wait_ms=3.0))).kind == "storage"


def test_function_and_file_system_are_named():
    cause = known(cause_of(loader(wait_ms=6.0)))
    assert cause.title == ": waiting for storage in decode (called by Images.__getitem__)"
    assert "/data on /data (nfs4)" in cause.action
    # One whose samples are few is not named, nor is one of another phase.
    rare = msgspec.structs.replace(FUNCTION, share=0.1)
    assert known(cause_of(loader(compute_ms=6.0, functions=(rare,)))).title == ": computing"
    assert known(cause_of(loader(collate_ms=6.0))).title == ": collating"


def test_the_finding_carries_the_cause():
    context = CASES["IN002"].fires
    plain = known(RULE.find(context))
    told = known(RULE.find(Context(context.results, loader=loader(compute_ms=6.0))))
    assert told.title.startswith(plain.title + ": computing in decode")
    assert "spread it over more workers" in told.action
    assert "busiest function of the data set" in {one.name for one in told.evidence}
