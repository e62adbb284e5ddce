"""The first notebook in a real JupyterLab in a real browser: opened, run to its end, as a reader would."""

import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@pytest.fixture
def page():
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no chromium on the PATH, so no notebook is looked at in a browser")
    reason = "playwright is not installed, so no notebook is looked at in a browser"
    sync_api = pytest.importorskip("playwright.sync_api", reason=reason)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser.new_page(viewport={"width": 1280, "height": 900})
        browser.close()


@pytest.fixture
def address(tmp_path):
    for module in ("jupyterlab", "ipykernel", "torch", "PIL"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    with subprocess.Popen(
        [sys.executable, "-m", "stepscope", "lab", str(tmp_path / "lab"), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("SLURM")},
    ) as lab:
        assert lab.stdout is not None
        lines = [lab.stdout.readline() for _ in range(2)]
        try:
            yield lines[1].split()[-1]
        finally:
            lab.send_signal(signal.SIGTERM)
            lab.wait(timeout=30)


def test_the_first_notebook_runs_to_its_end(page, address):
    page.goto(re.sub(r"/lab\?", "/lab/tree/1-what-why-when.ipynb?", address))
    title = page.get_by_role("heading", name="1. What, why, when")
    title.wait_for(timeout=90_000)
    page.locator(".jp-NotebookPanel .jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for(
        timeout=90_000
    )
    page.locator(".lm-MenuBar-itemLabel", has_text=re.compile("^Run$")).click()
    page.locator("li[data-command='runmenu:run-all']").click()
    page.locator(".jp-OutputArea-output", has_text="all of it holds here").wait_for(timeout=240_000)
    assert page.locator(".jp-OutputArea-output[data-mime-type*='error']").count() == 0
    assert page.locator(".jp-OutputArea-output", has_text="GPU-years").count() >= 1
