"""Which limits of a policy a datasheet proves.

A limit is kept only if a one-sided 95 % bound lies on its right side, and broken only if the other
bound lies on its wrong side; between the two nothing is proven. What a failed control makes void is
neither. All limits must hold, so keeping them needs no correction for their number
(intersection-union); one that is broken rejects the judge, so breaking them does (Holm). Nothing
here needs numpy.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from judgesheet.base.datasheet import WORST, by_key
from judgesheet.base.digits import apart, counted, level, tenths
from judgesheet.base.keys import ANY, Key
from judgesheet.base.missing_reasons import NOT_RECORDED
from judgesheet.base.records import AxisResult, Control, Datasheet, Estimate, Verdict, VerdictStatus
from judgesheet.base.units import SHARE, unit
from judgesheet.decide.bounded_value import BoundedValue, confidence, p_at, reach
from judgesheet.decide.controls import failed, mend_of_losses, touches
from judgesheet.decide.policy import Limit, Policy, closest_key, or_meant, shipped_keys
from judgesheet.stats.unseen import clusters_for

HOPELESS = 100.0
"""A limit that would take this many times the data lies on the value, for all that can be told."""
MANY = 500
"""More stimuli than these are advice that nobody follows, unless the pool has them."""
NEVER = "nothing within reach: the value lies too near the limit"
PROVE = "would prove it if the value stays"
WORSE = "would tell; the value lies beyond the limit, which may be chance"
VERDICTS_ON_LOST = "verdicts for the lost calls: the calls that were read would decide it"
FEWER_LOST = "fewer calls without a verdict, since no number of stimuli makes up for them"
BY_CHANCE = (
    "ties are broken at random, so a judge that ignores the order also flips on ties; "
    "excess_flip_rate is the effect of the order"
)


def verdicts(sheet: Datasheet, policy: Policy) -> Iterator[Verdict]:
    """A verdict on every limit of the policy that applies."""
    found = by_key(sheet)
    few = _too_few(sheet, policy)
    held = [_of_copies(one, few) for one in _each(sheet, policy, found)]
    return _rejecting(held, found)


def _too_few(sheet: Datasheet, policy: Policy) -> dict[str, tuple[str, bool]]:
    """By axis with too few independent stimuli: why nothing is proven, and if any are copies."""
    least = policy.min_independent or 0
    return {
        pool.axis: (
            f"of its {pool.stimuli} stimuli {pool.independent} are independent, the policy "
            f"requires {least}",
            pool.independent != pool.stimuli,
        )
        for pool in sheet.provenance.stimuli
        if pool.independent is not None and pool.independent < least
    }


def _of_copies(verdict: Verdict, few: Mapping[str, tuple[str, bool]]) -> Verdict:
    """The verdict, or void where too few stimuli are independent.

    Few that are no copies can break a limit; what two stories told often show is nothing against
    a judge, either.
    """
    why, copied = few.get(Key.parse(verdict.key).axis, ("", False))
    if not why or not (verdict.status == "pass" or (verdict.status == "fail" and copied)):
        return verdict
    needed = "stimuli that are not copies of each other" if copied else "more stimuli"
    return replace(verdict, status="invalid", why=why, needed=needed, more_stimuli=None)


def _each(sheet: Datasheet, policy: Policy, found: Mapping[str, Estimate]) -> Iterator[Verdict]:
    """The verdict on each limit by itself."""
    axes = {axis.name: axis for axis in sheet.axes}
    spare = not_asked(sheet)
    for limit in policy.limit:
        axis = axes.get(Key.parse(limit.key).axis)
        if axis is not None:
            for key in members(limit.key, found):
                held = _hold(limit, key, found, axis, spare.get(axis.name, 0))
                yield usable(held, axes)
        # A policy that names an axis wants it probed: leaving it out must not pass the gate.
        elif not limit.when_probed:
            name = Key.parse(limit.key).axis
            yield _unproven(
                limit, limit.key, None, f"{name} was not probed", f"probe it: --axis {name}"
            )


def weight(verdict: Verdict) -> tuple[bool, bool, int, float]:
    """Sorts verdicts by how much they decide: what is broken, then what must hold, the worst first.

    Of the broken the furthest from its limit, of the proven the closest.
    """
    broken = verdict.status == "fail"
    # What is not proven or void decides in the order of the policy.
    away = distance(verdict) if verdict.status in ("fail", "pass") else 0.0
    return not broken, verdict.warns, WORST.index(verdict.status), -away if broken else away


def distance(verdict: Verdict) -> float:
    """How far the bound lies from the limit, in units of the limit."""
    if verdict.bound is None or verdict.limit is None:
        return 0.0
    # A limit of 0 is no unit: a hundredth stands in for it.
    return abs(verdict.bound - verdict.limit) / max(abs(verdict.limit), 0.01)


def _rejecting(held: Sequence[Verdict], found: Mapping[str, Estimate]) -> Iterator[Verdict]:
    """The verdicts; a limit stays broken only if it is so under Holm's correction."""
    tested = sum(one.status != "invalid" and one.bound is not None for one in held)
    surprise = {
        place: _surprise(one, found[one.key])
        for place, one in enumerate(held)
        if one.status == "fail"
    }
    # The most surprising first, against all that were tested; the next against the rest.
    ranked = sorted(surprise, key=surprise.__getitem__)
    kept = [surprise[place] * (tested - step) <= 1 for step, place in enumerate(ranked)]
    broken = set(ranked[: kept.index(False) if False in kept else len(kept)])
    for place, verdict in enumerate(held):
        if place in surprise and place not in broken:
            why = f"{verdict.why}; among {counted(tested, 'limit')} that can be chance (Holm)"
            yield replace(verdict, status="inconclusive", why=why, needed=f"more data {WORSE}")
        else:
            yield verdict


