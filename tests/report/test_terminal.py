import io
import unicodedata

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from stepscope.report.terminal import print_report
from stepscope.schema.notice import Notice
from tests.report import examples, regold


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.mark.parametrize("name", examples.ALL)
def test_the_whole_text_at_80_columns(name):
    expected = (regold.FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert regold.printed(name) == expected


def test_no_expected_text_is_left_over():
    assert {path.stem for path in regold.FOLDER.iterdir()} == set(examples.ALL)


@pytest.mark.parametrize("name", examples.ALL)
@pytest.mark.parametrize("width", [40, 60, 80, 132])
def test_no_line_is_wider_than_asked_or_ends_in_blanks(name, width):
    for line in regold.printed(name, width).splitlines():
        assert cell_len(line) <= width, line
        assert line == line.rstrip()


@pytest.mark.parametrize("name", examples.ALL)
def test_a_pipe_gets_no_control_characters_and_no_boxes(name):
    for character in regold.printed(name):
        assert character == "\n" or unicodedata.category(character)[0] != "C", repr(character)
        assert not 0x2500 <= ord(character) <= 0x259F


def test_foreign_names_are_not_markup():
    text = regold.printed("hostile")
    assert "[bold red]aten::mm[/]" in text
    assert r"\x1b[31m\x07\u202e" in text
    assert examples.HOSTILE in text


def test_a_terminal_gets_colours_and_solid_bars():
    file = Terminal()
    print_report(examples.input_bound(), file=file, width=80)
    assert "\x1b[" in file.getvalue()
    assert "█" in file.getvalue()


def test_no_color_is_honoured(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    file = Terminal()
    print_report(examples.input_bound(), file=file, width=80)
    assert "\x1b[38" not in file.getvalue()
    assert "\x1b[31" not in file.getvalue()


def test_columns_rules_a_pipe(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    file = io.StringIO()
    print_report(examples.input_bound(), file=file)
    assert file.getvalue() == regold.printed("input_bound", 60)


@pytest.mark.parametrize("columns", ["", "wide", "3"])
def test_columns_that_mean_nothing_are_not_used(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    file = io.StringIO()
    print_report(examples.input_bound(), file=file)
    assert file.getvalue() == regold.printed("input_bound")


def test_a_receiver_without_unicode_gets_ascii():
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    print_report(replace(examples.hostile(), paths=("Läufe/größer.json",)), file=file, width=80)
    text = raw.getvalue().decode("ascii")
    assert r"L\xe4ufe/gr\xf6\xdfer.json" in text
    assert "634 us" in text


def test_many_ranks_are_cut_and_it_is_said():
    file = io.StringIO()
    print_report(examples.many_ranks(256, slow=200), file=file, width=80)
    text = file.getvalue()
    assert "Ranks: 8 of 256" in text
    assert "\n 200 " in text
    assert len(text.splitlines()) < 70


def test_many_findings_and_notices_are_cut_and_it_is_said():
    report = examples.input_bound()
    notices = tuple(Notice(code="x", count=1, text=f"Notice {n}.") for n in range(9))
    report = replace(
        report,
        findings=report.findings * 4,
        health=replace(report.health, notices=notices),
    )
    file = io.StringIO()
    print_report(report, file=file, width=80)
    assert "and 3 more notices" in file.getvalue()
    assert "Their evidence and code are in the HTML and JSON reports." in file.getvalue()
    assert file.getvalue().count("Try: ") == 6
    assert file.getvalue().count("IN001, high severity") == 1
    assert (
        len([line for line in file.getvalue().splitlines() if line.startswith("   CP001 B")]) == 1
    )


def test_a_comment_that_is_too_long_stands_above_its_line_of_code():
    report = examples.input_bound()
    long = "loader = f(\n\n    num_workers=8,      # " + "more than now " * 4 + "\n)"
    finding = replace(report.findings[0], snippet=long)
    file = io.StringIO()
    print_report(replace(report, findings=(finding,)), file=file, width=80)
    code = [line[7:] for line in file.getvalue().splitlines() if line.startswith("     |")]
    assert code == [
        "loader = f(",
        "",
        "    # " + " ".join(["more than now"] * 4),
        "    num_workers=8,",
        ")",
    ]


def test_what_was_not_measured_says_so():
    report = examples.input_bound()
    rank = report.ranks[0]
    assert rank.gpu is not None
    gpu = replace(rank.gpu, busy_frac=None, tensor_core_frac=None)
    file = io.StringIO()
    print_report(replace(report, ranks=(replace(rank, gpu=gpu),)), file=file, width=80)
    text = " ".join(file.getvalue().split())
    assert "busy not measured of the steps" in text
    assert "Tensor Cores not measured of kernel time" in text
    assert "None" not in text
    assert "samples a second: not measured" in text
