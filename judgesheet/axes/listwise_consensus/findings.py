"""What the estimates mean, in words: findings, recommendations and caveats.

Every sentence is decided by an interval or a test, never by a point value, and names the keys that
it rests on. What the data cannot tell is said to be unknown, never good.
"""

from collections.abc import Iterator
from functools import partial

from judgesheet.axis import Readings, places
from judgesheet.axis.findings import hardly_ranks
from judgesheet.axis.repeats import about_repeats
from judgesheet.axis.statements import (
    FEWEST_PROMPTS,
    MOSTLY,
    NEAR_ENOUGH,
    ORDER_TEST,
    TONES,
    UNSURE,
    Certainty,
    Sentence,
    Tone,
    above,
    advice,
    announced,
    below,
    beyond_noise,
    curve,
    few_asked,
    findings_of,
    if_lost,
    in_brackets,
    indicated,
    interval,
    keys,
    longest,
    percentage_points,
    points,
    share,
    share_with_interval,
    surely_above,
    surely_below,
    too_few,
    unread,
    whatever_lost,
)
from judgesheet.axis.unanswered import DO_NOT_USE, TOO_LITTLE
from judgesheet.axis.untested import untested
from judgesheet.base.digits import percent
from judgesheet.base.estimates import Estimates
from judgesheet.base.keys import Key
from judgesheet.base.records import Control, Estimate, Mitigation, Rating, Recommendation, Statement

SMALL_FLIPS = 0.05
"""Flips of the winner that are proven to be rarer are next to none."""
NEARLY_EVEN = 0.1
"""Every place wins this nearly as often as any other: no place is favoured much."""


def prompts_read(estimates: Estimates) -> int:
    """Prompts with at least one winner."""
    first = estimates.known("win_share", position=1)
    return 0 if first is None else first.clusters


def _direct(estimates: Estimates) -> Estimate | None:
    """The accuracy of one call, measured or not."""
    return estimates.of("accuracy", arm="direct", k=1)


def _by_orders(estimates: Estimates, name: str) -> list[tuple[int, Estimate]]:
    """(k, estimate) of what was measured from k orders, each read once, in rising k."""
    points = curve(estimates, name, arm="permuted")
    return [(k, one) for k, one in points if "executions" not in Key.parse(one.key).dims]


def from_all(estimates: Estimates, name: str) -> tuple[int, Estimate | None]:
    """The largest number of orders that a figure was measured from, and the figure."""
    points = _by_orders(estimates, name)
    return points[-1] if points else (0, None)


# -- findings --------------------------------------------------------------------------------------


def find(estimates: Estimates) -> Iterator[Statement]:
    """The findings of the first page, most consequential first."""
    prompts = prompts_read(estimates)
    if prompts == 0:
        yield Statement(TOO_LITTLE, tuple(estimates)[:1], "unknown")
        return
    yield from too_few(prompts, estimates.key("win_share", position=1))
    yield from findings_of(SENTENCES, estimates)


def _right(estimates: Estimates) -> Iterator[Statement]:
    """Whether the right answer wins more often than by chance."""
    direct, chance = _direct(estimates), estimates.known("chance_accuracy")
    if chance is None or chance.value is None:
        text = "It is not known whether it finds the right answer: the prompts name none."
        yield Statement(text, keys(direct), "unknown")
    elif direct is not None and direct.value is not None:
        tone = _tone(direct, chance)
        doubt = ": this may be chance" if tone == "unknown" else ""
        text = (
            f"With one call it chooses the right answer in {share(direct)} of prompts "
            f"({interval(direct)}); a random pick is right in {share(chance)}{doubt}."
        )
        yield Statement(text, keys(direct, chance), tone)


def _tone(direct: Estimate, chance: Estimate) -> Tone:
    """Good is nearer to always right than to a pick at random."""
    if above(direct, chance.value or 0.0):
        return "good" if above(direct, _middle(chance)) else "neutral"
    return "bad" if surely_below(direct, _middle(chance)) else "unknown"


