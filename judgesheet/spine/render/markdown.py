"""`datasheet.md`: a compact sheet for pull requests, READMEs and terminals."""

import re
from collections.abc import Iterable, Iterator

from judgesheet.records import Datasheet
from judgesheet.spine.render import Paper
from judgesheet.spine.render.page import Page, build
from judgesheet.spine.render.page.front import Advice, Finding
from judgesheet.spine.render.page.parts import Evidence, Row
from judgesheet.spine.render.page.table import Spec

SUFFIX = "md"
# Characters with a meaning in GitHub-flavoured Markdown or HTML. Backslash first.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~#&@$])")
_LEAVES_CODE = re.compile(r"[`|\\<>&]")
_STARTS_A_BLOCK = re.compile(r"^(\s*)(?:([-+=>:])|(\d+)([.)])(?=\s|$))", re.MULTILINE)


def render(sheet: Datasheet, _paper: Paper) -> bytes:
    """The sheet as GitHub-flavoured Markdown."""
    page = build(sheet)
    blocks = [
        *_head(page),
        *_statements(page),
        *_characteristics(page),
        *_mitigation(page),
        *_conditions(page),
    ]
    return ("\n\n".join(block for block in blocks if block) + "\n").encode()


def _head(page: Page) -> Iterator[str]:
    identity, strip = page.identity, page.front.strip
    yield f"# {escape(identity.part)}: judge datasheet"
    yield (
        f"Protocol `{identity.protocol}` · measured {escape(identity.measured)} · review by "
        f"{escape(identity.review_by)} · document `{page.document_short}`"
    )
    policy = f" Policy: {escape(strip.policy)}." if strip.policy else ""
    limiting = f" Limiting: {escape(strip.limiting)}." if strip.limiting else ""
    yield f"**{strip.mark.symbol} {strip.mark.word}.** {escape(strip.text)}{policy}{limiting}"
    yield _list(f"Condition: {escape(condition)}" for condition in strip.conditions)
    for check in page.front.checks.shown:
        if check.passed is False:
            scope = f", {escape(check.scope)}" if check.scope else ""
            yield f"> [!WARNING]\n> {escape(check.name)}{scope}: {escape(check.text)}"


def _statements(page: Page) -> Iterator[str]:
    yield "## Features"
    findings = [finding for told in page.findings for finding in told]
    yield _list(map(_finding, findings)) or "No finding could be computed from this run."
    yield "## Recommended operating conditions"
    yield _list(map(_advice, page.advice)) or "Nothing can be recommended from this run."
    yield "## Absolute maximum ratings"
    yield _list(f"{escape(row.name)}: {escape(row.value)}" for row in page.ratings)


def _finding(finding: Finding) -> str:
    void = f"{escape(finding.void)}: " if finding.void else ""
    text = f"{void}{escape(finding.text)}{_keys(finding.evidence)}"
    return f"{finding.mark.symbol} **{finding.mark.word}.** {text}"


def _advice(advice: Advice) -> str:
    void = f"∅ **Void**, {escape(advice.void)}: " if advice.void else ""
    return f"{void}{escape(advice.text)}{_keys(advice.evidence)}"


def _keys(evidence: Iterable[Evidence]) -> str:
    keys = ", ".join(code(one.key) for one in evidence)
    return f" ({keys})" if keys else ""


def _characteristics(page: Page) -> Iterator[str]:
    for axis, back in zip(page.specs, page.axes, strict=True):
        yield f"## {escape(axis.title)}"
        void = f" **∅ Void, {escape(axis.void)}: nothing here holds.**" if axis.void else ""
        given = f" {escape(axis.conditions)}." if axis.conditions else ""
        yield f"{escape(axis.question)} {escape(axis.counts)}.{given}{void}"
        if axis.every:
            head = ("Parameter", "Low", "Value", "High", "Unit", "n (stimuli)", "Limit", "Mark",
                    "Key")  # fmt: skip
            yield table(head, "lrrrlrrll", map(_row_of, axis.every))
        yield _list(f"Caveat: {escape(caveat)}" for caveat in back.caveats)


def _row_of(row: Spec) -> tuple[str, ...]:
    shown = row.shown
    value = shown.value if shown.measured else f"{shown.value}: {shown.why}"
    noise = f"; noise {row.noise}" if row.noise else ""
    least = f"; MDE {row.detectable}" if row.detectable else ""
    lost = f"; lost calls counted {row.imputed}" if row.imputed else ""
    marks = " ".join(f"{mark.symbol} {mark.word}" for mark in row.marks)
    remarks = f"{marks}{noise}{least}{lost}".removeprefix("; ")
    cells = (row.label, shown.low or "–", value, shown.high or "–", shown.unit, row.size or "–",
             row.limit or "–", remarks or "–")  # fmt: skip
    return (*map(escape, cells), code(row.key))


def _mitigation(page: Page) -> Iterator[str]:
    if page.remedies.every:
        yield "## Mitigation"
        rows = (
            tuple(map(escape, (f"{one.action}: {one.figure}", one.before, one.after, one.calls)))
            for one in page.remedies.every
        )
        yield table(("What to do, and what it moves", "Before", "After", "Calls"), "llll", rows)


def _conditions(page: Page) -> Iterator[str]:
    yield "## Test conditions"
    given = page.conditions
    rows = (*page.front.price, *given.glance, *given.judge, *given.run, *given.provenance)
    yield table(("Item", "Value"), "ll", map(_row, rows))
    for prompt in given.prompts:
        name = f"{escape(prompt.name)} of {escape(prompt.axis)}"
        yield f"Prompt {name}, SHA-256 {code(prompt.digest)}"
    for stimuli in given.stimuli:
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
