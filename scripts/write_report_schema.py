"""Write ``docs/reference/report.schema.json`` from the dataclasses of the Report."""

from __future__ import annotations

from pathlib import Path

from stepscope.report import form

TARGET = Path(__file__).resolve().parent.parent / "docs" / "reference" / "report.schema.json"

if __name__ == "__main__":
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(form.text(), encoding="utf-8")
