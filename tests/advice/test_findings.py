"""Which findings stay, how they are merged over ranks, and in which order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stepscope.advice.findings import advise, findings_of
from tests.advice import cases
from tests.advice.made import COUNT, context


def on_rank(one, number):
    return replace(one, results=replace(one.results, facts=replace(one.results.facts, rank=number)))


def codes(found):
    return [finding.code for finding in found]


def test_a_finding_that_another_explains_is_dropped():
    both = context({"host": 0.5}, launches=cases.BUSY_LAUNCHES)
    assert codes(findings_of([both])) == ["LA001"]
    copies = context({"copy": 0.3}, copies=cases.copies(0.3))
    assert codes(findings_of([copies])) == ["CP001"]


def test_a_trace_that_cannot_carry_a_verdict_keeps_what_is_certain():
    lost = context(
        {"input": 0.5},
        on_host=True,
        facts=cases.NOT_RECORDED,
        loader=cases.waits(single=True, share=0.5),
    )
    found = findings_of([lost])
    assert codes(found) == ["REC001", "IN001"]
    assert found[1].confidence == "medium"


def test_the_same_finding_on_all_ranks_is_told_once():
    ranks = [
        on_rank(context({"input": s}, loader=cases.waits(single=True, share=s)), n)
        for n, s in enumerate((0.2, 0.4))
    ]
    (finding,) = findings_of(ranks)
    assert finding.rank is None
    assert finding.share_frac == 0.4


def test_a_finding_on_one_of_two_ranks_names_it():
    ranks = [
        on_rank(context(), 0),
        on_rank(context({"input": 0.3}, loader=cases.waits(single=True, share=0.3)), 1),
    ]
    (finding,) = findings_of(ranks)
    assert finding.rank == 1


def test_a_straggler_is_named_by_its_own_number():
    ranks = [
        on_rank(context({"communication": 0.4}, waiting=cases.waiting(0.8), ranks=2), number)
        for number in (0, 1)
    ]
    (finding,) = findings_of(ranks)
    assert (finding.code, finding.rank) == ("SG001", 1)


def test_ranks_that_are_late_by_turns_are_not_blamed():
    one = context({"communication": 0.4}, waiting=cases.waiting(0.8, late_share=0.5), ranks=2)
    (finding,) = findings_of([one, one])
    assert finding.rank is None
    assert "by turns" in finding.action


def test_larger_shares_come_first_but_the_verdicts_regime_before_all():
    both = context({"input": 0.3}, gpu=cases.PLAIN, loader=cases.waits(single=True, share=0.3))
    assert codes(findings_of([both])) == ["TC001", "IN001"]
    assert codes(advise([both.results]).findings) == ["IN001", "TC001"]


def test_cures_of_a_synchronisation_depend_on_what_forces_it():
    def action(operator):
        (finding,) = findings_of([context({"sync": 0.2}, sync=cases.blocking(operator))])
        return finding.action

    answers = [
        action(name)
        for name in ("aten::item", "aten::nonzero", "aten::to", "cudaDeviceSynchronize", "my_op")
    ]
    assert len(set(answers)) == 5


def test_tensor_cores_of_volta_are_reached_by_float16_and_those_of_ampere_by_tf32():
    def snippet(capability):
        one = context(gpu=cases.PLAIN, facts={"compute_capability": capability})
        return findings_of([one])[0].snippet

    assert "GradScaler" in snippet((7, 0))
    assert "set_float32_matmul_precision" in snippet((8, 0))


def test_start_up_explains_the_host_in_a_window_without_steps():
    one = context(
        {"host": 0.5},
        windows=True,
        launches=cases.BUSY_LAUNCHES,
        startup={"ns": round(0.3 * cases.STEADY_NS), "steps": 0},
        spread={"are_steps": False, "is_startup": np.zeros(COUNT, dtype=np.bool_)},
    )
    assert codes(findings_of([one])) == ["ST001"]
