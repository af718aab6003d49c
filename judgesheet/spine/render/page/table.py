"""Page two: the characteristics, what the design could have seen, and what helps."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import NamedTuple

from judgesheet.keys import Key
from judgesheet.records import AxisResult, Characteristic, Datasheet, Estimate, Verdict
from judgesheet.spine.render import show
from judgesheet.spine.render.page.front import Room
from judgesheet.spine.render.page.parts import (
    FAIL,
    OPEN,
    PASS,
    VOID,
    Anchors,
    capital,
    lines_of,
    losses,
    made,
    more,
    share_out,
    usual,
)
from judgesheet.units import unit

POWER = 0.80
VISIBLE = 0.10
"""Without a limit, a null result counts as seen if a tenth of the scale would have shown."""
ODD_REPLY = 0.01
"""Where "no effect" is the end of the scale, one odd reply moves an interval off it: so much less
than this share is still none."""
EFFECT, NONE_SEEN, NOISE, UNDECIDED = (
    ("●", "effect"),
    ("○", "none seen"),
    ("≈", "noise"),
    ("?", "open"),
)
CEILING, FLOOR = ("▲", "ceiling"), ("▼", "floor")
_LABEL, _CONDITIONS = 46, 16


class Mark(NamedTuple):
    """A symbol and the word that says the same."""

    symbol: str
    word: str


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
        return max(
            lines_of(self.label, _LABEL),
            lines_of(self.conditions, _CONDITIONS) + bool(self.imputed),
            lines_of(words, 18),
        )


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
    more: str
    every: tuple[Spec, ...]

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


def specs(
    sheet: Datasheet,
    found: Mapping[str, Estimate],
    void: Mapping[str, str],
    anchors: Anchors,
    room: Room,
) -> tuple[AxisSpecs, ...]:
    """The characteristics of every axis; the rows that fit are chosen evenly over the axes."""
    # Where two rules limit one figure, the worse outcome is the one to print.
    worst_last = sorted(sheet.verdicts, key=lambda one: {True: 0, None: 1, False: 2}[one.passed])
    verdicts = {verdict.key: verdict for verdict in worst_last}
    parts = [_part(axis, found, verdicts, void, anchors) for axis in sheet.axes]
    taken = sum(part.heading_lines for part in parts)
    taken += sum(len(axis.mitigations) for axis in sheet.axes)
    chosen = share_out([part.every for part in parts], lambda row: row.lines, room.rows - taken)
    return tuple(
        replace(part, rows=tuple(kept), more=more(len(part.every) - len(kept)))
        for part, kept in zip(parts, chosen, strict=True)
    )


def _part(
    axis: AxisResult,
    found: Mapping[str, Estimate],
    verdicts: Mapping[str, Verdict],
    void: Mapping[str, str],
    anchors: Anchors,
) -> AxisSpecs:
    """All rows of an axis; the conditions that most of them share stand in the heading only."""
    rows = _rows(axis, found, verdicts, void, anchors)
    shared = usual(row.conditions for row in rows)
    return AxisSpecs(
        anchor=anchors.of(f"axis-{axis.name}"),
        title=show.visible(axis.title, 120),
        question=show.visible(axis.question, 300),
        counts=counts(axis),
        conditions=shared,
        void=void.get(axis.name, ""),
        rows=(),
        more="",
        every=tuple(
            replace(row, conditions="" if row.conditions == shared else row.conditions)
            for row in rows
        ),
    )


def counts(axis: AxisResult) -> str:
    """`946 of 960 calls answered (12 unreadable, 2 failed)`."""
    text = f"{show.count(axis.answered)} of {show.count(axis.planned)} calls answered"
    lost = losses(axis)
    if axis.planned > made(axis):
        lost = f"{lost}, " * bool(lost) + f"{show.count(axis.planned - made(axis))} not made yet"
    return f"{text} ({lost})" if lost else text


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


def remedies(
    sheet: Datasheet, found: Mapping[str, Estimate], void: Mapping[str, str]
) -> list[list[Remedy]]:
    """Every mitigation whose two figures were measured, axis by axis."""
    return [list(_remedies(axis, found, void)) for axis in sheet.axes]


def _remedies(
    axis: AxisResult, found: Mapping[str, Estimate], void: Mapping[str, str]
) -> Iterator[Remedy]:
    for one in axis.mitigations:
        before, after = found.get(one.before), found.get(one.after)
        if before is None or after is None or before.value is None or after.value is None:
            continue
        yield Remedy(
            action=capital(show.visible(one.action, 120)),
            figure=show.visible(before.label, 90),
            before=show.estimate(before).sentence,
            after=show.estimate(after).sentence,
            calls=f"{show.count(one.calls)}×",
            void=void.get(axis.name, ""),
        )


def _rows(
    axis: AxisResult,
    found: Mapping[str, Estimate],
    verdicts: Mapping[str, Verdict],
    void: Mapping[str, str],
    anchors: Anchors,
) -> list[Spec]:
    """The axis's rows by rank: those under a limit first, those without a value last."""
    headline = list(axis.characteristics)
    named = {row.key for row in headline}
    mine = [key for key in verdicts if key in found and Key.parse(key).axis == axis.name]
    headline += [Characteristic(key) for key in mine if key not in named]
    rows = [
        _row(row, found[row.key], axis, found, verdicts, void, anchors)
        for row in headline
        if row.key in found
    ]
    return sorted(rows, key=lambda row: (row.verdict is None, bool(row.shown.why)))


