"""What every format prints: the sheet with what was decided about it, found once.

`context` turns a `Datasheet` into typed records in reading order. Nothing is decided here, and no
word steers anything: templates put the records into words by the filters of `templates`.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from judgesheet.base.datasheet import WORST, by_key, worst_verdicts
from judgesheet.base.effects import JudgedEffect, Use
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_CAVEATS, MOST_DRAWN, MOST_ON_PAGE_ONE
from judgesheet.base.records import (
    STATUS_WORDS,
    AxisResult,
    Characteristic,
    Control,
    Datasheet,
    Decision,
    Estimate,
    Mitigation,
    Verdict,
    VerdictStatus,
)
from judgesheet.base.remembered import remembered
from judgesheet.base.units import unit
from judgesheet.sheet import show
from judgesheet.sheet.charts import Chart, LimitRow, charts, limits
from judgesheet.sheet.identity import Identity, identify, stimulus_in_words

HALF = 0.5
"""Of a limit: what uses less stands together in one line."""


class Mark(NamedTuple):
    """A sign with its word, so that colour is never the only difference; `tone` is a CSS class."""

    sign: str
    word: str
    tone: str


DECISIONS = {
    "adopt": Mark("✓", "ADOPT", "good"),
    "conditions": Mark("!", "ADOPT ONLY IF", "open"),
    "not_proven": Mark("?", "MEASURE MORE", "open"),
    "reject": Mark("✗", "DO NOT ADOPT", "bad"),
}
UNDECIDED = Mark("○", "NO POLICY APPLIED", "none")
_LIMITS: tuple[tuple[VerdictStatus, str, str], ...] = (
    ("pass", "✓", "good"), ("fail", "✗", "bad"), ("inconclusive", "?", "open"),
    ("invalid", "∅", "none"),
)  # fmt: skip
LIMITS = {status: Mark(sign, STATUS_WORDS[status], tone) for status, sign, tone in _LIMITS}
EFFECTS = {
    "shown": Mark("✗", "shown", "bad"),
    "negligible": Mark("✓", "negligible", "good"),
    "inconclusive": Mark("?", "open", "open"),
    "not_measured": Mark("–", "not measured", "none"),
    "invalid": Mark("∅", "not usable", "none"),
}
VOID, NONE = LIMITS["invalid"], Mark("", "", "none")
USES: Mapping[Use, str] = {
    "ranking": "picking the better of two responses, or the best of several",
    "scoring": "giving scores",
    "order": "verdicts that do not depend on an order",
    "regression": "a judge that is to stay as it was",
}
"""What a use is, as a reader says it."""
_COLOURS = {tone: f"var(--{name})" for tone, name in (
    ("good", "good"), ("bad", "bad"), ("open", "unknown"), ("none", "muted"))}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Figure:
    """An estimate with its axis, what it is compared with, and what was decided about it."""

    estimate: Estimate
    axis: AxisResult
    row: Characteristic
    noise: Estimate | None = None
    verdict: Verdict | None = None
    effect: JudgedEffect | None = None
    void: str = ""

    @property
    def mark(self) -> Mark:
        """How its limit came out; without one, what is known of its effect."""
        if self.void:
            return VOID
        if self.verdict is not None:
            return LIMITS[self.verdict.status]
        return NONE if self.effect is None else EFFECTS[self.effect.verdict]


@dataclass(frozen=True, slots=True)
class Finding:
    """An effect with the axis that has it, and a remedy that this run showed to help, if any."""

    effect: JudgedEffect
    axis: AxisResult
    remedy: Mitigation | None = None
    before: Estimate | None = None
    after: Estimate | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What an axis says in one figure; None where it says nothing."""

    axis: AxisResult
    figure: Figure | None
    effect: JudgedEffect | None

    @property
    def mark(self) -> Mark:
        """What is known."""
        if self.axis.invalid is not None:
            return VOID
        if self.figure is not None and self.figure.verdict is not None:
            return self.figure.mark
        return EFFECTS["not_measured" if self.effect is None else self.effect.verdict]


