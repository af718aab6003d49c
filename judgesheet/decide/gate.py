"""Stage six: which limits of a policy a datasheet proves, and the decision about the judge.

A limit is kept only if a one-sided 95 % bound lies on its right side, and broken only if the other
bound lies on its wrong side; between the two nothing is proven. All limits must hold, so no
correction for their number is needed (intersection-union). Nothing here needs numpy.
"""

import difflib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial

from judgesheet.base.datasheet import by_key
from judgesheet.base.digits import level, percent, significant, tenths
from judgesheet.base.keys import ANY, Key
from judgesheet.base.records import (
    AxisResult,
    Characteristic,
    Datasheet,
    Decision,
    Estimate,
    Verdict,
)
from judgesheet.base.units import SHARE, unit
from judgesheet.decide.compare import (
    NO_DIRECTION,
    Z95,
    Bounded,
    Comparison,
    Difference,
    difference,
    p_worse,
)
from judgesheet.decide.policy import Limit, Policy, Regression
from judgesheet.stats.multiplicity import holm
from judgesheet.stats.unseen import clusters_for

SIMILAR = 0.75
"""How alike two names must be (`difflib` ratio) for one to be a slip of the other."""
HOPELESS = 100.0
"""A limit that would take this many times the data lies on the value, for all that can be told."""
NEVER = "cannot be decided by more calls: the value lies on the limit"
PROVE = "would prove it if the value stays"
WORSE = "more data would rather break it"
ALPHA, ONE_SIDED = 0.05, 1.644854
"""Level of a one-sided test, and its normal quantile."""
MANY_LOST = 0.05
"""A share of calls without a verdict from which a judge is adopted under that condition only."""
PASSED, FAILED, NOT_PROVEN = 0, 3, 4  # scripts branch on them; 1 and 2 are faults and wrong use
EXIT_CODES = {"adopt": PASSED, "conditions": PASSED, "reject": FAILED, "not proven": NOT_PROVEN}


def judge(sheet: Datasheet, policy: Policy, extra: Sequence[Verdict] = ()) -> Datasheet:
    """The sheet with a verdict on every limit that applies, and the decision.

    `extra` are further verdicts that count in the same way (those of a baseline).
    """
    judged = (*verdicts(sheet, policy), *extra)
    provenance = {**sheet.provenance, "policy": {**policy.as_record, "axes": policy.axes}}
    run = {**sheet.run, "review_days": policy.review_days} if policy.review_days else sheet.run
    held = replace(sheet, verdicts=judged, provenance=provenance, run=run)
    return replace(held, decision=_decision(held, policy))


def review_day(sheet: Datasheet, policy: Policy) -> date | None:
    """The day on which the policy wants the judge measured again; None if it is not given."""
    try:
        ended = datetime.fromisoformat(str(sheet.run.get("ended_at")))
        return ended.date() + timedelta(days=policy.review_days) if policy.review_days else None
    except (ValueError, OverflowError):  # no time, or one at the end of all calendars
        return None


# -- one limit -----------------------------------------------------------------------------------


def reach(estimate: Estimate) -> Bounded | None:
    """The value with the one-sided bounds that a gate may use, infinite on a side without any.

    They are the estimate's own, else the ends of its interval; None if none proves anything.
    """
    bounds = estimate.bounds
    # Percentiles over subsets, say, tell of no sampling error: a gate must not decide by them.
    if bounds is not None and not bounds.proves:
        return None
    low = estimate.least if bounds is None else bounds.low
    high = estimate.most if bounds is None else bounds.high
    # An end that is missing bounds nothing on its side; with neither, a value proves nothing.
    low = low if low is not None and math.isfinite(low) else -math.inf
    high = high if high is not None and math.isfinite(high) else math.inf
    value = estimate.value
    if value is None or not math.isfinite(value) or high == -low == math.inf:
        return None
    return Bounded(float(value), float(low), float(high))


