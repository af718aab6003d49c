"""Against another sheet: what changed, and whether that is proven.

A difference is decided by its interval and, over all figures with a verdict, by Holm's correction.
What is not proven is not "the same": the smallest difference that would have been detected is given
with it. Nothing here needs numpy; `paired` adds what two runs on the same stimuli allow.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from judgesheet.base.datasheet import by_key, mappings
from judgesheet.base.digits import counted, percent
from judgesheet.base.errors import RunError
from judgesheet.base.keys import Key
from judgesheet.base.missing_reasons import Reason
from judgesheet.base.records import Characteristic, Datasheet, Estimate
from judgesheet.base.units import scale_of, unit
from judgesheet.decide.bounded_value import BoundedValue
from judgesheet.stats.confidence import LEVEL
from judgesheet.stats.multiplicity import holm

if TYPE_CHECKING:
    from judgesheet.decide.agreement import Agreed

ACROSS_PROMPTS = frozenset({"prompts", "parsers", "reply"})
"""What may differ between two prompts that are compared on the same stimuli."""
Change = Literal["worse", "better", "no change proven", "void", ""]
Direction = Literal["lower", "higher", "nearer", ""]
LOSS_RATE = "loss_rate"
"""The figure of lost calls, which every axis has."""
NO_DIRECTION = Reason("no_direction", "no sheet says which way it is better")
SIGNIFICANT = 0.05
UNPROVEN = "without an interval nothing is proven"
INDEPENDENT = "square and add (MOVER), independent"
COMPLETED = "; lost calls of both answered so that it moves furthest"
RAISED = "; allowing for what chance adds to a figure near 0"
NEARLY_ALL = 0.8
"""Where less of a figure than this is left without that part, it may be of chance alone."""
Z95 = NormalDist().inv_cdf(0.975)
"""The normal quantile of the ends of a 95 % interval."""


class Pairing(Protocol):
    """What two runs on the same stimuli show of the difference of a figure (`paired`)."""

    @property
    def correlation(self) -> float | None:
        """How far the stimuli move both figures alike; None where they move neither."""

    @property
    def method(self) -> str:
        """How the interval is made."""

    @property
    def completions(self) -> "Sequence[Completion] | None":
        """The same with lost calls answered in the ways that move the figures furthest.

        None where only the sheets say how far they do.
        """

    def around(self, value: float, of: Callable[[Any], Any]) -> BoundedValue:
        """The difference `value` of a function `of` the two figures, with its interval."""


class Completion(NamedTuple):
    """A figure in both runs with their lost calls answered, and what pairs it (None: nothing)."""

    old: BoundedValue
    new: BoundedValue
    pairing: Pairing | None = None


@dataclass(frozen=True, slots=True)
class Same:
    """Both figures are of the same: every call of both runs gave the same, or none enters."""

    method: str = "paired by stimulus and call: every call gave the same"
    correlation: float | None = 1.0
    completions: tuple[Completion, ...] = ()

    def around(self, value: float, of: Callable[[Any], Any]) -> BoundedValue:  # noqa: ARG002
        """The difference, which is 0 but for what figures draw at random."""
        return BoundedValue(value, min(0.0, value), max(0.0, value))


class Raised(NamedTuple):
    """A figure to which chance adds, and what is left without that."""

    value: float
    left: float

    @property
    def may_be_chance(self) -> bool:
        """Whether all of it may be of chance."""
        return self.left < NEARLY_ALL * self.value


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
    `worsening` is that of the calls read, `completed` the same under extreme answers to the others.
    `reason` is the code of a `reasons.Reason` where there is a difference and yet no verdict.
    `pairing` is None where the two sheets count as independent. `raised` are both figures where
    chance adds to them, for which all ends leave room.
    """

    key: str
    label: str
    unit: str
    old: Estimate | None
    new: Estimate | None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    better: Direction = ""
    null: float | None = None
    worsening: BoundedValue | None = None
    completed: tuple[BoundedValue, ...] = ()
    lost: int = 0
    p: float | None = None
    p_holm: float | None = None
    verdict: Change = ""
    detectable: float | None = None
    correlation: float | None = None
    method: str = ""
    note: str = ""
    reason: str = ""
    pairing: Pairing | None = field(default=None, repr=False)
    raised: tuple[Raised, Raised] | None = None

    def p_worse(self, margin: float) -> float | None:
        """One-sided p of "worse by `margin` at most", the largest over what lost calls may say."""
        if self.worsening is None:
            return None
        return max(p_worse(one, margin) for one in (self.worsening, *self.completed))

    def p_better(self) -> float | None:
        """One-sided p of "not better", likewise."""
        if self.worsening is None:
            return None
        return max(1 - p_worse(one, 0.0) for one in (self.worsening, *self.completed))


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

    def count(self, verdict: Change) -> int:
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
    raised = _raised(olds, news)
    rows = (
        difference(
            key, olds.get(key), news.get(key), wanted.get(key), known.get(key), raised.get(key)
        )
        for key in dict.fromkeys((*news, *olds))  # in the order of the new sheet
    )  # fmt: skip
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
        first, second = old.run.get(name), new.run.get(name)
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
    first, second = old.provenance.get("judgesheet"), new.provenance.get("judgesheet")
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
        (sheet.judge, sheet.run, sheet.provenance.get("plan_digest"), sheet.axes)
        for sheet in (old, new)
    )
    return bool(new.run.get("wall_s") or new.run.get("taken_over")) and mine == theirs


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


