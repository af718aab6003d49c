"""Findings that rooms of scores have in common: who wins, and whether scores follow quality."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from judgesheet.axis.labels import whose
from judgesheet.axis.undefined import EQUAL_SCORES, NEARLY_EQUAL_SCORES
from judgesheet.axis.words import (
    FEWEST_PROMPTS,
    MOSTLY,
    NEAR_ENOUGH,
    Tone,
    above,
    at_most,
    below,
    correlation,
    curve,
    ends,
    interval,
    keys,
    number,
    share,
    surely_above,
    surely_below,
)
from judgesheet.base.digits import percent
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Estimate, Statement
from judgesheet.stats.correlation import PERFECT, PERFECT_WITHOUT_ONE

SMALL_FLIPS = 0.05
"""Flips of the winner that are proven to be rarer are called few."""
ALMOST_ONE = 0.95
"""A correlation below this whatever lost calls would have said is not called perfect."""
_PERFECT = (PERFECT.code, PERFECT_WITHOUT_ONE.code)
NEAR_CEILING = 0.05
"""A rate this near to the most that its design allows is told with that."""
USABLE_R = 0.3
"""Below this correlation with quality a score says little about a single response."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How a room speaks of its scores.

    `subject`, `follows` and `does_not_follow` make a sentence with "quality" (`its score`,
    `follows`, `does not follow`); `equal` is what responses have in common where nothing tells
    them apart, `ranked_by` what they compete by, `order` what changes between calls. `over` is what
    the correlation is a mean over.
    """

    subject: str
    follows: str
    does_not_follow: str
    equal: str
    ranked_by: str
    order: str
    over: str = ""


class Enough(NamedTuple):
    """The fewest readings `k` that bring a figure within .02 of what all `orders` reach.

    `at` is the member `figure[k=k,arm=balanced]` that says so, `single` the one with k = 1.
    """

    figure: str
    k: int
    orders: int
    at: Estimate
    single: Estimate


def enough(
    estimates: Estimates, figures: Sequence[str] = ("budget_r", "budget_agreement")
) -> Enough | None:
    """How many orders to average: by correlation with quality, else by agreement with all orders.

    None where neither curve (none of `figures`) is known as a whole.
    """
    for figure in figures:
        points = curve(estimates, figure, arm="balanced")
        if points and len(points) == len(estimates.family(figure, arm="balanced")):
            orders, last = points[-1]
            near = (last.value or 0.0) - NEAR_ENOUGH
            # There is one: the last point is near itself.
            k, at = next((k, at) for k, at in points if (at.value or 0.0) >= near)
            return Enough(figure, k, orders, at, points[0][1])
    return None


def is_flat(r: Estimate) -> bool:
    """Whether a correlation has no value or no interval because (nearly) all scores are equal."""
    return r.reason in (EQUAL_SCORES.code, NEARLY_EQUAL_SCORES.code)


def is_perfect(r: Estimate) -> bool:
    """Whether a correlation over enough prompts has no interval because nearly nothing departs."""
    # With lost calls, the least that r could be.
    lowest = r.value if r.imputed is None else r.imputed.low
    is_sure = r.reason in _PERFECT and r.clusters >= FEWEST_PROMPTS
    return is_sure and lowest is not None and lowest > ALMOST_ONE


def misorders(estimates: Estimates) -> Estimate | None:
    """The share of pairs of a prompt's responses in the right order, where that is below half."""
    within = estimates.known("pair_accuracy")
    return within if below(within, MOSTLY) else None


def order_changes(estimates: Estimates, rubric: str, score: str) -> tuple[str, Estimate] | None:
    """How often another order of the same `rubric` changes `score`, beside a repeat of one order.

    The sentence without its full stop, and the rate; None where it was not measured.
    """
    change, noise = estimates.known("order_change_rate"), estimates.known("repeat_change_rate")
    if change is None:
        return None
    text = (
        f"Listing the same {rubric} in another order changes {score} in {share(change)} of cases "
        f"({interval(change)}{_allowed(change)})"
    )
    if noise is not None:
        text += f"; asking twice in the same order changes it in {share(noise)}"
    return text, change


def _allowed(change: Estimate) -> str:
    """The most that the design lets a rate be, where it comes near that."""
    most = change.ceiling
    near = most is not None and change.value is not None and change.value > most - NEAR_CEILING
    return f"; these orders allow at most {percent(most)}" if most is not None and near else ""


def hardly_ranks(estimates: Estimates) -> Estimate | None:
    """The share of readings in which several responses are best, if that is surely most of them."""
    ties = estimates.known("top_tie_rate")
    return ties if ties is not None and surely_above(ties, MOSTLY) else None