def verdicts(sheet: Datasheet, policy: Policy) -> Iterator[Verdict]:
    """A verdict on every limit of the policy that applies."""
    found, probed = by_key(sheet), {axis.name for axis in sheet.axes}
    unmade = {a.name for a in sheet.axes if not a.made}
    for limit in policy.limit:
        if Key.parse(limit.key).axis in probed:
            for key in members(limit.key, found):
                yield _hold(limit, key, found, unmade)
        # A policy that names an axis wants it probed: leaving it out must not pass the gate.
        elif not limit.when_probed:
            axis = Key.parse(limit.key).axis
            why = f"{axis} was not probed"
            yield _unproven(limit, limit.key, None, why, f"probe it: --axis {axis}")


def members(key: str, found: Mapping[str, Estimate]) -> list[str]:
    """The keys that a limit means: itself, or those with any value where it has a `*`."""
    wanted = Key.parse(key)
    if ANY not in wanted.dims.values():
        return [key]
    return [one for one in found if Key.parse(one).fits(wanted)] or [key]


def _hold(limit: Limit, key: str, found: Mapping[str, Estimate], unmade: Set[str]) -> Verdict:
    estimate = found.get(key)
    # First: all figures of an axis without calls are missing, for this one reason.
    if Key.parse(key).axis in unmade:
        why = "no call of the axis was made yet"
        return _unproven(limit, key, None, why, "the rest of the run: the same command goes on")
    if estimate is None:
        closest = _closest_key(key, found)
        hint = f"is {closest} meant?" if closest else "`judgesheet explain` lists the keys"
        return _unproven(limit, key, None, "the datasheet has no such estimate", hint)
    if estimate.value is None or not math.isfinite(estimate.value):
        why = f"no value: {estimate.note or 'not a finite number'}"
        return _unproven(limit, key, None, why, "a run in which it can be estimated")
    bounds = reach(estimate)
    if bounds is None:
        why = "it has no confidence interval, and a value alone proves nothing"
        return _unproven(limit, key, estimate.value, why, "an estimate with an interval")
    return _decide(limit, key, estimate, bounds)


def _closest_key(key: str, found: Iterable[str]) -> str:
    """The key that was probably meant by a wrong one: by name first, then by axis and dimensions.

    "" where no name is similar. The whole key would be a poor measure: all keys of an axis begin
    alike.
    """
    wrong = Key.parse(key)
    names = {one: Key.parse(one).name for one in found}
    close = difflib.get_close_matches(
        wrong.name, dict.fromkeys(names.values()), n=1, cutoff=SIMILAR
    )
    alike = [one for one in names if names[one] in close]
    mine = [one for one in alike if Key.parse(one).axis == wrong.axis]
    return next(iter(difflib.get_close_matches(key, mine or alike, n=1, cutoff=0)), "")


def _unproven(limit: Limit, key: str, value: float | None, why: str, needed: str) -> Verdict:
    return Verdict(
        rule=f"at {'most' if limit.kind == 'max' else 'least'} {limit.value:g}",
        key=key,
        observed=value,
        passed=None,
        why=why,
        limit=limit.value,
        kind=limit.kind,
        needed=needed,
        warns=limit.not_proven == "warn",
    )


def _decide(limit: Limit, key: str, estimate: Estimate, bounds: Bounded) -> Verdict:
    """Kept, broken or not proven, by the bound that decides."""
    ceiling = limit.kind == "max"
    if ceiling:
        right, wrong = bounds.high <= limit.value, bounds.low > limit.value
    else:
        right, wrong = bounds.low >= limit.value, bounds.high < limit.value
    passed = True if right else False if wrong else None
    # What is broken is proven by the other bound than what is kept.
    upper = ceiling != (passed is False)
    bound = bounds.high if upper else bounds.low
    if math.isinf(bound):
        why = f"it has no {'upper' if upper else 'lower'} bound, and a value alone proves nothing"
        return _unproven(limit, key, estimate.value, why, "an estimate with this bound")
    place = "below" if bound < limit.value else "above" if bound > limit.value else "at"
    why = (
        f"the one-sided {level(_level(estimate))} {'upper' if upper else 'lower'} bound "
        f"{significant(bound)} is {place} the limit {limit.value:g}{_counted(estimate)}"
    )
    needed = "" if passed is not None else _needed(limit, estimate, bounds)
    told = _unproven(limit, key, estimate.value, why, needed)
    return replace(told, passed=passed, bound=bound)