def _blind(estimates: Estimates) -> Iterator[Statement]:
    """That even all orders together hardly find the right answer."""
    (k, full), chance = from_all(estimates, "accuracy"), estimates.known("chance_accuracy")
    if full is not None and chance is not None and _is_blind(full, chance):
        tone: Tone = "bad" if surely_below(full, _middle(chance)) else "neutral"
        text = (
            f"Decided from {k} orders, the right answer wins in {share_with_interval(full)} of "
            f"prompts, a random pick in {share(chance)}: do not choose answers with it."
        )
        yield Statement(text, keys(full, chance), tone, stops=True)


def _ties(estimates: Estimates) -> Iterator[Statement]:
    """How often the best score is shared, where that is not surely most of the time."""
    ties = estimates.known("top_tie_rate")
    if ties is not None and not hardly_ranks(estimates):
        text = f"In {share_with_interval(ties)} of calls several answers share the best score"
        often = above(ties, MOSTLY)
        more = f": some evidence that it hardly chooses{UNSURE}" if often else ""
        yield Statement(f"{text}{more}.", (ties.key,), "unknown" if often else "neutral")


def favours_place(estimates: Estimates) -> Certainty:
    """What is known of a preference for a place in the list."""
    shares = [one for _, one in estimates.family("win_share")]
    even = 1 / max(1, len(shares))
    # All intervals, not all values: few prompts prove no place to be even.
    near = all(above(one, even - NEARLY_EVEN) and below(one, even + NEARLY_EVEN) for one in shares)
    return places.favours(estimates, "win_share", small=near, prompts=prompts_read(estimates))


def _place(estimates: Estimates) -> Iterator[Statement]:
    """Whether a place in the list is favoured; without winners there is none to favour."""
    extreme, certain = places.farthest(estimates, "win_share"), favours_place(estimates)
    if hardly_ranks(estimates) or extreme is None:
        return
    place, won, even = extreme
    evidence = (won.key, estimates.key(ORDER_TEST))
    if won.given.get("balanced") is False:
        text = (
            "Whether a place in the list is favoured is not known: the recorded orders do not show "
            "every answer equally often at every place."
        )
        yield Statement(text, evidence, "unknown")
        return
    near = f"every place is within {percentage_points(NEARLY_EVEN)} of {percent(even)}"
    says = places.wordings(
        "a place in the list",
        f"the answer at place {place} wins {share(won)} of single calls",
        extreme,
        estimates.known(ORDER_TEST),
        little=near,
        none=f"No place in the list wins much more often than another: {near}, farthest from it is "
        f"place {place}, {share(won)} ({interval(won)}){whatever_lost(won)}.",
        rest=if_lost(won, percent),
    )
    yield Statement(says[certain], evidence, TONES[certain])


def _order(estimates: Estimates) -> Iterator[Statement]:
    """Whether the order of the list decides who wins."""
    flips, excess = estimates.known("order_flip_rate"), estimates.known("excess_flip_rate")
    noise, test = estimates.known("repeat_flip_rate"), estimates.known(ORDER_TEST)
    if ties := hardly_ranks(estimates):
        text = f"It hardly chooses: in {share(ties)} of calls several answers share the best score"
        text = f"{text} ({interval(ties)}). Do not choose answers with it."
        yield Statement(text, (ties.key,), "bad", stops=True)
        return
    if flips is None:
        return
    evidence = (flips.key, estimates.key("excess_flip_rate"))
    winners = f"Two orders of a list give different winners in {share(flips)} of cases"
    if excess is None:
        yield Statement(f"{winners}; how much of that is noise is not known.", evidence, "unknown")
        return
    more = f"{winners} (beyond asking twice: {points(excess)})"
    p = in_brackets(test)
    if beyond_noise(excess):
        yield Statement(f"{more}.", evidence, "bad")
    elif _order_does_not_matter(estimates):
        text = "The order of the list hardly changes who wins (beyond asking twice: "
        text += f"{points(excess)}{whatever_lost(excess)})"
        if noise is None or not surely_above(noise, SMALL_FLIPS):
            yield Statement(f"{text}.", evidence, "good")
        else:
            text += f"; asking twice under one order changes the winner in {share(noise)}."
            yield Statement(text, (*evidence, noise.key))
    elif announced(estimates, ORDER_TEST):
        text = f"{more}. The order does change the scores{p}; how often that changes the winner is"
        yield Statement(f"{text} not known exactly.", (*evidence, *keys(test)), "bad")
    elif above(excess, 0.0) or indicated(estimates, ORDER_TEST):
        text = f"{more}. There is some evidence that the order changes who wins{p}{UNSURE}."
        yield Statement(text, (*evidence, *keys(test)), "unknown")
    else:
        lost = if_lost(excess, percentage_points)
        text = f"{more}; this run cannot tell whether the order does more than noise{p}{lost}."
        yield Statement(text, (*evidence, *keys(test)), "unknown")


