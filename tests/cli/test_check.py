"""The command as typed."""

import argparse

import msgspec
import pytest

from stepscope.cli import check
from stepscope.errors import InputError
from stepscope.schema.check_report import CheckReport
from stepscope.schema.machine import TorchFacts
from stepscope.watch import preflight


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    facts = TorchFacts(python="python", version="2.13.0", threads=2)
    monkeypatch.setattr(preflight, "probe_torch", lambda _python: facts)
    monkeypatch.setattr(preflight, "scratch_folders", lambda _environ, _site: ())
    monkeypatch.delenv("STEPSCOPE_SITE", raising=False)


def run(*words):
    parser = argparse.ArgumentParser()
    check.add_arguments(parser)
    return check.run(parser.parse_args(words))


def test_it_ends_well_whatever_it_finds(tmp_path, capsys):
    script = tmp_path / "train.py"
    script.write_text("DataLoader(d, num_workers=4096)\n")
    assert run(str(script), "--site", "none") == 0
    text = capsys.readouterr().out
    assert "CK023 medium: " in text
    assert "Care:" not in text


def test_a_plan_gets_its_level_of_care(capsys):
    words = ["--site", "none", "--gpus", "64", "--hours", "100", "--runs", "10", "--device", "H100"]
    assert run(*words) == 0
    assert "Care: profile first, then tune" in capsys.readouterr().out


def test_json_to_standard_output_and_to_a_file(tmp_path, capsys):
    assert run("--site", "none", "--json", "-") == 0
    seen = capsys.readouterr()
    assert msgspec.json.decode(seen.out, type=CheckReport).torch.version == "2.13.0"
    assert "Cores " in seen.err
    path = tmp_path / "check.json"
    assert run("--site", "none", "--json", str(path)) == 0
    assert msgspec.json.decode(path.read_bytes(), type=CheckReport).schema_version == 1
    assert "Cores " in capsys.readouterr().out
    with pytest.raises(InputError, match="cannot be written"):
        run("--site", "none", "--json", str(tmp_path / "no" / "check.json"))