def _level(estimate: Estimate) -> float:
    """The confidence of its bounds: that of one look, unless the run was looked at more often."""
    return estimate.level if estimate.bounds is None else estimate.bounds.level


def _needed(limit: Limit, estimate: Estimate, bounds: Bounded) -> str:
    """What would decide a limit that is not proven."""
    if estimate.imputed is not None and _kept_if_read(limit, estimate):
        return "verdicts on the lost calls: the calls that were read would prove it"
    outlook = _outlook(limit.value, limit.kind, bounds, partial(_more, limit, estimate))
    return f"{_out_of_reach(limit, estimate)}{outlook}"


def _kept_if_read(limit: Limit, estimate: Estimate) -> bool:
    """Whether the interval of the calls that were read lies on the right side of the limit."""
    if limit.kind == "max":
        return estimate.high is not None and estimate.high <= limit.value
    return estimate.low is not None and estimate.low >= limit.value


def _counted(estimate: Estimate) -> str:
    """What the bound allows for where calls gave no verdict."""
    if estimate.imputed is None:
        return ""
    calls = estimate.imputed.calls
    return f", with {calls} lost call{'s' if calls > 1 else ''} counted against the limit"


def _outlook(limit: float, kind: str, bounds: Bounded, amount: Callable[[float], str]) -> str:
    """What more of the same data would decide if the value stayed, and the `amount` needed."""
    ceiling = kind == "max"
    right = bounds.value <= limit if ceiling else bounds.value >= limit
    if not right and math.isinf(bounds.low if ceiling else bounds.high):
        return WORSE  # without a bound on this side nothing tells how much it takes
    factor = _factor(limit, bounds)
    if factor > HOPELESS:
        return NEVER
    return f"{amount(factor)} {PROVE}" if right else f"{WORSE} ({amount(factor)})"


def _out_of_reach(limit: Limit, estimate: Estimate) -> str:
    """A sentence if there are too few stimuli to prove the limit for any judge; else ""."""
    if estimate.clusters >= _stimuli_needed(limit, estimate):
        return ""
    return f"{estimate.clusters} stimuli are too few to prove it for any judge; "


def _stimuli_needed(limit: Limit, estimate: Estimate) -> int:
    """Stimuli without which nothing proves the limit: of a share, by the room for unseen ones.

    What may lie below 0 is a difference of shares, and has no least bound.
    """
    share = limit.value if limit.kind == "max" else 1 - limit.value
    has_ends = unit(estimate.unit).ends == SHARE and (estimate.low or 0) >= 0
    return (
        clusters_for(share, estimate.level)
        if has_ends and estimate.clusters and 0 < share < 1
        else 0
    )


def _more(limit: Limit, estimate: Estimate, factor: float) -> str:
    """What to add to the data of an estimate to have `factor` times as much."""
    missing = _stimuli_needed(limit, estimate) - estimate.clusters
    stimuli = max(missing, math.ceil(estimate.clusters * (factor - 1)))
    calls = math.ceil(estimate.n * (factor - 1))
    if not stimuli:
        return _times(factor)
    more = f"about {stimuli:,} more {'stimulus' if stimuli == 1 else 'stimuli'}"
    return f"{more} ({calls:,} more calls or items)" if calls > stimuli else more


def _times(factor: float) -> str:
    return f"about {tenths(factor)} times the data"


def _factor(limit: float, bounds: Bounded) -> float:
    """Times the data. Bounds close in by 1/sqrt of it, those of a rate of 0 or 1 by 1/data."""
    value = bounds.value
    gap = abs(limit - value)
    width = bounds.high - value if limit > value else value - bounds.low
    # A value that should lie on the limit may miss it in its last digits.
    if gap <= 1e-9 * max(1.0, abs(limit)):
        return math.inf
    # Of "none in n" the bound comes nearer like 3/n, of any other rate like 1/sqrt(n).
    at_edge = value in (0.0, 1.0) and 0 <= bounds.low <= bounds.high <= 1
    return max(1.0, width / gap) ** (1 if at_edge else 2)


