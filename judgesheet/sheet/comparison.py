"""A comparison of datasheets: Markdown (also for terminals), JSON, and one HTML page."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from judgesheet.base.datasheet import to_json
from judgesheet.base.digits import counted
from judgesheet.base.records import Datasheet, Estimate, Plot, digest
from judgesheet.base.sanitize import told_apart
from judgesheet.decide.compare import Comparison, Difference
from judgesheet.sheet import agreement, show
from judgesheet.sheet.markdown import code, fill
from judgesheet.sheet.report import ReportTable

if TYPE_CHECKING:
    from judgesheet.sheet.plots import Drawing

FORMATS = ("md", "html", "json")
TEMPLATE = "compare.html.jinja"
SIGNS = {
    "worse": "✗ worse",
    "better": "✓ better",
    "no change proven": "? no change proven",
    "void": "∅ not usable",
    "": "",
}


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """A figure of every sheet, one per judge, the first being the old one.

    In words: the `old` value, then per other judge its value, the difference and the verdict, and
    why it must not be used in one of the sheets (`void`).
    """

    key: str
    label: str
    estimates: tuple[Estimate | None, ...]
    old: str
    changes: tuple[tuple[str, str, str], ...]
    void: str

    @property
    def is_known(self) -> bool:
        """Whether any of the sheets has a value."""
        return any(one is not None and one.value is not None for one in self.estimates)


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The content of every format, with a comparison for each judge after the first.

    `rows` are the figures of which a sheet has a value, `unmeasured` a sentence on the others.
    `grids` say how far the judges agree, call by call, and where they part.
    """

    judges: tuple[str, ...]
    documents: tuple[str, ...]
    summary: tuple[str, ...]
    warnings: tuple[str, ...]
    rows: tuple[ComparedFigure, ...]
    unmeasured: str
    grids: tuple[ReportTable, ...]


def render(comparisons: Sequence[Comparison], name: str) -> str:
    """The comparisons in a format of `FORMATS`; all have the same old sheet."""
    if name == "json":
        return json.dumps([*map(as_record, comparisons)], indent=2) + "\n"
    return as_html(comparisons) if name == "html" else as_markdown(comparisons)


def as_markdown(comparisons: Sequence[Comparison]) -> str:
    """GitHub-flavoured Markdown that also reads well in a terminal."""
    page = build(comparisons)
    beside = [(judge, "Difference", "Verdict") for judge in page.judges[1:]]
    return fill(
        "compare.md.jinja",
        page=page,
        head=("Key", page.judges[0], *chain.from_iterable(beside)),
        align="lr" + "rrl" * len(beside),
        rows=[(code(r.key), r.old, *chain.from_iterable(r.changes)) for r in page.rows],
        reading=READING,
    )


READING = (
    "Differences are new minus old with 95 % intervals. Verdicts use Holm's correction over all "
    "figures that can get one. “No change proven” does not mean “no change”: it comes with the "
    "smallest difference that would be detected in 80 of 100 cases."
)


def as_record(comparison: Comparison) -> dict[str, Any]:
    """A comparison as one JSON document, every figure of the sheets included."""
    return {
        "old": _identity(comparison.old),
        "new": _identity(comparison.new),
        "forced": list(comparison.forced),
        "remarks": list(comparison.remarks),
        "worse": comparison.count("worse"),
        "better": comparison.count("better"),
        "no_change_proven": comparison.count("no change proven"),
        "void": comparison.count("void"),
        "differences": [_difference_record(row) for row in comparison.differences],
        "agreement": comparison.agreement and comparison.agreement.as_record(),
    }


def _identity(sheet: Datasheet) -> dict[str, Any]:
    return {"judge": sheet.judge.get("model"), "datasheet_sha256": digest(to_json(sheet))}


def _difference_record(row: Difference) -> dict[str, Any]:
    plain = ("key", "label", "unit", "value", "low", "high", "level", "better", "null", "p",
             "p_holm", "verdict", "detectable", "correlation", "method", "note")  # fmt: skip
    known = ("value", "low", "high", "n", "clusters")
    either = {
        name: estimate and {part: getattr(estimate, part) for part in known}
        for name, estimate in (("old", row.old), ("new", row.new))
    }
    return {name: getattr(row, name) for name in plain} | either


# -- the table in words --------------------------------------------------------------------------


