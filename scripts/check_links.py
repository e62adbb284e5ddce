"""Check a built site: every link, image and anchor that stays inside it must lead somewhere.

usage: check_links.py FOLDER
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit


class Page(HTMLParser):
    """What a page links to, and the places in it that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep links and anchors."""
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and not urlsplit(value).scheme and value[:2] != "//":
                self.links.add(value)


def broken(site: Path) -> list[str]:
    """Every link that leads nowhere, as text."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    found = []
    for path, page in sorted(pages.items()):
        for link in sorted(page.links):
            address, anchor = urldefrag(link)
            address = unquote(urlsplit(address).path)
            target = (path.parent / address).resolve() if address else path.resolve()
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                found.append(f"{path.relative_to(site)}: {link} is not there")
            elif target in pages and unquote(anchor) not in pages[target].anchors:
                found.append(f"{path.relative_to(site)}: {link} has no such place")
    return found


def main() -> int:
    """Print what is broken."""
    site = Path(sys.argv[1]).resolve()
    found = broken(site)
    print("\n".join([*found, f"links: {len(found)} broken"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
