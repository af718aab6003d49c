"""Page two: the characteristics, least, typical and most, as a component's datasheet has them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import chain, zip_longest

from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_CAVEATS, MOST_DRAWN
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
    losses,
    more,
    usual,
)
from judgesheet.sheet.page.printed import PrintedEstimate

MARKS: Mapping[FigureCode, Mark] = {
    "pass": OUTCOMES["pass"],
    "fail": OUTCOMES["fail"],
    "inconclusive": OUTCOMES["inconclusive"],
    "invalid": OUTCOMES["invalid"],
    "problem": Mark("✗", "problem", "fail"),
    "effect": Mark("●", "effect", "effect"),
    "none seen": Mark("○", "none seen", "none-seen"),
    "noise": Mark("≈", "noise", "noise"),
    "open": Mark("?", "open", "open"),
}
"""What a figure means -> how it is marked."""
CEILING, FLOOR = Mark("▲", "ceiling", "ceiling"), Mark("▼", "floor", "floor")


@dataclass(frozen=True, slots=True)
class TableRow(PrintedEstimate):
    """One row of the characteristics table: an estimate in words, with what was decided about it.

    `least` and `most` are the ends of the interval; under a limit the one-sided bound that decides
    stands in place of its end, with its sign. `turn` says when the row is chosen: those that are
    shown anyway are at 0, the others follow in turn, axis by axis. `limits` are all on the figure,
    first the one that `verdict` is about.
    """

    least: str
    most: str
    noise: str
    detectable: str
    limit: str
    bound: str
    marks: tuple[Mark, ...]
    meaning: str
    estimate: Estimate
    null: float | None
    verdict: Verdict | None
    limits: tuple[Verdict, ...]
    turn: int = 0

    @property
    def remarks(self) -> str:
        """The conditions that the row does not share, and what else must be known of it alone."""
        lost = f"lost calls: {self.imputed}" if self.imputed else ""
        void = f"not usable: {self.void}" if self.void else ""
        return "; ".join(filter(None, (self.conditions, lost, void)))


@dataclass(frozen=True, slots=True)
class AxisPart:
    """What the document says of one axis: `every` row, the `rows` of a page without end, the rest.

    What the rows share is said once: `void` is why none of them may be used, `partly_void` why
    those marked so may not. What was not measured has no row, unless a limit is set on it:
    `unmeasured` counts it. `result` is kept for the figures, which some formats draw.
    """

    anchor: str
    title: str
    question: str
    counts: str
    conditions: str
    void: str
    partly_void: str
    rows: tuple[TableRow, ...]
    every: tuple[TableRow, ...]
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
    """Every axis; rows that may be left out take turns, the first of each before the second."""
    parts = [_part(axis, context) for axis in context.sheet.axes]
    free = [[r.key for r in part.every if not _is_shown_anyway(r, part.result)] for part in parts]
    in_turn = filter(None, chain.from_iterable(zip_longest(*free)))
    turns = {key: turn for turn, key in enumerate(in_turn, start=1)}
    return tuple(_with_turns(part, turns) for part in parts)


def _is_shown_anyway(row: TableRow, axis: AxisResult) -> bool:
    """Whether it has a limit, or is all that shows on what the problem of its axis rests."""
    return row.verdict is not None or row.key == _problem(axis)


def _problem(axis: AxisResult) -> str:
    """The figure on which the problem of an axis rests; "" if there is none."""
    summary = axis.summary
    return summary.key if summary is not None and summary.outcome == "problem" else ""


def _with_turns(part: AxisPart, turns: Mapping[str, int]) -> AxisPart:
    every = tuple(replace(row, turn=turns.get(row.key, 0)) for row in part.every)
    return replace(part, every=every, rows=tuple(r for r in every if r.turn <= MOST_DRAWN))


def _part(axis: AxisResult, context: Context) -> AxisPart:
    """All rows of an axis; the conditions that most of them share stand in the heading only."""
    every = _rows(axis, context)
    rows = [row for row in every if row.shown.measured or row.verdict is not None]
    limited = [row for row in rows if row.verdict is not None]
    shared = usual(row.conditions for row in limited or rows)
    void = usual(row.void for row in rows if row.void)
    own = (
        replace(
            row,
            conditions="" if row.conditions == shared else row.conditions,
            void="" if row.void == void else row.void,
        )
        for row in rows
    )
    return AxisPart(
        anchor=context.anchors.of(f"axis-{axis.name}"),
        title=show.visible(axis.title, 120),
        question=show.visible(axis.question, 300),
        counts=counts(axis),
        conditions=shared,
        void=context.void.get(axis.name, ""),
        partly_void=void,
        rows=(),
        every=tuple(own),
        unmeasured=len(every) - len(rows),
        caveats=_caveats(axis),
        estimates_anchor=context.anchors.of(f"every-{axis.name}"),
        families=tuple(families(axis, context.printed)),
        missing=tuple(missing(axis, context.printed)),
        result=axis,
    )


def _caveats(axis: AxisResult) -> tuple[str, ...]:
    """The first ones of a stranger's sheet, which may have any number, and how many follow."""
    left_out = len(axis.caveats) - MOST_CAVEATS
    first = tuple(show.visible(caveat, 1000) for caveat in axis.caveats[:MOST_CAVEATS])
    return (*first, f"{left_out:,} more are in datasheet.json.") if left_out > 0 else first


