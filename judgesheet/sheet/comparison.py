"""A comparison of datasheets in words: one page as Markdown (also for terminals), HTML or PDF."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import repeat, starmap
from typing import TYPE_CHECKING, Any

from judgesheet.base.datasheet import to_json
from judgesheet.base.digits import counted, two_digits, with_noun
from judgesheet.base.records import Datasheet, Estimate, digest
from judgesheet.base.sanitize import distinct_names
from judgesheet.decide.compare import Comparison, Difference
from judgesheet.sheet import Paper, by_value, report, show
from judgesheet.sheet.report import DASH, Report, ReportTable

if TYPE_CHECKING:
    from judgesheet.decide.agreement import Agreed

SIGNS = {
    "worse": "✗ worse",
    "better": "✓ better",
    "no_change_proven": "? no change proven",
    "void": "∅ not usable",
    "": "",
}
READING = (
    "Verdicts use Holm's correction over all figures that can get one.",
    "“No change proven” does not mean “no change”: it comes with the smallest difference that "
    "would be detected in 80 of 100 cases.",
    "Agreement is the share of calls (the same question in the same order) with the same verdict, "
    "and Cohen's kappa with quadratic weights (κ). Two runs of one judge do not agree fully.",
)


def render(comparisons: Sequence[Comparison], name: str, paper: Paper) -> bytes:
    """The comparisons in a format of `FORMATS`; all have the same old sheet."""
    return report.render(page(comparisons), [*map(as_record, comparisons)], name, paper)


def as_record(comparison: Comparison) -> dict[str, Any]:
    """A comparison as one JSON document, every figure of the sheets included."""
    return {
        "old": _identity(comparison.old),
        "new": _identity(comparison.new),
        "forced": list(comparison.forced),
        "remarks": list(comparison.remarks),
        "worse": comparison.count("worse"),
        "better": comparison.count("better"),
        "no_change_proven": comparison.count("no_change_proven"),
        "void": comparison.count("void"),
        "differences": [_difference_record(row) for row in comparison.differences],
        "agreement": [*map(asdict, comparison.agreement)],
    }


def _identity(sheet: Datasheet) -> dict[str, Any]:
    return {"judge": sheet.judge.model, "datasheet_sha256": digest(to_json(sheet))}


def _difference_record(row: Difference) -> dict[str, Any]:
    plain = ("key", "label", "unit", "value", "low", "high", "level", "better", "null", "p",
             "p_holm", "verdict", "detectable", "correlation", "method", "note")  # fmt: skip
    known = ("value", "low", "high", "n", "clusters")
    either = {
        name: estimate and {part: getattr(estimate, part) for part in known}
        for name, estimate in (("old", row.old), ("new", row.new))
    }
    return {name: getattr(row, name) for name in plain} | either


# -- the page ------------------------------------------------------------------------------------


def page(comparisons: Sequence[Comparison]) -> Report:
    """The page: what changed, who agrees, and the figures of a sweep by its values."""
    sheets = [comparisons[0].old, *(comparison.new for comparison in comparisons)]
    # Two runs of one judge are the usual case.
    paths = [comparisons[0].sources[0], *(comparison.sources[1] for comparison in comparisons)]
    judges = [show.short(show.judge(sheet), 60) for sheet in sheets]
    names = distinct_names(judges, [show.visible(path) for path in paths])
    of_each = [*zip(names[1:], repeat(names[0]), comparisons)]
    return Report(
        kicker="LLM judges compared",
        title=" → ".join(names),
        facts=tuple(zip(names, map(_document, sheets), strict=True)),
        lead=(" ".join(starmap(_summary, of_each)),),
        warnings=tuple(dict.fromkeys(_warnings(comparisons))),
        grids=(
            *by_value.tables(sheets),
            *starmap(_changes, of_each),
        ),
        charts=by_value.charts(sheets),
        notes=READING,
    )


def _document(sheet: Datasheet) -> str:
    return f"Document {digest(to_json(sheet))[:12]}"


def _summary(new: str, old: str, comparison: Comparison) -> str:
    count = comparison.count
    void = f", {count('void')} not usable" if count("void") else ""
    return (
        f"{new} against {old}: {count('worse')} worse, {count('better')} better, "
        f"{count('no_change_proven')} without a proven change{void}; "
        f"{'paired by stimulus' if comparison.is_paired else 'taken as independent'}."
        f"{_agreement(comparison)}"
    )


def _warnings(comparisons: Sequence[Comparison]) -> Iterator[str]:
    for comparison in comparisons:
        if comparison.forced:
            yield f"Compared by --force although {'; '.join(map(show.visible, comparison.forced))}."
        yield from map(show.visible, comparison.remarks)


def _changes(new: str, old: str, comparison: Comparison) -> ReportTable:
    """A row per figure of which either sheet has a value."""
    rows = [row for row in comparison.headline if _has_value(row.old) or _has_value(row.new)]
    reading = f"Differences are {new} minus {old}, with 95 % intervals."
    if any(row.without_chance for row in rows):
        reading += " Of figures to which chance adds it is what is left without that."
    if unmeasured := len(comparison.headline) - len(rows):
        more = counted(unmeasured, "more figure")
        reading += f" {more} without a value in either sheet; --json says why."
    return ReportTable(
        f"What changed: {new}",
        reading,
        ("Figure", old, new, "Difference", "Verdict"),
        "lrrrl",
        tuple(map(_cells, rows)),
        keys=tuple(show.visible(row.key, 120) for row in rows),
    )


def _agreement(comparison: Comparison) -> str:
    """How far both judges agree, by axis, on the calls that both answered."""

    def shares(one: "Agreed") -> str:
        kappa = f"κ {DASH if one.kappa is None else two_digits(one.kappa)}"
        share = [] if one.equal is None else [show.quantity(one.equal, given_in="share").in_table]
        calls = counted(one.calls, "verdict")
        return f"{show.visible(one.axis, 120)} {', '.join([*share, kappa])} ({calls})"

    every = ", ".join(map(shares, comparison.agreement))
    return f" The same verdicts: {every}." if every else ""


def _has_value(estimate: Estimate | None) -> bool:
    return estimate is not None and estimate.value is not None


def _cells(row: Difference) -> tuple[str, ...]:
    """The figure, both values, the difference and the verdict."""
    verdict = SIGNS[row.verdict] or show.short(row.note, 70)
    # What is not proven is not "the same", so what would have been seen stands beside it.
    if row.verdict == "no_change_proven" and row.detectable is not None:
        least = show.quantity(row.detectable, 0.0, row.detectable, row.unit)
        verdict = f"{verdict} (detectable from {_points(least)})"
    if row.verdict == "void":
        verdict = f"{verdict} ({show.short(row.note, 120)})"
    difference = DASH
    if row.value is not None and row.verdict != "void":
        shown = show.quantity(row.value, row.low, row.high, row.unit)
        interval = f" ({shown.interval})" if shown.interval else ""
        difference = f"{'+' if row.value > 0 else ''}{_points(shown)}{interval}"
    label = show.visible(row.label, 120)
    return label, _value(row.old), _value(row.new), difference, verdict or DASH


def _value(estimate: Estimate | None) -> str:
    return DASH if estimate is None else show.estimate(estimate).with_interval


def _points(shown: show.PrintedNumber) -> str:
    """A difference, of shares in points."""
    return with_noun(shown.value, "point") if shown.percent else shown.number
