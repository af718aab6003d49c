"""`datasheet.md`: a compact sheet for pull requests, READMEs and terminals.

Every Markdown that is written here and elsewhere comes from a template through `fill`, which
escapes whatever is put into it.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment

from judgesheet.base.datasheet import by_key
from judgesheet.base.records import Datasheet
from judgesheet.sheet import Paper, show
from judgesheet.sheet.context import EFFECTS, Answer, Figure, context
from judgesheet.sheet.identity import items, tested, untested
from judgesheet.sheet.templates import FILTERS, environment

SUFFIX = "md"
DASH = "–"
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
    page = context(sheet)
    known = (sheet.judge.spread, sheet.run, sheet.provenance)
    return fill(
        "datasheet.md.jinja",
        page=page,
        level=show.confidence(by_key(sheet).values()),
        answers=[*map(answer, page.answers)],
        axes=[(axis, [*map(_cells, axis.rows)]) for axis in page.axes],
        items=[fact for of in known for fact in items(of)],
        tested=tested(sheet),
        untested=untested(sheet),
        looks=show.looks(sheet.run),
    ).encode()


def answer(row: Answer) -> tuple[str, ...]:
    """An axis in one line of a table: its question, its figure, the limit, what is known."""
    figure, put = row.figure, FILTERS
    limit = put["limit"](figure) if figure else ""
    mark = f"{row.mark.sign} {row.mark.word}"
    if figure is None or row.axis.invalid is not None:
        why = show.visible(row.axis.invalid or DASH, 200)
        return show.visible(row.axis.question, 200), why, DASH, mark
    parts = (put["value"](figure.estimate), put["bound"](figure))
    label = show.visible(figure.estimate.label, 90)
    text = f"{label}: {', '.join(filter(None, parts))}"
    return show.visible(row.axis.question, 200), text, limit or DASH, mark


def fill(name: str, **content: Any) -> str:
    """A Markdown template of ours, filled in; between two blocks stands one empty line."""
    text = _environment().get_template(name).render(content)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


@cache
def _environment() -> Environment:
    markdown = environment(finalize=escape)  # Jinja's own escaping knows HTML only
    markdown.globals |= {"table": table, "effects_of": EFFECTS}
    markdown.filters["code"] = code
    return markdown


def _cells(row: Figure) -> tuple[str, ...]:
    """A row of the characteristics."""
    shown, of = show.estimate(row.estimate), row.estimate
    noise = "" if row.noise is None else show.estimate(row.noise).with_unit
    void = f": {show.visible(row.void, 200)}" if row.void else ""
    mark = f"{row.mark.sign} {row.mark.word}{void}".strip()
    label = show.visible(of.label, 120)
    cells = (label, shown.with_unit, shown.interval, noise, show.size(of), FILTERS["limit"](row))
    return (*(cell or DASH for cell in (*cells, mark)), code(of.key))


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
    line = " ".join(show.visible(text, 160).split())
    if not line:
        return Markdown("–")
    return Markdown(f"<code>{escape(line)}</code>" if _LEAVES_CODE.search(line) else f"`{line}`")
