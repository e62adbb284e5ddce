"""Memory that grows is told with who asked for it."""

import pytest
from msgspec.structs import replace

from stepscope.advice import memory_growth
from stepscope.analysis.memory import Holder
from tests.advice.cases import grows
from tests.advice.made import context
from tests.known import known

MB = 1_000_000.0


def finding(holders):
    (memory,) = grows(10 * MB)
    return known(memory_growth.find(context(memory=(replace(memory, holders=holders),))))


def test_who_holds_most_is_named_with_its_share():
    held = (Holder("aten::mul", 8 * MB, 40), Holder("aten::cat", 1.5 * MB, 5), Holder("x", 1.0, 1))
    found = finding(held)
    assert "80 % of the growth was asked for by aten::mul" in found.action
    told = {one.name: one.value for one in found.evidence if one.name.startswith("what stays")}
    assert told == {
        "what stays of aten::mul a step": 8 * MB,
        "what stays of aten::cat a step": 1.5 * MB,
    }


@pytest.mark.parametrize(
    ("holders", "words"),
    [
        (None, "stepscope profile --detail"),
        ((), "taken before these steps"),
        ((Holder("", 9 * MB, 5),), "asked for by code outside of operators"),
    ],
    ids=["no addresses", "nobody", "no operator"],
)
def test_where_no_operator_is_known_that_is_said(holders, words):
    assert words in finding(holders).action
