"""What a run gains when something beside its steps gets shorter."""

import pytest

from stepscope.predict.whole_run import with_less_of
from stepscope.schema.run_time import RunParts
from tests.known import known


def account(**parts):
    return RunParts(
        rank=0,
        wall_ms=sum(parts.values()),
        parts_ms=parts,
        import_ms=None,
        first_step_ms=None,
        compile_ms=None,
        evaluations=0,
        checkpoints=2,
        epochs=0,
    )


def test_the_range_is_that_of_the_recurring_parts():
    time = account(startup=500.0, steps=60.0, evaluation=10.0, checkpoint=25.0, between=5.0)
    gain = known(with_less_of(time, 20, "checkpoint", 0.5))
    assert gain.low == pytest.approx(100 / 87.5)
    assert gain.high == pytest.approx(1.05 * 100 / 75)
    assert (gain.step_ms_low, gain.step_ms_high) == pytest.approx((75 / 1.05 / 20, 87.5 / 20))
    assert gain.basis == "run-account"


@pytest.mark.parametrize(
    ("steps", "parts"),
    [
        (20, {"steps": 60.0}),
        (0, {"steps": 60.0, "checkpoint": 20.0}),
        (20, {"checkpoint": 20.0}),
    ],
    ids=["no checkpoint", "no step", "nothing but checkpoints"],
)
def test_where_there_is_nothing_to_compare_there_is_no_gain(steps, parts):
    assert with_less_of(account(**parts), steps, "checkpoint", 0.5) is None
