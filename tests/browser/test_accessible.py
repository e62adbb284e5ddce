"""axe finds nothing on the page of any kind of report, in the light and in the dark."""

import pytest

from tests.report import examples

axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright",
    reason="axe-playwright-python is not installed, so accessibility is not checked",
)
pytestmark = pytest.mark.slow


def complaints(page):
    return [
        (violation["id"], [node["target"] for node in violation["nodes"][:5]])
        for violation in axe.Axe().run(page).response["violations"]
    ]


@pytest.mark.parametrize("name", sorted(examples.ALL))
def test_axe_finds_nothing(opened, name):
    assert complaints(opened(name).page) == []


def test_nor_in_the_dark(opened):
    assert complaints(opened("input_bound", scheme="dark").page) == []