# -- against a baseline ----------------------------------------------------------------------------


def against(comparison: Comparison, policy: Policy) -> tuple[Verdict, ...]:
    """Verdicts on getting worse than a baseline, one per `[[regression]]` of the policy.

    A policy without any holds its limits' figures to a margin of 0, which can be broken but never
    proven, so those only warn. Broken is what is proven worse by more than the margin (Holm over
    the regressions); proven is what a one-sided 95 % bound keeps within it.
    """
    rows = {row.key: row for row in comparison.differences}
    wanted = [_directed(one, rows) for one in policy.regression or _from_limits(policy)]
    # What only a limit names may be absent; a [[regression]] that is absent is told of.
    found = [(one, row) for one, row in wanted if one.key in rows or policy.regression]
    p = [
        p_worse(row.worsening, one.margin) if row is not None and row.worsening else None
        for one, row in found
    ]
    return tuple(
        _regression_verdict(one, row, q) for (one, row), q in zip(found, holm(p), strict=True)
    )


def _from_limits(policy: Policy) -> list[Regression]:
    return [
        Regression(
            key=limit.key,
            better="lower" if limit.kind == "max" else "higher",
            not_proven="warn",
        )
        for limit in policy.limit
        if "*" not in limit.key  # the members of a family may differ between two sheets
    ]


def _directed(
    one: Regression, rows: Mapping[str, Difference]
) -> tuple[Regression, Difference | None]:
    """The difference in the direction that the policy names, else in the sheet's own."""
    row = rows.get(one.key)
    if row is None or not one.better:
        return one, row
    return one, difference(
        one.key, row.old, row.new, Characteristic(one.key, better=one.better), row.correlation
    )


def _regression_verdict(one: Regression, row: Difference | None, p: float | None) -> Verdict:
    verdict = Verdict(
        rule=f"worse than the baseline by at most {one.margin:g}",
        key=one.key,
        observed=None,
        passed=None,
        why="",
        limit=one.margin,
        kind="max",
        warns=one.not_proven == "warn",
        against_baseline=True,
    )
    found = None if row is None else row.worsening
    if found is None or p is None:
        why = "neither sheet has it" if row is None else row.note
        if row is not None and row.reason == NO_DIRECTION.code:
            why = f"{NO_DIRECTION.sentence}; the policy can (better = …)"
        return replace(verdict, why=why, needed="a run of both judges that measures it")
    # The ends are those of a 95 % interval; a one-sided bound of 95 % lies nearer.
    scale = ONE_SIDED / Z95
    upper = found.value + scale * (found.high - found.value)
    lower = found.value - scale * (found.value - found.low)
    passed = False if p < ALPHA else True if upper <= one.margin else None
    bound = lower if passed is False else upper
    side = "lower" if passed is False else "upper"
    why = f"worse by {significant(found.value)}; one-sided 95 % {side} bound {significant(bound)}"
    needed = ""
    if passed is None:
        span = Bounded(found.value, lower, upper)
        needed = _outlook(one.margin, "max", span, lambda factor: f"{_times(factor)} of both runs")
    return replace(
        verdict, observed=found.value, passed=passed, why=why, bound=bound, needed=needed
    )


# -- the judge as a whole ------------------------------------------------------------------------