def _surprise(verdict: Verdict, estimate: Estimate) -> float:
    """The p-value of a limit that is broken, in units of the error that its bound may make."""
    if verdict.limit is None or verdict.bound is None:
        return 0.0
    return p_at(verdict.limit, verdict.bound, estimate) / (1 - confidence(estimate))


def usable(verdict: Verdict, axes: Mapping[str, AxisResult]) -> Verdict:
    """The verdict as it is, or void where its figure must not be used."""
    axis = axes.get(Key.parse(verdict.key).axis)
    if axis is None:
        return verdict
    why, controls = _unusable(verdict, axis)
    if not why:
        return _without_merit(verdict, axis)
    mend = next((control.mend for control in controls if control.mend), "")
    # What a baseline needs is known before.
    needed = mend or (verdict.needed if verdict.status == "invalid" else "")
    return replace(verdict, status="invalid", why=why, needed=needed, more_stimuli=None)


def _without_merit(verdict: Verdict, axis: AxisResult) -> Verdict:
    """The verdict; without advice to prove it by more data where that could only make it void."""
    failed_control = axis.unearned.get(verdict.key, "")
    if not failed_control or verdict.status != "inconclusive" or not _is_kept(verdict):
        return verdict
    of_judge = (one for one in failed(axis) if one.of == "judge" and touches(one, verdict.key))
    mend = next((one.mend for one in of_judge if one.mend), "")
    needed = mend or f"more data would not prove it: {failed_control}"
    return replace(verdict, needed=needed, more_stimuli=None)


def _is_kept(verdict: Verdict) -> bool:
    """Whether the value itself lies on the right side of the limit."""
    value, limit = verdict.observed, verdict.limit
    if value is None or limit is None:
        return False
    return value <= limit if verdict.kind == "max" else value >= limit


def _unusable(verdict: Verdict, axis: AxisResult) -> tuple[str, list[Control]]:
    """Why a figure must not be used, and the controls that would have to pass; "" where it may."""
    key = verdict.key
    touching = {
        of: [one for one in failed(axis) if one.of == of and touches(one, key)]
        for of in ("run", "judge")
    }
    if why := axis.silent_reason(key):
        return why, touching["run"]
    # A limit that is kept without merit proves nothing; one that is broken is broken all the same.
    if verdict.status == "pass" and key in axis.unearned:
        return axis.unearned[key], touching["judge"]
    return "", []


def members(key: str, found: Mapping[str, Estimate]) -> list[str]:
    """The keys that a limit means: itself, or those with any value where it has a `*`."""
    wanted = Key.parse(key)
    if ANY not in wanted.dims.values():
        return [key]
    return [one for one in found if Key.parse(one).fits(wanted)] or [key]


def not_asked(sheet: Datasheet) -> dict[str, int]:
    """Per axis, the stimuli of its pool that the profile left out; axes without any are absent."""
    spare = {
        pool.axis: pool.in_pool - pool.stimuli
        for pool in sheet.provenance.stimuli
        if pool.in_pool is not None and pool.stimuli is not None
    }
    return {axis: number for axis, number in spare.items() if number > 0}


