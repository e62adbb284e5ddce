"""Check a built site in a browser: axe must find nothing on any page, in the light and in the dark.

usage: check_accessible.py FOLDER

Needs Chromium; where there is none, it says so and ends with 0.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def complaints(browser: Browser, page_file: Path) -> Iterator[str]:
    """What axe has against one page, a line each."""
    page = browser.new_page()
    page.goto(page_file.as_uri())
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        for violation in Axe().run(page).response["violations"]:
            places = ", ".join(node["target"][0] for node in violation["nodes"][:3])
            yield f"{page_file.name} ({scheme}): {violation['id']}: {violation['help']}: {places}"
    page.close()


def main() -> int:
    """Checks every page."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        print("check_accessible: no Chromium here, so no page is looked at")
        return 0
    site = Path(sys.argv[1]).resolve()
    pages = sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)
    found: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for path in pages:
            found += complaints(browser, path)
        browser.close()
    print("\n".join(found[:100]))
    print(f"{len(pages)} pages, {len(found)} complaints of axe")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
