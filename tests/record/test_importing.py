import importlib
import importlib.util
import inspect
import sys

import pytest

from stepscope.record.hooks.importing import ImportHook

NAME = "imported_for_the_test"


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / f"{NAME}.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    finders = list(sys.meta_path)
    yield NAME
    sys.modules.pop(NAME, None)
    assert sys.meta_path == finders


def test_it_calls_once_when_the_module_is_complete(module):
    seen = []
    hook = ImportHook(module, lambda: seen.append(sys.modules[module].VALUE))
    hook.install()
    # Asking whether there is such a module is not importing it.
    assert importlib.util.find_spec(module) is not None
    assert seen == []
    imported = importlib.import_module(module)
    assert seen == [1]
    assert imported.__spec__ is not None
    assert "exec_module" not in vars(imported.__spec__.loader)
    assert inspect.getsource(imported) == "VALUE = 1\n"
    importlib.reload(imported)
    assert seen == [1]


def test_it_calls_at_once_when_the_module_is_there(module):
    importlib.import_module(module)
    seen = []
    ImportHook(module, lambda: seen.append(1)).install()
    assert seen == [1]


def test_it_can_be_taken_away_unused(module):
    seen = []
    hook = ImportHook(module, lambda: seen.append(1))
    hook.install()
    hook.remove()
    hook.remove()
    importlib.import_module(module)
    assert seen == []


def test_a_module_that_is_missing_stays_missing():
    hook = ImportHook("no_such_module_at_all", lambda: None)
    hook.install()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("no_such_module_at_all")
    hook.remove()