def _hold(
    limit: Limit, key: str, found: Mapping[str, Estimate], axis: AxisResult, spare: int
) -> Verdict:
    estimate = found.get(key)
    # First: all figures of an axis without calls are missing, for this one reason.
    if not axis.made:
        why = "no call of the axis was made yet"
        return _unproven(limit, key, None, why, "the rest of the run: the same command resumes it")
    if estimate is None:
        needed = _instead(limit, key, found)
        return _unproven(limit, key, None, "the datasheet has no such estimate", needed)
    if estimate.value is None or not math.isfinite(estimate.value):
        why = f"no value: {estimate.note or 'not a finite number'}"
        return _unproven(limit, key, None, why, _whence(estimate))
    bounds = reach(estimate)
    if bounds is None:
        why = "it has no confidence interval, and a value alone proves nothing"
        return _unproven(limit, key, estimate.value, why, "an estimate with an interval")
    return _decide(limit, key, estimate, bounds, spare, mend_of_losses(axis))


def _whence(estimate: Estimate) -> str:
    """Where a figure without a value can get one from."""
    if estimate.reason == NOT_RECORDED.code:
        return f"`judgesheet probe`, as {estimate.note}"
    key = Key.parse(estimate.key)
    explained = f"`judgesheet explain {key.axis}.{key.name}` says what it needs"
    return f"a run in which it has a value: {explained}"


def _instead(limit: Limit, key: str, found: Mapping[str, Estimate]) -> str:
    """What decides a limit on a figure that the datasheet does not have.

    The key of a shipped policy is no slip: the run is of other stimuli than the policy is for.
    """
    policies = shipped_keys()
    others = {name: keys for name, keys in policies.items() if limit.key not in keys}
    if len(others) == len(policies):
        return or_meant(key, found)
    # A figure that has no value here, either, would decide no better.
    closest = closest_key(key, [one for one, it in found.items() if it.value is not None])
    if not closest or Key.parse(closest).axis != Key.parse(key).axis:
        return "a run that measures it"
    # The policy that limits most of this run, so that all its rows name the same one.
    fitting = [name for name, keys in others.items() if closest in keys]
    if fitting:
        name = max(fitting, key=lambda name: len(others[name] & found.keys()))
        return f"--policy {name}, which limits figures that this run has: {closest}"
    return f"a run that measures it; this one measures {closest}"


def _unproven(limit: Limit, key: str, value: float | None, why: str, needed: str) -> Verdict:
    return Verdict(
        rule=f"at {'most' if limit.kind == 'max' else 'least'} {limit.value:g}",
        key=key,
        observed=value,
        status="inconclusive",
        why=why,
        limit=limit.value,
        kind=limit.kind,
        needed=needed,
        warns=limit.not_proven == "warn",
    )


def _decide(
    limit: Limit, key: str, estimate: Estimate, bounds: BoundedValue, spare: int, mend: str
) -> Verdict:
    """Kept, broken or not proven, by the bound that decides; `mend` is that of lost calls."""
    ceiling = limit.kind == "max"
    if ceiling:
        right, wrong = bounds.high <= limit.value, bounds.low > limit.value
    else:
        right, wrong = bounds.low >= limit.value, bounds.high < limit.value
    status: VerdictStatus = "pass" if right else "fail" if wrong else "inconclusive"
    # What is broken is proven by the other bound than what is kept.
    upper = ceiling != wrong
    bound = bounds.high if upper else bounds.low
    if math.isinf(bound):
        why = f"it has no {'upper' if upper else 'lower'} bound, and a value alone proves nothing"
        return _unproven(limit, key, estimate.value, why, "an estimate with this bound")
    place = "below" if bound < limit.value else "above" if bound > limit.value else "at"
    why = (
        f"the one-sided {level(confidence(estimate))} {'upper' if upper else 'lower'} bound "
        f"{apart(bound, limit.value)} is {place} the limit {limit.value:g}{_counted(estimate)}"
    )
    is_open = status == "inconclusive"
    needed = _needed(limit, estimate, bounds, spare, mend) if is_open else ""
    text = _unproven(limit, key, estimate.value, why, needed)
    more = _stimuli_to_prove(limit, estimate, bounds, spare) if is_open else None
    remark = BY_CHANCE if estimate.given.get("ties") == "random" else ""
    return replace(text, status=status, bound=bound, more_stimuli=more, remark=remark)


def _needed(limit: Limit, estimate: Estimate, bounds: BoundedValue, spare: int, mend: str) -> str:
    """What would decide a limit that is not proven."""
    if estimate.imputed is not None and _kept_if_read(limit, estimate):
        return VERDICTS_ON_LOST
    few, left = _out_of_reach(limit, estimate), _left_by_losses(limit, estimate, bounds)
    if _keeps(limit, left.value) != _keeps(limit, bounds.value):
        return f"{few}{'and ' if few else ''}{FEWER_LOST}{f': {mend}' if mend else ''}"
    amount = partial(_more, limit, estimate, spare)
    return few + outlook(limit.value, limit.kind, left, amount)


