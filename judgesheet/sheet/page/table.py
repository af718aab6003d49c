"""Page two: the characteristics and the smallest detectable effects."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from judgesheet.base.keys import Key
from judgesheet.base.records import AxisResult, Characteristic, Estimate, Verdict
from judgesheet.base.units import Unit, unit
from judgesheet.decide.compare import Bounded
from judgesheet.sheet import show
from judgesheet.sheet.page.appendix import EstimateFamily, Missing, families, missing
from judgesheet.sheet.page.parts import (
    OUTCOMES,
    VOID,
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

SIGNIFICANT = 0.05
VISIBLE = 0.10
"""Without a limit, a null result counts as seen if a tenth of the scale would have shown."""
ODD_REPLY = 0.01
"""Where "no effect" is the end of the scale, one odd reply moves an interval off it: so much less
than this share is still none."""
EFFECT, NONE_SEEN = Mark("●", "effect", "effect"), Mark("○", "none seen", "none-seen")
NOISE, UNDECIDED = Mark("≈", "noise", "noise"), Mark("?", "open", "open")
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


def detectable(estimate: Estimate) -> float | None:
    """The smallest effect that this design would find in 80 of 100 runs; None without interval."""
    value, low, high = map(show.finite, (estimate.value, estimate.low, estimate.high))
    if value is None or low is None or high is None or not 0 < estimate.level < 1:
        return None
    return Bounded(value, low, high).detectable(estimate.level)


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
    verdict, reason = context.verdicts.get(row.key), context.void.get(axis.name, "")
    given_in, shown = unit(estimate.unit), show.estimate(estimate)
    least = detectable(estimate) if _is_null(estimate, row.null) else None
    limit = verdict.limit if verdict else None
    sign = show.SIGNS[verdict.kind] if verdict else ""
    marks = (VOID,) if reason else tuple(_marks(estimate, row.null, least, noise, verdict))
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
        detectable=_number(least, given_in),
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


def _is_null(estimate: Estimate, null: float | None) -> bool:
    """Whether the interval has two ends and holds the value that would mean no effect."""
    if null is None or show.finite(estimate.least) is None or show.finite(estimate.most) is None:
        return False
    return not _excludes(estimate, null)


def _excludes(estimate: Estimate, null: float) -> bool:
    """Whether the value that would mean no effect lies beyond an end of the interval."""
    low, high = show.finite(estimate.least), show.finite(estimate.most)
    slack = ODD_REPLY if null in (unit(estimate.unit).ends or ()) else 0.0
    return (low is not None and null < low - slack) or (high is not None and null > high + slack)


def _marks(
    estimate: Estimate,
    null: float | None,
    least: float | None,
    noise: Estimate | None,
    verdict: Verdict | None,
) -> Iterator[Mark]:
    """The limit's verdict, or what the figure alone shows; then the end of the scale it touches."""
    value = estimate.value
    # Whether a limit is kept says more than whether there is any effect.
    if verdict is not None:
        yield OUTCOMES[verdict.passed]
    elif noise is not None and noise.value is not None:
        yield from _beyond_noise(estimate, noise.value, show.finite(noise.most))
    elif value is not None and unit(estimate.unit).kind == "p-value":
        greatest = value if estimate.greatest is None else estimate.greatest
        yield EFFECT if greatest < SIGNIFICANT else UNDECIDED
    elif value is not None and null is not None and least is not None:
        # A tenth means something on a scale with ends alone.
        bounded = unit(estimate.unit).ends is not None
        yield NONE_SEEN if bounded and least <= VISIBLE else UNDECIDED
    elif value is not None and null is not None and estimate.least is not None:
        yield EFFECT if _excludes(estimate, null) else UNDECIDED
    low, high = unit(estimate.unit).ends or (None, None)
    if value is not None and value in (low, high):
        yield FLOOR if value == low else CEILING


def _beyond_noise(estimate: Estimate, noise: float, most: float | None) -> Iterator[Mark]:
    """Whether the intervals separate the effect of the order from repetition."""
    low, high = show.finite(estimate.least), show.finite(estimate.most)
    if low is not None and high is not None:
        beyond = (noise if most is None else most) < low
        yield EFFECT if beyond else NOISE if low <= noise <= high else UNDECIDED


def _number(value: float | None, given_in: Unit) -> str:
    return "" if value is None else show.two_digits(value, given_in)
