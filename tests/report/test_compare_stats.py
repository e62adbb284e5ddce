import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.report.compare_stats import (
    LEAST_STEPS,
    block_length,
    compare_series,
    neighbours,
    separation,
)


def run(generator, count, rho=0.0, scale=1.0, spread=0.05):
    """Step times with correlated neighbours and now and then a slow one."""
    noise = generator.normal(size=count + 50)
    level = np.empty(count + 50)
    level[0] = noise[0]
    for i in range(1, count + 50):
        level[i] = rho * level[i - 1] + np.sqrt(1 - rho * rho) * noise[i]
    series = 100 * scale * np.exp(spread * level[50:])
    series[generator.random(count) < 0.05] *= 1.5
    return series


@pytest.mark.slow
@pytest.mark.parametrize(("count", "rho"), [(8, 0.0), (20, 0.0), (20, 0.5), (60, 0.5)])
def test_equal_runs_are_seldom_called_different(count, rho):
    generator = np.random.default_rng(11)
    calls = [
        compare_series(run(generator, count, rho), run(generator, count, rho)).certain
        for _ in range(60)
    ]
    assert sum(calls) <= 4


def bunched(generator, count, rho, scale=1.0):
    """The same where every other batch was there already and each eighth step begins an epoch."""
    place = np.arange(count)
    shape = np.where(place % 2 == 0, 0.4, 1.6) + 2.0 * (place % 8 == 7)
    return run(generator, count, rho, scale, spread=0.1) * shape


@pytest.mark.slow
@pytest.mark.parametrize(("count", "rho"), [(12, 0.0), (30, 0.5), (60, 0.5)])
def test_equal_bunched_runs_are_seldom_called_different(count, rho):
    generator = np.random.default_rng(13)
    calls = [
        compare_series(bunched(generator, count, rho), bunched(generator, count, rho)).certain
        for _ in range(60)
    ]
    assert sum(calls) <= 3


@pytest.mark.slow
def test_a_real_difference_of_bunched_runs_is_found():
    generator = np.random.default_rng(14)
    made = [
        compare_series(bunched(generator, 60, 0.3), bunched(generator, 60, 0.3, scale=0.55))
        for _ in range(40)
    ]
    assert {one.by for one in made} == {"means"}
    assert sum(one.certain for one in made) >= 36


def test_means_that_are_known_better_are_taken():
    ratio = compare_series([10.0] * 6, [5.0] * 6, (12.0, 5.0))
    assert ratio.mean == pytest.approx(2.4)
    assert ratio.by == "medians"


@pytest.mark.slow
def test_a_real_difference_is_found():
    generator = np.random.default_rng(12)
    calls = [
        compare_series(run(generator, 20), run(generator, 20, scale=0.9)).certain for _ in range(40)
    ]
    assert sum(calls) >= 36


def test_the_ratio_is_before_over_after():
    ratio = compare_series([200.0] * 10 + [400.0], [100.0] * 11)
    assert ratio.median == pytest.approx(2.0)
    assert ratio.mean == pytest.approx(2400 / 11 / 100)
    assert ratio.certain
    assert ratio.doubt == ""


def test_the_same_steps_do_not_differ():
    steps = [100.0, 103.0, 99.0, 101.0, 98.0, 102.0, 100.0, 104.0, 97.0]
    ratio = compare_series(steps, steps)
    assert (ratio.median, ratio.mean) == (1.0, 1.0)
    assert ratio.interval is not None
    assert ratio.interval[0] < 1 < ratio.interval[1]
    assert ratio.doubt == "spread"


def test_few_steps_prove_nothing_however_far_apart():
    few = [100.0 + i for i in range(LEAST_STEPS - 1)]
    many = [50.0 + i for i in range(LEAST_STEPS)]
    assert compare_series(few, many).doubt == "few"
    assert compare_series([*few, 99.0], many).certain


@pytest.mark.parametrize(("count", "has"), [(1, False), (2, False), (3, True)])
def test_an_interval_needs_three_steps(count, has):
    ratio = compare_series([100.0 + i for i in range(count)], [90.0, 91.0, 92.0])
    assert (ratio.interval is not None) == has


def test_a_difference_below_one_per_cent_is_none():
    one = [100.0 + 0.001 * (i * 7 % 5) for i in range(20)]
    assert compare_series(one, [ms * 0.995 for ms in one]).doubt == "small"


def test_a_difference_within_the_drift_of_a_run_is_not_believed():
    drifting = [100.0 + 0.01 * (i % 7) for i in range(30)] + [
        112.0 + 0.01 * (i % 7) for i in range(30)
    ]
    ratio = compare_series(drifting, [ms * 0.93 for ms in drifting])
    assert ratio.drift_frac == pytest.approx(0.12, abs=0.01)
    assert not ratio.certain


def test_steps_that_hang_together_count_for_less():
    rising = [100.0 + i for i in range(12)]
    assert compare_series(rising, [ms * 0.91 for ms in rising]).doubt == "correlation"
    # A gap wider than either run's whole range is certain all the same.
    assert compare_series(rising, [ms * 0.6 for ms in rising]).certain


def test_the_answer_is_the_same_every_time():
    generator = np.random.default_rng(3)
    one, other = run(generator, 30), run(generator, 30)
    assert compare_series(one, other) == compare_series(one, other)


def test_swapping_the_sides_turns_the_ratio_round():
    generator = np.random.default_rng(4)
    one, other = run(generator, 30), run(generator, 30, scale=0.8)
    there, back = compare_series(one, other), compare_series(other, one)
    assert back.median == pytest.approx(1 / there.median)
    assert back.certain
    assert there.certain


@given(st.lists(st.floats(0.01, 1e6), min_size=1, max_size=40), st.floats(0.1, 10))
def test_any_series_gets_finite_figures(steps, scale):
    ratio = compare_series(steps, [ms * scale for ms in steps])
    assert np.isfinite([ratio.median, ratio.mean]).all()
    assert ratio.median == pytest.approx(1 / scale)
    if ratio.interval is not None:
        assert 0 < ratio.interval[0] <= ratio.interval[1]


def test_blocks_grow_with_correlation():
    generator = np.random.default_rng(5)
    loose, tight = run(generator, 400), run(generator, 400, rho=0.9)
    assert abs(neighbours(loose)) < 0.1
    assert neighbours(tight) == pytest.approx(0.75, abs=0.2)
    assert block_length(loose) < block_length(tight) <= 133


def test_constant_steps_have_no_correlation():
    assert neighbours(np.full(50, 7.0)) == pytest.approx(0.02)
    assert separation(np.full(20, 7.0), np.full(20, 7.0)) == 0.0