def _decision(sheet: Datasheet, policy: Policy) -> Decision:
    """`reject` where a limit is broken, `not proven` where one that must hold is not proven.

    Nor is anything proven by a run that is not complete, or of a judge that the sheet advises not
    to use.

    Otherwise `conditions` where anything of `_conditions` applies, and `adopt` where nothing does.
    """
    broken = [v for v in sheet.verdicts if v.passed is False]
    open_ = [v for v in sheet.verdicts if v.passed is None and not v.warns]
    kept = [v for v in sheet.verdicts if v.passed]
    name, scope = policy.name, _scope(sheet, policy)
    if broken:
        worst = max(broken, key=_distance)
        text = f"Reject: {_count(broken)} of {len(sheet.verdicts)} broken, {worst.key} by most."
        return Decision("reject", name, worst.key, f"{text}{scope}")
    if open_:
        first = open_[0]
        text = f"Not proven: {_count(open_)} of {len(sheet.verdicts)} not proven, {first.key} first"
        return Decision("not proven", name, first.key, f"{text} ({first.why}).{scope}")
    if sheet.run.get("complete") is False:
        # Whoever looks again after every few calls, and stops at the first pass, passes too often.
        text = "Not proven: the run is not complete; finish it and decide then."
        return Decision("not proven", name, "", f"{text}{scope}")
    if not kept:
        text = "Not proven: no limit of the policy is proven on what was probed."
        return Decision("not proven", name, "", f"{text}{scope}")
    judged = {Key.parse(verdict.key).axis for verdict in sheet.verdicts if not verdict.warns}
    against = [one for one in sheet.recommendations if one.stops and one.axis in judged]
    if against:
        # What the policy limits is well, and what it does not limit is not.
        text = f"Not proven: no limit is broken, but the sheet advises: {against[0].text}"
        return Decision("not proven", name, next(iter(against[0].evidence), ""), f"{text}{scope}")
    tightest = min(kept, key=_distance)
    conditions = dict.fromkeys(_conditions(sheet))
    proven = f"{_count(kept)} proven, {tightest.key} by least"
    if conditions:
        text = f"Adopt under conditions: {proven}.{scope}"
        told, keys = zip(*conditions, strict=True)
        return Decision("conditions", name, tightest.key, text, told, keys)
    return Decision("adopt", name, tightest.key, f"Adopt: {proven}.{scope}")


def _count(verdicts: Sequence[Verdict]) -> str:
    return f"{len(verdicts)} limit{'s' if len(verdicts) > 1 else ''}"


def _distance(verdict: Verdict) -> float:
    """How far the bound lies from the limit, in units of the limit."""
    if verdict.bound is None or verdict.limit is None:
        return 0.0
    # A limit of 0 is no unit: a hundredth stands in for it.
    return abs(verdict.bound - verdict.limit) / max(abs(verdict.limit), 0.01)


def _scope(sheet: Datasheet, policy: Policy) -> str:
    """What the decision does not cover, and how long it is valid."""
    probed = {axis.name for axis in sheet.axes}
    absent = [axis for axis in policy.axes if axis not in probed]
    day = review_day(sheet, policy)
    skipped = f" Not probed: {', '.join(absent)}." if absent else ""
    return skipped + (f" Measure again by {day.isoformat()}." if day else "")


def _conditions(sheet: Datasheet) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The conditions of an adoption, each with the keys behind it.

    - a limit that only warns is not proven;
    - a limit is kept by a figure that holds after a mitigation: the mitigation;
    - a binding recommendation for an axis that the policy judges by more than warnings;
    - calls without a verdict there.
    """
    judged = {Key.parse(verdict.key).axis for verdict in sheet.verdicts if not verdict.warns}
    for verdict in sheet.verdicts:
        if verdict.passed is None:
            yield f"{verdict.key} {verdict.rule} is not proven ({verdict.why})", ()
    kept = {verdict.key for verdict in sheet.verdicts if verdict.passed}
    for axis in sheet.axes:
        for remedy in axis.mitigations:
            if remedy.after in kept and remedy.before not in kept:
                yield f"{remedy.action}: {remedy.calls} calls a judgment", (remedy.after,)
        if axis.name in judged:
            yield from _lost(axis)
    for advice in sheet.recommendations:
        if advice.binding and advice.axis in judged:
            yield advice.text, advice.evidence


def _lost(axis: AxisResult) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The calls without a verdict, where the bounds do not allow for what they could have said."""
    lost, counted = axis.made - axis.answered, any(one.imputed for one in axis.estimates)
    if axis.made and lost / axis.made > MANY_LOST and not counted:
        told = f"{percent(lost / axis.made)} of the calls of {axis.name} gave no verdict"
        yield f"{told}; the limits are proven of the others only", ()
