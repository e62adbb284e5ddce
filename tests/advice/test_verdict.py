"""The regime and its sentence."""

from __future__ import annotations

from typing import get_args

import pytest

from stepscope.advice.findings import findings_of
from stepscope.advice.verdict import REGIMES, verdict_of
from stepscope.schema.report import DEVICE_PARTS, HOST_PARTS, Regime
from tests.advice import cases
from tests.advice.made import context, without_steady_steps


def verdict(*contexts):
    return verdict_of(contexts, findings_of(contexts))


@pytest.mark.parametrize(
    ("part", "regime"),
    [
        ("input", "input"),
        ("communication", "communication"),
        ("copy", "copy"),
        ("sync", "sync"),
        ("host", "host"),
        ("allocator", "memory"),
        ("other_rank", "communication"),
    ],
)
def test_the_largest_part_from_a_fifth_on_names_the_regime(part, regime):
    found = verdict(context({part: 0.2}))
    assert found.regime == regime
    assert "20 % of the mean of 6 steady steps (200 µs of 1.00 ms)" in found.sentence
    assert verdict(context({part: 0.199})).regime in ("healthy", "compute")


@pytest.mark.parametrize(
    ("part", "regime"), [("input", "input"), ("communication", "communication"), ("other", "host")]
)
def test_parts_without_a_device(part, regime):
    found = verdict(context({part: 0.3}, on_host=True, facts=cases.CPU_ONLY))
    assert found.regime == regime
    assert "GPU" not in found.sentence


@pytest.mark.parametrize("part", ["backward", "optimizer"])
def test_what_computes_without_a_device_is_no_bottleneck(part):
    assert verdict(context({part: 0.9}, on_host=True, facts=cases.CPU_ONLY)).regime == "healthy"


def test_every_part_has_a_regime_or_is_known_to_have_none():
    without = {"compute", "forward", "backward", "optimizer", "unknown"}
    assert set(REGIMES) | without == set(DEVICE_PARTS) | set(HOST_PARTS)
    assert set(REGIMES.values()) <= set(get_args(Regime))


def test_compute_with_a_finding_and_healthy_without():
    assert verdict(context()).regime == "healthy"
    assert "Nothing to fix" in verdict(context()).sentence
    found = verdict(context(gpu=cases.PLAIN))
    assert found.regime == "compute"
    assert "100 %" in found.sentence


def test_waiting_makes_communication_a_straggler_only_when_it_is_most_of_it():
    late = context({"communication": 0.5}, waiting=cases.waiting(0.6), ranks=2)
    found = verdict(late, late)
    assert found.regime == "straggler"
    assert "rank 1" in found.sentence
    transfer = context({"communication": 0.5}, waiting=cases.waiting(0.4), ranks=2)
    assert verdict(transfer, transfer).regime == "communication"


def test_one_rank_alone_never_blames_another():
    found = verdict(context({"communication": 0.9}, facts={"world_size": 8}))
    assert found.regime == "communication"
    assert "cannot be told from 1 of 8 ranks" in found.sentence


def test_the_parts_of_several_ranks_are_averaged():
    found = verdict(context({"input": 0.4}), context())
    assert found.regime == "input"
    assert "20 % of the mean of 12 steady steps over 2 ranks" in found.sentence
    assert verdict(context({"input": 0.3}), context()).regime in ("healthy", "compute")


def test_start_up_only_when_no_steady_step_remains():
    assert verdict(without_steady_steps()).regime == "startup"
    half = {"ns": round(0.5 * cases.STEADY_NS), "steps": 0}
    assert verdict(context({"host": 0.9}, windows=True, startup=half)).regime == "startup"
    assert verdict(context({"host": 0.9}, startup=half)).regime == "host"


def test_start_up_beside_the_rest_of_a_window_is_said():
    less = {"ns": round(0.3 * cases.STEADY_NS), "steps": 0}
    found = verdict(context({"host": 0.9}, windows=True, startup=less))
    assert found.regime == "host"
    assert "30 % of the recorded time is start-up" in found.sentence


def test_what_was_not_recorded_comes_before_all():
    lost = context({"input": 0.9}, on_host=True, facts=cases.NOT_RECORDED)
    assert verdict(lost).regime == "not-recorded"
    nothing = context(on_host=True, facts={**cases.CPU_ONLY, "usable": False, "operator_count": 0})
    assert verdict(nothing).regime == "not-recorded"
    unused = context(
        {"input": 0.9}, on_host=True, facts={**cases.CPU_ONLY, "listed_device": "NVIDIA A100"}
    )
    found = verdict(unused)
    assert found.regime == "device-unused"
    assert "NVIDIA A100" in found.sentence


def test_time_that_the_trace_does_not_explain():
    assert verdict(context({"unknown": 0.5})).regime == "not-recorded"
    found = verdict(context({"unknown": 0.3}))
    assert found.regime == "compute"
    assert "30 % it is idle" in found.sentence


def test_pauses_between_queued_kernels_are_not_unknown():
    found = verdict(context({"unknown": 0.6}, launches=cases.paused(0.4)))
    assert found.regime == "compute"
    assert "40 % it pauses between kernels" in found.sentence


def test_launches_without_work_are_no_idle_time():
    lost = context(
        {"host": 0.9}, launches={**cases.BUSY_LAUNCHES, "unanswered_frac": 0.99, "count": 401}
    )
    found = verdict(lost)
    assert found.regime == "not-recorded"
    assert "397 of 401 launches" in found.sentence
    assert [finding.code for finding in findings_of([lost])] == ["REC004"]


def test_a_rank_without_device_work_does_not_decide():
    lost = context({"other": 0.9}, on_host=True, facts=cases.NOT_RECORDED)
    assert verdict(context({"input": 0.5}), lost).regime == "input"


def test_windows_are_called_windows():
    assert "of the recorded window" in verdict(
        context({"host": 0.5}, windows=True)
    ).sentence.replace("the mean of 6 recorded windows", "the recorded window")
