"""Dated rates, and what a user's file may do to them."""

from pathlib import Path

import pytest

from stepscope.cost.rates import load_book, read_rates
from stepscope.errors import InputError

BOOK = load_book()


def test_every_built_in_rate_is_dated_and_has_a_source():
    assert len(BOOK.rates) > 40
    for rate in BOOK.rates:
        assert rate.source, rate
        assert len(rate.date) == len("2026-11-30"), rate
        assert 0 < rate.low <= rate.value <= rate.high, rate


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA A100-SXM4-40GB", "A100"),
        ("NVIDIA H200", "H200"),
        ("Tesla V100-SXM2-32GB", "V100"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("rtx4090", "RTX 4090"),
        ("NVIDIA GH200 480GB", "GH200"),
        ("NVIDIA L4", "L4"),
        ("AMD Instinct MI250X", "MI250X"),
        ("NVIDIA L40S", ""),
        ("Quadro T400", ""),
        ("a100x", ""),
    ],
)
def test_devices_are_known_by_what_drivers_call_them(name, key):
    assert BOOK.device(name) == key


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_users_file_wins_and_says_so(tmp_path):
    path = written(
        tmp_path,
        '[price.H100]\nvalue = 2.62\nunit = "EUR per GPU-hour"\ndate = "2025-01-01"\nsource = "ours"\n',
    )
    rate = load_book((path,)).find("price", "h100")
    assert rate is not None
    assert (rate.value, rate.low, rate.high, rate.origin) == (2.62, 2.62, 2.62, f"file {path}")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[prize.H100]\nvalue = 1.0", "there is no kind of rate 'prize'"),
        ("price = 3", r"\[price\]"),
        ('[price.H100]\nvalue = 1.0\nunit = "EUR an hour"', "missing required field"),
        ('[grid.NL]\nvalue = "much"\nunit="g"\ndate="x"\nsource="x"', "Expected `float`"),
        ('[grid.NL]\nvalue = 5.0\nlow = 6.0\nunit="g"\ndate="x"\nsource="x"', "does not hold"),
        ('[grid.NL]\nvalue = nan\nunit="g"\ndate="x"\nsource="x"', "does not hold"),
        ('[price.H100]\nvalue = 5.0\nunit="DKK an hour"\ndate="x"\nsource="x"', "EUR or USD"),
        ("[price.H100", "is not TOML"),
    ],
)
def test_a_wrong_file_is_named_with_the_place(tmp_path, text, says):
    with pytest.raises(InputError, match=says) as caught:
        read_rates(written(tmp_path, text), "file")
    assert "mine.toml" in str(caught.value)


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        load_book((tmp_path / "none.toml",))