def winner(estimates: Estimates, prompts: int, say: Wording) -> Iterator[Statement]:
    """Whether the order decides which of a prompt's responses comes out best."""
    excess = estimates.known("excess_flip_rate")
    if ties := hardly_ranks(estimates):
        yield Statement(
            f"It hardly ranks at all: in {share(ties)} of readings several responses to a prompt "
            f"share the best {say.ranked_by} ({interval(ties)}).",
            (ties.key,),
            "bad",
        )
    elif excess is None or excess.most is None:
        return
    elif surely_above(excess, 0.0):
        text = (
            f"{_capital(say.order)} alone changes which of a prompt's responses comes out best in "
            f"{share(excess)} of comparisons beyond noise and ties ({interval(excess)})."
        )
        yield Statement(text, (excess.key,), "bad")
    # Few prompts may accuse, but clear of nothing.
    elif prompts >= FEWEST_PROMPTS and below(excess, SMALL_FLIPS):
        text = f"{_capital(say.order)} decides which response is best in {at_most(excess.most)}"
        yield Statement(f"{text} of cases at most.", (excess.key,), "good")
    else:
        text = f"It cannot be told whether {say.order} decides which response is best (in up to"
        yield Statement(f"{text} {at_most(excess.most)} of cases).", (excess.key,), "unknown")


def quality(estimates: Estimates, prompts: int, say: Wording, but: str = "") -> Iterator[Statement]:
    """Whether scores follow quality, averaged over orders and in a single reading.

    `but` is a sentence on what departs from the whole, which then is not said to be good.
    """
    # `of`, not `known`: that it is undefined is a finding too.
    r, single = estimates.of("pearson_r", arm="balanced"), estimates.known("single_read_r")
    if r is None:
        return
    evidence = keys(r, single)
    if within := misorders(estimates):
        text = f"{_capital(say.subject)} {say.does_not_follow} quality within a prompt: it puts"
        told = f"{share(within)} of pairs of responses in the right order ({interval(within)})"
        tone: Tone = "bad" if surely_below(within, MOSTLY) else "neutral"
        yield Statement(f"{text} {told}; a blind judge has half.", keys(within, r, single), tone)
    elif is_flat(r):
        how_many = "every response" if r.value is None else "nearly every response"
        text = f"Averaged over orders, {how_many} gets {say.equal}, whatever its quality."
        yield Statement(text, evidence, "bad")
    elif r.value is None:
        text = f"Whether {say.subject} {say.follows} quality is not known: {r.note}."
        yield Statement(text, evidence, "unknown")
    elif is_perfect(r):
        text = f"{_capital(say.subject)} {say.follows} quality without exception"
        yield Statement(f"{text} ({correlation(r)}).", evidence, "good")
    elif r.low is None or r.high is None or prompts < FEWEST_PROMPTS:
        text = f"It cannot be told whether {say.subject} {say.follows} quality."
        yield Statement(text, evidence, "unknown")
    else:
        within = estimates.known("pair_accuracy")
        if within is not None and not above(within, MOSTLY):
            but += f" Within a prompt it is not shown to: {share(within)} of pairs, half by chance."
        yield _follows(r, single, estimates.known("rater_ceiling_r"), say, but)


def _follows(
    r: Estimate, single: Estimate | None, ceiling: Estimate | None, say: Wording, but: str
) -> Statement:
    """The sentence for a correlation that has an interval."""
    over = say.over and f", {say.over}"
    told = f"{correlation(r)}{over}; quality: {whose(r)}{_reach(ceiling)}"
    evidence = keys(r, single, ceiling)
    subject = f"{_capital(say.subject)} {say.follows} quality"
    if above(r, USABLE_R) and above(single, USABLE_R):
        text = f"{subject}, also in a single reading ({told}).{but}"
        return Statement(text, evidence, "neutral" if but else "good")
    if above(r, USABLE_R):
        alone = "" if single is None else f", a single reading less ({correlation(single)})"
        text = f"Averaged over orders {say.subject} {say.follows} quality ({told}){alone}.{but}"
        return Statement(text, evidence)
    if above(r, 0.0):
        return Statement(f"{subject} weakly ({told}).{but}", evidence)
    if below(r, USABLE_R):
        text = f"{_capital(say.subject)} {say.does_not_follow} quality ({told})."
        return Statement(text, evidence, "bad" if surely_below(r, USABLE_R) else "neutral")
    text = f"It cannot be told whether {say.subject} {say.follows} quality ({told})."
    return Statement(text, evidence, "unknown")


def _reach(ceiling: Estimate | None) -> str:
    """What the raters' own reliability allows, where it is known."""
    if ceiling is None or ceiling.low is None or ceiling.high is None:
        return ""
    allowed = f"{number(ceiling)} ({ends(ceiling)})"
    return f", whose raters agree so far that a perfect judge would reach {allowed}"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
