"""The list of analyses, the folder and the results' fields agree."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from stepscope import analysis
from stepscope.analysis.results import Results

NOT_ANALYSES = {"base", "results", "summary"}


def test_every_module_of_the_folder_is_listed_once():
    names = {module.name for module in pkgutil.iter_modules(analysis.__path__)} - NOT_ANALYSES
    listed = [one.name for one in analysis.ANALYSES]
    assert sorted(listed) == sorted(names)
    for name in names:
        assert import_module(f"stepscope.analysis.{name}").ANALYSIS in analysis.ANALYSES


def test_every_analysis_fills_one_field_of_the_results():
    assert set(Results.__struct_fields__) == {one.name for one in analysis.ANALYSES}


def test_every_analysis_is_described():
    assert all(one.doc.endswith(".") for one in analysis.ANALYSES)