def _keeps(limit: Limit, value: float) -> bool:
    """Whether a value lies on the right side of the limit."""
    return value <= limit.value if limit.kind == "max" else value >= limit.value


def _left_by_losses(limit: Limit, estimate: Estimate, bounds: BoundedValue) -> BoundedValue:
    """The bounds around the value that lost calls leave possible on the side of the limit.

    More stimuli bring a bound nearer to it, and not to the value of the calls that were read: the
    same share of them will be lost.
    """
    lost = estimate.imputed
    rises = (limit.kind == "max") == _keeps(limit, bounds.value)
    value = None if lost is None else lost.most if rises else lost.least
    return bounds if value is None else bounds._replace(value=value)


def _kept_if_read(limit: Limit, estimate: Estimate) -> bool:
    """Whether the interval of the calls that were read lies on the right side of the limit."""
    if limit.kind == "max":
        return estimate.high is not None and estimate.high <= limit.value
    return estimate.low is not None and estimate.low >= limit.value


def _counted(estimate: Estimate) -> str:
    """What the bound allows for where calls gave no verdict."""
    if estimate.imputed is None:
        return ""
    return f", with {counted(estimate.imputed.calls, 'lost call')} counted against the limit"


def outlook(limit: float, kind: str, bounds: BoundedValue, amount: Callable[[float], str]) -> str:
    """What more of the same data would decide if the value stayed, and the `amount` needed.

    An amount of "" is out of reach.
    """
    ceiling = kind == "max"
    right = bounds.value <= limit if ceiling else bounds.value >= limit
    if not right and math.isinf(bounds.low if ceiling else bounds.high):
        return f"more data {WORSE}"  # without a bound on this side nothing tells how much it takes
    factor = _factor(limit, bounds)
    more = "" if factor > HOPELESS else amount(factor)
    return f"{more} {PROVE if right else WORSE}" if more else NEVER


def _out_of_reach(limit: Limit, estimate: Estimate) -> str:
    """A sentence if there are too few stimuli to prove the limit for any judge; else ""."""
    if estimate.clusters >= _stimuli_needed(limit, estimate):
        return ""
    few = counted(estimate.clusters, "stimulus is", "stimuli are")
    return f"{few} too few to prove it for any judge; "


def _stimuli_needed(limit: Limit, estimate: Estimate) -> int:
    """Stimuli without which nothing proves the limit: of a share, by the room for unseen ones.

    What may lie below 0 is a difference of shares, and has no least bound. A share that rounding
    does not tell from 0 is treated as 0.
    """
    share = limit.value if limit.kind == "max" else 1 - limit.value
    has_ends = unit(estimate.unit).ends == SHARE and (estimate.low or 0) >= 0
    return (
        clusters_for(share, estimate.level)
        if has_ends and estimate.clusters and 0 < 1 - share < 1
        else 0
    )


def _stimuli_to_prove(
    limit: Limit, estimate: Estimate, bounds: BoundedValue, spare: int
) -> int | None:
    """How many more stimuli would prove the limit if the value stayed.

    None where none would, or more than anybody adds.
    """
    left = _left_by_losses(limit, estimate, bounds)
    if not (_keeps(limit, bounds.value) and _keeps(limit, left.value)):
        return None
    factor = _factor(limit.value, left)
    stimuli = MANY + 1 if factor > HOPELESS else _stimuli(limit, estimate, factor)
    return stimuli if stimuli <= max(MANY, spare) else None


def _stimuli(limit: Limit, estimate: Estimate, factor: float) -> int:
    """Stimuli to add for `factor` times as much, and for what any proof takes."""
    missing = _stimuli_needed(limit, estimate) - estimate.clusters
    return max(missing, math.ceil(estimate.clusters * (factor - 1)))


def _more(limit: Limit, estimate: Estimate, spare: int, factor: float) -> str:
    """What to add to the data of an estimate to have `factor` times as much; "" if it is too much.

    A larger profile asks the `spare` ones.
    """
    stimuli = _stimuli(limit, estimate, factor)
    if not stimuli:
        return times(factor)
    if stimuli > max(MANY, spare):
        return ""
    more = counted(stimuli, "more stimulus", "more stimuli")
    within = f" ({'' if spare >= stimuli else f'{spare} '}in a larger --profile)" if spare else ""
    return f"about {more}{within}"


def times(factor: float) -> str:
    """How much data, for a reader: more than there is."""
    return f"about {tenths(max(factor, 1.1))} times the data"


def _factor(limit: float, bounds: BoundedValue) -> float:
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
