"""The page's own style and scripts, bokeh's script, and the policy that lets only these run."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib import resources
from typing import Final

from markupsafe import Markup

SCRIPTS: Final = ("tables.js", "charts.js", "ranks.js")
"""The page's scripts in the order in which they run."""
_CLOSING: Final = re.compile("</(?=script)", re.IGNORECASE)
_FOLDER: Final = "templates"


def style() -> Markup:
    """The style sheet."""
    return Markup(_read("page.css"))  # noqa: S704 - our own file, nothing foreign in it


def page_script() -> Markup:
    """The page's own scripts as one."""
    body = "\n".join(_read(name) for name in SCRIPTS)
    return _script(f'"use strict";\n{body}')


def bokeh_script() -> Markup:
    """The smallest of bokeh's bundles, with nothing but plots in it."""
    from bokeh.resources import Resources  # noqa: PLC0415 - loaded only when a page is made

    inline = Resources(mode="inline", components=["bokeh"], minified=True)
    # The bundle comes first; what follows it only sets a log level, and says so in the console.
    return _script(inline.js_raw[0])


def policy(*scripts: str) -> str:
    """A content security policy under which exactly these inline scripts run and nothing is loaded."""
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def data(document: object) -> Markup:
    """A document as JSON that cannot end the script element which holds it."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)  # noqa: S704 - every sign that HTML knows is escaped above


def _script(text: str) -> Markup:
    """A script's text as it stands in the page; browsers hash it with plain line ends."""
    return Markup(_CLOSING.sub(r"<\\/", text.replace("\r\n", "\n")))  # noqa: S704 - trusted files


def _hash(text: str) -> str:
    """The base64 of a script's SHA-256, as the policy wants it."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _read(name: str) -> str:
    """The text of a file that lies beside the templates."""
    return resources.files(__package__).joinpath(_FOLDER, name).read_text(encoding="utf-8")