def _order_does_not_matter(estimates: Estimates) -> bool:
    """Whether the order is proven to decide next to nothing."""
    enough = prompts_read(estimates) >= FEWEST_PROMPTS
    return enough and below(estimates.known("excess_flip_rate"), SMALL_FLIPS)


def _help(estimates: Estimates) -> Iterator[Statement]:
    """Whether deciding from all orders is right more often than one call."""
    k, gain = from_all(estimates, "gain")
    if gain is None or gain.value is None or gain.low is None or gain.high is None:
        return
    evidence = keys(gain, estimates.known("gain_over_repeated", k=k))
    deciding, by = f"Deciding from {k} orders", points(gain)
    if above(gain, 0.0):
        text = f"{deciding} is right more often than one call ({by}), at {k} calls per decision."
        yield Statement(text, evidence, "good")
    elif below(gain, 0.0):
        tone: Tone = "bad" if surely_below(gain, 0.0) else "neutral"
        yield Statement(f"{deciding} is right less often than one call ({by}).", evidence, tone)
    elif below(gain, NEAR_ENOUGH):
        text = f"{deciding} gains next to nothing over one call ({by})."
        yield Statement(text, evidence, "neutral")
    else:
        text = f"whether deciding from {k} orders is right more often than one call"
        yield Statement(f"This run cannot tell {text} ({by}).", evidence, "unknown")


SENTENCES = (
    Sentence(_right, tests=1),
    Sentence(_blind, tests=1),
    Sentence(_place),  # by the test that `_order` counts
    Sentence(_order, tests=1, of_order=2),
    Sentence(_ties),
    Sentence(_help, tests=1),
)
"""The sentences of page one, most consequential first."""


# -- recommendations -------------------------------------------------------------------------------


_advice = partial(advice, "listwise_consensus")


def recommend(estimates: Estimates) -> Iterator[Recommendation]:
    """Whether to use it, in how many orders, or not to bother."""
    chance, (_, full) = estimates.known("chance_accuracy"), from_all(estimates, "accuracy")
    if prompts_read(estimates) == 0:
        yield _advice(DO_NOT_USE, _direct(estimates), stops=True)
    elif full is not None and _is_blind(full, chance):
        text = (
            "Do not choose answers with it: even from all orders together it finds the right one "
            f"hardly more often than a random pick ({interval(full)})."
        )
        yield _advice(text, full, chance, stops=True)
    elif prompts_read(estimates) < FEWEST_PROMPTS:
        text = (
            f"Probe at least {FEWEST_PROMPTS} prompts before relying on this sheet; the standard "
            "profile asks all of them."
        )
        yield _advice(text, estimates.known("win_share", position=1))
    elif ties := hardly_ranks(estimates):
        text = (
            "Do not choose answers with it as it was asked: it often gives several the same score."
        )
        yield _advice(text, ties, stops=True)
    elif estimates.known("order_flip_rate") is None:
        text = "Ask each list in other orders too: whether its order decides who wins is not known."
        yield _advice(text, estimates.of("order_flip_rate"))
    elif chance is not None and not above(full, chance.value or 0.0):
        text = (
            "Probe more prompts before choosing answers with it: this run does not show that it "
            "beats a random pick."
        )
        yield _advice(text, full, chance)
    else:
        yield from _how_many(estimates)


def _is_blind(full: Estimate, chance: Estimate | None) -> bool:
    """Whether all orders are proven to be nearer to a pick at random than to always right."""
    if chance is None or chance.value is None:
        return False
    return below(full, _middle(chance)) and not above(full, chance.value + NEAR_ENOUGH)


def _middle(chance: Estimate) -> float:
    """Midway between a pick at random and always right."""
    return (1 + (chance.value or 0.0)) / 2


