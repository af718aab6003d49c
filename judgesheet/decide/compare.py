"""Against another sheet: what changed, and whether that is proven.

A difference is decided by its interval and, over all figures with a verdict, by Holm's correction.
What is not proven is not "the same": the smallest difference that would have been detected is given
with it. Nothing here needs numpy; `paired` adds what two runs on the same stimuli allow.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from judgesheet.base.datasheet import by_key
from judgesheet.base.digits import counted, percent
from judgesheet.base.errors import RunError
from judgesheet.base.keys import Key
from judgesheet.base.missing_reasons import Reason
from judgesheet.base.records import LEVEL, Characteristic, Datasheet, Estimate
from judgesheet.base.units import scale_of, unit
from judgesheet.decide.bounded_value import Z95, BoundedValue
from judgesheet.stats.multiplicity import holm

if TYPE_CHECKING:
    from judgesheet.decide.agreement import Agreed

ACROSS_PROMPTS = frozenset({"prompts", "parsers", "reply"})
"""What may differ between two prompts that are compared on the same stimuli."""
Verdict = Literal["worse", "better", "no_change_proven", "void", ""]
Direction = Literal["lower", "higher", "nearer", ""]
LOSS_RATE = "loss_rate"
"""The figure of lost calls, which every axis has."""
NO_DIRECTION = Reason("no_direction", "no sheet says which way it is better")
SIGNIFICANT = 0.05
UNPROVEN = "without an interval nothing is proven"
INDEPENDENT = "square and add (MOVER), independent"
WITH_LOST = "; room for what lost calls could have said"
WITHOUT_CHANCE = "; of both without what chance adds"


class Pairing(Protocol):
    """What two runs on the same stimuli show of the difference of a figure (`paired`)."""

    @property
    def correlation(self) -> float | None:
        """How far the stimuli move both figures alike; None where they move neither."""

    @property
    def method(self) -> str:
        """How the interval is made."""

    def around(self, value: float, of: Callable[[Any], Any]) -> BoundedValue | None:
        """The difference `value` of a function `of` the two figures, with its interval.

        None where too few stimuli move it.
        """


@dataclass(frozen=True, slots=True)
class Same:
    """Both figures are of the same: every call of both runs gave the same, or none enters."""

    method: str = "paired by stimulus and call: every call gave the same"
    correlation: float | None = 1.0

    def around(self, value: float, of: Callable[[Any], Any]) -> BoundedValue:  # noqa: ARG002
        """The difference, which is 0 but for what figures draw at random."""
        return BoundedValue(value, min(0.0, value), max(0.0, value))


SAME_RATINGS = Same("human ratings alone, which are the same in both")


class Obstacle(NamedTuple):
    """Why two sheets do not answer the same questions: for a program, and for a reader."""

    code: Literal[
        "axes", "reply", "profile", "sequences", "prompts", "stimuli", "parsers", "version"
    ]
    text: str


class OtherQuestionsError(RunError):
    """Two sheets that answer different questions; `obstacles` say why."""

    def __init__(self, obstacles: Sequence[Obstacle]) -> None:
        self.obstacles = tuple(obstacles)
        reasons = "; ".join(one.text for one in obstacles)
        super().__init__(f"these sheets cannot be compared: {reasons} ({self.way_out})")

    @property
    def way_out(self) -> str:
        """The option with which they are compared."""
        if {one.code for one in self.obstacles} <= ACROSS_PROMPTS:
            return "--across-prompts compares the prompts"
        return "--force compares them anyway"


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure in two sheets; `value` is new minus old.

    `better` says which way a user wants the figure: `lower`, `higher`, `nearer` (to `null`) or ""
    (then there is no verdict). `worsening` is the difference in the direction that a user does not
    want. `p` is two-sided, `p_holm` over the figures with a verdict.
    The verdict is `void`, and `note` says why, where the figure must not be used in one of the
    sheets. `detectable` is the smallest true difference that would be seen with a power of 80 %.
    `low`, `high`, `p` and the verdict hold whatever the `lost` calls of both runs would have said:
    `worsening` is that of the calls read, which those may move down and up by `room`.
    `reason` is the code of a `reasons.Reason` where there is a difference and yet no verdict.
    `pairing` is None where the two sheets count as independent. `compared` are the figures that the
    difference is of: where chance adds to a figure, what is left of it without that.
    """

    key: str
    label: str
    unit: str
    old: Estimate | None
    new: Estimate | None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = LEVEL
    better: Direction = ""
    null: float | None = None
    worsening: BoundedValue | None = None
    room: tuple[float, float] = (0.0, 0.0)
    lost: int = 0
    p: float | None = None
    p_holm: float | None = None
    verdict: Verdict = ""
    detectable: float | None = None
    correlation: float | None = None
    method: str = ""
    note: str = ""
    reason: str = ""
    pairing: Pairing | None = field(default=None, repr=False)
    compared: tuple[Estimate | None, Estimate | None] = field(default=(None, None), repr=False)

    def p_worse(self, margin: float) -> float | None:
        """One-sided p of "worse by `margin` at most", whatever lost calls would have said."""
        return self.worsening and self.worsening.shifted(-self.room[0]).p_above(margin)

    def p_better(self) -> float | None:
        """One-sided p of "not better", likewise."""
        return self.worsening and 1 - self.worsening.shifted(self.room[1]).p_above(0.0)

    @property
    def debiases(self) -> str:
        """The key of the figure that this one is without the part that chance adds, else ""."""
        either = self.new or self.old
        return str(either.given.get("debiases", "")) if either else ""

    @property
    def without_chance(self) -> bool:
        """Whether the difference is of what is left without what chance adds."""
        return (self.old, self.new) != self.compared


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every figure of two sheets; `remarks` say what limits the comparison.

    `forced` is what was overridden by force, `sources` the paths that were given. `agreement` is
    by axis, where both are run directories.
    """

    old: Datasheet
    new: Datasheet
    differences: tuple[Difference, ...] = field(repr=False)
    remarks: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()
    sources: tuple[str, str] = ("", "")
    agreement: "tuple[Agreed, ...]" = field(default=(), repr=False)

    @property
    def headline(self) -> list[Difference]:
        """The rows of the characteristics tables, and what was lost, in reading order."""
        keys = {row.key for sheet in (self.old, self.new) for axis in sheet.axes
                for row in axis.characteristics}  # fmt: skip
        keys.update(_losses(self.old, self.new))
        return [difference for difference in self.differences if difference.key in keys]

    @property
    def is_paired(self) -> bool:
        """Whether figures are paired by stimulus and call."""
        return any(row.pairing not in (None, SAME_RATINGS) for row in self.differences)

    def count(self, verdict: Verdict) -> int:
        """How many figures got that verdict."""
        return sum(row.verdict == verdict for row in self.differences)


def compare(
    old: Datasheet,
    new: Datasheet,
    pairings: Mapping[str, Pairing] | None = None,
    *,
    force: bool = False,
    across_prompts: bool = False,
) -> Comparison:
    """The differences of two sheets, new minus old.

    `pairings` are those of the figures by key, where both ran on the same stimuli
    (`paired.pairings`); a key without one is taken as independent.

    OtherQuestionsError if the sheets answer different questions or share no axis, unless `force` is
    given; `across_prompts` accepts other prompts, reply formats and parsers on the same stimuli.
    """
    reasons = tuple(obstacles(old, new))
    refused = tuple(one for one in reasons if one.code not in ACROSS_PROMPTS or not across_prompts)
    if refused and not force:
        raise OtherQuestionsError(reasons)
    across = [one for one in reasons if one not in refused]
    axes = (axis for sheet in (old, new) for axis in sheet.axes)
    wanted = {row.key: row for axis in axes for row in axis.characteristics if row.better}
    wanted |= {key: Characteristic(key, better="lower") for key in _losses(old, new)}
    olds, news = by_key(old), by_key(new)
    # First: calls that one run lost would have said the same in both of its sheets.
    one_run = _are_of_one_run(old, new)
    paired = dict.fromkeys(news, Same()) if one_run else pairings or {}
    void = _void(new, "new") | _void(old, "old")
    rated = set[str]()
    if not any(one.code == "stimuli" for one in reasons):
        rated.update(_of_the_same_ratings(olds, news))
    known = {**dict.fromkeys(rated, SAME_RATINGS), **paired}
    rows = [
        difference(key, olds.get(key), news.get(key), wanted.get(key), known.get(key))
        for key in dict.fromkeys((*news, *olds))  # in the order of the new sheet
    ]
    rows = [*_without_chance(rows)]
    usable = [_without_verdict(row, void[row.key]) if row.key in void else row for row in rows]
    remarks = (*_across(across, paired), *_how_known(old, new, paired), *_remarks(old, new))
    return Comparison(old, new, tuple(_judged(usable)), remarks, tuple(one.text for one in refused))


def obstacles(old: Datasheet, new: Datasheet) -> Iterator[Obstacle]:
    """Why two sheets do not answer the same questions."""
    if not {axis.name for axis in old.axes} & {axis.name for axis in new.axes}:
        yield Obstacle("axes", "they have no axis in common")
    settings: dict[Literal["reply", "profile", "sequences"], str] = {
        "reply": "reply formats", "profile": "profiles", "sequences": "designs"
    }  # fmt: skip
    for name, what in settings.items():
        first, second = getattr(old.run, name), getattr(new.run, name)
        if first != second:
            yield Obstacle(name, f"their {what} differ ({first} and {second})")
    parts: tuple[Literal["prompts", "stimuli"], ...] = ("prompts", "stimuli")
    for part in parts:
        mine, theirs = _digests(old, part), _digests(new, part)
        differ = [axis for axis in mine if axis in theirs and mine[axis] != theirs[axis]]
        if differ:
            yield Obstacle(part, f"their {part} of {', '.join(differ)} differ")
    mine, theirs = _digests(old, "parsers"), _digests(new, "parsers")
    if mine != theirs:
        names = ", ".join(sorted(mine | theirs))
        yield Obstacle("parsers", f"different parsers read their replies ({names})")
    # Parsers of the package have no digest of their own: its version stands for them.
    first, second = old.provenance.judgesheet, new.provenance.judgesheet
    if first != second:
        yield Obstacle(
            "version",
            f"their replies were read by judgesheet {first} and {second}, whose parsers may differ "
            "(`judgesheet measure` reads a run again)",
        )


def _across(waived: Sequence[Obstacle], pairings: Mapping[str, Pairing]) -> Iterator[str]:
    """That two prompts are compared, and whether by stimulus."""
    if waived:
        how = "paired by stimulus" if pairings else "taken as independent"
        reasons = "; ".join(one.text for one in waived)
        yield f"Two prompts are compared on the same stimuli, {how}: {reasons}."


def _are_of_one_run(old: Datasheet, new: Datasheet) -> bool:
    """Whether two sheets give the same figures of the same replies.

    No two runs begin in the same second and take equally long; one that took over all of its
    replies took no time, and has the times of those.
    """
    mine, theirs = (
        (sheet.judge, sheet.run, sheet.provenance.plan_digest, sheet.axes) for sheet in (old, new)
    )
    return bool(new.run.wall_s or new.run.taken_over) and mine == theirs


def _of_the_same_ratings(
    olds: Mapping[str, Estimate], news: Mapping[str, Estimate]
) -> Iterator[str]:
    """The figures of people's ratings alone to which the same stimuli gave the same ratings."""
    for key in olds.keys() & news.keys():
        old, new = (
            (one.value, one.n, one.clusters, one.given.get("ratings"))
            for one in (olds[key], news[key])
        )
        if old == new and old[-1] is not None:
            yield key