def _digests(sheet: Datasheet, part: str) -> dict[str, Any]:
    known = mappings(sheet.provenance.get(part))
    return {str(record.get("axis")): record.get("digest") for record in known}


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
    return replace(
        row, worsening=None, completed=(), p=None, detectable=None, verdict="void", note=why
    )


def _remarks(old: Datasheet, new: Datasheet) -> Iterator[str]:
    for sheet, which in ((old, "old"), (new, "new")):
        if sheet.run.get("complete") is False:
            yield f"The {which} run is not complete."
        for axis in sheet.axes:
            if axis.void is not None:
                yield f"No figure of {axis.name} is usable in the {which} sheet: {axis.void}."
    yield from _told_losses(old, new)
    first, second = old.run.get("temperature"), new.run.get("temperature")
    if first != second:
        words = ("unknown" if one is None else one for one in (first, second))
        yield f"The temperatures differ: {' and '.join(map(str, words))}."
    mine, theirs = ({axis.name for axis in sheet.axes} for sheet in (old, new))
    if mine ^ theirs:
        yield f"Only one sheet has {', '.join(sorted(mine ^ theirs))}."


def _losses(old: Datasheet, new: Datasheet) -> dict[str, str]:
    """The shares of lost calls by key, with their axis, where either sheet lost any."""
    lossy = {axis.name for sheet in (old, new) for axis in sheet.axes if axis.answered < axis.made}
    return {str(Key(name, LOSS_RATE, {})): name for name in sorted(lossy)}


def _told_losses(old: Datasheet, new: Datasheet) -> Iterator[str]:
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


def _raised(
    olds: Mapping[str, Estimate], news: Mapping[str, Estimate]
) -> dict[str, tuple[Raised, Raised]]:
    """By key the figures to which chance adds, where both sheets tell what is left without that."""
    before, after = _debiased(olds), _debiased(news)
    return {key: (before[key], after[key]) for key in before.keys() & after.keys()}


def _debiased(estimates: Mapping[str, Estimate]) -> dict[str, Raised]:
    """The figures of a sheet of which another says what is left without the part of chance."""
    return {
        raised.key: Raised(raised.value or 0.0, estimate.value)
        for estimate in estimates.values()
        if (raised := estimates.get(str(estimate.given.get("debiases")))) is not None
        and estimate.value is not None
    }


