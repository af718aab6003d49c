"""What the data of a run say of each effect that an axis declares. Nothing here needs numpy.

A judge without a fault has any effect shown in at most one sheet of twenty: `TESTS`, `EXCESS` and
`REST` are the shares of that error, the same whether an axis was asked or not.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

from judgesheet.base.digits import decimals, percent, rounded, two_digits, with_noun
from judgesheet.base.effects import Effect, EffectVerdict, JudgedEffect
from judgesheet.base.keys import ANY, Key
from judgesheet.base.missing_reasons import FLAT, NOT_RECORDED, PERFECT
from judgesheet.base.records import AxisResult, Datasheet, Estimate
from judgesheet.base.units import unit
from judgesheet.decide.bounded_value import p_at, reach
from judgesheet.decide.gate import members

TESTS: Mapping[str, float] = {"order_dependence_p": 0.006, "slice_p": 0.0025}
"""The error of a test by its name: one of the order per axis, and one per way to split a sheet."""
REST = 0.0016
"""The error of all other bounds of an axis together: each figure and each of its members alike."""
FEWEST = 6
"""With fewer stimuli an effect may be shown, and none is negligible."""
WORST_FIRST: tuple[EffectVerdict, ...] = (
    *("shown", "inconclusive", "invalid", "not_measured", "negligible"),
)
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def with_effects(sheet: Datasheet) -> Datasheet:
    """The sheet with what its figures say of every effect that its axes declare."""
    return replace(sheet, axes=tuple(replace(one, effects=judged(one)) for one in sheet.axes))


def judged(axis: AxisResult) -> tuple[JudgedEffect, ...]:
    """What the figures of an axis say of its effects, the worst first."""
    found = {estimate.key: estimate for estimate in axis.estimates}
    # Of what a run did not ask, own pairs say, nothing is said.
    asked = [
        (effect, Key.parse(key))
        for effect in (_against_guessing(one, found) for one in axis.declared)
        for key in _worst_first(effect, found)
    ]
    of = Counter(key.name for _, key in asked)
    bounded = {key.name for effect, key in asked if not effect.share}
    lacking = {one.key for one in axis.estimates if one.reason == NOT_RECORDED.code}
    recorded = {key.name for _, key in asked if str(key) not in lacking}
    ranked: list[tuple[int, float, JudgedEffect]] = []
    shown_by: set[str] = set()
    for effect, key in asked:
        share = effect.share or REST / len(bounded)
        # A test of a whole axis says nothing of pairs that a log lacks, where it has other pairs.
        is_elsewhere = str(key) in lacking and key.name in recorded
        test = "" if is_elsewhere else _test_key(effect, key)
        tested = replace(effect, test="" if test in shown_by else test)
        one = judge(tested, str(key), axis, found, share / of[key.name])
        if one.verdict == "shown":
            shown_by.add(test)
        # The worst slice of several is always worse than the rest: chance alone sees to that.
        if effect.slice and one.verdict != "shown":
            continue
        away = 0.0 if one.value is None else _departure(effect, one.value)
        ranked.append((WORST_FIRST.index(one.verdict), -away, one))
    return tuple(one for *_, one in sorted(ranked, key=lambda row: row[:2]))


def _worst_first(effect: Effect, found: Mapping[str, Estimate]) -> Sequence[str]:
    """The keys of the figures of an effect: where a test alone shows it, the worst is named."""
    values = {
        key: -inf if (value := found[key].value) is None else _departure(effect, value)
        for key in members(effect.key, found)
        if key in found
    }
    return sorted(values, key=lambda key: -values[key])


def _against_guessing(effect: Effect, found: Mapping[str, Estimate]) -> Effect:
    """The effect with its null midway between what a guess gives and 1, where that is known."""
    guess = found.get(effect.guessing)
    if guess is None or guess.value is None:
        return effect
    return replace(effect, null=(1 + guess.value) / 2)


def judge(
    effect: Effect, key: str, axis: AxisResult, found: Mapping[str, Estimate], share: float
) -> JudgedEffect:
    """What the figure with this key says of an effect whose bound may err so often.

    What is proven to be small is negligible, though it may be there. A failed control of the run
    leaves nothing to say; one of the judge clears of nothing, and may accuse.
    """
    estimate, test = found[key], found.get(effect.test)
    p = None if test is None or axis.silent_reason(test.key) else test.greatest
    is_beyond = _is_beyond(effect, estimate, share)
    verdict, why = _verdict(effect, key, axis, estimate)
    if verdict in ("inconclusive", "not_measured") and (is_beyond or _rejects(effect, p)):
        verdict, why = "shown", ""
    near = verdict == "shown"
    # Where the test alone shows it, the figure bounds nothing.
    bound = None if near and not is_beyond else _bound(effect, estimate, near=near)
    noise = found.get(effect.noise)
    sentence = effect.says.get(verdict, "")
    if near and not is_beyond:
        sentence = effect.says.get("by_test", sentence)
    # A correlation of scores that one stimulus alone sets apart would be read as one.
    instead = why or (estimate.note if near and estimate.reason in FLAT else "")
    words = {
        **Key.parse(key).dims,
        "value": printed(estimate, estimate.value),
        "interval": _interval(estimate),
        "bound": printed(estimate, bound),
        "noise": "unknown" if noise is None else printed(noise, noise.value),
        "p": "unknown" if p is None else f"p {'< 0.001' if p < 0.001 else f'= {two_digits(p)}'}",
    }
    return JudgedEffect(
        key=key,
        verdict=verdict,
        # A declaration may come from a stranger's file: nothing but these words is filled in.
        text=f"{estimate.label or key}: {instead}."
        if instead
        else _PLACEHOLDER.sub(lambda found: words.get(found[1], found[0]), sentence),
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        bound=bound,
        p=p,
        uses=effect.uses,
        remedy=effect.remedy,
        why=why,
        slice=effect.slice,
        example=effect.example if verdict == "shown" else "",
    )


def _verdict(
    effect: Effect, key: str, axis: AxisResult, estimate: Estimate
) -> tuple[EffectVerdict, str]:
    """What is known of an effect that is not shown, and why nothing is."""
    if why := axis.silent_reason(key):
        return "invalid", why
    if _is_inside(effect, estimate):
        unearned = axis.unearned.get(key, "")
        return ("invalid" if unearned else "negligible"), unearned
    if reach(estimate) is None:
        return "not_measured", estimate.note or "it has no interval"
    return "inconclusive", ""


def _test_key(effect: Effect, key: Key) -> str:
    """The test of an effect, with the dimensions of its figure."""
    if not effect.test:
        return ""
    pattern = Key.parse(effect.test)
    return str(pattern.at(**{dim: key.dims.get(dim, ANY) for dim in pattern.dims}))


def _rejects(effect: Effect, p: float | None) -> bool:
    return p is not None and p < TESTS[Key.parse(effect.test).name]


def _is_inside(effect: Effect, estimate: Estimate) -> bool:
    """Whether the whole interval, lost calls counted, departs by no more than is small."""
    if estimate.clusters < FEWEST:
        return False
    least, most = estimate.least, estimate.most
    if estimate.reason == PERFECT.code:  # a correlation of 1, or of −1
        least = most = estimate.value
        if estimate.imputed is not None:
            least, most = estimate.imputed.low, estimate.imputed.high
    up = most is not None and most <= effect.null + effect.small
    down = least is not None and least >= effect.null - effect.small
    return {"up": up, "down": down, "both": up and down}[effect.harm]


def _is_beyond(effect: Effect, estimate: Estimate, share: float) -> bool:
    """Whether the bound that errs no more often than its share lies beyond no effect.

    Of a mean without room for stimuli that were not drawn: no share of them explains what is seen
    on those that were, where there is no effect. All of them lie on one side by chance as often as
    coins do, however alike they are.
    """
    if estimate.reason in FLAT:
        return effect.harm == "down" and estimate.clusters >= FEWEST
    if (bounds := reach(estimate)) is None:
        return False
    seen = None if estimate.bounds is None else estimate.bounds.seen
    low, high = seen or (bounds.low, bounds.high)
    sides = {"up": low > effect.null, "down": high < effect.null}
    side = next((side for side, beyond in sides.items() if beyond), "")
    if not side or effect.harm not in (side, "both"):
        return False
    p = p_at(effect.null, low if side == "up" else high, estimate)
    least = 0.5**estimate.clusters if seen else 0.0
    return max(p, least) < (share / 2 if effect.harm == "both" else share)


def _departure(effect: Effect, value: float) -> float:
    """How far a value lies beyond what is small, on a side that hurts."""
    away = value - effect.null
    return {"up": away, "down": -away, "both": abs(away)}[effect.harm] - effect.small


def _bound(effect: Effect, estimate: Estimate, *, near: bool) -> float | None:
    """The end of the interval next to no effect, or the far one; lost calls counted."""
    value = effect.null if estimate.value is None else estimate.value
    upward = effect.harm == "up" or (effect.harm == "both" and value >= effect.null)
    return estimate.least if upward == near else estimate.most


# -- words -----------------------------------------------------------------------------------------


def printed(estimate: Estimate, number: float | None, *, noun: bool = True) -> str:
    """A number of an estimate in its unit, with the digits that its interval allows."""
    known = unit(estimate.unit)
    if number is None:
        return "unknown"
    if known.percent:
        return percent(number)
    text = rounded(number, decimals(number, estimate.low, estimate.high))
    return with_noun(text, known.one) if noun and known.one else text


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return f"{printed(estimate, estimate.low, noun=False)} to {printed(estimate, estimate.high)}"