def _how_many(estimates: Estimates) -> Iterator[Recommendation]:
    """How many orders a decision should rest on."""
    _, gain = from_all(estimates, "gain")
    excess, shared = estimates.known("excess_flip_rate"), estimates.known("error_correlation")
    flips = estimates.known("order_flip_rate")
    if _order_does_not_matter(estimates) and below(flips, NEARLY_EVEN) and not above(gain, 0.0):
        text = "One call per list is enough: another order hardly ever gives another winner."
        yield _advice(text, flips, gain)
    elif below(gain, NEAR_ENOUGH) and above(shared, MOSTLY):
        text = "Do not pay for several orders to be right more often: its errors are common to all"
        yield _advice(f"{text} orders.", gain, shared)
    elif below(gain, 0.0):
        text = "Do not decide from several orders: they are right less often than one call."
        yield _advice(text, gain)
    else:
        yield from _several(estimates, gain, excess)


def _several(
    estimates: Estimates, gain: Estimate | None, excess: Estimate | None
) -> Iterator[Recommendation]:
    """Whether to decide from all orders that were asked."""
    total, _ = from_all(estimates, "change_rate")
    if total < 2:
        return
    if above(gain, 0.0):
        text = f"Decide from {total} orders ({total} calls): that is right more often than one."
        yield _advice(text, gain)
    elif _order_does_not_matter(estimates):
        text = (
            "Noise, not the order, changes the winner: this run does not show whether deciding "
            "from several calls is right more often."
        )
        yield _advice(text, estimates.known("repeat_flip_rate"), gain)
    elif beyond_noise(excess) or announced(estimates, ORDER_TEST):
        text = (
            f"Decide from {total} orders if the winner matters: the order changes it. This run "
            "does not show that this is right more often."
        )
        yield _advice(text, excess, gain)
    else:
        text = (
            "Probe more prompts: neither an effect of the order over all of them nor a gain from "
            "several orders is shown, and neither is ruled out."
        )
        yield _advice(text, excess, gain)


# -- mitigations and controls ----------------------------------------------------------------------


def mitigate(estimates: Estimates) -> Iterator[Mitigation]:
    """Deciding from several orders: accuracy before and after, for the calls that it takes."""
    for k, after in _by_orders(estimates, "accuracy"):
        yield Mitigation(
            action=f"decide from {k} orders of the list by permutation consensus",
            before=estimates.key("accuracy", arm="direct", k=1),
            after=after.key,
            calls=k,
            gain=estimates.key("gain", arm="permuted", k=k),
            code="several_orders",
        )


def control(estimates: Estimates) -> Iterator[Control]:
    """Whether the right answer wins more often than by chance."""
    (_, full), chance = from_all(estimates, "accuracy"), estimates.known("chance_accuracy")
    if full is None or chance is None or chance.value is None:
        return
    passed = True if above(full, chance.value) else False if _is_blind(full, chance) else None
    text = "Decided from all orders, the right answer must win more often than a random pick."
    evidence = keys(full, chance)
    yield Control("the right answer wins", passed, text, evidence)


# -- range and caveats -----------------------------------------------------------------------------


def tested_range(readings: Readings) -> Iterator[Rating]:
    """The longest list that was shown."""
    return longest(readings, "candidates in a list", "candidates")


def warn(readings: Readings, estimates: Estimates) -> Iterator[str]:
    """What a reader of this run must know."""
    yield from few_asked(readings)
    so = "no answer on the whole list; decisions rest on the readable rest, which may differ."
    yield from unread(readings, so)
    yield from _odd_orders(estimates)
    yield from untested()
    yield from about_repeats(readings, ", so repeats of one order are hardly more than one call")


def _odd_orders(estimates: Estimates) -> Iterator[str]:
    """Where figures by place are not what the design wants them to be."""
    shown = estimates.of("place_v")
    if shown is not None and not shown.given["balanced"]:
        yield (
            "The orders do not show every answer equally often at every place: figures by place "
            "mix the judge's preference for a place with its preference for an answer."
        )
    if shown is not None and shown.given["left_out"]:
        yield "Lists differ in length; figures by place are for the most common length."
    places = len(estimates.family("win_share"))
    depths = [k for k, _ in _by_orders(estimates, "accuracy")]
    odd = [str(k) for k in depths if places and k % places]
    if odd and favours_place(estimates) in ("shown", "small"):
        yield (
            f"With k = {', '.join(odd)} an answer does not stand equally often at each of the "
            f"{places} places, so these accuracies depend on which orders were shown."
        )
