"""How findings read intervals and say numbers, for every axis.

`above` and `below` decide sentences by a number: the whole interval must lie on one side of a
limit, whatever calls without a verdict would have said. A missing estimate or interval is on
neither side.

A sentence that calls something a problem needs more: page one holds many, and a reader takes each
as a fault of the judge. All of them together err with `SIGNIFICANT` at most (a weighted Bonferroni
bound). Most of that goes to `announced` and `beyond_noise` (`ORDER_ERROR` each), as
a judge that is blind to the order lies on their null hypothesis; a sound judge lies apart from the
limits of `surely_above` and `surely_below` (`OTHER_ERROR` each). Each
`Sentence` says how many such tests it uses. What shows only at `SIGNIFICANT` is `indicated` ("there
is some evidence").
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import nan
from operator import itemgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from judgesheet.axis import Readings
from judgesheet.base.digits import counted, decimals, percent, rounded, two_digits, with_noun
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Estimate, Imputed, Rating, Recommendation, Statement
from judgesheet.base.units import FISHER
from judgesheet.stats.interval import widening

if TYPE_CHECKING:
    import pandas as pd

Tone = Literal["good", "bad", "unknown", "neutral"]
"""What a sentence means for somebody who wants to use the judge."""
Part = Literal["value", "low", "high", "least", "most"]
"""Numbers that an estimate has."""

SIGNIFICANT = 0.05
"""How often page one may call something a problem of a judge that has none."""
OF_ORDER, OF_LOSSES, OTHERS = 10, 5, 44
"""Tests of the order, tests of losses, and other tests and bounds, by which a sentence of page one
can call something a problem, all axes of this package together: the sums over their `SENTENCES`."""
ORDER_ERROR = 0.6 * SIGNIFICANT / OF_ORDER
"""Error of a single test of the order. These have most of the error, as they alone err at a judge
without a fault. All are those of all axes, so that what one axis says does not depend on which
others were probed."""
OTHER_ERROR = 0.2 * SIGNIFICANT / OTHERS
"""Error of every other test or bound."""
FEWEST_PROMPTS = 6
"""With fewer prompts nothing is cleared and nothing but caution is recommended."""
UNSURE = ", but not enough to call it a problem"
"""What is said of an effect that is only indicated."""
NEAR_ENOUGH = 0.02
"""A figure after k orders that comes this close to that of all orders is as good."""
MOSTLY = 0.5
"""A share above which something happens more often than not."""
ORDER_TEST = "order_dependence_p"
"""The test of the order, by all stimuli of an axis together (`order_test`)."""
# A smaller p-value is printed as this: nobody reads the digits, and draws give few of them.
_LEAST_P = 0.001
# From here on two decimals are enough.
_ROUND_P = 0.0995
# Prompts below which a reader is warned: as few as leave rates without a large-sample interval.
_FEW_ASKED = 20
# Share of unreadable calls above which a reader is warned: a rate can be off by as much.
_MANY_UNREAD = 0.02

# -- what an interval shows ------------------------------------------------------------------------


def above(estimate: Estimate | None, limit: float) -> bool:
    """Whether the interval lies above a limit."""
    return estimate is not None and estimate.least is not None and estimate.least > limit


def below(estimate: Estimate | None, limit: float) -> bool:
    """Whether the interval lies below a limit."""
    return estimate is not None and estimate.most is not None and estimate.most < limit


def surely_above(
    estimate: Estimate | None, limit: float, of: int = 1, error: float = OTHER_ERROR
) -> bool:
    """Whether the value lies so far above a limit that a sentence may accuse by it.

    Where any one `of` several values would do, they share the error. A sentence that does not
    accuse may allow a larger one.
    """
    return above(estimate, limit) and _sure_end(estimate, "least", error / of) > limit


def beyond_noise(estimate: Estimate | None) -> bool:
    """Whether an excess lies so surely above 0 that a sentence may accuse by it."""
    return above(estimate, 0.0) and _sure_end(estimate, "least", ORDER_ERROR) > 0


def surely_below(
    estimate: Estimate | None, limit: float, of: int = 1, error: float = OTHER_ERROR
) -> bool:
    """Whether the value lies so far below a limit; as `surely_above`."""
    return below(estimate, limit) and _sure_end(estimate, "most", error / of) < limit


def _sure_end(estimate: Estimate | None, side: Literal["least", "most"], error: float) -> float:
    """The end of an interval whose error on this side is so large.

    The side that there is, widened as a t interval over the same clusters would be: exact for
    means, for correlations on Fisher's scale, and for a rate near the end of its range farther out
    than need be. One cluster: none.
    """
    end = None if estimate is None else getattr(estimate, side)
    if estimate is None or end is None or estimate.value is None or estimate.clusters < 2:
        return nan
    # Two-sided level, of which one side has the error.
    wider = widening(estimate.clusters, estimate.level, 1 - 2 * error)
    if estimate.unit in FISHER and max(abs(end), abs(estimate.value)) < 1:
        z = math.atanh(estimate.value)
        return math.tanh(z + wider * (math.atanh(end) - z))
    return estimate.value + wider * (float(end) - estimate.value)


def announced(estimates: Estimates, test: str, **dims: object) -> bool:
    """Whether a test announces an effect of the order, whatever lost calls would have said."""
    return _rejects(estimates.known(test, **dims), ORDER_ERROR)


def indicated(estimates: Estimates, test: str, **dims: object) -> Estimate | None:
    """The test, if it rejects at `SIGNIFICANT`, whatever lost calls would have said."""
    known = estimates.known(test, **dims)
    return known if _rejects(known, SIGNIFICANT) else None


def _rejects(test: Estimate | None, error: float) -> bool:
    return test is not None and test.greatest is not None and test.greatest < error


# -- sentences -------------------------------------------------------------------------------------


class Sentence(NamedTuple):
    """A sentence of page one, and how many tests and bounds let it call something a problem.

    `of_order` are tests of an effect of the order, `of_losses` those of losses.
    """

    find: Callable[[Estimates], Iterable[Statement]]
    tests: int = 0
    of_order: int = 0
    of_losses: int = 0


def findings_of(sentences: Iterable[Sentence], estimates: Estimates) -> Iterator[Statement]:
    """What these sentences say of the estimates, in their order."""
    for sentence in sentences:
        yield from sentence.find(estimates)


Certainty = Literal["shown", "small", "cleared", "indicated", "not known"]
"""What is known of an effect: it is there; there and small; at most small; indicated; nothing."""
TONES: Mapping[Certainty, Tone] = {
    "shown": "bad",
    "small": "neutral",
    "cleared": "good",
    "indicated": "unknown",
    "not known": "unknown",
}


Wordings = Mapping[Certainty, str]
"""What a sentence says for each of them."""


def certainty(*, shown: bool, small: bool, indicated: bool, prompts: int) -> Certainty:
    """What is known of an effect, for the sentence and the drawing that tell of it.

    Few prompts may accuse, but clear of nothing.
    """
    if shown:
        return "small" if small else "shown"
    if small and prompts >= FEWEST_PROMPTS:
        return "cleared"
    return "indicated" if indicated else "not known"


# -- what estimates hold ---------------------------------------------------------------------------


def curve(estimates: Estimates, name: str, **having: object) -> list[tuple[int, Estimate]]:
    """(k, estimate) of the measured members of `name[k=…]` with these dimensions, in rising k."""
    members = estimates.family(name, **having)
    points = ((int(dims["k"]), estimate) for dims, estimate in members if "k" in dims)
    known = [(k, estimate) for k, estimate in points if estimate.value is not None]
    return sorted(known, key=itemgetter(0))


def keys(*estimates: Estimate | None) -> tuple[str, ...]:
    """The keys of those estimates that there are: the evidence of a sentence."""
    return tuple(estimate.key for estimate in estimates if estimate is not None)


def finding(tone: Tone, text: str, *evidence: Estimate | None, stops: bool = False) -> Statement:
    """A finding that rests on those estimates that there are, each named once."""
    return Statement(text, tuple(dict.fromkeys(keys(*evidence))), tone, stops)


def advice(
    axis: str, text: str, *evidence: Estimate | None, binding: bool = True, stops: bool = False
) -> Recommendation:
    """What an axis recommends, with the keys of the estimates that it rests on."""
    return Recommendation(axis, text, keys(*evidence), binding, stops)


# -- numbers in words ------------------------------------------------------------------------------


_NUMBERS = ("", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def one_in(value: float) -> str:
    """A share as people say it aloud: `one in nine`; "" where that would mislead."""
    times = round(1 / value) if value > 0 else 0
    # At most a tenth off: "one in three" stands for .31 to .37.
    near = 2 <= times < len(_NUMBERS) and abs(1 / times - value) <= 0.1 * value
    return f"one in {_NUMBERS[times]}" if near else ""


def interval(estimate: Estimate) -> str:
    """The interval of a share in words, after its count where that is small."""
    count = f"{estimate.counted}; " if estimate.counted else ""
    if estimate.low is None or estimate.high is None:
        return f"{count}no interval"
    return f"{count}{level(estimate)} interval {percent(estimate.low)} to {percent(estimate.high)}"


def level(estimate: Estimate) -> str:
    """The confidence of its interval: `95 %`, more where a run was looked at while it grew."""
    return f"{100 * estimate.level:.3g} %"


def share(estimate: Estimate) -> str:
    """The value of a measured share in words, without its interval."""
    return percent(estimate.value or 0.0)


def share_with_interval(estimate: Estimate) -> str:
    """`11 % (95 % interval 8 % to 15 %)`."""
    return f"{share(estimate)} ({interval(estimate)})"


def at_most(value: float) -> str:
    """An upper bound of a share, rounded up: a limit must not be understated."""
    return percent(min(1.0, max(0.0, math.ceil(100 * value) / 100)))


def number(estimate: Estimate, part: Part = "value") -> str:
    """A part of an estimate that is no share, with the digits that its interval allows."""
    value, low, high = getattr(estimate, part), estimate.low, estimate.high
    return two_digits(value) if low is None else rounded(value, decimals(value, low, high))


def ends(estimate: Estimate) -> str:
    """`0.41 to 0.63`, the interval of an estimate that is no share."""
    return f"{number(estimate, 'low')} to {number(estimate, 'high')}"


def scale_points(estimate: Estimate, part: Part = "value") -> str:
    """`1.3 points`, of a scale."""
    return with_noun(number(estimate, part), "point")


def percentage_points(difference: float, *, signed: bool = False) -> str:
    """`12 percentage points`, or `+12`: a difference of two shares."""
    number = 100 * difference
    return with_noun(_signed(number, 0) if signed else rounded(number, 0), "percentage point")


def points(estimate: Estimate) -> str:
    """`+12 percentage points, 95 % interval +3 to +22`: a difference of two shares."""
    parts = [100 * (part or 0.0) for part in (estimate.value, estimate.low, estimate.high)]
    # A decimal where the value would else be "less than one".
    digits = decimals(parts[0], parts[1], parts[2]) or int(0 < abs(parts[0]) < 1)
    value, low, high = (_signed(part, digits) for part in parts)
    by = with_noun(value, "percentage point")
    return f"{by}, {level(estimate)} interval {low} to {high}"


def _signed(number: float, digits: int) -> str:
    return f"{'+' if number > 0 else ''}{rounded(number, digits)}"


def p_value(test: Estimate) -> str:
    """`p = 0.034`, or `p < 0.001`; what lost calls could make of it where that decides."""
    p, most = test.value or 0.0, test.greatest
    decided = p < SIGNIFICANT and (most is None or most >= SIGNIFICANT)
    return f"p {_p(p)}{if_lost(test, lambda p: f'p {_p(p)}') if decided else ''}"


def in_brackets(test: Estimate | None) -> str:
    """` (p = 0.034)` behind a sentence, "" where there was no test."""
    return "" if test is None else f" ({p_value(test)})"


def _p(p: float) -> str:
    return f"< {_LEAST_P:g}" if p < _LEAST_P else f"= {rounded(p, 3 if p < _ROUND_P else 2)}"


def if_lost(
    estimate: Estimate, say: Callable[[float], str], side: Literal["low", "high"] = "high"
) -> str:
    """`; up to 96 % if the lost calls (13 on the axis) were all adverse`, or "".

    For a sentence that prints what was read, beside what is decided whatever they would have said.
    """
    lost, read = estimate.imputed, getattr(estimate, side)
    if lost is None:
        return ""
    worst = getattr(lost, side)
    if worst is None:
        return f"; {lost_calls(lost)} could make it anything"
    if say(worst) == say((estimate.value or 0.0) if read is None else read):
        return ""
    way = "up" if side == "high" else "down"
    # Of an axis: how many of them enter a figure depends on the answers that they are given.
    if lost.calls == 1:
        return f"; {way} to {say(worst)} if the lost call was adverse"
    return (
        f"; {way} to {say(worst)} if the lost calls ({lost.calls:,} on the axis) were all adverse"
    )


def whatever_lost(estimate: Estimate) -> str:
    """`, whatever the 13 lost calls would have said`: after a bound that allows for them."""
    lost = estimate.imputed
    return "" if lost is None else f", whatever {lost_calls(lost)} would have said"


def lost_calls(lost: Imputed) -> str:
    """`the 13 lost calls`."""
    return "the lost call" if lost.calls == 1 else f"the {lost.calls:,} lost calls"


def correlation(estimate: Estimate) -> str:
    """`r = 0.53, 0.41 to 0.63`, without the ends where there is no interval."""
    interval = "" if estimate.low is None else f", {ends(estimate)}"
    return f"r = {number(estimate)}{interval}"


# -- sentences that every axis may need ------------------------------------------------------------


def too_few(prompts: int, evidence: str) -> Iterator[Statement]:
    """Says so where fewer than `FEWEST_PROMPTS` prompts were read."""
    if prompts < FEWEST_PROMPTS:
        asked = counted(prompts, "prompt")
        text = f"Replies to only {asked} were read: too few to rule out any problem."
        yield Statement(text, (evidence,), "unknown")


def made(readings: Readings) -> "pd.DataFrame":
    """The calls that were made: what was only planned tells nothing."""
    return readings.frame[readings.frame["outcome"].notna()]


def longest(readings: Readings, rating: str, unit: str) -> Iterator[Rating]:
    """The longest order that was shown, of things (`unit`) in a list that `rating` names."""
    lengths = made(readings)["order"].map(len)
    if len(lengths):
        why = "longer lists have more places to prefer, and were not tested"
        yield Rating(rating, float(lengths.max()), unit, why)


def few_asked(readings: Readings, what: str = "prompts") -> Iterator[str]:
    """The caveat of a run on few prompts (or tasks: `what`)."""
    stimuli, different = made(readings)[["cluster", "stimulus"]].nunique()
    if 0 < stimuli < _FEW_ASKED:
        text = f"{what} were" if stimuli > 1 else f"{what.removesuffix('s')} was"
        text = text if stimuli == different else f"independent {text}"
        yield f"Only {stimuli} {text} asked; intervals are wide and few effects can be seen."


def unread(readings: Readings, so: str) -> Iterator[str]:
    """The caveat of a run in which many replies could not be read, and what follows (`so`)."""
    missing = made(readings)["value"].isna()
    if len(missing) and missing.mean() > _MANY_UNREAD:
        yield f"{percent(float(missing.mean()))} of the calls gave {so}"
