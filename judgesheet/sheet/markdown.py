"""`datasheet.md`: a compact sheet for pull requests, READMEs and terminals.

Every Markdown that is written here and elsewhere comes from a template through `fill`, which
escapes whatever is put into it.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment

from judgesheet.base.records import Datasheet
from judgesheet.sheet import Paper
from judgesheet.sheet.page import build
from judgesheet.sheet.page.printed import PrintedEstimate
from judgesheet.sheet.page.table import TableRow
from judgesheet.sheet.templates import environment

SUFFIX = "md"
# Characters with a meaning in GitHub-flavoured Markdown or HTML, backslash first; a mention (@)
# notifies somebody, and a dollar sign begins a formula.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~#&@$])")
_LEAVES_CODE = re.compile(r"[`|\\<>&]")
_STARTS_A_BLOCK = re.compile(r"^(\s*)(?:([-+=>:])|(\d+)([.)])(?=\s|$))", re.MULTILINE)


_ESCAPED = re.compile(r"\\([\\`*_{}\[\]<>|~#&@$\-+=:.)])")
_NO_LINK = "&#8203;"


class Markdown(str):
    """Text that is Markdown already; all other text is escaped where it is put in."""

    __slots__ = ()


def render(sheet: Datasheet, _paper: Paper) -> bytes:
    """The sheet as GitHub-flavoured Markdown."""
    page = build(sheet)
    given = page.conditions
    rows = (*page.front.price, *given.glance, *given.judge, *given.run, *given.provenance)
    return fill(
        "datasheet.md.jinja",
        page=page,
        axes=[(axis, [*map(_cells, axis.every)]) for axis in page.axes],
        glance=[
            (f"{g.axis}", g.asked, g.figure or "–", g.value or "–", g.limit or "–",
             f"{g.mark.symbol} {g.mark.word}")
            for g in page.front.glance
        ],
        items=[(row.name, row.value) for row in rows],
        remedies=[
            (f"{r.action}: {r.figure}", r.before, r.after, r.gain or "–", r.mark.word, r.calls)
            for r in page.remedies.every
        ],
    ).encode()  # fmt: skip


def fill(name: str, **content: Any) -> str:
    """A Markdown template of ours, filled in; between two blocks stands one empty line."""
    text = _environment().get_template(name).render(content)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


@cache
def _environment() -> Environment:
    markdown = environment(finalize=escape)  # Jinja's own escaping knows HTML only
    markdown.globals |= {"table": table, "keys": _keys}
    markdown.filters["code"] = code
    return markdown


def _cells(row: TableRow) -> tuple[str, ...]:
    """A row of the characteristics; what has no column of its own stands behind the marks."""
    shown = row.shown
    value = shown.value if shown.measured else f"{shown.value}: {shown.why}"
    marks = " ".join(f"{mark.symbol} {mark.word}" for mark in row.marks)
    notes = {"noise": row.noise, "detects": row.detectable, "lost calls counted": row.imputed,
             "because": row.void}  # fmt: skip
    remarks = "; ".join([marks] * bool(marks) + [f"{name} {n}" for name, n in notes.items() if n])
    return (row.label, row.least, value, row.most, shown.unit, row.size or "–",
            row.limit or "–", remarks or "–", code(row.key))  # fmt: skip


def _keys(evidence: Iterable[PrintedEstimate]) -> Markdown:
    """What a sentence rests on, in brackets behind it."""
    listed = ", ".join(code(figure.key) for figure in evidence)
    return Markdown(f" ({listed})" if listed else "")


def table(
    head: Sequence[str], align: str, rows: Iterable[Sequence[str]], keys: Sequence[str] = ()
) -> Markdown:
    """A table; `align` has one letter per column, `r` for right; `keys` are first cells instead."""
    if keys:
        rows = [(code(key), *cells[1:]) for key, cells in zip(keys, rows, strict=True)]
    rule = [Markdown("--:" if side == "r" else "---") for side in align]
    lines = (f"| {' | '.join(map(_inline, cells))} |" for cells in (head, rule, *rows))
    return Markdown("\n".join(lines))


def escape(text: object) -> Markdown:
    """Foreign text as one line that Markdown takes for nothing but text."""
    if isinstance(text, Markdown):
        return text
    return Markdown(_STARTS_A_BLOCK.sub(_defuse, _inline(text)))


def _inline(text: object) -> Markdown:
    """Foreign text within a line, where no block begins: in a cell of a table."""
    if isinstance(text, Markdown):
        return text
    line = _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))
    # A bare address would become a link.
    return Markdown(re.sub(r"(?i)\b(https?|ftp|www)(?=://|\.)", rf"\1{_NO_LINK}", line))


def for_terminal(text: str) -> str:
    """Markdown of ours as it reads where nobody renders it: with nothing escaped."""
    text = text.replace("<code>", "`").replace("</code>", "`").replace(_NO_LINK, "")
    return _ESCAPED.sub(r"\1", text)


def _defuse(match: re.Match[str]) -> str:
    space, mark, number, dot = match.groups()
    return f"{space}\\{mark}" if mark else f"{space}{number}\\{dot}"


def code(text: str) -> Markdown:
    """Foreign text as code; what could leave a code span or a table cell is escaped."""
    line = " ".join(text.split())
    if not line:
        return Markdown("–")
    return Markdown(f"<code>{escape(line)}</code>" if _LEAVES_CODE.search(line) else f"`{line}`")
