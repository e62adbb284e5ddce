"""The documentation: made from the program, whole, and without a link that leads nowhere."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stepscope
from stepscope.cli.main import COMMANDS

CHECKOUT = Path(__file__).resolve().parent.parent
DOCS = CHECKOUT / "docs"


@pytest.fixture
def made(monkeypatch):
    """The modules that make the reference."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    names = ("commands", "documents", "errors", "limits", "rules", "tables", "words")
    modules = {name: importlib.import_module(f"reference_pages.{name}") for name in names}
    yield modules
    for name in [name for name in sys.modules if name.startswith("reference_pages")]:
        del sys.modules[name]


@pytest.fixture(autouse=True)
def sphinx_is_not_needed_for_the_words(monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


def test_every_command_is_explained(made):
    ((_, text),) = made["commands"].pages()
    for name in COMMANDS:
        assert f"\n## stepscope {name}\n" in text
        assert f"usage: stepscope {name}" in text
    assert "\x1b" not in text


def test_every_field_of_a_document_has_its_definition(made):
    missing = [
        f"{name}: {row}"
        for name, text in made["documents"].pages()
        for row in re.findall(r"^\| `\w+` \|.*$", text, re.MULTILINE)
        if row.rstrip(" |").endswith("`")
    ]
    assert missing == []


def test_every_rule_has_its_page_with_all_headings(made):
    pages = dict(made["rules"].pages())
    assert len(pages) == len(made["rules"].RULES) + 1
    for rule in made["rules"].RULES:
        text = pages[f"rules/{rule.code}.md"]
        headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
        assert headings == [
            "What it does",
            "Why it costs",
            "Example",
            "What to try",
            "When this is wrong",
            "References",
        ], rule.code


def test_tables_errors_and_limits_are_there(made):
    assert "## host" in dict(made["tables"].pages())["tables.md"]
    assert "| `MissingExtraError` | 2 |" in dict(made["errors"].pages())["errors.md"]
    assert "| `ROWS` | 200,000,000 |" in dict(made["limits"].pages())["limits.md"]


def test_fields_that_share_a_line_share_its_definition(made):
    class Sample:
        """One line.

        Attributes:
            one, two: Both, which goes on
                in the next line.
            three: Alone | with a bar.
        """

    said = made["words"].attributes(Sample)
    assert said["one"] == said["two"] == "Both, which goes on in the next line."
    assert made["words"].table(("a",), [(said["three"],)]).splitlines()[-1] == (
        "| Alone \\| with a bar. |"
    )


def test_every_public_name_is_documented():
    text = (DOCS / "reference" / "python.md").read_text(encoding="utf-8").replace("\\", "")
    for name in stepscope.__all__:
        assert re.search(rf"^## stepscope\.{name}\b", text, re.MULTILINE), name


def test_every_how_to_is_listed():
    listed = (DOCS / "how-to" / "index.md").read_text(encoding="utf-8").split()
    assert {path.stem for path in (DOCS / "how-to").glob("*.md")} - {"index"} <= set(listed)


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_its_links_lead_somewhere(tmp_path):
    pytest.importorskip("myst_nb", reason="the extra docs is not installed")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", str(DOCS), str(tmp_path)],
        env={"PATH": "/usr/bin:/bin", "NOTEBOOKS": "off", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert built.returncode == 0, built.stderr
    checked = subprocess.run(
        [sys.executable, str(CHECKOUT / "scripts" / "check_links.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    assert "links: 0 broken" in checked.stdout


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "index.html").write_text(
        '<a id="here" href="#here"></a><a href="#there"></a><a href="no.html"></a>'
        '<img src="https://elsewhere/x.png">'
    )
    checked = subprocess.run(
        [sys.executable, str(CHECKOUT / "scripts" / "check_links.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 1
    assert checked.stdout.splitlines() == [
        "index.html: #there has no such place",
        "index.html: no.html is not there",
        "links: 2 broken",
    ]


@pytest.mark.slow
def test_a_newcomers_walk_in_the_documentations_own_commands(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("PIL", reason="pillow is not installed")
    page = (DOCS / "tutorials" / "first-bottleneck.md").read_text(encoding="utf-8")
    typed = re.findall(r"^\$ (.*)$", page, re.MULTILINE)
    assert typed[0] == "pip install 'stepscope[record]'"
    commands = [line.split()[1:] for line in typed[1:]]
    assert [words[0] for words in commands] == ["demo", "demo", "compare"]
    said = []
    for words in commands:
        done = subprocess.run(
            [sys.executable, "-m", "stepscope", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert "INPUT-BOUND" in said[0]
    assert "Batches are made in the training process while training waits" in said[0]
    assert "num_workers=" in said[0]
    assert "Where the step goes" in said[0]
    assert said[2].strip()


def codes_of_notices(source):
    """Codes in the calls that make notices, wherever they are written as such."""
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call):
            continue
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        given = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
        if name in {"say", "note", "Notice"}:
            given += call.args[:1]
        for code in given:
            if isinstance(code, ast.Constant) and re.fullmatch("[a-z]+(-[a-z]+)*", str(code.value)):
                yield code.value


def test_every_notice_of_a_report_is_explained():
    package = Path(stepscope.__file__).parent
    sources = [
        path
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0] not in {"watch", "cost"}
    ]
    codes = {code for path in sources for code in codes_of_notices(path.read_text())}
    text = (DOCS / "explanation" / "what-the-notices-mean.md").read_text()
    explained = set(re.findall(r"`([a-z]+(?:-[a-z]+)*)`", text))
    assert "gpu-not-recorded" in codes
    assert sorted(codes - explained) == []
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    told = {code for row in rows for code in re.findall(r"`([a-z-]+)`", row.split(" | ")[0])}
    assert sorted(told - codes) == []