@dataclass(frozen=True, slots=True)
class Family:
    """The figures of one name that were measured, and the dimensions that tell them apart."""

    name: str
    label: str
    dims: tuple[str, ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class AxisPart:
    """An axis with the rows of the papers' table, all its figures, and what was not measured."""

    result: AxisResult
    rows: tuple[Figure, ...]
    families: tuple[Family, ...]
    missing: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Page:
    """The sheet in reading order.

    `shown` are the effects shown against the judge for the use of the policy, `beside` those for
    other uses, `possible` the largest that are not ruled out; worst first. `open` are the limits
    that are not proven.
    """

    sheet: Datasheet
    identity: Identity
    decision: Decision | None
    mark: Mark
    use: Use | None
    shown: tuple[Finding, ...]
    beside: tuple[Finding, ...]
    possible: tuple[JudgedEffect, ...]
    answers: tuple[Answer, ...]
    open: tuple[Verdict, ...]
    controls: tuple[Control, ...]
    axes: tuple[AxisPart, ...]
    figures: Mapping[str, Figure]
    limits: Chart | None
    charts: tuple[Chart, ...]

    @property
    def in_box(self) -> tuple[Finding, ...]:
        """What stands beside the decision: the worst, where no limit and no condition speaks."""
        speaks = self.broken or (self.decision is not None and self.decision.conditions)
        return () if speaks else self.shown[:1]

    @property
    def is_void(self) -> bool:
        """Whether no axis is usable: then nothing is shown, and nothing is ruled out."""
        return all(axis.invalid is not None for axis in self.sheet.axes)

    @property
    def room(self) -> int:
        """How many faults stand below the box: with the one in it, as many as page one names."""
        return MOST_ON_PAGE_ONE - 1 if self.in_box or self.broken else MOST_ON_PAGE_ONE

    @property
    def example(self) -> str:
        """The stimulus on which the fault beside the decision is plainest; "" where none is known.

        In words where it is built in: texts of the user's own stand in no sheet by this.
        """
        conditions = () if self.decision is None else self.decision.conditions
        keys = [one.estimate.key for one in self.broken[:1]]
        keys += [key for one in conditions[:1] for key in one.keys]
        keys += [one.effect.key for one in self.in_box]
        examples = (one for one in self.shown if one.effect.key in keys[:1] and one.effect.example)
        first = next(examples, None)
        return (
            ""
            if first is None
            else stimulus_in_words(self.sheet, first.axis.name, first.effect.example)
        )

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """What is shown and does not stand beside the decision."""
        if self.decision is not None and self.decision.conditions:
            return ()
        before = {*(one.estimate.key for one in self.broken[:1])}
        before |= {one.effect.key for one in self.in_box}
        return tuple(_once(self.shown, before))

    @property
    def elsewhere(self) -> tuple[tuple[AxisResult, int], ...]:
        """The axes with effects shown for other uses alone, and how many."""
        found = Counter(one.axis.name for one in self.beside)
        return tuple((axis, found[axis.name]) for axis in self.sheet.axes if found[axis.name])

    @property
    def waived(self) -> tuple[tuple[Verdict, ...], tuple[Verdict, ...], tuple[Verdict, ...]]:
        """The limits that need not hold and are not proven: measured beyond, within, not at all."""
        waived = [one for one in self.open if one.excused]
        known = [one for one in waived if one.observed is not None]
        beyond = tuple(one for one in known if one.looks_broken)
        within = tuple(one for one in known if not one.looks_broken)
        return beyond, within, tuple(one for one in waived if one.observed is None)

    @property
    def broken(self) -> tuple[Figure, ...]:
        """The figures that break a limit, the worst first."""
        found = (self.figures[one.key] for one in self.sheet.verdicts
                 if one.status == "fail" and one.key in self.figures)  # fmt: skip
        return tuple(sorted(found, key=_weight))

    @property
    def deciding(self) -> tuple[Verdict, ...]:
        """The limits without which the judge would be adopted."""
        if self.decision is None or self.decision.verdict not in ("reject", "not_proven"):
            return ()
        if self.decision.verdict == "reject":
            return tuple(one for one in self.sheet.verdicts if one.status == "fail")
        return tuple(one for one in self.open if not one.excused)

    @property
    def remedies(self) -> tuple[tuple[Mitigation, Figure, Figure], ...]:
        """What was tried against a bias, with the figure before and after."""
        return tuple(
            (one, self.figures[one.before], self.figures[one.after])
            for axis in self.sheet.axes
            for one in axis.mitigations
            if one.outcome and one.before in self.figures and one.after in self.figures
        )

    @property
    def caveats(self) -> tuple[tuple[str, str], ...]:
        """Every caveat once, with the titles of the axes that have it."""
        found: dict[str, list[str]] = {}
        for axis in self.sheet.axes:
            for caveat in axis.caveats[:MOST_CAVEATS]:
                found.setdefault(caveat, []).append(axis.title)
        whole = len(self.sheet.axes)
        return tuple(("" if len(t) == whole else ", ".join(t), text) for text, t in found.items())

    @property
    def failed(self) -> tuple[Control, ...]:
        """The controls that were not passed."""
        return tuple(one for one in self.controls if one.passed is not True)


@remembered  # by every format of a sheet
def context(sheet: Datasheet) -> Page:
    """The sheet as it is printed."""
    figures = _figures(sheet)
    use = _use(sheet)
    findings = [
        one for axis in sheet.axes for one in _findings(axis, figures) if axis.invalid is None
    ]
    shown = [one for one in findings if one.effect.verdict == "shown"]
    concerns = [one for one in shown if use is None or use in one.effect.uses]
    answers = tuple(one for axis in sheet.axes if (one := _answer(axis, figures, use)))
    return Page(
        sheet=sheet,
        identity=identify(sheet),
        decision=sheet.decision,
        mark=UNDECIDED if sheet.decision is None else DECISIONS[sheet.decision.verdict],
        use=use,
        shown=_in_turn(concerns),
        beside=_in_turn([one for one in shown if one not in concerns]),
        possible=tuple(
            one.effect
            for one in _in_turn([one for one in findings if one.effect.verdict == "inconclusive"])
            if use is None or use in one.effect.uses
        ),
        answers=answers,
        open=tuple(one for one in sheet.verdicts if one.status == "inconclusive"),
        controls=_controls(sheet),
        axes=tuple(_part(axis, figures) for axis in sheet.axes),
        figures=figures,
        limits=_limits(sheet, figures, concerns),
        charts=charts(sheet),
    )


def _use(sheet: Datasheet) -> Use | None:
    """What the policy judges for; None without one, or where it does not say."""
    return None if sheet.provenance.policy is None else sheet.provenance.policy.use


def _figures(sheet: Datasheet) -> dict[str, Figure]:
    """Every estimate of the sheet by key."""
    found, verdicts = by_key(sheet), worst_verdicts(sheet)
    figures = {}
    for axis in sheet.axes:
        rows = {row.key: row for row in axis.characteristics}
        effects = {effect.key: effect for effect in axis.effects if not effect.slice}
        for estimate in axis.estimates:
            row = rows.get(estimate.key, Characteristic(estimate.key))
            figures[estimate.key] = Figure(
                estimate, axis, row, found.get(row.noise), verdicts.get(estimate.key),
                effects.get(estimate.key), axis.void_reason(estimate.key),
            )  # fmt: skip
    return figures


# -- effects ---------------------------------------------------------------------------------------


def _findings(axis: AxisResult, figures: Mapping[str, Figure]) -> Iterator[Finding]:
    remedies = {one.code: one for one in axis.mitigations if one.code and one.outcome == "helps"}
    for effect in axis.effects:
        if remedy := remedies.get(effect.remedy):
            before, after = figures[remedy.before].estimate, figures[remedy.after].estimate
            yield Finding(effect, axis, remedy, before, after)
        else:
            yield Finding(effect, axis)


def _once(findings: Iterable[Finding], before: Collection[str]) -> Iterator[Finding]:
    """The findings that do not stand before them, each remedy once."""
    remedied = {one.remedy.code for one in findings if one.remedy and one.effect.key in before}
    for one in findings:
        if one.effect.key in before:
            continue
        if one.remedy and one.remedy.code in remedied:
            yield Finding(one.effect, one.axis)
        else:
            remedied |= {one.remedy.code} if one.remedy else set()
            yield one


def _in_turn(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The worst of every axis, then the second of every axis: no axis hides the others."""
    place = {id(one): sum(other.axis is one.axis for other in findings[:at])
             for at, one in enumerate(findings)}  # fmt: skip
    return tuple(sorted(findings, key=lambda one: place[id(one)]))


def _answer(axis: AxisResult, figures: Mapping[str, Figure], use: Use | None) -> Answer | None:
    """The figure that breaks a limit; else of what is shown; else what uses most of its limit.

    None for an axis that says nothing, or of which this use limits nothing and nothing is open.
    """
    mine = [effect for effect in axis.effects if use is None or use in effect.uses]
    known = [effect for effect in mine if effect.verdict != "not_measured"]
    worst = next(iter(known or mine), None)
    limited = [one for one in figures.values() if one.axis is axis and one.verdict is not None]
    if any(one.verdict.status == "fail" for one in limited if one.verdict):
        return Answer(axis, min(limited, key=_weight), worst)
    if worst is not None and worst.verdict == "shown" and worst.key in figures:
        return Answer(axis, figures[worst.key], worst)
    if limited:
        return Answer(axis, min(limited, key=_weight), worst)
    speaks = worst is not None and (
        use is None or worst.verdict not in ("negligible", "not_measured")
    )
    if not speaks and (axis.effects or axis.invalid is None):
        return None
    return Answer(axis, None if worst is None else figures.get(worst.key), worst)


def _weight(figure: Figure) -> tuple[int, float]:
    if figure.verdict is None:
        return len(WORST), 0.0
    return _turn(figure.verdict, used(figure.verdict, figure))


# -- limits ----------------------------------------------------------------------------------------


def used(verdict: Verdict, figure: Figure) -> float | None:
    """The share of a limit that the bound uses: 0 is no effect, 1 the limit; None if unknown.

    From where there is no effect, or from the best end of the scale where the limit lies on its
    other side (a judge that guesses finds half of the better responses, and should find all).
    """
    limit, bound = verdict.limit, verdict.bound
    if limit is None or bound is None or verdict.against_baseline:
        return None
    ends = unit(figure.estimate.unit).ends or (0.0, 0.0)
    best, null = (ends[1] if verdict.kind == "min" else max(ends[0], 0.0)), figure.row.null
    if null is not None and (limit > null if verdict.kind == "max" else limit < null):
        best = null
    return None if limit == best else (bound - best) / (limit - best)


def _limits(
    sheet: Datasheet, figures: Mapping[str, Figure], shown: Sequence[Finding]
) -> Chart | None:
    """The picture of page one: every limit of the policy, and what is shown without one."""
    known = [(one, figures[one.key]) for one in sheet.verdicts
             if one.key in figures and not one.against_baseline]  # fmt: skip
    shares = {id(one): used(one, figure) for one, figure in known}
    # Of a figure with a limit on either side, the nearer.
    nearest: dict[str, tuple[Verdict, Figure]] = {}
    for pair in sorted(known, key=lambda pair: _turn(pair[0], shares[id(pair[0])])):
        nearest.setdefault(pair[0].key, pair)
    known = [*nearest.values()]
    drawn = [*_drawn(known, shares)]
    limited = {one.key for one in sheet.verdicts}
    unlimited = [one.effect for one in shown
                 if one.effect.key in figures and one.effect.key not in limited]  # fmt: skip
    most = 0 if any(one.status == "fail" for one, _ in drawn) else MOST_ON_PAGE_ONE
    rows = [_row(one, figure, shares[id(one)]) for one, figure in drawn]
    rows += [
        LimitRow(
            figures[one.key].estimate.label,
            None,
            _COLOURS["bad"],
            "✗ shown" if one.bound is not None else "✗ by test",
            "none",
            required=False,
        )
        for one in unlimited[:most]
    ]
    if not rows:
        return None
    have_rows = {id(one) for one, _ in drawn}
    folded = _folded([one for one, _ in known if id(one) not in have_rows], len(unlimited[most:]))
    title = "How much of each limit is used"
    caption = (
        "Bars end at the bound that decides. Bold rows must be proven; any broken row rejects."
    )
    return Chart("limits", title, caption, limits(title, rows[:MOST_DRAWN], folded))


def _drawn(
    known: Sequence[tuple[Verdict, Figure]], shares: Mapping[int, float | None]
) -> Iterator[tuple[Verdict, Figure]]:
    """The limits with a row of their own, the worst first.

    Of a judge that is rejected those that are broken. Of others all but those that are not usable,
    those that are proven and use less than half, and of a figure's members that came out alike
    (criteria, say) all but the worst.
    """
    broken = [pair for pair in known if pair[0].status == "fail"]
    known = broken or [pair for pair in known if pair[0].status != "invalid"]
    if broken or len(known) < MOST_ON_PAGE_ONE:
        yield from known
        return
    seen: set[tuple[str, VerdictStatus, float | None]] = set()
    for one, figure in known:
        share = shares[id(one)]
        alike = Key.parse(one.key).name, one.status, one.limit
        clear = one.status == "pass" and (share or 0.0) < HALF
        if not clear and alike not in seen:
            yield one, figure
            seen |= {alike}


def _folded(left: Sequence[Verdict], shown: int) -> str:
    """How many limits have no row, by how they came out, and what is shown without a limit."""
    counts = Counter(one.status for one in left)
    counted = [f"{counts[status]} {STATUS_WORDS[status]}" for status in WORST if counts[status]]
    counted += [f"{shown} shown without a limit"] if shown else []
    return f"besides: {', '.join(counted)}" if counted else ""


def _turn(verdict: Verdict, share: float | None) -> tuple[int, float]:
    """The worst outcome first, then what uses most of its limit."""
    return WORST.index(verdict.status), -(share or 0.0)


def _row(verdict: Verdict, figure: Figure, share: float | None) -> LimitRow:
    mark = LIMITS[verdict.status]
    _, bound = show.deciding(verdict, figure.estimate)
    words = show.brief(bound.bare) if bound.measured else "unknown"
    limit = show.brief(show.limit(verdict, figure.estimate))
    colour, words = _COLOURS[mark.tone], f"{mark.sign} {words}"
    return LimitRow(figure.estimate.label, share, colour, words, limit, not verdict.warns)


# -- everything ------------------------------------------------------------------------------------


def _controls(sheet: Datasheet) -> tuple[Control, ...]:
    """Each control once, as it came out worst; those that failed first."""
    worst: dict[str, Control] = {}
    for axis in sheet.axes:
        for at, control in enumerate(axis.controls):
            code = control.code or f"{axis.name} {at}"
            if code not in worst or _OUTCOMES.index(control.passed) < _OUTCOMES.index(
                worst[code].passed
            ):
                worst[code] = control
    return tuple(sorted(worst.values(), key=lambda one: _OUTCOMES.index(one.passed)))


_OUTCOMES = (False, None, True)


def _part(axis: AxisResult, figures: Mapping[str, Figure]) -> AxisPart:
    groups: dict[str, list[Figure]] = {}
    reasons: dict[str, dict[str, None]] = {}
    for estimate in axis.estimates:
        name = Key.parse(estimate.key).name
        if estimate.value is None:
            reasons.setdefault(estimate.note or "no reason given", {})[name] = None
        else:
            groups.setdefault(name, []).append(figures[estimate.key])
    return AxisPart(
        result=axis,
        rows=tuple(_rows(axis, figures)),
        families=tuple(
            Family(
                name,
                _common([one.estimate.label for one in members]),
                max((tuple(Key.parse(one.estimate.key).dims) for one in members), key=len),
                tuple(members),
            )
            for name, members in groups.items()
        ),
        missing=tuple((why, tuple(names)) for why, names in reasons.items()),
    )  # fmt: skip


def _rows(axis: AxisResult, figures: Mapping[str, Figure]) -> Iterator[Figure]:
    """The papers' rows, and what else has a limit or is shown to be wrong."""
    shown = {one.key for one in axis.effects if one.verdict == "shown"}
    listed = [row.key for row in axis.characteristics]
    also = [e.key for e in axis.estimates if figures[e.key].verdict or e.key in shown]
    for key in dict.fromkeys((*listed, *also)):
        if key in figures and figures[key].estimate.value is not None:
            yield figures[key]


def _common(labels: Sequence[str]) -> str:
    """The words that the labels of a family begin with."""
    words = [label.split() for label in labels]
    alike = takewhile(lambda column: len({*column}) == 1, zip(*words, strict=False))
    return " ".join(column[0] for column in alike).rstrip(",") or labels[0]
