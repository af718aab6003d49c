"""Page two: the characteristics and the smallest detectable effects."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from judgesheet.base.keys import Key
from judgesheet.base.records import (
    AxisResult,
    Characteristic,
    Estimate,
    FigureCode,
    FigureStatus,
    Verdict,
)
from judgesheet.base.units import Unit, unit
from judgesheet.sheet import show
from judgesheet.sheet.page.appendix import EstimateFamily, Missing, families, missing
from judgesheet.sheet.page.parts import (
    OUTCOMES,
    Context,
    Mark,
    lines_of,
    losses,
    more,
    share_out,
    size,
    usual,
)
from judgesheet.sheet.page.remedies import MOST_REMEDIES

MARKS: Mapping[FigureCode, Mark] = {
    "proven": OUTCOMES["proven"],
    "broken": OUTCOMES["broken"],
    "not proven": OUTCOMES["not proven"],
    "void": OUTCOMES["void"],
    "problem": Mark("✗", "problem", "fail"),
    "effect": Mark("●", "effect", "effect"),
    "none seen": Mark("○", "none seen", "none-seen"),
    "noise": Mark("≈", "noise", "noise"),
    "open": Mark("?", "open", "open"),
}
"""What a figure means -> how it is marked."""
CEILING, FLOOR = Mark("▲", "ceiling", "ceiling"), Mark("▼", "floor", "floor")
_REMEDY_LINES = 2  # that one mitigation takes
_LABEL, _CONDITIONS, _WHY, _MARKS = 48, 21, 46, 18
"""Characters a line in columns of the table."""


@dataclass(frozen=True, slots=True)
class Spec:
    """One row of the characteristics table; `effect` is the row's record for the forest plot."""

    key: str
    anchor: str
    label: str
    conditions: str
    shown: show.Shown
    size: str
    noise: str
    detectable: str
    limit: str
    bound: str
    marks: tuple[Mark, ...]
    meaning: str
    void: str
    imputed: str
    estimate: Estimate
    null: float | None
    verdict: Verdict | None

    @property
    def lines(self) -> int:
        """About how many printed lines the row takes."""
        words = " ".join(mark.word for mark in self.marks)
        told = (self.conditions, _CONDITIONS) if self.shown.measured else (self.shown.why, _WHY)
        widths = ((self.label, _LABEL), told, (words, _MARKS))
        return max(lines_of(text, width) for text, width in widths) + bool(self.imputed)


@dataclass(frozen=True, slots=True)
class AxisPart:
    """What the document says of one axis: the `rows` of the table, of `every` one, and the rest.

    What the rows share is said once. What was not measured has no row, unless a limit is set on it:
    `unmeasured` counts it. `result` is kept for the figures, which some formats draw.
    """

    anchor: str
    title: str
    question: str
    counts: str
    conditions: str
    void: str
    rows: tuple[Spec, ...]
    every: tuple[Spec, ...]
    unmeasured: int
    caveats: tuple[str, ...]
    estimates_anchor: str
    families: tuple[EstimateFamily, ...]
    missing: tuple[Missing, ...]
    result: AxisResult

    @property
    def more(self) -> str:
        """A line about the rows for which there was no room, and those without a value."""
        left_out = more(len(self.every) - len(self.rows))
        none = f"{self.unmeasured} not measured" if self.unmeasured else ""
        return ", ".join(filter(None, (left_out, none)))


def axis_parts(context: Context) -> tuple[AxisPart, ...]:
    """Every axis; the rows that fit are chosen evenly over the axes."""
    parts = [_part(axis, context) for axis in context.sheet.axes]
    # What else stands on the page: the headings of the groups, and the table of remedies.
    taken = sum(lines_of(f"{p.title} {p.counts} {p.conditions} {p.void}", 120) for p in parts)
    number = sum(len(axis.mitigations) for axis in context.sheet.axes)
    taken += _REMEDY_LINES * min(MOST_REMEDIES, number)
    queues = [part.every for part in parts]
    chosen = share_out(queues, lambda row: row.lines, context.room.rows - taken)
    return tuple(replace(p, rows=tuple(kept)) for p, kept in zip(parts, chosen, strict=True))


