"""The how-to on made traces does what it says."""

import re
from pathlib import Path

HOW_TO = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "make-traces-for-tests.md"


def test_the_how_to_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", HOW_TO.read_text(encoding="utf-8"), re.DOTALL)
    exec("\n".join(blocks), {})
    assert "input-bound input" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} >= {"made-2021.json", "odd.json", "straggler"}
