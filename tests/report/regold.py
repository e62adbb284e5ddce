"""Write the expected terminal texts anew: ``python -m tests.report.regold``; then read the diff."""

import io
from pathlib import Path

from stepscope.report.terminal import print_report
from tests.report import examples

FOLDER = Path(__file__).parent / "golden"


def printed(name: str, width: int = 80) -> str:
    """The text of one example as a pipe gets it."""
    file = io.StringIO()
    print_report(examples.ALL[name](), file=file, width=width)
    return file.getvalue()


if __name__ == "__main__":
    for example in examples.ALL:
        (FOLDER / f"{example}.txt").write_text(printed(example), encoding="utf-8")