def _how_known(old: Datasheet, new: Datasheet, pairings: Mapping[str, Pairing]) -> Iterator[str]:
    if _are_of_one_run(old, new):
        yield "Both are of one run, with identical figures: every difference is 0."
    elif not pairings:
        yield (
            "Both are treated as independent, which makes intervals wider than necessary: a "
            "sheet contains no replies, and only "
            "two run directories on the same stimuli (six at least) are "
            "paired by stimulus and call."
        )


def _digests(
    sheet: Datasheet, part: Literal["prompts", "stimuli", "parsers"]
) -> dict[str, str | None]:
    return {one.axis: one.digest for one in getattr(sheet.provenance, part)}


def _void(sheet: Datasheet, which: str) -> dict[str, str]:
    """Why figures of a sheet must not be used, by key."""
    return {
        estimate.key: f"not usable in the {which} sheet: {why}"
        for axis in sheet.axes
        for estimate in axis.estimates
        if (why := axis.void_reason(estimate.key))
    }


def _without_verdict(row: Difference, why: str) -> Difference:
    """A difference that says nothing of the judge, as one of its figures must not be used."""
    return replace(row, worsening=None, p=None, detectable=None, verdict="void", note=why)


def _remarks(old: Datasheet, new: Datasheet) -> Iterator[str]:
    for sheet, which in ((old, "old"), (new, "new")):
        if sheet.run.complete is False:
            yield f"The {which} run is not complete."
        for axis in sheet.axes:
            if axis.invalid is not None:
                yield f"No figure of {axis.name} is usable in the {which} sheet: {axis.invalid}."
    yield from _loss_remarks(old, new)
    first, second = old.run.temperature, new.run.temperature
    if first != second:
        words = ("unknown" if one is None else one for one in (first, second))
        yield f"The temperatures differ: {' and '.join(map(str, words))}."
    first, second = (sheet.run.retry_unreadable for sheet in (old, new))
    if first != second:
        yield (
            f"Unreadable replies were asked again up to {first} times in the old run and {second} "
            "in the new one: their lost calls do not compare."
        )
    mine, theirs = ({axis.name for axis in sheet.axes} for sheet in (old, new))
    if mine ^ theirs:
        yield f"Only one sheet has {', '.join(sorted(mine ^ theirs))}."