def build(comparisons: Sequence[Comparison]) -> SideBySide:
    """Names, sentences and rows of a comparison."""
    sheets = [comparisons[0].old, *(comparison.new for comparison in comparisons)]
    # Two runs of one judge are the usual case.
    paths = [comparisons[0].sources[0], *(comparison.sources[1] for comparison in comparisons)]
    judges = [show.short(show.judge(sheet), 60) for sheet in sheets]
    names = tuple(told_apart(judges, [show.visible(path) for path in paths]))
    rows = [*_rows(comparisons)]
    unmeasured = sum(not row.is_known for row in rows)
    return SideBySide(
        judges=names,
        documents=tuple(digest(to_json(sheet))[:12] for sheet in sheets),
        summary=tuple(map(_summary, names[1:], repeat(names[0]), comparisons)),
        warnings=tuple(dict.fromkeys(_warnings(comparisons))),
        rows=tuple(row for row in rows if row.is_known),
        unmeasured=(
            f"{counted(unmeasured, 'more figure')} without a value in any sheet; --json says why."
            if unmeasured
            else ""
        ),
        grids=agreement.grids(comparisons[0].agreement),
    )


def _summary(new: str, old: str, comparison: Comparison) -> str:
    count = comparison.count
    void = f", {count('void')} not usable" if count("void") else ""
    return (
        f"{new} against {old}: {count('worse')} worse, {count('better')} better, "
        f"{count('no change proven')} without a proven change{void}; "
        f"{'paired by stimulus and call' if comparison.is_paired else 'taken as independent'}."
    )


def _warnings(comparisons: Sequence[Comparison]) -> Iterator[str]:
    for comparison in comparisons:
        if comparison.forced:
            yield f"Compared by --force although {'; '.join(map(show.visible, comparison.forced))}."
        yield from map(show.visible, comparison.remarks)


def _rows(comparisons: Sequence[Comparison]) -> Iterator[ComparedFigure]:
    tables = [{row.key: row for row in comparison.headline} for comparison in comparisons]
    for key in dict.fromkeys(key for rows in tables for key in rows):
        changes = [rows.get(key) for rows in tables]
        known = next(row for row in changes if row is not None)
        yield ComparedFigure(
            key=show.visible(key, 120),
            label=show.visible(known.label, 120),
            estimates=(known.old, *(row.new if row else None for row in changes)),
            old=_value(known.old),
            changes=tuple(("–", "–", "–") if row is None else _change(row) for row in changes),
            void=next(filter(None, map(_void, changes)), ""),
        )


def _void(row: Difference | None) -> str:
    """Why a figure must not be used in one of two sheets; "" where it may be."""
    return show.short(row.note, 200) if row is not None and row.verdict == "void" else ""


def _value(estimate: Estimate | None) -> str:
    return "–" if estimate is None else show.estimate(estimate).with_interval


def _change(row: Difference) -> tuple[str, str, str]:
    """The new value, the difference and the verdict."""
    verdict = SIGNS[row.verdict] or show.short(row.note, 70)
    # What is not proven is not "the same", so what would have been seen stands beside it.
    if row.verdict == "no change proven" and row.detectable is not None:
        least = show.quantity(row.detectable, 0.0, row.detectable, row.unit)
        verdict = f"{verdict} (detectable from {_points(least)})"
    if row.verdict == "void":
        verdict = f"{verdict} ({show.short(row.note, 120)})"
    if row.value is None or row.verdict == "void":
        return _value(row.new), "–", verdict or "–"
    shown = show.quantity(row.value, row.low, row.high, row.unit)
    interval = f" ({shown.interval})" if shown.interval else ""
    difference = f"{'+' if row.value > 0 else ''}{_points(shown)}{interval}"
    return _value(row.new), difference, verdict or "–"


def _points(shown: show.PrintedNumber) -> str:
    """A difference, of shares in points."""
    return f"{shown.value} points" if shown.percent else shown.number


# -- the page ------------------------------------------------------------------------------------


def as_html(comparisons: Sequence[Comparison]) -> str:
    """One page without network or script: the table, and a small figure per parameter."""
    from judgesheet.sheet.html import filled, minify_html

    page = build(comparisons)
    drawings = [*_multiples(page)]
    text = filled(
        TEMPLATE, "grids.css", "compare.css", page=page, drawings=drawings, reading=READING
    )
    return minify_html(text)


def _multiples(page: SideBySide) -> "Iterator[Drawing]":
    """One small figure per parameter that at least two judges have: a dot with interval each."""
    from judgesheet.sheet.chart import themed
    from judgesheet.sheet.plots import draw

    for number, row in enumerate(page.rows, start=1):
        judged = [
            replace(estimate, key=f"compare.judge[place={place}]", label=name, note="")
            for place, (name, estimate) in enumerate(zip(page.judges, row.estimates, strict=True))
            if estimate is not None and estimate.value is not None
        ]
        if len(judged) > 1:
            plot = Plot("intervals", row.label, row.key, ("judge",), series="place")
            drawing = draw(plot, judged, f"multiple-{number}", void=row.void)
            yield replace(drawing, svg=themed(drawing.svg))
