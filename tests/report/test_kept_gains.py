"""Predictions are kept beside what was measured."""

import msgspec.structs

from stepscope.report.compare import compare
from stepscope.report.kept_gains import GAINS_NAME, KeptGain, gains_of, keep_gains, load_gains
from stepscope.schema.report import Finding, Gain
from tests.report.test_compare import STEADY, with_steps


def promise(code, low, high, basis="replay"):
    gain = Gain(low=low, high=high, unit="ratio", step_ms_low=1.0, step_ms_high=2.0, basis=basis)
    return Finding(
        code=code, regime="host", severity="low", title=f"Title of {code}", evidence=(),
        action="Try.", confidence="low", gain=gain,
    )  # fmt: skip


def cured(*findings):
    """A run with findings, against one a fifth shorter without any."""
    before = with_steps(ms * 1.2 for ms in STEADY)
    after = with_steps(STEADY)
    return compare(
        msgspec.structs.replace(before, findings=findings),
        msgspec.structs.replace(after, findings=()),
    )


def test_a_prediction_stands_beside_what_was_measured():
    (kept,) = gains_of(cured(promise("HO001", 1.1, 1.3)), "runs/after")
    assert (kept.code, kept.predicted_low, kept.predicted_high) == ("HO001", 1.1, 1.3)
    assert (round(kept.measured, 3), kept.held, kept.certain) == (1.2, True, True)
    assert (kept.after, kept.by, kept.basis, kept.together) == (
        "runs/after",
        "medians",
        "replay",
        (),
    )


def test_findings_that_went_together_are_named_with_each():
    one, other = gains_of(cured(promise("HO001", 1.0, 1.1), promise("SY001", 1.1, 1.3)), "after")
    assert (one.held, one.together) == (False, ("SY001",))
    assert (other.held, other.together) == (True, ("HO001",))


def test_a_gain_of_the_whole_run_is_not_held_against_steps():
    assert gains_of(cured(promise("RU001", 1.1, 1.3, "run-account")), "after") == ()


def test_what_was_kept_stays_and_the_same_comparison_is_replaced(tmp_path):
    first = gains_of(cured(promise("HO001", 1.1, 1.3)), "one")
    second = gains_of(cured(promise("HO001", 1.1, 1.3)), "two")
    keep_gains(tmp_path, first)
    keep_gains(tmp_path, second)
    assert keep_gains(tmp_path, first) == tmp_path / GAINS_NAME
    assert [one.after for one in load_gains(tmp_path)] == ["two", "one"]
    assert all(isinstance(one, KeptGain) for one in load_gains(tmp_path))


def test_a_torn_file_is_kept_anew(tmp_path):
    (tmp_path / GAINS_NAME).write_bytes(b'[{"code"')
    assert load_gains(tmp_path) == ()
    kept = gains_of(cured(promise("HO001", 1.1, 1.3)), "one")
    keep_gains(tmp_path, kept)
    assert load_gains(tmp_path) == kept
