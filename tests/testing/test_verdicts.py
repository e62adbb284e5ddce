"""Every scenario is diagnosed as what it is, in every form that PyTorch has written."""

import pytest

import stepscope
from stepscope.testing import ERAS, scenarios


@pytest.mark.parametrize("name", [scenario.name for scenario in scenarios.SCENARIOS])
def test_the_regime_is_the_known_one(tmp_path, name):
    report = stepscope.analyze(scenarios.write_job(name, tmp_path))
    assert report.verdict.regime == scenarios.get(name).regime
    assert (report.verdict.regime == "healthy") == (report.findings == ())
    for rank in report.ranks:
        steps = [sum(parts.values()) for parts in rank.step_parts_ms]
        assert steps == pytest.approx(rank.steps.durations_ms, abs=1e-6)


@pytest.mark.parametrize(("era", "form"), ERAS, ids=[era for era, _ in ERAS])
@pytest.mark.parametrize("name", ["input-bound", "launch-bound", "straggler"])
def test_the_verdict_does_not_depend_on_the_year(tmp_path, name, era, form):
    report = stepscope.analyze(scenarios.write_job(name, tmp_path, form))
    assert report.verdict.regime == scenarios.get(name).regime, era