def difference(
    key: str,
    old: Estimate | None,
    new: Estimate | None,
    wanted: Characteristic | None,
    pairing: Pairing | None = None,
    raised: tuple[Raised, Raised] | None = None,
) -> Difference:
    """One figure in two sheets, without a verdict; `wanted` says which direction is better."""
    either = new or old
    assert either is not None  # noqa: S101  (a key comes from one of the sheets)
    row = Difference(key, either.label, either.unit, old, new)
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
    if isinstance(pairing, Same):  # chance added the same to both
        raised = None
    scale = scale_of(old, new)
    figures = [Completion(before, after, pairing), *_completions(old, new, pairing)]
    changes = [_within(_with_room(one, raised), scale[1] - scale[0]) for one in figures]
    read, *completed = changes
    row = replace(
        row,
        value=read.value,
        low=min(one.low for one in (read, *completed)),
        high=max(one.high for one in (read, *completed)),
        lost=sum(one.imputed.calls for one in (old, new) if one.imputed) if completed else 0,
        correlation=None if pairing is None else pairing.correlation,
        method=(INDEPENDENT if pairing is None else pairing.method)
        + (COMPLETED if completed else "")
        + (RAISED if raised and any(one.may_be_chance for one in raised) else ""),
        pairing=pairing,
        raised=raised,
    )
    worse = [] if wanted is None else _worsenings(figures, changes, wanted, scale)
    if wanted is None or not worse:
        return replace(row, reason=NO_DIRECTION.code)
    row = replace(
        row, better=wanted.better, null=wanted.null, worsening=worse[0], completed=tuple(worse[1:])
    )
    # Doubled, not both tails added: the margins on the two sides differ.
    tails = row.p_worse(0.0), row.p_better()
    return replace(
        row, p=min(1.0, *(2 * tail for tail in tails if tail is not None)), detectable=_seen(worse)
    )


def _seen(worsenings: Sequence[BoundedValue]) -> float:
    """The smallest true difference that is seen four times in five whatever lost calls hide."""
    read = worsenings[0]
    return max(abs(one.value - read.value) + one.detectable() for one in worsenings)


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


def _completions(old: Estimate, new: Estimate, pairing: Pairing | None) -> Sequence[Completion]:
    """Both figures with lost calls answered: measured anew on two runs, else by their sheets.

    A sheet says how far answers move the ends of an interval; the figure is moved as far, with its
    margins, so that none is taken to shrink.
    """
    if pairing is not None and pairing.completions is not None:
        return pairing.completions
    pairs = product(_moved(old), _moved(new))
    return [Completion(before, after) for before, after in islice(pairs, 1, None)]


def _moved(estimate: Estimate) -> list[BoundedValue]:
    """The figure of the calls read, then moved as far down and up as lost calls move its ends."""
    read, lost = _bounded(estimate), estimate.imputed
    if read is None:
        return []
    if lost is None or estimate.low is None or estimate.high is None:
        return [read]
    ends = (lost.low, estimate.low), (lost.high, estimate.high)
    moves = [end - own for end, own in ends if end is not None and end != own]
    return [read, *(BoundedValue(*(one + move for one in read)) for move in moves)]


def _change(
    before: BoundedValue,
    after: BoundedValue,
    pairing: Pairing | None,
    of: Callable[[Any], Any] = lambda figure: figure,
) -> BoundedValue:
    """After less before: from what the runs show together, else from their two intervals."""
    if pairing is None:
        return mover(before, after)
    return pairing.around(after.value - before.value, of)


def _with_room(figures: Completion, raised: tuple[Raised, Raised] | None) -> BoundedValue:
    """The difference, as far as it reaches where chance adds to the figures.

    Where all of one may be of chance it is none at all, without error, and the other is what is
    left of it.
    """
    value, low, high = _change(*figures)
    if raised is not None:
        (old, new), (before, after, pairing) = raised, figures
        if old.may_be_chance:
            none = BoundedValue(*[before.value - old.value] * 3)
            high = max(high, _change(none, _lowered(after, new), pairing).high)
        if new.may_be_chance:
            none = BoundedValue(*[after.value - new.value] * 3)
            low = min(low, _change(_lowered(before, old), none, pairing).low)
    return BoundedValue(value, low, high)


