"""Verdicts for terminals, pull requests and the log of a continuous integration."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from judgesheet import units
from judgesheet.records import Datasheet, Estimate, Verdict
from judgesheet.spine.datasheet import by_key
from judgesheet.spine.render import show
from judgesheet.spine.render.markdown import code, escape, table

HEAD = ("Key", "Value", "One-sided bound", "Limit", "Verdict", "What would decide")


def word(verdict: Verdict) -> str:
    """`proven`, `BROKEN`, `NOT PROVEN`, or `not proven (warning)`."""
    if verdict.passed is None:
        return "not proven (warning)" if verdict.warns else "NOT PROVEN"
    return "proven" if verdict.passed else "BROKEN"


def as_text(sheet: Datasheet) -> str:
    """The verdicts as a table for a terminal, then the decision and its conditions.

    A row of a baseline begins with Δ: its value is how much worse the figure became.
    """
    rows = [HEAD, *(_cells(verdict, sheet) for verdict in sheet.verdicts)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, "", *_summary(sheet)])


def as_json(sheet: Datasheet, exit_code: int) -> str:
    """Verdicts and decision as one JSON document."""
    return json.dumps(
        {
            "exit_code": exit_code,
            "judge": sheet.judge.get("model"),
            "policy": sheet.provenance.get("policy"),
            "decision": sheet.decision and asdict(sheet.decision),
            "verdicts": [asdict(verdict) for verdict in sheet.verdicts],
        },
        indent=2,
    )


def as_markdown(sheet: Datasheet) -> str:
    """The same as GitHub-flavoured Markdown."""
    decision = sheet.decision
    model = escape(show.visible(str(sheet.judge.get("model", "unnamed judge")), 120))
    policy = escape(show.visible(decision.policy if decision else "", 80))
    rows = [
        (code(show.visible(cells[0])), *map(escape, cells[1:]))
        for cells in (_cells(verdict, sheet) for verdict in sheet.verdicts)
    ]
    said = [escape(line) for line in _summary(sheet)]
    listed = [said[0], *(f"- {line}" for line in said[1:])] if said else []
    heading = f"### {model}: policy {policy}"
    return "\n\n".join([heading, "\n".join(listed), table(HEAD, "lrrrll", rows)]) + "\n"


def annotations(sheet: Datasheet) -> Iterator[str]:
    """GitHub workflow commands: an error per limit that stops the gate, a warning per other."""
    for verdict in sheet.verdicts:
        if verdict.passed:
            continue
        level = "warning" if verdict.passed is None and verdict.warns else "error"
        title = _property(f"judgesheet: {verdict.key}")
        told = "; ".join(p for p in (verdict.rule, word(verdict), verdict.why, verdict.needed) if p)
        yield f"::{level} title={title}::{_data(_minus(show.visible(told)))}"


def _cells(verdict: Verdict, sheet: Datasheet) -> tuple[str, ...]:
    estimate = by_key(sheet).get(verdict.key)
    unit = estimate.unit if estimate is not None else ""
    sign = {"max": "≤ ", "min": "≥ ", "": ""}
    side = "" if verdict.bound is None else _side(verdict)
    value, change = _number(verdict.observed, unit, estimate), verdict.against_baseline
    cells = (
        f"Δ {verdict.key}" if change else verdict.key,
        f"worse by {value}" if change and verdict.observed is not None else value,
        side + _number(verdict.bound, unit, estimate),
        sign[verdict.kind] + _limit(verdict.limit, unit),
        word(verdict),
        verdict.needed or ("" if verdict.passed else verdict.why),
    )
    return tuple(_minus(" ".join(show.visible(cell, 300).split())) for cell in cells)


def _minus(text: str) -> str:
    """Negative numbers with a minus sign, as `show` writes them; keys and dates stay."""
    return re.sub(r"(?<!\S)-(?=\.?\d)", "\N{MINUS SIGN}", text)


def _side(verdict: Verdict) -> str:
    """An upper bound says "at most", a lower one "at least"."""
    upper = (verdict.kind == "max") != (verdict.passed is False)
    return "≤ " if upper else "≥ "


def _number(value: float | None, unit: str, estimate: Estimate | None) -> str:
    """A number with the digits that the estimate's interval justifies."""
    if show.finite(value) is None:
        return "–"
    low, high = (estimate.low, estimate.high) if estimate is not None else (None, None)
    shown = show.quantity(value, low, high, unit)
    return f"{shown.value} %" if shown.percent else shown.value


def _limit(value: float | None, unit: str) -> str:
    """A limit as the policy writes it, in percent where the estimate is."""
    known = show.finite(value)
    return "–" if known is None else show.number(known, units.unit(unit))


def _summary(sheet: Datasheet) -> Sequence[str]:
    if sheet.decision is None:
        return ()
    conditions = (f"Condition: {condition}" for condition in sheet.decision.told_conditions)
    return [_minus(show.visible(line)) for line in (sheet.decision.text, *conditions)]


def _data(text: str) -> str:
    """The escapes of a workflow command's message."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """The escapes of a workflow command's property."""
    return _data(show.visible(text)).replace(":", "%3A").replace(",", "%2C")
