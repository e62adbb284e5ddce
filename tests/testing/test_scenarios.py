from typing import get_args

import pytest

from stepscope.schema.report import Regime
from stepscope.testing import Form, scenarios

NAMES = [scenario.name for scenario in scenarios.SCENARIOS]


def test_names_are_unique_and_regimes_exist():
    assert len(set(NAMES)) == len(NAMES)
    assert {scenario.regime for scenario in scenarios.SCENARIOS} <= {*get_args(Regime), None}
    assert all(scenario.doc.endswith(".") for scenario in scenarios.SCENARIOS)


def test_every_regime_but_none_has_its_scenario():
    assert {scenario.regime for scenario in scenarios.SCENARIOS} == set(get_args(Regime))


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_is_the_same_each_time(name):
    scenario = scenarios.get(name)
    first = [trace.text() for trace in scenario.build()]
    assert first == [trace.text() for trace in scenario.build()]


def test_ranks_of_a_job_reduce_at_the_same_time():
    ranks = scenarios.get("straggler").build()
    ends = [[row.end_ns for row in trace.truth().device if row.is_communication] for trace in ranks]
    assert ends[0]
    assert ends[0] == ends[1] == ends[2]


def test_an_unknown_name_lists_the_known(tmp_path):
    with pytest.raises(KeyError, match="input-bound"):
        scenarios.write("no-such", tmp_path / "x.json")


def test_writing_a_job_makes_a_file_a_rank(tmp_path):
    paths = scenarios.write_job("straggler", tmp_path / "job", Form(layout="json-line"))
    assert [path.name for path in paths] == [f"rank{rank}.pt.trace.json" for rank in range(3)]
    assert all(path.stat().st_size > 1_000 for path in paths)
