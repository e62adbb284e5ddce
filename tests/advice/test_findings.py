"""Which findings stay, how they are merged over ranks, and in which order."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from stepscope.advice.findings import advise, findings_of, job_gains
from stepscope.predict import Gains, Plan
from stepscope.schema.report import Gain
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


def speedup(low, high, basis="replay"):
    return Gain(
        low=low,
        high=high,
        unit="ratio",
        step_ms_low=1 / high,
        step_ms_high=1 / low,
        basis=basis,
    )


def predicted(one, **gains):
    return replace(one, gains=Gains(error_frac=0.0, withheld="", **gains))


def waits_for_data(share=0.3, **gains):
    one = context({"input": share}, loader=cases.waits(single=True, share=share))
    return predicted(one, **gains)


THREE_WORKERS = Plan(3, 20e6, 10e6, 3, None, None, None)


def test_a_finding_has_the_gain_that_its_rule_names():
    (finding,) = findings_of([waits_for_data(input=speedup(1.2, 1.3), plan=THREE_WORKERS)])
    assert finding.gain == speedup(1.2, 1.3)
    assert "num_workers=3," in finding.snippet


def test_what_saves_more_comes_before_what_holds_more():
    both = context({"sync": 0.2, "copy": 0.4}, sync=cases.blocking(), copies=cases.copies(0.4))
    assert codes(findings_of([both])) == ["CP001", "SY001"]
    gains = predicted(both, sync=speedup(1.2, 1.25), copy=speedup(1.05, 1.1))
    assert codes(findings_of([gains])) == ["SY001", "CP001"]


def test_a_small_finding_that_gains_little_and_not_surely_is_dropped():
    assert not findings_of([waits_for_data(0.15, input=speedup(1.0, 1.049))])
    assert findings_of([waits_for_data(0.15, input=speedup(1.0, 1.05))])
    assert findings_of([waits_for_data(0.15, input=speedup(1.005, 1.03))])


def test_a_small_finding_that_the_replay_contradicts_is_dropped():
    assert findings_of([waits_for_data(0.19, input=speedup(1.0, 1.019))]) == ()
    assert codes(findings_of([waits_for_data(0.19, input=speedup(1.005, 1.02))])) == ["IN001"]


def test_a_large_one_stays_lowered_and_last():
    one = context(
        {"input": 0.3, "sync": 0.2},
        loader=cases.waits(single=True, share=0.3),
        sync=cases.blocking(),
    )
    found = advise(
        [one.results],
        [Gains(error_frac=0.0, withheld="", input=speedup(1.0, 1.01), sync=speedup(1.1, 1.2))],
    )
    assert found.verdict.regime == "input"
    assert codes(found.findings) == ["SY001", "IN001"]
    last = found.findings[-1]
    assert (last.severity, last.confidence) == ("low", "low")
    assert "gains nothing" in last.action


def test_a_contradicted_finding_explains_no_other():
    both = context({"host": 0.5}, launches=cases.BUSY_LAUNCHES)
    found = findings_of([predicted(both, launch=speedup(1.0, 1.0), python=speedup(1.4, 1.5))])
    assert codes(found)[0] == "HO001"


def test_a_wide_range_that_begins_at_one_is_told_as_a_bound():
    def basis(low, high):
        (finding,) = findings_of([waits_for_data(input=speedup(low, high))])
        assert finding.gain is not None
        return finding.gain.basis

    assert basis(1.0, 1.5) == "bound"
    assert basis(1.0, 1.2) == "replay"
    assert basis(1.1, 2.5) == "replay"


def test_ranks_gain_together_what_the_one_that_waits_longest_gains():
    ranks = [
        on_rank(context({"communication": 0.4}, waiting=cases.waiting(0.8), ranks=2), number)
        for number in (0, 1)
    ]
    gains = (speedup(1.0, 1.01), speedup(1.3, 1.4))
    of_the_job = job_gains([Gains(error_frac=0.0, withheld="", together=gain) for gain in gains])
    (finding,) = findings_of(
        [replace(one, gains=gain) for one, gain in zip(ranks, of_the_job, strict=True)]
    )
    assert finding.gain == gains[1]


def test_a_withheld_gain_is_told_only_where_a_finding_would_have_had_it():
    off = Gains(error_frac=0.5, withheld="the replay is off")
    assert advise([waits_for_data().results], [off]).withheld == (0,)
    assert advise([context().results], [off]).withheld == ()
    assert advise([waits_for_data().results], [Gains(error_frac=0.0, withheld="")]).withheld == ()


@pytest.mark.parametrize(("direction", "gain"), [("HtoD", speedup(1.1, 1.2)), ("DtoH", None)])
def test_only_copies_to_the_device_are_replayed(direction, gain):
    for memory, code in (("pageable", "CP001"), ("pinned", "CP002")):
        one = context({"copy": 0.3}, copies=cases.copies(0.3, memory, direction))
        same = speedup(1.1, 1.2)
        (finding,) = findings_of([predicted(one, copy=same, overlap=same)])
        assert (finding.code, finding.gain) == (code, gain)


def test_a_synchronisation_that_hides_as_idle_host_is_found_by_the_replay():
    one = context({"host": 0.3}, launches=cases.SLOW_LAUNCHES, sync=cases.blocking())
    assert codes(findings_of([one])) == ["HO001"]
    gains = {"python": speedup(1.1, 1.2), "sync": speedup(1.3, 1.4)}
    found = advise([one.results], [Gains(error_frac=0.0, withheld="", **gains)])
    assert codes(found.findings) == ["SY001"]
    assert found.verdict.regime == "sync"
    assert "keep the program from running ahead" in found.verdict.sentence
    less = predicted(one, python=speedup(1.5, 1.6), sync=speedup(1.06, 1.1))
    assert codes(findings_of([less])) == ["HO001", "SY001"]
    no_more = predicted(one, python=speedup(1.1, 1.2), sync=speedup(1.04, 1.1))
    assert codes(findings_of([no_more])) == ["HO001"]


def test_a_finding_stays_beside_its_explanation_when_it_saves_more():
    both = context({"host": 0.5}, launches=cases.BUSY_LAUNCHES)
    found = findings_of([predicted(both, launch=speedup(1.1, 1.2), python=speedup(1.3, 1.4))])
    assert codes(found) == ["HO001", "LA001"]
    found = findings_of([predicted(both, launch=speedup(1.1, 1.35), python=speedup(1.3, 1.4))])
    assert codes(found) == ["LA001"]