def _lowered(figure: BoundedValue, raised: Raised) -> BoundedValue:
    """A figure without what chance adds, with its margins."""
    return BoundedValue(*(end - (raised.value - raised.left) for end in figure))


def _within(change: BoundedValue, reach: float) -> BoundedValue:
    """The difference with ends that two figures of such a scale can have."""
    return BoundedValue(change.value, max(change.low, -reach), min(change.high, reach))


def _worsenings(
    figures: Sequence[Completion],
    changes: Sequence[BoundedValue],
    wanted: Characteristic,
    scale: tuple[float, float],
) -> list[BoundedValue]:
    """By how much the figure got worse for a user, per completion; none where no way is better."""
    if wanted.better == "lower":
        return [*changes]
    if wanted.better == "higher":  # getting worse is to fall
        return [BoundedValue(-one.value, -one.high, -one.low) for one in changes]
    if wanted.better == "nearer" and (null := wanted.null) is not None:
        farthest = max(abs(end - null) for end in scale)
        return [_within(one, farthest) for one in _farther(figures, null)]
    return []


def _farther(figures: Sequence[Completion], null: float) -> Iterator[BoundedValue]:
    """By how much the distance from `null` grew, per completion.

    Where lost calls may put a figure on either side of `null`, they may put it there, too.
    """
    grown = [
        _change(
            _folded(one.old, null), _folded(one.new, null), one.pairing,
            lambda figure: abs(figure - null),
        )
        for one in figures
    ]  # fmt: skip
    yield from grown
    before = _spare([one.old.value - null for one in figures])
    after = _spare([one.new.value - null for one in figures])
    if before:
        highest = max(grown, key=lambda one: one.high)
        yield BoundedValue(*(end + before for end in highest))
    if after:
        lowest = min(grown, key=lambda one: one.low)
        yield BoundedValue(*(end - after for end in lowest))


def _spare(gaps: Sequence[float]) -> float:
    """How much nearer to 0 than the nearest of these a value between them may lie."""
    return min(map(abs, gaps)) if min(gaps) < 0 < max(gaps) else 0.0


def _folded(spread: BoundedValue, null: float) -> BoundedValue:
    """The distance from `null`; its interval starts at 0 where the estimate's holds `null`."""
    ends = abs(spread.low - null), abs(spread.high - null)
    low = 0.0 if spread.low <= null <= spread.high else min(ends)
    return BoundedValue(abs(spread.value - null), low, max(ends))


def p_worse(worsening: BoundedValue, margin: float) -> float:
    """One-sided p of "it got worse by `margin` at most"; .025 where the 95 % interval ends there.

    The margins are read as those of a normal law, which is what squaring and adding them does.
    """
    value, low, high = worsening
    gap = value - margin
    side = value - low if gap > 0 else high - value
    # An interval that ends in its value leaves no doubt on that side.
    if side <= 0:
        return 0.0 if gap > 0 else 1.0 if gap < 0 else 0.5
    return math.erfc(Z95 * gap / side / math.sqrt(2)) / 2


def _judged(rows: Sequence[Difference]) -> Iterator[Difference]:
    """Verdicts, by Holm over the figures that have a direction."""
    for row, p in zip(rows, holm([row.p for row in rows]), strict=True):
        if p is None or row.worsening is None:
            yield row
        elif p < SIGNIFICANT:
            verdict: Change = "worse" if row.worsening.value > 0 else "better"
            yield replace(row, p_holm=p, verdict=verdict, detectable=None)
        else:
            yield replace(row, p_holm=p, verdict="no change proven")
