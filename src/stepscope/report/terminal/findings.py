"""What to change, most important first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from stepscope.report.cost_words import waste_of, waste_sentence
from stepscope.report.foreign import printable_lines
from stepscope.report.sentences import gain_sentence
from stepscope.report.terminal.look import Look, indented
from stepscope.units import format_value

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stepscope.schema.cost import FindingWaste
    from stepscope.schema.report import Evidence, Finding, Report

MOST_IN_FULL: Final = 2
"""So many findings are printed in full; of the others what to try, so that all fits on a screen."""
MOST_IN_SHORT: Final = 4
"""So many more are printed with what to try; of the others the title."""
SEVERITY: Final = {"high": "bold red", "medium": "bold yellow", "low": "bold cyan"}
_INDENT: Final = 3


def findings_section(report: Report, look: Look) -> list[RenderableType]:
    """Findings with their evidence, what to try and what it would gain."""
    if not report.findings:
        return []
    lines: list[RenderableType] = [
        look.say("What to change", "bold underline" if look.is_rich else "")
    ]
    for number, finding in enumerate(report.findings[:MOST_IN_FULL], 1):
        if number > 1:
            lines.append(Text(""))
        lines += _finding(number, finding, waste_of(report, finding), look)
    rest = report.findings[MOST_IN_FULL:]
    for number, finding in enumerate(rest[:MOST_IN_SHORT], MOST_IN_FULL + 1):
        lines += [
            Text(""),
            _title(number, finding, look),
            indented(_action(finding, look), _INDENT),
        ]
    if rest[MOST_IN_SHORT:]:
        lines.append(Text(""))
    lines += [
        indented(look.say(f"{finding.code} {finding.title}"), _INDENT)
        for finding in rest[MOST_IN_SHORT:]
    ]
    if rest:
        lines += [
            Text(""),
            look.say("Their evidence and code are in the HTML and JSON reports.", "dim"),
        ]
    return lines


def _title(number: int, finding: Finding, look: Look) -> RenderableType:
    """A finding's number and title, with the title's lines under each other."""
    title = Table.grid()
    title.add_column(width=_INDENT, no_wrap=True)
    title.add_column(overflow="fold")
    style = SEVERITY[finding.severity]
    title.add_row(look.say(f"{number}.", style), look.say(finding.title, style))
    return title


def _action(finding: Finding, look: Look) -> Text:
    """What to try."""
    return look.say(f"Try: {finding.action}")


def _finding(
    number: int, finding: Finding, waste: FindingWaste | None, look: Look
) -> list[RenderableType]:
    """One finding."""
    rank = "" if finding.rank is None else f", rank {finding.rank}"
    grade = f"{finding.code}, {finding.severity} severity, {finding.confidence} confidence{rank}"
    body: list[RenderableType] = [look.say(grade, "dim")]
    if finding.evidence:
        body.append(look.say("; ".join(_evidence(item) for item in finding.evidence) + "."))
    body.append(_action(finding, look))
    if finding.gain is not None:
        sentence = gain_sentence(finding.gain)
        body.append(look.say(f"{sentence[:1].upper()}{sentence[1:]}.", "green"))
    if waste is not None:
        sentence = waste_sentence(waste)
        body.append(look.say(f"{sentence[:1].upper()}{sentence[1:]}."))
    pieces = [_title(number, finding, look), *(indented(piece, _INDENT) for piece in body)]
    pieces += [_code(line, look) for line in _lines(finding.snippet, look.width - _INDENT - 4)]
    return pieces


def _lines(snippet: str, width: int) -> list[str]:
    """A snippet's lines; the comment of a line that is too long stands above it."""
    lines = []
    for line in printable_lines(snippet.strip("\n")).split("\n"):
        code, sign, comment = line.partition("#")
        if len(line) <= width or not sign:
            lines.append(line)
            continue
        indent = " " * (len(code) - len(code.lstrip()))
        lines += [f"{indent}# {comment.strip()}"] + ([code.rstrip()] if code.strip() else [])
    return lines if snippet else []


def _code(line: str, look: Look) -> RenderableType:
    """A line of code behind a rule."""
    sign = "│ " if look.is_rich else "| "
    return indented(look.say(f"{sign}{line}".rstrip(), "cyan"), _INDENT + 2)


def _evidence(item: Evidence) -> str:
    """A measured value with its unit."""
    return f"{item.name}: {format_value(item.value, item.unit)}"
