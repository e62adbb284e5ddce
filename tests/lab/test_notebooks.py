import ast
import json

import pytest

from stepscope.errors import InputError
from stepscope.lab import notebooks

SOURCES = notebooks.sources()
SMALL = """\
---
file_format: mystnb
---
# Title

Text, and [the next](2-other.md).

```{code-cell} ipython3
:tags: [hide-input]

x = 1
```

Between.

+++

Another cell.

<details>

```python
x = 2
```

</details>
"""


def test_code_and_text_take_turns_as_they_stand():
    found = notebooks.cells(SMALL)
    assert [(cell.kind, cell.text.splitlines()[0]) for cell in found] == [
        ("markdown", "# Title"),
        ("code", "x = 1"),
        ("markdown", "Between."),
        ("markdown", "Another cell."),
    ]
    assert "[the next](2-other.ipynb)" in found[0].text
    assert "x = 2" in found[3].text


def test_the_file_is_a_notebook_of_format_4_5():
    document = json.loads(notebooks.to_ipynb(SMALL))
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    code = document["cells"][1]
    assert code["source"] == ["x = 1"]
    assert code["outputs"] == []
    ids = [cell["id"] for cell in document["cells"]]
    assert len(set(ids)) == len(ids)
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbformat.validate(nbformat.reads(notebooks.to_ipynb(SMALL), as_version=4))


def test_what_somebody_has_worked_on_stays(tmp_path):
    first = notebooks.copy_to(tmp_path / "lab")
    assert [path.stem for path in first] == [path.stem for path in SOURCES]
    first[0].write_text("mine")
    first[1].unlink()
    assert notebooks.copy_to(tmp_path / "lab") == (first[1],)
    assert first[0].read_text() == "mine"


def test_a_folder_that_cannot_be_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        notebooks.copy_to(tmp_path / "file" / "lab")


def test_there_are_five_in_order():
    assert [path.name[:2] for path in SOURCES] == ["1-", "2-", "3-", "4-", "5-"]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_each_is_whole(source):
    text = source.read_text(encoding="utf-8")
    found = notebooks.cells(text)
    assert found[0].text.startswith(f"# {source.name[0]}. ")
    for cell in found:
        if cell.kind == "code":
            ast.parse(cell.text)
    assert "<summary>Solution</summary>" in text
    last = [cell for cell in found if cell.kind == "code"][-1]
    assert last.text.startswith(("assert", "late = "))
    assert last.text.endswith('print("all of it holds here")')
    assert max(map(len, text.splitlines())) <= 140


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_each_links_to_notebooks_that_are_there(source):
    text = "".join(c.text for c in notebooks.cells(source.read_text(encoding="utf-8")))
    names = {path.stem for path in SOURCES}
    linked = {word.partition(".ipynb")[0] for word in text.split("](")[1:] if ".ipynb)" in word}
    assert linked <= names
    assert linked or source == SOURCES[-1]
