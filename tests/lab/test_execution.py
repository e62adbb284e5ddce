"""Every notebook, top to bottom, as a reader would run it, and each exercise before and after its solution."""

import os
import re

import pytest

from stepscope.lab import notebooks

pytestmark = [pytest.mark.slow, pytest.mark.notebook]

TRIES = 3
"""A check goes by times, which another program may spoil; one of several has to turn green."""

SOLUTION = re.compile(r"<summary>Solution</summary>.*?^```python\n(.*?)^```", re.M | re.S)


def with_solutions(text):
    """The notebook's cells, each solution followed by the check before it, several times over."""
    out = []
    for cell in notebooks.cells(text):
        out.append((cell.kind, cell.text))
        match = SOLUTION.search(cell.text) if cell.kind == "markdown" else None
        if match:
            check = next(text for kind, text in reversed(out[:-1]) if kind == "code")
            out.append(("code", match[1]))
            out.extend(("code", check) for _ in range(TRIES))
    return out


@pytest.mark.filterwarnings("ignore")  # of Jupyter's own, in this process; none of ours
@pytest.mark.parametrize("source", notebooks.sources(), ids=lambda path: path.stem)
def test_it_runs_and_holds(source, tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    v4 = pytest.importorskip("nbformat.v4", reason="nbformat is not installed")
    cells = [
        v4.new_code_cell(text) if kind == "code" else v4.new_markdown_cell(text)
        for kind, text in with_solutions(source.read_text(encoding="utf-8"))
    ]
    notebook = v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources=resources
    ).execute()
    printed = [
        "".join(output.get("text", "") for output in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]
    assert printed[-1].strip().endswith("all of it holds here")
    checks = [text for text in printed if "✘" in text or "✔" in text]
    assert len(checks) == 1 + TRIES
    if os.getloadavg()[0] > 3 * (os.cpu_count() or 1):
        pytest.skip("other programs take the cores, so no exercise is judged by its times")
    assert "✘" in checks[0], "the exercise is solved before anybody has worked on it"
    assert "✔" in "".join(checks[1:]), "the solution does not solve the exercise"
