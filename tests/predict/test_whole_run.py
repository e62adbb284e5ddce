"""What a run gains when something beside its steps gets shorter."""

import pytest

from stepscope.predict import Behind
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
    gain = known(with_less_of(time, 20, "checkpoint", 0.5, (None, 2)))
    assert gain.low == pytest.approx(100 / 87.5)
    assert gain.high == pytest.approx(100 / 75 / 0.95)
    assert (gain.step_ms_low, gain.step_ms_high) == pytest.approx((75 * 0.95 / 20, 87.5 / 20))
    assert gain.basis == "run-account"


@pytest.mark.parametrize(
    ("extra", "error", "fast"),
    [(1.0, 0.5, 72.0), (-3.0, 1.0, 75.0), (40.0, 1.0, 37.5)],
    ids=["behind", "none behind", "more than can be"],
)
def test_what_the_run_shows_behind_them_takes_the_place_of_the_guess(extra, error, fast):
    time = account(startup=500.0, steps=60.0, evaluation=10.0, checkpoint=25.0, between=5.0)
    left = Behind("checkpoint", 9, extra, error), 2
    gain = known(with_less_of(time, 20, "checkpoint", 0.5, left))
    assert (gain.low, gain.high) == pytest.approx((100 / 87.5, 100 / fast))


def test_no_range_is_narrower_than_a_twentieth():
    left = Behind("checkpoint", 9, 0.0, 0.0), 2
    gain = known(with_less_of(account(steps=95.0, checkpoint=5.0), 20, "checkpoint", 0.5, left))
    assert gain.high / gain.low == pytest.approx(1.05)
    assert gain.low >= 1


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
    assert with_less_of(account(**parts), steps, "checkpoint", 0.5, (None, 2)) is None