def _losses(old: Datasheet, new: Datasheet) -> dict[str, str]:
    """The shares of lost calls by key, with their axis, where either sheet lost any."""
    lossy = {axis.name for sheet in (old, new) for axis in sheet.axes if axis.answered < axis.made}
    return {str(Key(name, LOSS_RATE, {})): name for name in sorted(lossy)}


def _loss_remarks(old: Datasheet, new: Datasheet) -> Iterator[str]:
    """Per axis how many calls gave no verdict, and what the differences make of them."""
    for name in _losses(old, new).values():
        found = [axis for sheet in (old, new) for axis in sheet.axes if axis.name == name]
        if len(found) == 2:
            shares = [
                f"{percent((axis.made - axis.answered) / max(1, axis.made))} "
                f"({axis.made - axis.answered:,} of {axis.made:,})"
                for axis in found
            ]
            yield (
                f"Calls of {name} without a verdict: {shares[0]} in the old sheet, {shares[1]} in "
                "the new one; differences hold whatever they would have said."
            )


# -- one difference ------------------------------------------------------------------------------


def mover(old: BoundedValue, new: BoundedValue) -> BoundedValue:
    """The difference of two independent estimates: margins squared and added per side.

    The margins keep their asymmetry, so the interval is right for rates near 0 or 1.

    References
    ----------
    Newcombe, R. G. (1998), Statistics in Medicine 17, 873-890, method 10; Zou, G. Y. and Donner, A.
    (2008), Statistics in Medicine 27, 1693-1702, equation 4 (MOVER).
    """
    value = new.value - old.value
    below = math.hypot(new.value - new.low, old.high - old.value)
    above = math.hypot(new.high - new.value, old.value - old.low)
    return BoundedValue(value, value - below, value + above)


