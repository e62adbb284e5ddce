import pytest

from stepscope.errors import OptionError
from stepscope.record.output import create_output


def test_runs_of_the_same_second_get_folders_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folders = {create_output("train", None) for _ in range(5)}
    assert len(folders) == 5
    assert {folder.parent for folder in folders} == {tmp_path / "stepscope-runs"}
    assert all(folder.name.startswith("train-") for folder in folders)


@pytest.mark.parametrize("name", ["../../etc", "a b/c", "", "...", "ä$%"])
def test_no_name_leads_out_of_the_folder(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    assert create_output(name, None).parent == tmp_path / "stepscope-runs"


def test_a_chosen_folder_may_exist_when_it_is_empty(tmp_path):
    assert create_output("train", str(tmp_path)) == tmp_path
    (tmp_path / "run.json").touch()
    with pytest.raises(OptionError, match="already holds a run"):
        create_output("train", str(tmp_path))