def _row(
    row: Characteristic,
    estimate: Estimate,
    axis: AxisResult,
    found: Mapping[str, Estimate],
    verdicts: Mapping[str, Verdict],
    void: Mapping[str, str],
    anchors: Anchors,
) -> Spec:
    verdict, reason = verdicts.get(row.key), void.get(axis.name, "")
    shown = show.estimate(estimate)
    shown = shown._replace(unit=unit(shown.unit).short or shown.unit)
    least = detectable(estimate) if _is_null(estimate, row.null) else None
    noise = found.get(row.noise)
    return Spec(
        key=show.visible(row.key, 160),
        anchor=anchors.of(row.key),
        label=capital(show.short(estimate.label, 90)),
        symbol=show.visible(row.symbol, 12),
        conditions=show.short(estimate.conditions, 28),
        shown=shown,
        size=size(estimate),
        noise=_number(noise.value, estimate) if noise and noise.value is not None else "",
        detectable=_number(least, estimate) if least is not None else "",
        limit=_limit(verdict, estimate),
        marks=(Mark(*VOID),)
        if reason
        else tuple(_marks(estimate, row.null, least, noise, verdict)),
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
        yield Mark(*{True: PASS, False: FAIL, None: OPEN}[verdict.passed])
    elif noise is not None and noise.value is not None:
        yield from _beyond_noise(estimate, noise)
    elif estimate.value is not None:
        yield from _evidence_of_effect(estimate, null, least)
    low, high = unit(estimate.unit).ends or (None, None)
    if estimate.value is not None and estimate.value in (low, high):
        yield Mark(*(FLOOR if estimate.value == low else CEILING))


def _beyond_noise(estimate: Estimate, noise: Estimate) -> Iterator[Mark]:
    """An effect of the order is one that the intervals keep apart from mere repetition."""
    low, high = show.finite(estimate.least), show.finite(estimate.most)
    if low is None or high is None or noise.value is None:
        return
    most = show.finite(noise.most)
    if (noise.value if most is None else most) < low:
        yield Mark(*EFFECT)
    else:
        yield Mark(*(NOISE if low <= noise.value <= high else UNDECIDED))


def _evidence_of_effect(
    estimate: Estimate, null: float | None, least: float | None
) -> Iterator[Mark]:
    if estimate.unit == "p" and estimate.greatest is not None:
        yield Mark(*EFFECT) if estimate.greatest < 0.05 else Mark(*UNDECIDED)
    elif null is None:
        return
    elif least is None:
        yield from () if estimate.least is None else (Mark(*EFFECT),)
    else:
        seen = unit(estimate.unit).ends is not None and least <= VISIBLE
        yield Mark(*(NONE_SEEN if seen else UNDECIDED))


def _limit(verdict: Verdict | None, estimate: Estimate) -> str:
    if verdict is None or verdict.limit is None:
        return ""
    sign = {"max": "≤ ", "min": "≥ "}.get(verdict.kind, "")
    return f"{sign}{_number(verdict.limit, estimate)}"


def _number(value: float | None, estimate: Estimate) -> str:
    """A number in the estimate's unit, with two digits."""
    scale = unit(estimate.unit).scale
    return "" if value is None else show.anything(float(f"{value * scale:.2g}"), 12)
