"""Stage six, against another sheet: what changed, and whether that is proven.

A difference is decided by its interval and, over all figures with a verdict, by Holm's correction.
What is not proven is not "the same": the smallest difference that would have been seen stands
beside it. Nothing here needs numpy; `paired` adds what two runs on the same stimuli allow.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from judgesheet.errors import RunError
from judgesheet.reasons import Reason
from judgesheet.records import Characteristic, Datasheet, Estimate
from judgesheet.spine.datasheet import by_key
from judgesheet.stats.multiplicity import holm
from judgesheet.units import unit

Outcome = Literal["worse", "better", "no change proven", ""]
Direction = Literal["lower", "higher", "nearer", ""]
NO_DIRECTION = Reason("no_direction", "no sheet says which way it is better")
SIGNIFICANT = 0.05
Z95, Z80 = 1.959964, 0.841621
"""Normal quantiles: of the ends of a 95 % interval, and of a power of 80 %."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure in two sheets; `value` is new minus old.

    `better` says which way a user wants the figure: `lower`, `higher`, `nearer` (to `null`) or ""
    (then there is no verdict). `worse_by`, with its bounds, is the difference in the direction
    that a user does not want. `p` is two-sided, `p_holm` over the figures with a verdict.
    `detectable` is the smallest true difference that would be seen with a power of 80 %. `reason`
    is the code of a `reasons.Reason` where there is a difference and yet no verdict.
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
    worse_by: float | None = None
    worse_low: float | None = None
    worse_high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    verdict: Outcome = ""
    detectable: float | None = None
    correlation: float | None = None
    method: str = ""
    note: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every figure of two sheets; `remarks` say what limits the comparison."""

    old: Datasheet
    new: Datasheet
    differences: tuple[Difference, ...]
    remarks: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()

    @property
    def headline(self) -> list[Difference]:
        """The rows of the characteristics tables, in reading order."""
        keys = {row.key for sheet in (self.old, self.new) for axis in sheet.axes
                for row in axis.characteristics}  # fmt: skip
        return [one for one in self.differences if one.key in keys]

    def count(self, verdict: Outcome) -> int:
        """How many figures got that verdict."""
        return sum(one.verdict == verdict for one in self.differences)


def compare(
    old: Datasheet,
    new: Datasheet,
    correlations: Mapping[str, float] | None = None,
    *,
    force: bool = False,
) -> Comparison:
    """The differences of two sheets.

    Parameters
    ----------
    old, new
        The sheets; differences are new minus old.
    correlations
        Per key, the correlation of the two values' errors, where both ran on the same stimuli
        (`paired.correlations`). A key without one is taken as independent.
    force
        Compare although the sheets answer different questions.

    Raises
    ------
    RunError
        if they do, or share no axis.
    """
    reasons = tuple(obstacles(old, new))
    if reasons and not force:
        raise RunError(f"these sheets cannot be compared: {'; '.join(reasons)} (--force compares)")
    correlations = correlations or {}
    olds, news = by_key(old), by_key(new)
    wanted = _wanted(old, new)
    found = [
        difference(key, olds.get(key), news.get(key), wanted.get(key), correlations.get(key))
        for key in dict.fromkeys((*news, *olds))
    ]
    return Comparison(old, new, tuple(_judged(found)), tuple(_remarks(old, new)), reasons)


def obstacles(old: Datasheet, new: Datasheet) -> Iterator[str]:
    """Why two sheets do not answer the same questions."""
    if not {axis.name for axis in old.axes} & {axis.name for axis in new.axes}:
        yield "they have no axis in common"
    for name, what in (
        ("reply", "reply formats"),
        ("profile", "profiles"),
        ("sequences", "designs"),
    ):
        first, second = old.run.get(name), new.run.get(name)
        if first != second:
            yield f"their {what} differ ({first} and {second})"
    for part, what in (("prompts", "prompts"), ("stimuli", "stimuli")):
        one, other = _digests(old, part), _digests(new, part)
        differ = [axis for axis in one if axis in other and one[axis] != other[axis]]
        if differ:
            yield f"their {what} of {', '.join(differ)} differ"
    one, other = _digests(old, "parsers"), _digests(new, "parsers")
    if one != other:
        yield f"other parsers read their replies ({', '.join(sorted(one | other))})"
    first, second = old.provenance.get("judgesheet"), new.provenance.get("judgesheet")
    if first != second:
        yield (
            f"their replies were read by judgesheet {first} and {second}, whose parsers may differ "
            "(`judgesheet measure` reads a run anew)"
        )


def _digests(sheet: Datasheet, part: str) -> dict[str, Any]:
    records = sheet.provenance.get(part)
    known = [r for r in records if isinstance(r, Mapping)] if isinstance(records, list) else []
    return {str(record.get("axis")): record.get("digest") for record in known}


def _remarks(old: Datasheet, new: Datasheet) -> Iterator[str]:
    for sheet, which in ((old, "old"), (new, "new")):
        if sheet.run.get("complete") is False:
            yield f"The {which} run is not complete."
    first, second = old.run.get("temperature"), new.run.get("temperature")
    if first != second:
        yield f"The temperatures differ: {first} and {second}."
    mine, theirs = ({axis.name for axis in sheet.axes} for sheet in (old, new))
    if mine ^ theirs:
        yield f"Only one sheet has {', '.join(sorted(mine ^ theirs))}."


# -- one difference ------------------------------------------------------------------------------


class Spread(NamedTuple):
    """A value with its two-sided interval."""

    value: float
    low: float
    high: float


def mover(old: Spread, new: Spread, correlation: float = 0.0) -> Spread:
    """The difference of two estimates from their own intervals: each side by square and add.

    The margins keep their asymmetry, so the interval is right for rates near 0 or 1. `correlation`
    is that of the two estimates' errors; 0 where the samples are independent.

    References
    ----------
    Newcombe, R. G. (1998), Statistics in Medicine 17, 873-890, method 10; Zou, G. Y. and Donner, A.
    (2008), Statistics in Medicine 27, 1693-1702, equations 4 and 9 (MOVER).
    """
    value = new.value - old.value
    below = _margin(new.value - new.low, old.high - old.value, correlation)
    above = _margin(new.high - new.value, old.value - old.low, correlation)
    return Spread(value, value - below, value + above)


def _margin(first: float, second: float, correlation: float) -> float:
    return math.sqrt(max(0.0, first**2 + second**2 - 2 * correlation * first * second))


def difference(
    key: str,
    old: Estimate | None,
    new: Estimate | None,
    wanted: Characteristic | None,
    correlation: float | None = None,
) -> Difference:
    """One figure in two sheets, without a verdict; `wanted` says which way it is better."""
    either = new or old
    assert either is not None  # noqa: S101  (a key comes from one of the sheets)
    row = Difference(key, either.label, either.unit, old, new)
    if old is None or new is None:
        return replace(row, note=f"only in the {'old' if new is None else 'new'} sheet")
    if old.value is None or new.value is None:
        return replace(row, note=f"no value: {old.note if old.value is None else new.note}")
    if unit(either.unit).kind != "quantity":
        return replace(row, note=unit(either.unit).why)
    row = replace(row, value=new.value - old.value)
    before, after = _spread(old), _spread(new)
    if before is None or after is None:
        return replace(row, note="without an interval nothing is proven")
    rho = correlation or 0.0
    found = mover(before, after, rho)
    paired = f"paired by stimulus, correlation {rho:.2f}"
    method = "square and add (MOVER), " + ("independent" if correlation is None else paired)
    row = replace(row, low=found.low, high=found.high, correlation=correlation, method=method)
    return _directed(row, before, after, wanted, rho) if wanted else _undirected(row)


def _spread(estimate: Estimate) -> Spread | None:
    """Value and interval; None where there is none, or where it is no confidence interval."""
    bounds = estimate.bounds
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    if bounds is not None and not bounds.proves:
        return None
    return Spread(estimate.value, estimate.low, estimate.high)


def _directed(
    row: Difference, before: Spread, after: Spread, wanted: Characteristic, rho: float
) -> Difference:
    """The difference as a user sees it: by how much the figure got worse."""
    better: Direction
    if wanted.better == "higher":
        worse, better = _mirrored(mover(before, after, rho)), "higher"
    elif wanted.better == "lower":
        worse, better = mover(before, after, rho), "lower"
    elif wanted.better == "nearer" and wanted.null is not None:
        folded = _folded(before, wanted.null), _folded(after, wanted.null)
        worse, better = mover(*folded, rho), "nearer"
    else:
        return _undirected(row)
    half = max(worse.value - worse.low, worse.high - worse.value)
    return replace(
        row,
        better=better,
        null=wanted.null,
        worse_by=worse.value,
        worse_low=worse.low,
        worse_high=worse.high,
        p=min(1.0, 2 * min(p_worse(worse, 0.0), 1 - p_worse(worse, 0.0))),
        detectable=half * (Z95 + Z80) / Z95,
    )


def _undirected(row: Difference) -> Difference:
    return replace(row, reason=NO_DIRECTION.code)


def _mirrored(one: Spread) -> Spread:
    return Spread(-one.value, -one.high, -one.low)


def _folded(one: Spread, null: float) -> Spread:
    """The distance from `null`; its interval starts at 0 where the estimate's holds `null`."""
    ends = abs(one.low - null), abs(one.high - null)
    low = 0.0 if one.low <= null <= one.high else min(ends)
    return Spread(abs(one.value - null), low, max(ends))