def _without_chance(rows: Sequence[Difference]) -> Iterator[Difference]:
    """The rows; of figures that chance raises, by what both sheets have left without that.

    A judge without an effect has a value above 0, most in small runs: a difference from it would
    come out too small.
    """
    of = {row.debiases: row for row in rows if row.value is not None}
    for row in rows:
        left = of.get(row.key)
        if left is None or not row.better:
            yield row
            continue
        wanted = Characteristic(row.key, better=row.better, null=row.null)
        made = difference(row.key, left.old, left.new, wanted, left.pairing)
        method = f"{made.method}{WITHOUT_CHANCE}"
        yield replace(made, label=row.label, unit=row.unit, old=row.old, new=row.new, method=method)


def difference(
    key: str,
    old: Estimate | None,
    new: Estimate | None,
    wanted: Characteristic | None,
    pairing: Pairing | None = None,
) -> Difference:
    """One figure in two sheets, without a verdict; `wanted` says which direction is better."""
    either = new or old
    assert either is not None  # noqa: S101  (a key comes from one of the sheets)
    row = Difference(key, either.label, either.unit, old, new, compared=(old, new))
    if old is None or new is None:
        return replace(row, note=f"only in the {'old' if new is None else 'new'} sheet")
    if old.value is None or new.value is None:
        return replace(row, note=f"no value: {old.note if old.value is None else new.note}")
    if unit(either.unit).kind != "quantity":
        return replace(row, note=unit(either.unit).why)
    # The difference of the same is known without an interval of either.
    ends = _exact if pairing is SAME_RATINGS else _bounded
    before, after = ends(old), ends(new)
    if before is None or after is None:
        note = next(filter(None, map(_unbounded, (old, new))), UNPROVEN)
        return replace(row, value=new.value - old.value, note=note)
    (low, high), scale = (0.0, 0.0), scale_of(old, new)
    if not isinstance(pairing, Same):
        low, high = _lost_room(old, new)
    change = _change(before, after, pairing)
    whole = BoundedValue(change.value, change.low - low, change.high + high).within(
        scale[1] - scale[0]
    )
    lost = sum(one.imputed.calls for one in (old, new) if one.imputed) if low + high else 0
    row = replace(
        row,
        value=whole.value,
        low=whole.low,
        high=whole.high,
        lost=lost,
        correlation=None if pairing is None else pairing.correlation,
        method=(INDEPENDENT if math.isinf(change.df) and not isinstance(pairing, Same)
                else pairing.method if pairing else "") + (WITH_LOST if lost else ""),
        pairing=pairing,
    )  # fmt: skip
    if wanted is None or not wanted.better or (wanted.better == "nearer" and wanted.null is None):
        return replace(row, reason=NO_DIRECTION.code)
    worsening, room = _worsening((before, after), pairing, wanted, scale, (low, high))
    row = replace(row, better=wanted.better, null=wanted.null, worsening=worsening, room=room)
    # Doubled, not both tails added: the margins on the two sides differ.
    tails = row.p_worse(0.0), row.p_better()
    seen = worsening.detectable + max(room)
    p = min(1.0, *(2 * tail for tail in tails if tail is not None))
    return replace(row, p=p, detectable=seen)