def _part(axis: AxisResult, context: Context) -> AxisPart:
    """All rows of an axis; the conditions that most of them share stand in the heading only."""
    every = _rows(axis, context)
    rows = [row for row in every if row.shown.measured or row.verdict is not None]
    shared = usual(row.conditions for row in rows)
    own = (replace(r, conditions="") if r.conditions == shared else r for r in rows)
    return AxisPart(
        anchor=context.anchors.of(f"axis-{axis.name}"),
        title=show.visible(axis.title, 120),
        question=show.visible(axis.question, 300),
        counts=counts(axis),
        conditions=shared,
        void=context.void.get(axis.name, ""),
        rows=(),
        every=tuple(own),
        unmeasured=len(every) - len(rows),
        caveats=tuple(show.visible(caveat, 1000) for caveat in axis.caveats),
        estimates_anchor=context.anchors.of(f"every-{axis.name}"),
        families=tuple(families(axis, context.anchors)),
        missing=tuple(missing(axis, context.anchors)),
        result=axis,
    )


def counts(axis: AxisResult) -> str:
    """`946 of 960 calls answered (12 unreadable, 2 failed)`."""
    text = f"{show.count(axis.answered)} of {show.count(axis.planned)} calls answered"
    unmade = axis.planned - axis.made
    lost = [losses(axis), f"{show.count(unmade)} not made yet" if unmade > 0 else ""]
    told = ", ".join(filter(None, lost))
    return f"{text} ({told})" if told else text


def _rows(axis: AxisResult, context: Context) -> list[Spec]:
    """The axis's rows by rank: those under a limit first, those without a value last."""
    named = {row.key: row for row in axis.characteristics}
    # A limit is shown with its figure, whether or not the axis counts that among its own rows.
    limited = (key for key in context.verdicts if Key.parse(key).axis == axis.name)
    keys = [key for key in dict.fromkeys((*named, *limited)) if key in context.estimates]
    specs = [_row(named.get(key) or Characteristic(key), axis, context) for key in keys]
    return sorted(specs, key=lambda spec: (spec.verdict is None, not spec.shown.measured))


def _row(row: Characteristic, axis: AxisResult, context: Context) -> Spec:
    estimate, noise = context.estimates[row.key], context.estimates.get(row.noise)
    verdict, reason = context.verdicts.get(row.key), show.visible(axis.void_reason(row.key), 200)
    given_in, shown = unit(estimate.unit), show.estimate(estimate)
    status = axis.statuses.get(row.key, FigureStatus(""))
    limit = verdict.limit if verdict else None
    sign = show.SIGNS[verdict.kind] if verdict else ""
    marks = tuple(_marks(estimate, status))
    told = show.visible(estimate.conditions, 300), show.ceiling(estimate)
    meaning = show.visible(axis.glossary.get(Key.parse(row.key).name, ""), 600).replace("`", "")
    return Spec(
        key=show.visible(row.key, 160),
        anchor=context.anchors.of(row.key),
        label=show.short(estimate.label, 90),
        conditions=", ".join(filter(None, told)),
        shown=shown._replace(unit=given_in.short or shown.unit),
        size=size(estimate),
        noise=_number(noise.value if noise else None, given_in),
        detectable=_number(status.detectable, given_in),
        limit="" if limit is None else f"{sign}{_number(limit, given_in)}",
        bound=show.bound(verdict, estimate) if verdict else "",
        marks=marks,
        meaning=meaning.partition(". ")[0].rstrip("."),  # one sentence is enough beside a number
        void=reason,
        imputed=show.imputed(estimate),
        estimate=estimate,
        null=row.null,
        verdict=verdict,
    )


def _marks(estimate: Estimate, status: FigureStatus) -> Iterator[Mark]:
    """What the figure means; then the end of the scale that it touches."""
    if status.code:
        yield MARKS[status.code]
    low, high = unit(estimate.unit).ends or (None, None)
    if estimate.value is not None and estimate.value in (low, high):
        yield FLOOR if estimate.value == low else CEILING


def _number(value: float | None, given_in: Unit) -> str:
    return "" if value is None else show.two_digits(value, given_in)
