"""Page two: the characteristics, what the design could have seen, and what helps."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import NormalDist

from judgesheet.keys import Key
from judgesheet.records import AxisResult, Characteristic, Estimate, Verdict
from judgesheet.spine.render import show
from judgesheet.spine.render.page.parts import (
    OUTCOMES,
    VOID,
    Context,
    Mark,
    Trimmed,
    capital,
    lines_of,
    losses,
    made,
    more,
    share_out,
    trim,
    usual,
)
from judgesheet.units import Unit, unit

POWER = 0.80
SIGNIFICANT = 0.05
VISIBLE = 0.10
"""Without a limit, a null result counts as seen if a tenth of the scale would have shown."""
ODD_REPLY = 0.01
"""Where "no effect" is the end of the scale, one odd reply moves an interval off it: so much less
than this share is still none."""
EFFECT, NONE_SEEN = Mark("●", "effect", "effect"), Mark("○", "none seen", "none-seen")
NOISE, UNDECIDED = Mark("≈", "noise", "noise"), Mark("?", "open", "open")
CEILING, FLOOR = Mark("▲", "ceiling", "ceiling"), Mark("▼", "floor", "floor")
MOST_REMEDIES = 6
_LABEL, _CONDITIONS, _MARKS = 46, 16, 18
"""Characters a line in columns of the table."""


@dataclass(frozen=True, slots=True)
class Spec:
    """One row of the characteristics table; `effect` is the row's record for the forest plot."""

    key: str
    anchor: str
    label: str
    symbol: str
    conditions: str
    shown: show.Shown
    size: str
    noise: str
    detectable: str
    limit: str
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
        widths = ((self.label, _LABEL), (self.conditions, _CONDITIONS), (words, _MARKS))
        return max(lines_of(text, width) for text, width in widths) + bool(self.imputed)


@dataclass(frozen=True, slots=True)
class AxisSpecs:
    """The rows of one axis, with what they share said once."""

    anchor: str
    title: str
    question: str
    counts: str
    conditions: str
    void: str
    rows: tuple[Spec, ...]
    every: tuple[Spec, ...]

    @property
    def more(self) -> str:
        """A line about the rows for which there was no room."""
        return more(len(self.every) - len(self.rows))

    @property
    def heading_lines(self) -> int:
        """About how many printed lines the heading of the group takes."""
        return lines_of(f"{self.title} {self.counts} {self.conditions} {self.void}", 120)


@dataclass(frozen=True, slots=True)
class Remedy:
    """What helps against a bias: the figure before and after, and its price in calls."""

    action: str
    figure: str
    before: str
    after: str
    calls: str
    void: str


def specs(context: Context) -> tuple[AxisSpecs, ...]:
    """The characteristics of every axis; the rows that fit are chosen evenly over the axes."""
    parts = [_part(axis, context) for axis in context.sheet.axes]
    taken = sum(part.heading_lines for part in parts)
    taken += sum(len(axis.mitigations) for axis in context.sheet.axes)
    left = context.room.rows - taken
    chosen = share_out([part.every for part in parts], lambda row: row.lines, left)
    return tuple(replace(p, rows=tuple(kept)) for p, kept in zip(parts, chosen, strict=True))


def _part(axis: AxisResult, context: Context) -> AxisSpecs:
    """All rows of an axis; the conditions that most of them share stand in the heading only."""
    rows = _rows(axis, context)
    shared = usual(row.conditions for row in rows)
    return AxisSpecs(
        anchor=context.anchors.of(f"axis-{axis.name}"),
        title=show.visible(axis.title, 120),
        question=show.visible(axis.question, 300),
        counts=counts(axis),
        conditions=shared,
        void=context.void.get(axis.name, ""),
        rows=(),
        every=tuple(
            replace(row, conditions="") if row.conditions == shared else row for row in rows
        ),
    )


def counts(axis: AxisResult) -> str:
    """`946 of 960 calls answered (12 unreadable, 2 failed)`."""
    text = f"{show.count(axis.answered)} of {show.count(axis.planned)} calls answered"
    unmade = axis.planned - made(axis)
    lost = [losses(axis), f"{show.count(unmade)} not made yet" if unmade > 0 else ""]
    told = ", ".join(filter(None, lost))
    return f"{text} ({told})" if told else text


def size(estimate: Estimate) -> str:
    """`360 (12)`: calls or items, and the stimuli they come from."""
    clusters = f" ({show.count(estimate.clusters)})" if estimate.clusters else ""
    return f"{show.count(estimate.n)}{clusters}" if estimate.n else ""


def detectable(estimate: Estimate) -> float | None:
    """The smallest effect that this design would find in 80 of 100 runs; None without interval.

    (z.975 + z.80) / z.975 times the longer half of the interval: a half-width of z.975 standard
    errors, against the z.975 + z.80 standard errors that a true effect needs.
    """
    value, low, high = map(show.finite, (estimate.value, estimate.low, estimate.high))
    if value is None or low is None or high is None or not 0 < estimate.level < 1:
        return None
    reach = NormalDist().inv_cdf((1 + estimate.level) / 2)
    return (reach + NormalDist().inv_cdf(POWER)) / reach * max(high - value, value - low)