def _exact(estimate: Estimate) -> BoundedValue | None:
    value = estimate.value
    return None if value is None else BoundedValue(value, value, value)


def _bounded(estimate: Estimate) -> BoundedValue | None:
    """Value and 95 % interval; None if missing or not a confidence interval."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    if estimate.bounds is not None and not estimate.bounds.proves:
        return None
    if _unbounded(estimate):
        return None
    value, low, high, level = estimate.value, estimate.low, estimate.high, estimate.level
    if level == LEVEL or not 0 < level < 1:
        return BoundedValue(value, low, high)
    # A run that was looked at early has wider intervals; all differences are told at 95 %.
    narrower = Z95 / NormalDist().inv_cdf((1 + level) / 2)
    return BoundedValue(value, value - narrower * (value - low), value + narrower * (high - value))


def _unbounded(estimate: Estimate) -> str:
    """Why lost calls leave a figure without bounds; "" where they do not."""
    lost = estimate.imputed
    if lost is None or (lost.low is not None and lost.high is not None):
        return ""
    return f"what {counted(lost.calls, 'lost call')} could have said leaves it no value"


def _lost_room(old: Estimate, new: Estimate) -> tuple[float, float]:
    """How much lower and higher the difference could be by what lost calls would have said."""
    (old_low, old_high), (new_low, new_high) = _moves(old), _moves(new)
    return new_low + old_high, new_high + old_low


def _moves(estimate: Estimate) -> tuple[float, float]:
    """How far lost calls could move the ends of a figure down and up."""
    lost, low, high = estimate.imputed, estimate.low, estimate.high
    if lost is None or None in (low, high, lost.low, lost.high):
        return 0.0, 0.0
    ends = (low, lost.low), (lost.high, high)
    down, up = (max(0.0, (one or 0.0) - (other or 0.0)) for one, other in ends)
    return down, up


def _change(
    before: BoundedValue,
    after: BoundedValue,
    pairing: Pairing | None,
    of: Callable[[Any], Any] = lambda figure: figure,
) -> BoundedValue:
    """After less before: from what the runs show together, else from their two intervals."""
    paired = pairing and pairing.around(after.value - before.value, of)
    return paired or mover(before, after)


def _worsening(
    figures: tuple[BoundedValue, BoundedValue],
    pairing: Pairing | None,
    wanted: Characteristic,
    scale: tuple[float, float],
    room: tuple[float, float],
) -> tuple[BoundedValue, tuple[float, float]]:
    """By how much the figure got worse for a user, and how far lost calls may move that."""
    if wanted.better == "nearer" and (null := wanted.null) is not None:
        before, after = (_folded(one, null) for one in figures)
        grown = _change(before, after, pairing, lambda figure: abs(figure - null))
        return grown.within(max(abs(end - null) for end in scale)), (sum(room), sum(room))
    change = _change(*figures, pairing).within(scale[1] - scale[0])
    if wanted.better == "higher":  # getting worse is to fall
        return change.turned(), (room[1], room[0])
    return change, room


def _folded(spread: BoundedValue, null: float) -> BoundedValue:
    """The distance from `null`; its interval starts at 0 where the estimate's holds `null`."""
    ends = abs(spread.low - null), abs(spread.high - null)
    low = 0.0 if spread.low <= null <= spread.high else min(ends)
    return BoundedValue(abs(spread.value - null), low, max(ends))


def _judged(rows: Sequence[Difference]) -> Iterator[Difference]:
    """Verdicts, by Holm over the figures that have a direction."""
    for row, p in zip(rows, holm([row.p for row in rows]), strict=True):
        if p is None or row.worsening is None:
            yield row
        elif p < SIGNIFICANT:
            verdict: Verdict = "worse" if row.worsening.value > 0 else "better"
            yield replace(row, p_holm=p, verdict=verdict, detectable=None)
        else:
            yield replace(row, p_holm=p, verdict="no_change_proven")
