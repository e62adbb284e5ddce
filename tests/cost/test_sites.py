"""Sites, their detection and their rule of charging."""

from importlib.resources import files

import pytest

from stepscope.cost.rates import load_book
from stepscope.cost.sites import built_in, charged_gpus, detect_site, find_site
from stepscope.errors import InputError, OptionError


@pytest.fixture(autouse=True)
def no_slurm(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _name: None)


def test_the_built_in_sites_are_complete():
    found = built_in()
    assert [known.site.name for known in found] == ["LUMI", "Mahti", "Snellius"]
    book = load_book()
    for known in found:
        assert known.site.partitions
        assert known.site.scratch
        assert book.find("grid", known.site.country) is not None


def test_a_site_is_found_by_name_and_by_cluster():
    assert find_site("SNELLIUS").site.unit == "SBU"
    found = detect_site({"SLURM_CLUSTER_NAME": "lumi"})
    assert found is not None
    assert found.site.name == "LUMI"
    assert found.pue is not None
    assert found.pue.origin == "site"


def test_an_unknown_cluster_is_no_site():
    assert detect_site({"SLURM_CLUSTER_NAME": "steptest"}) is None
    assert detect_site({}) is None


def test_the_controller_is_asked_where_the_variable_is_missing(tmp_path, monkeypatch):
    scontrol = tmp_path / "scontrol"
    scontrol.write_text("#!/bin/sh\necho 'ClusterName             = snellius'\n")
    scontrol.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda _name: str(scontrol))
    found = detect_site({})
    assert found is not None
    assert found.site.name == "Snellius"


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(OptionError, match="LUMI, Mahti, Snellius"):
        find_site("nowhere")


def test_a_file_of_ones_own(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "Mine"\n')
    with pytest.raises(InputError, match="missing required field"):
        find_site(str(path))
    text = (files("stepscope.cost") / "sites" / "mahti.toml").read_text()
    path.write_text(text.replace('name = "Mahti"', 'name = "Mine"', 1))
    assert find_site(str(path)).site.name == "Mine"


@pytest.mark.parametrize(
    ("gpus", "cores", "memory", "charged"),
    [
        (1, None, None, 1),
        (1, 16, 180, 1),
        (1, 17, None, 2),
        (1, 16, 181, 2),
        (2, 16, 720, 4),
        (4, 16, 180, 4),
    ],
)
def test_the_largest_share_is_charged(gpus, cores, memory, charged):
    partition = find_site("snellius").site.partition("gpu_h100")
    assert partition is not None
    assert charged_gpus(partition, gpus, cores, memory) == charged
