"""The command as typed."""

import argparse

import msgspec
import pytest

from stepscope.cli import cost
from stepscope.errors import InputError
from stepscope.schema.cost import CostReport


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    cost.add_arguments(parser)
    return cost.run(parser.parse_args(words))


@pytest.fixture(autouse=True)
def no_stated_rates(monkeypatch):
    for name in ("SITE", "PRICE", "CURRENCY", "PUE", "GRID", "ELECTRICITY", "DEVICE", "RATES"):
        monkeypatch.delenv(f"STEPSCOPE_{name}", raising=False)


GPT3 = [
    "--flops",
    "3.14e23",
    "--flops-per-second",
    "28e12",
    "--device",
    "V100",
    "--watts",
    "300",
    "--price",
    "1.5",
    "--currency",
    "USD",
    "--site",
    "none",
]


def test_the_text_says_the_published_figures(capsys):
    assert run(*GPT3) == 0
    text = capsys.readouterr().out
    assert "355.6 GPU-years of 8,760 h" in text
    assert "4.67 million USD" in text
    assert "published 188.7 MWh" in text
    assert "published 1,287 MWh" in text
    assert "4.64 x from the throughput" in text


def test_waste_stands_before_the_total(capsys):
    run("--gpus", "1", "--hours", "1", "--device", "H100", "--idle", "0.5", "--site", "none")
    lines = capsys.readouterr().out.splitlines()
    starts = [line.split()[0] for line in lines if line and not line.startswith(" ")]
    assert starts.index("Wasted") < starts.index("Money") < starts.index("Energy")


def test_json_to_standard_output_is_nothing_but_json(capsys):
    assert run(*GPT3, "--json", "-") == 0
    report = msgspec.json.decode(capsys.readouterr().out, type=CostReport)
    assert report.gpu_years == pytest.approx(355.6, abs=0.05)


def test_json_to_a_file_comes_with_the_text(tmp_path, capsys):
    path = tmp_path / "cost.json"
    assert run(*GPT3, "--json", str(path)) == 0
    assert "4.67 million USD" in capsys.readouterr().out
    assert msgspec.json.decode(path.read_bytes(), type=CostReport).schema_version == 1


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        run(*GPT3, "--json", str(tmp_path / "no" / "cost.json"))
