"""Verdicts for terminals, pull requests and the log of a continuous integration."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from shlex import quote

from judgesheet.axes import declared_unit
from judgesheet.base import units
from judgesheet.base.datasheet import by_key
from judgesheet.base.keys import Key
from judgesheet.base.records import STATUS_WORDS, Datasheet, Verdict
from judgesheet.base.sanitize import one_line
from judgesheet.sheet import show
from judgesheet.sheet.context import context
from judgesheet.sheet.markdown import answer, code, fill

OPEN = ("inconclusive", "invalid")
GLANCE = ("Question", "Answer", "Limit", "Known")
HEAD = ("Key", "Value", "One-sided bound", "Limit", "Verdict", "What would decide")


def word(verdict: Verdict) -> str:
    """`kept`, `BROKEN`, `NOT PROVEN`, `NOT USABLE`; `not proven (warning)` where it only warns."""
    printed = STATUS_WORDS[verdict.status]
    if verdict.status == "pass":
        return printed
    return f"{printed} (warning)" if verdict.excused else printed.upper()


def as_text(sheet: Datasheet, run: Path | None = None) -> str:
    """The verdicts as a table for a terminal.

    `run` is the directory that the sheet lies in, for the commands that show more of it.
    A row of a baseline begins with Δ: its value is how much worse the figure became.
    """
    rows = [HEAD, *(_cells(verdict, sheet) for verdict in sheet.verdicts)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    shown = () if run is None else _shown_by(sheet, run)
    return "\n".join([*lines, *shown])


def _shown_by(sheet: Datasheet, run: Path) -> Iterator[str]:
    """The commands that show the lost calls of the axes on which a limit is open."""
    open_ = {Key.parse(one.key).axis for one in sheet.verdicts if one.status in OPEN}
    for axis in sheet.axes:
        if axis.name in open_ and axis.answered < axis.made:
            command = f"judgesheet cases {quote(str(run))} --axis {axis.name} --outcome lost"
            yield f"The calls without a verdict: {command}"


def as_json(sheet: Datasheet, exit_code: int) -> str:
    """Verdicts, decision and the axes that are not usable, as one JSON document."""
    policy = sheet.provenance.policy
    return json.dumps(
        {
            "exit_code": exit_code,
            "judge": sheet.judge.model,
            "policy": policy and asdict(policy),
            "decision": sheet.decision and asdict(sheet.decision),
            "invalid": {axis.name: axis.invalid for axis in sheet.axes if axis.invalid is not None},
            "verdicts": [asdict(verdict) for verdict in sheet.verdicts],
        },
        indent=2,
    )


def as_markdown(sheet: Datasheet) -> str:
    """The same as GitHub-flavoured Markdown, with every axis at a glance as on page one."""
    cells = (_cells(verdict, sheet) for verdict in sheet.verdicts)
    return fill(
        "verdicts.md.jinja",
        judge=sheet.judge.model or "unnamed judge",
        said=summary(sheet),
        glance_head=GLANCE,
        glance=[*map(answer, context(sheet).answers)],
        head=HEAD,
        rows=[(code(key), *others) for key, *others in cells],
    )


def annotations(sheet: Datasheet) -> Iterator[str]:
    """GitHub workflow commands: an error per limit that stops the gate, a warning per other."""
    if sheet.decision is not None and sheet.decision.verdict in ("reject", "not_proven"):
        text = " ".join((sheet.decision.text, *sheet.decision.needed_sentences))
        title = _property("judgesheet: decision")
        yield f"::error title={title}::{_data(_minus(show.visible(text)))}"
    for verdict in sheet.verdicts:
        if verdict.status == "pass":
            continue
        level = "warning" if verdict.excused else "error"
        title = _property(f"judgesheet: {verdict.key}")
        parts = (verdict.rule, word(verdict), verdict.why, verdict.needed, verdict.remark)
        text = "; ".join(filter(None, parts))
        yield f"::{level} title={title}::{_data(_minus(show.visible(text)))}"


def _cells(verdict: Verdict, sheet: Datasheet) -> tuple[str, ...]:
    estimate = by_key(sheet).get(verdict.key)
    # How much worse a share became is no share: 7 percentage points, not 7 % of what it was.
    if estimate is not None and verdict.against_baseline and units.unit(estimate.unit).percent:
        estimate = replace(estimate, unit="difference")
    given_in = declared_unit(Key.parse(verdict.key)) if estimate is None else estimate.unit
    ends = (estimate.low, estimate.high) if estimate is not None else (None, None)
    shown, limit = show.quantity(verdict.observed, *ends, given_in), show.finite(verdict.limit)
    value = shown.bare if shown.measured else "–"
    bound = "" if estimate is None else show.bound(verdict, estimate)
    worse = verdict.against_baseline and verdict.observed is not None
    cells = (
        f"Δ {verdict.key}" if verdict.against_baseline else verdict.key,
        f"worse by {value}" if worse else value,
        bound or "–",
        show.SIGNS[verdict.kind]
        + ("–" if limit is None else show.number(limit, units.unit(given_in))),
        word(verdict),
        "; ".join(_why(verdict)),
    )
    return tuple(_minus(" ".join(show.visible(cell, 300).split())) for cell in cells)


def _why(verdict: Verdict) -> Iterator[str]:
    """What would decide; of a limit that is broken, void or looks broken why it is so."""
    looks_broken = verdict.bound is not None and show.side(verdict) != verdict.kind
    if looks_broken or verdict.status in ("fail", "invalid"):
        yield verdict.why
    yield from filter(None, (verdict.needed, verdict.remark))


def _minus(text: str) -> str:
    """Negative numbers with a minus sign, as `show` writes them; keys and dates stay."""
    return re.sub(r"(?<!\S)-(?=\.?\d)", "\N{MINUS SIGN}", text)


def summary(sheet: Datasheet) -> Sequence[str]:
    """The decision, what decided it, what is not usable, and what would decide, line by line."""
    if sheet.decision is None:
        return ()
    decision = sheet.decision
    conditions = (f"Condition: {condition}" for condition in decision.conditions_and_keys)
    void = (f"Not usable: {axis.name}, {axis.invalid}." for axis in sheet.axes if axis.invalid)
    looks = show.looks(sheet.run)
    lines = (
        *(decision.text, show.limits(decision)),
        f"Policy: {decision.policy_and_digest}." if decision.policy else "",
        f"{show.ROLES[decision.because]}: {decision.limiting}." if decision.limiting else "",
        *(*void, *decision.needed_sentences, *conditions),
        f"Looks: {looks}." if looks else "",
        *_on_the_baseline(sheet),
    )
    return [_minus(one_line(show.visible(line))) for line in lines if line]


def _on_the_baseline(sheet: Datasheet) -> Iterator[str]:
    """What limits the comparison with a baseline."""
    if known := sheet.provenance.baseline:
        yield from (f"Baseline: {remark}" for remark in known.remarks)
        yield from (f"Baseline, compared with --force: {remark}." for remark in known.forced)


def _data(text: str) -> str:
    """The escapes of a workflow command's message."""
    # The percent sign first: it begins the other escapes.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """The escapes of a workflow command's property."""
    return _data(show.visible(text)).replace(":", "%3A").replace(",", "%2C")
