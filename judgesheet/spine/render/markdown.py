"""`datasheet.md`: a compact sheet for pull requests, READMEs and terminals."""

import re
from collections.abc import Iterable, Iterator

from judgesheet.records import Datasheet
from judgesheet.spine.render import Options
from judgesheet.spine.render.page import Advice, AxisPage, Evidence, Finding, Line, Page, Row, build

SUFFIX = "md"
# Characters with a meaning in GitHub-flavoured Markdown or HTML. Backslash first.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~#&@$])")
_LEAVES_CODE = re.compile(r"[`|\\<>&]")
_STARTS_A_BLOCK = re.compile(r"^(\s*)(?:([-+=>:])|(\d+)([.)])(?=\s|$))", re.MULTILINE)


def render(sheet: Datasheet, _options: Options) -> bytes:
    """The sheet as GitHub-flavoured Markdown."""
    page = build(sheet)
    blocks = [
        *_head(page),
        *_statements(page),
        *(block for axis in page.axes for block in _axis(axis)),
        *_conditions(page),
    ]
    return ("\n\n".join(block for block in blocks if block) + "\n").encode()


def _head(page: Page) -> Iterator[str]:
    yield f"# {escape(page.model)}: judge datasheet"
    yield (
        f"Served model {escape(page.served)} · {escape(page.protocol)} · measured "
        f"{escape(page.measured)} · document `{page.document_short}`"
    )
    for banner in page.banners:
        yield f"> [!WARNING]\n> {escape(banner)}"


def _statements(page: Page) -> Iterator[str]:
    yield "## Findings"
    yield _list(map(_finding, page.findings)) or "No finding could be computed from this run."
    yield "## Recommended operating conditions"
    yield _list(map(_advice, page.advice)) or "Nothing can be recommended from this run."


def _finding(finding: Finding) -> str:
    return f"{finding.symbol} **{finding.word}.** {escape(finding.text)}{_keys(finding.evidence)}"


def _advice(advice: Advice) -> str:
    return f"{escape(advice.text)}{_keys(advice.evidence)}"


def _keys(evidence: Iterable[Evidence]) -> str:
    keys = ", ".join(code(one.key) for one in evidence)
    return f" ({keys})" if keys else ""


def _axis(axis: AxisPage) -> Iterator[str]:
    yield f"## {escape(axis.title)}"
    conditions = f" {escape(axis.conditions)}." if axis.conditions else ""
    yield f"{escape(axis.question)} {escape(axis.counts)}.{conditions}"
    if axis.characteristics:
        head = ("Parameter", "Low", "Value", "High", "Unit", "n (prompts)", "Key")
        yield table(head, "lrrrlrl", map(_characteristic, axis.characteristics))
    yield _list(f"Caveat: {escape(caveat)}" for caveat in axis.caveats)


def _characteristic(line: Line) -> tuple[str, ...]:
    shown = line.shown
    value = f"{shown.value}: {shown.why}" if shown.why else shown.value
    cells = (line.label, shown.low or "–", value, shown.high or "–", shown.unit, line.size or "–")
    return (*map(escape, cells), code(line.key))


def _conditions(page: Page) -> Iterator[str]:
    yield "## Test conditions"
    rows = (*page.glance, *page.judge, *page.run, *page.provenance)
    yield table(("Item", "Value"), "ll", map(_row, rows))
    for prompt in page.prompts:
        name = f"{escape(prompt.name)} of {escape(prompt.axis)}"
        yield f"Prompt {name}, SHA-256 {code(prompt.digest)}"
    for stimuli in page.stimuli:
        yield "Stimuli: " + "; ".join(f"{escape(r.name)} {escape(r.value)}" for r in stimuli)
    yield f"Every figure with its method is in datasheet.json (SHA-256 `{page.document}`)."


def _row(row: Row) -> tuple[str, str]:
    return escape(row.name), escape(row.value)


def table(head: tuple[str, ...], align: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A table; `align` has one letter a column, `r` for right."""
    rule = ["--:" if side == "r" else "---" for side in align]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def escape(text: str) -> str:
    """Foreign text as one line that Markdown takes for nothing but text."""
    line = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    line = _STARTS_A_BLOCK.sub(_defuse, line)
    # A bare address would become a link.
    return re.sub(r"(?i)\b(https?|ftp|www)(?=://|\.)", r"\1&#8203;", line)


def _defuse(match: re.Match[str]) -> str:
    space, mark, number, dot = match.groups()
    return f"{space}\\{mark}" if mark else f"{space}{number}\\{dot}"


def code(text: str) -> str:
    """Foreign text as code; what could leave a code span or a table cell is escaped."""
    line = " ".join(text.split())
    if not line:
        return "–"
    return f"<code>{escape(line)}</code>" if _LEAVES_CODE.search(line) else f"`{line}`"