def remedies(context: Context) -> Trimmed[Remedy]:
    """Every mitigation whose two figures were measured, axis by axis."""
    queues = [list(_remedies(axis, context)) for axis in context.sheet.axes]
    return trim(queues, lambda _: 1, MOST_REMEDIES)


def _remedies(axis: AxisResult, context: Context) -> Iterator[Remedy]:
    for one in axis.mitigations:
        before, after = context.estimates.get(one.before), context.estimates.get(one.after)
        if before is None or after is None or before.value is None or after.value is None:
            continue
        yield Remedy(
            action=capital(show.visible(one.action, 120)),
            figure=show.visible(before.label, 90),
            before=show.estimate(before).sentence,
            after=show.estimate(after).sentence,
            calls=f"{show.count(one.calls)}×",
            void=context.void.get(axis.name, ""),
        )


def _rows(axis: AxisResult, context: Context) -> list[Spec]:
    """The axis's rows by rank: those under a limit first, those without a value last."""
    named = {row.key: row for row in axis.characteristics}
    limited = (key for key in context.verdicts if Key.parse(key).axis == axis.name)
    wanted = {key: Characteristic(key) for key in limited if key not in named}
    rows = [
        _row(row, axis, context)
        for row in (*axis.characteristics, *wanted.values())
        if row.key in context.estimates
    ]
    return sorted(rows, key=lambda row: (row.verdict is None, not row.shown.measured))


def _row(row: Characteristic, axis: AxisResult, context: Context) -> Spec:
    estimate, noise = context.estimates[row.key], context.estimates.get(row.noise)
    verdict, reason = context.verdicts.get(row.key), context.void.get(axis.name, "")
    given_in, shown = unit(estimate.unit), show.estimate(estimate)
    least = detectable(estimate) if _is_null(estimate, row.null) else None
    limit = verdict.limit if verdict else None
    sign = {"max": "≤ ", "min": "≥ "}.get(verdict.kind, "") if verdict else ""
    marks = (VOID,) if reason else tuple(_marks(estimate, row.null, least, noise, verdict))
    return Spec(
        key=show.visible(row.key, 160),
        anchor=context.anchors.of(row.key),
        label=show.short(estimate.label, 90),
        symbol=show.visible(row.symbol, 12),
        conditions=show.short(estimate.conditions, 28),
        shown=shown._replace(unit=given_in.short or shown.unit),
        size=size(estimate),
        noise=_number(noise.value if noise else None, given_in),
        detectable=_number(least, given_in),
        limit="" if limit is None else f"{sign}{_number(limit, given_in)}",
        marks=marks,
        meaning=first_sentence(axis.glossary.get(Key.parse(row.key).name, "")),
        void=reason,
        imputed=show.imputed(estimate),
        estimate=estimate,
        null=row.null,
        verdict=verdict,
    )


def first_sentence(text: str) -> str:
    """Enough beside a number."""
    return show.visible(text, 600).replace("`", "").partition(". ")[0].rstrip(".")


def _is_null(estimate: Estimate, null: float | None) -> bool:
    """Whether the interval holds the value that would mean no effect."""
    low, high = show.finite(estimate.least), show.finite(estimate.most)
    if null is None or low is None or high is None:
        return False
    slack = ODD_REPLY if null in (unit(estimate.unit).ends or ()) else 0.0
    return low - slack <= null <= high + slack


def _marks(
    estimate: Estimate,
    null: float | None,
    least: float | None,
    noise: Estimate | None,
    verdict: Verdict | None,
) -> Iterator[Mark]:
    """The limit's verdict, or what the figure alone shows; then the end of the scale it touches."""
    if verdict is not None:
        yield OUTCOMES[verdict.passed]
    elif noise is not None and noise.value is not None:
        yield from _beyond_noise(estimate, noise.value, show.finite(noise.most))
    elif estimate.value is not None:
        yield from _evidence_of_effect(estimate, estimate.value, null, least)
    low, high = unit(estimate.unit).ends or (None, None)
    if estimate.value is not None and estimate.value in (low, high):
        yield FLOOR if estimate.value == low else CEILING


def _beyond_noise(estimate: Estimate, noise: float, most: float | None) -> Iterator[Mark]:
    """An effect of the order is one that the intervals keep apart from mere repetition."""
    low, high = show.finite(estimate.least), show.finite(estimate.most)
    if low is None or high is None:
        return
    if (noise if most is None else most) < low:
        yield EFFECT
    else:
        yield NOISE if low <= noise <= high else UNDECIDED


def _evidence_of_effect(
    estimate: Estimate, value: float, null: float | None, least: float | None
) -> Iterator[Mark]:
    given_in = unit(estimate.unit)
    if given_in.kind == "p-value":
        greatest = value if estimate.greatest is None else estimate.greatest
        yield EFFECT if greatest < SIGNIFICANT else UNDECIDED
    elif null is not None and least is not None:
        yield NONE_SEEN if given_in.ends is not None and least <= VISIBLE else UNDECIDED
    elif null is not None and estimate.least is not None:
        yield EFFECT


def _number(value: float | None, given_in: Unit) -> str:
    return "" if value is None else show.two_digits(value, given_in)
