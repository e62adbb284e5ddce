"""What a user imports, and what that costs."""

import subprocess
import sys

import pytest

import stepscope

HEAVY = {"torch", "bokeh", "polars", "pandas"}


def imported(*arguments):
    """Top-level packages that a fresh interpreter imports while it runs these arguments."""
    run = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True
    )
    lines = [line for line in run.stderr.splitlines() if line.startswith("import time:")]
    assert len(lines) > 20, "the interpreter did not say what it imported"
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


def test_all_is_sorted_and_true():
    assert list(stepscope.__all__) == sorted(set(stepscope.__all__))
    for name in stepscope.__all__:
        assert getattr(stepscope, name) is not None


def test_dir_shows_what_all_promises():
    assert set(stepscope.__all__) <= set(dir(stepscope))


@pytest.mark.parametrize(
    "arguments",
    [("-c", "import stepscope"), ("-m", "stepscope", "--help"), ("-m", "stepscope", "--version")],
    ids=["import", "help", "version"],
)
def test_nothing_heavy_is_imported(arguments):
    packages = imported(*arguments)
    assert "stepscope" in packages
    assert packages & HEAVY == set()


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no_such_name"):
        stepscope.no_such_name  # noqa: B018
