"""A headless Chromium of the system; the tests skip where there is none."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from stepscope.report.html import write
from tests.report import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser for all tests of this folder; two at a time in one process cannot be."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no chromium on the PATH, so the page is not looked at in a browser")
    reason = "playwright is not installed, so the page is not looked at in a browser"
    sync_api = pytest.importorskip("playwright.sync_api", reason=reason)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@dataclass
class Watched:
    """A page with everything that it did and should not do."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def listen(self) -> None:
        """Write down everything from now on."""

        def heard(message: ConsoleMessage) -> None:
            if message.type in {"error", "warning"}:
                self.errors.append(message.text)

        def asked(dialog: Dialog) -> None:
            self.dialogs.append(dialog.message)
            dialog.dismiss()

        self.page.on("console", heard)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", asked)

    def is_clean(self) -> bool:
        """No error or warning, no request but the page itself, no dialog."""
        assert self.errors == []
        assert [url for url in self.requests if not url.startswith(("file://", "data:"))] == []
        assert len([url for url in self.requests if url.startswith("file://")]) == 1
        assert self.dialogs == []
        return True


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Watched]]:
    """Writes an example's page and opens it; checks at the end that it stayed clean."""
    watched: list[Watched] = []
    contexts = []

    def open_page(name: str, *, width: int = 1280, scheme: str = "light") -> Watched:
        path = tmp_path / f"{name}.html"
        write(examples.ALL[name](), path)
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=scheme,  # type: ignore[arg-type]
        )
        contexts.append(context)
        seen = Watched(context.new_page())
        watched.append(seen)
        seen.listen()
        seen.page.goto(path.as_uri())
        seen.page.wait_for_selector("html[data-ready]", state="attached")
        return seen

    yield open_page
    for seen in watched:
        assert seen.is_clean()
    for context in contexts:
        context.close()