def counts(axis: AxisResult) -> str:
    """`946 of 960 calls answered (12 unreadable, 2 failed)`."""
    text = f"{show.count(axis.answered)} of {show.count(axis.planned)} calls answered"
    unmade = axis.planned - axis.made
    lost = [losses(axis), f"{show.count(unmade)} not made yet" if unmade > 0 else ""]
    details = ", ".join(filter(None, lost))
    return f"{text} ({details})" if details else text


def _rows(axis: AxisResult, context: Context) -> list[TableRow]:
    """The axis's rows by rank: those under a limit first, those without a value last."""
    named = {row.key: row for row in axis.characteristics}
    # A limit or a problem is shown with its figure, whether or not the axis has it among its rows.
    limited = (key for key in context.verdicts if Key.parse(key).axis == axis.name)
    every = dict.fromkeys((*named, *limited, _problem(axis)))
    keys = [key for key in every if key in context.estimates]
    specs = [_row(named.get(key) or Characteristic(key), axis, context) for key in keys]
    return sorted(specs, key=lambda spec: (spec.verdict is None, not spec.shown.measured))


def _row(row: Characteristic, axis: AxisResult, context: Context) -> TableRow:
    estimate, noise = context.estimates[row.key], context.estimates.get(row.noise)
    verdict, printed = context.verdicts.get(row.key), context.printed[row.key]
    given_in = unit(estimate.unit)
    shown = printed.shown._replace(unit=given_in.short or printed.shown.unit)
    # A sheet that was edited may lack what was decided of a figure.
    code: FigureCode = verdict.status if verdict else "invalid" if printed.is_void else ""
    status = axis.statuses.get(row.key, FigureStatus(code))
    limits = [one for one in context.sheet.verdicts if one.key == row.key]
    # Of several limits on a figure the one that its verdict is about comes first.
    limits.sort(key=lambda one: one is not verdict)
    side, decided = show.deciding(verdict, estimate) if verdict else ("", shown)
    bound = f"{show.SIGNS[side]}{decided.value}"
    marks = tuple(_marks(estimate, status))
    meaning = show.visible(axis.glossary.get(Key.parse(row.key).name, ""), 600).replace("`", "")
    words = {part.name: getattr(printed, part.name) for part in fields(printed)}
    return TableRow(
        **{**words, "shown": shown},
        least=bound if side == "min" else shown.low or "–",
        most=bound if side == "max" else shown.high or "–",
        noise=_number(noise.value if noise else None, given_in),
        detectable=_detectable(status.detectable, given_in),
        limit=", ".join(
            f"{show.sign(one)}{_number(one.limit, given_in)}"
            for one in limits
            if one.limit is not None
        ),
        bound=show.bound(verdict, estimate) if verdict else "",
        marks=marks,
        meaning=meaning.partition(". ")[0].rstrip("."),  # one sentence is enough beside a number
        estimate=estimate,
        null=row.null,
        verdict=verdict,
        limits=tuple(limits),
    )


def _marks(estimate: Estimate, status: FigureStatus) -> Iterator[Mark]:
    """What the figure means; of one without a limit, then the end of the scale that it touches."""
    if status.code:
        yield MARKS[status.code]
    low, high = unit(estimate.unit).ends or (None, None)
    if status.code not in OUTCOMES and estimate.value is not None and estimate.value in (low, high):
        yield FLOOR if estimate.value == low else CEILING


def _detectable(value: float | None, given_in: Unit) -> str:
    """The smallest effect that such a run finds; "none" where it would not fit the scale."""
    low, high = given_in.ends or (0.0, math.inf)
    return "none" if value is not None and value > high - low else _number(value, given_in)


def _number(value: float | None, given_in: Unit) -> str:
    return "" if value is None else show.two_digits(value, given_in)
