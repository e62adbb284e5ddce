"""The rules of the house that no linter knows."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope import errors

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGE = CHECKOUT / "src" / "stepscope"
SOURCES = sorted(PACKAGE.rglob("*.py"))
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60


def name_of(path):
    return str(path.relative_to(PACKAGE))


def test_the_sources_are_found():
    assert "errors.py" in {name_of(path) for path in SOURCES}


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_files_and_functions_stay_small(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MAX_FILE_LINES, "a file that asks to be two rooms"
    lengths = {
        f"{node.name} in line {node.lineno}": (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    assert {name: lines for name, lines in lengths.items() if lines > MAX_FUNCTION_LINES} == {}


def test_the_error_tree_is_drawn_as_it_is():
    drawn = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r" +([│├└─ ]*)(\w+) +(?:exit status )?(\d)\b", line)
        if match:
            depth = len(match[1]) // 4
            path = [*path[:depth], match[2]]
            drawn[match[2]] = (path[depth - 1] if depth else "Exception", int(match[3]))
    actual = {
        name: (cls.__bases__[0].__name__, cls.exit_status)
        for name, cls in vars(errors).items()
        if inspect.isclass(cls) and issubclass(cls, errors.StepscopeError)
    }
    assert drawn == actual


def settings():
    return tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_dependency_has_its_reason():
    table = (
        (CHECKOUT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Dependencies")[2]
    )
    first_cells = [row.split("|")[1] for row in table.splitlines() if row.startswith("|")]
    explained = {name.strip() for cell in first_cells for name in cell.split(",")}
    project = settings()["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.split(r"[^\w-]", requirement)[0] for requirement in needed}
    assert {name for name in names if not name.startswith(("stepscope", "types-"))} <= explained


def test_every_package_has_its_layer():
    contract = settings()["tool"]["importlinter"]["contracts"][0]
    layered = {name.strip() for row in contract["layers"] for name in row.split("|")}
    rooms = {
        path.stem
        for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert rooms - {"__init__"} - set(contract["exhaustive_ignores"]) == layered


def test_every_folder_of_tests_is_a_package():
    folders = {path.parent for path in (CHECKOUT / "tests").rglob("test_*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_a_training_process_loads_nothing_but_ours_and_the_standard_library():
    code = (
        "import sys; had = set(sys.modules)\n"
        "import importlib, pkgutil, stepscope.by_hand, stepscope.record as record\n"
        "for one in pkgutil.walk_packages(record.__path__, 'stepscope.record.'):\n"
        "    importlib.import_module(one.name)\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - had}\n"
        "print(sorted(new & {'msgspec', 'numpy', 'polars', 'psutil', 'rich', 'torch'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "[]\n"