def p_worse(found: Spread, margin: float) -> float:
    """One-sided p of "it got worse by `margin` at most"; .025 where the 95 % interval ends there.

    The margins are read as those of a normal law, which is what squaring and adding them does.
    """
    gap = found.value - margin
    side = found.value - found.low if gap > 0 else found.high - found.value
    if side <= 0:
        return 0.0 if gap > 0 else 1.0
    return math.erfc(Z95 * gap / side / math.sqrt(2)) / 2


def _judged(rows: Sequence[Difference]) -> Iterator[Difference]:
    """Verdicts, by Holm over the figures that have a direction."""
    for row, p in zip(rows, holm([row.p for row in rows]), strict=True):
        if p is None:
            yield row
            continue
        verdict: Outcome = "no change proven"
        if p < SIGNIFICANT and row.worse_by is not None:
            verdict = "worse" if row.worse_by > 0 else "better"
        hidden = None if verdict != "no change proven" else row.detectable
        yield replace(row, p_holm=p, verdict=verdict, detectable=hidden)


def _wanted(old: Datasheet, new: Datasheet) -> dict[str, Characteristic]:
    """The headline figures that have a better and a worse, as either sheet says."""
    return {
        row.key: row
        for sheet in (old, new)
        for axis in sheet.axes
        for row in axis.characteristics
        if row.better
    }
