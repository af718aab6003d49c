"""What the estimates mean, in words: findings, recommendations and caveats.

Every sentence is decided by an interval or a test, never by a point value, and names the keys that
it rests on. What the data cannot tell is said to be unknown, never good.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from judgesheet.axis import Readings, losses
from judgesheet.axis.findings import (
    NOT_SHOWN,
    PROBE_MORE,
    Wording,
    about_scores,
    caveats_of_scores,
    enough,
    few_levels,
    followed,
    follows_quality,
    hardly_ranks,
    ignores_quality,
    is_perfect,
    left_open,
    listed,
    misorders,
    not_followed,
    order_changes,
)
from judgesheet.axis.repeats import about_repeats
from judgesheet.axis.statements import (
    FEWEST_PROMPTS,
    ORDER_ERROR,
    ORDER_TEST,
    SIGNIFICANT,
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
    certainty,
    correlation,
    ends,
    findings_of,
    if_lost,
    keys,
    level,
    number,
    p_value,
    points,
    scale_points,
    too_few,
    whatever_lost,
)
from judgesheet.axis.unanswered import DO_NOT_USE, TOO_LITTLE
from judgesheet.base.digits import two_digits, with_noun
from judgesheet.base.estimates import Estimates
from judgesheet.base.limits import MOST_EVIDENCE
from judgesheet.base.records import Control, Estimate, Mitigation, Recommendation, Statement
from judgesheet.stats.multiplicity import holm

from .positions import FIXED_PLACES

SMALL_GAP = 1 / 16
"""Position gaps proven to be below this share of the scale are small: .25 points of 1 to 5."""
LARGE_GAP = 1 / 8
"""A criterion whose gap is proven to be above this share of the scale is better asked alone."""
SMALL_CHANGES = 0.05
"""Changes of score that are proven to be rarer are called few."""
# Highest score where a recorded run does not say: what the papers and the built-in pool have.
_USUAL_SCALE = 5


def moved_criteria(estimates: Estimates) -> dict[str, Estimate]:
    """The gaps of the criteria that Friedman's test announces after Holm's correction, by size."""
    tests = _rejected(estimates, ORDER_ERROR)
    gaps = {name: estimates.known("delta_pos", criterion=name) for name in tests}
    known = {name: gap for name, gap in gaps.items() if gap is not None}
    return dict(sorted(known.items(), key=lambda item: -(item[1].value or 0.0)))


def _corrected(estimates: Estimates) -> dict[str, Estimate]:
    """Friedman's test of each criterion with Holm's correction, whatever lost calls would say."""
    tests = {dims["criterion"]: test for dims, test in estimates.family("friedman_p")}
    adjusted = holm([test.greatest for test in tests.values()])
    pairs = zip(tests.items(), adjusted, strict=True)
    return {name: replace(test, value=p, imputed=None) for (name, test), p in pairs}


def _rejected(estimates: Estimates, error: float) -> dict[str, Estimate]:
    """The corrected tests of the criteria that reject at this error."""
    tests = _corrected(estimates)
    return {
        name: test for name, test in tests.items() if test.value is not None and test.value < error
    }


def prompts_read(estimates: Estimates) -> int:
    """Prompts with at least one reading."""
    figures = (estimates.known(name) for name in ("mean_delta_pos", "order_change_rate"))
    return next((figure.clusters for figure in figures if figure is not None), 0)


_SAY = Wording(
    subject="its scores",
    follows="follow",
    does_not_follow="do not follow",
    equal="the same scores on every criterion",
    ranked_by="mean score",
    order="the order of the criteria",
    over="mean over criteria",
    prompts=prompts_read,
)


def _lists(estimates: Estimates) -> Mapping[str, Any]:
    """The facts of `CriterionLists`; empty for a run in which criteria never change places."""
    gap = estimates.of("mean_delta_pos")
    return {} if gap is None else gap.given


def points_of_scale(estimates: Estimates, part: float) -> float:
    """A part of the scale in points, of which two scores may be more or less than one apart."""
    lists = _lists(estimates)
    steps = (lists.get("scale") or _USUAL_SCALE) - 1
    return part * float(steps * lists.get("step", 1))


def clears(estimates: Estimates, estimate: Estimate | None, limit: float) -> bool:
    """Whether an effect is proven to be small, from enough prompts to say so."""
    return prompts_read(estimates) >= FEWEST_PROMPTS and below(estimate, limit)


def _one_order(estimates: Estimates) -> str:
    """Why the order is not known although replies may have been read; "" where none was."""
    gap = estimates.of("mean_delta_pos")
    if gap is not None and gap.reason == FIXED_PLACES.code:
        return FIXED_PLACES.sentence
    return "replies were read in one order only" if gap is not None and gap.n else ""


# -- findings ----------------------------------------------------------------------------------


def find(estimates: Estimates) -> Iterator[Statement]:
    """The findings of the first page, most consequential first."""
    gap, prompts = estimates.key("mean_delta_pos"), prompts_read(estimates)
    why = _one_order(estimates)
    if prompts:
        yield from too_few(prompts, gap)
        yield from findings_of(_SENTENCES, estimates)
    elif why:
        text = f"Nothing can be said about the order of criteria: {why}."
        yield Statement(text, (gap,), "unknown")
    else:
        yield Statement(TOO_LITTLE, (gap,), "unknown")
    yield from losses.find(estimates)


def moves_score(estimates: Estimates) -> Certainty:
    """What is known of an effect of a criterion's place on its score."""
    moved, limit = moved_criteria(estimates), points_of_scale(estimates, SMALL_GAP)
    # Proven to be there and proven to be small: told, without blame.
    gaps = moved.values() or (estimates.known("max_delta_pos"),)
    return certainty(
        shown=bool(moved),
        small=all(below(gap, limit) for gap in gaps),
        indicated=bool(_rejected(estimates, SIGNIFICANT)),
        prompts=prompts_read(estimates),
    )


def _gap(estimates: Estimates) -> Iterator[Statement]:
    """Whether a criterion's place in the list moves its score."""
    certain, most = moves_score(estimates), estimates.known("max_delta_pos")
    evidence = estimates.key("max_delta_pos"), estimates.key("significant_criteria")
    moved = moved_criteria(estimates)
    if moved and certain in ("shown", "small"):
        yield _places(estimates, moved, TONES[certain])
        return
    if most is None:
        text = "This run cannot tell whether a criterion's place in the list moves its score: too"
        yield Statement(f"{text} little was read.", evidence, "unknown")
        return
    if certain == "cleared":
        reach = f"{scale_points(most, 'most')} at most{whatever_lost(most)}"
        text = f"No criterion's score moves by much with its place in the list: by {reach}"
        yield Statement(f"{text} ({number(most)} observed).", evidence, TONES[certain])
        return
    tests, shown = _corrected(estimates), _rejected(estimates, SIGNIFICANT)
    reach = "" if most.high is None else f", up to {number(most, 'high')}"
    seen = f"by {scale_points(most)} observed{reach}{if_lost(most, two_digits)}"
    known_tests = [test for test in tests.values() if test.value is not None]
    least = min(shown.values() or known_tests, key=lambda one: one.value or 0.0, default=None)
    p = "" if least is None else f"; smallest {p_value(least)}, corrected for {len(tests)} criteria"
    if certain == "indicated":
        which = f"{len(shown)} of {len(tests)} criteria ({listed([*shown])})"
        text = f"There is some evidence that the place in the list moves the score of {which}"
        text, behind = f"{text}: {seen}{p}{UNSURE}.", keys(*shown.values())
    else:
        text = "This run cannot tell whether a criterion's place in the list moves its score: "
        text, behind = f"{text}{seen}{p}.", keys(least)
    yield Statement(text, (*evidence, *behind), TONES[certain])


def _places(estimates: Estimates, moved: Mapping[str, Estimate], tone: Tone) -> Statement:
    """Which criteria depend on their place, and where the first of them scores highest."""
    (name, gap), *others = moved.items()
    count = estimates.known("significant_criteria")
    how_many = "some" if count is None else f"{len(moved)} {count.unit} criteria"
    shifts = sorted(
        (shift.value, dims["position"])
        for dims, shift in estimates.family("position_shift", criterion=name)
        if shift.value is not None
    )
    corrected = _corrected(estimates)
    tests = [corrected[each] for each in moved]
    most = max(tests, key=lambda test: test.value or 0.0)
    text = (
        f"A criterion's score depends on its place in the list for {how_many} (largest "
        f"{p_value(most)}, corrected for their number): {name} scores {scale_points(gap)} more at "
        f"position {shifts[-1][1]} than at position {shifts[0][1]}"
    )
    if gap.low is not None:
        text += f" (gap: {level(gap)} interval {ends(gap)})"
    if others:
        text += f"; also {listed([other for other, _ in others])}"
    return Statement(f"{text}.", keys(gap, *tests), tone)


def _change(estimates: Estimates) -> Iterator[Statement]:
    """How often the order changes a criterion's score, beside how often a repeat does."""
    excess, test = estimates.known("excess_change_rate"), estimates.known(ORDER_TEST)
    if worded := order_changes(estimates, "criteria", "a criterion's score"):
        text, change = worded
        tone: Tone = "neutral"
        if excess is not None and beyond_noise(excess):
            text += f", so the order matters beyond noise ({points(excess)})"
            tone, test = "bad", None
        elif clears(estimates, change, SMALL_CHANGES):
            tone = "good"
        elif test is not None and announced(estimates, ORDER_TEST):
            text += f", and the order does change it ({p_value(test)}, all responses together)"
            tone = "bad"
        elif excess is not None and above(excess, 0.0):
            text += "; there is some evidence that the order matters beyond noise "
            text += f"({points(excess)}){UNSURE}"
            tone = "unknown"
        noise = estimates.known("repeat_change_rate")
        yield Statement(f"{text}.", keys(change, noise, excess, test), tone)


_SENTENCES = (
    Sentence(_gap, of_order=1),
    Sentence(_change, of_order=2),
    *about_scores(_SAY),
)
SENTENCES = (*_SENTENCES, losses.SENTENCE)
"""The sentences of page one, most consequential first."""


# -- recommendations ---------------------------------------------------------------------------


_advice = partial(advice, "criterion_order")


def recommend(estimates: Estimates) -> Iterator[Recommendation]:
    """What to do: whether to use it, and how many orders to average."""
    gap, prompts = estimates.of("mean_delta_pos"), prompts_read(estimates)
    if gap is None or gap.reason == FIXED_PLACES.code:
        return
    r = estimates.of("pearson_r", arm="balanced")
    if not prompts and _one_order(estimates):
        yield _advice("Ask about each response in other orders of the criteria too.", gap)
    elif not prompts:
        yield _advice(DO_NOT_USE, gap, stops=True)
    elif within := misorders(estimates):
        text = "Do not score several criteria with it: it orders the responses to a prompt wrongly."
        yield _advice(text, within, r, stops=True)
    elif ignores_quality(estimates):
        yield _useless(estimates, r)
    elif prompts < FEWEST_PROMPTS:
        yield _advice(PROBE_MORE, gap)
    elif r is not None and r.value is not None and not (above(r, 0.0) or is_perfect(r)):
        yield _advice(NOT_SHOWN, r)
        yield from _what_for(estimates)
    else:
        yield from _what_for(estimates)
        yield from _orders(estimates)


def _useless(estimates: Estimates, r: Estimate | None) -> Recommendation:
    """Advice against a judge whose mean over criteria hardly depends on quality."""
    text = "Do not score several criteria with it: what it says hardly depends on quality"
    if good := followed(estimates):
        text += f", except on {listed([*good])} ({listed([*map(correlation, good.values())])})"
    return _advice(f"{text}.", r, *good.values(), stops=True)


def _what_for(estimates: Estimates) -> Iterator[Recommendation]:
    if weak := not_followed(estimates):
        text = f"Do not use its scores on {listed([*weak])}: they hardly depend on quality."
        yield _advice(text, *weak.values(), stops=True)
    if unsure := left_open(estimates):
        text = f"Probe more prompts before using its scores on {listed([*unsure])}: this run does"
        yield _advice(f"{text} not show that they follow quality.", *unsure.values())
    if ties := hardly_ranks(estimates):
        text = "Do not choose between responses to a prompt by its scores: several share the best."
        yield _advice(text, ties, stops=True)
    elif few := few_levels(estimates):
        yield _advice(*few)


def _apart(estimates: Estimates) -> dict[str, Estimate]:
    """Criteria whose gap is proven to be large; a prompt of their own spares them."""
    limit = points_of_scale(estimates, LARGE_GAP)
    return {name: gap for name, gap in moved_criteria(estimates).items() if above(gap, limit)}


def _orders(estimates: Estimates) -> Iterator[Recommendation]:
    """Average over as many orders as bring nearly all; or nothing to worry about."""
    excess, most = estimates.known("excess_change_rate"), estimates.of("max_delta_pos")
    small, few = points_of_scale(estimates, SMALL_GAP), enough(estimates)
    if moved_criteria(estimates):
        orders = f"the {few.orders} balanced orders" if few else "balanced orders"
        large = _apart(estimates)
        alone = f", and ask for {listed(list(large))} in separate prompts" if large else ""
        yield _advice(
            f"Average over {orders} of the criteria, which cancels the effect of the place; if "
            f"only one call is possible, shuffle the criteria for every response{alone}.",
            estimates.of("significant_criteria"),
            most,
            *list(large.values())[:MOST_EVIDENCE],
        )
        return
    test = estimates.known(ORDER_TEST) if announced(estimates, ORDER_TEST) else None
    if test or beyond_noise(excess):
        yield _advice(
            "Average over several orders of the criteria: the order changes scores, though no "
            "place is shown to be favoured overall.",
            excess,
            test,
            few and few.at,
        )
    elif clears(estimates, most, small):
        yield _advice(
            "Do not worry about the order of the criteria: no place is worth "
            f"{with_noun(f'{small:g}', 'point')}.",
            most,
        )
    if few and few.k > 1:
        what = "its correlation with quality"
        yield _advice(few.averaging("the criteria", what), few.at)


# -- mitigations and controls ------------------------------------------------------------------


def mitigate(estimates: Estimates) -> Iterator[Mitigation]:
    """Averaging over the balanced orders, with what it does to the correlation with quality."""
    few = enough(estimates)
    if few is not None:
        yield Mitigation(
            action=f"average {few.orders} balanced orders of the criteria",
            before=estimates.key("single_read_r"),
            after=estimates.key("pearson_r", arm="balanced"),
            calls=few.orders,
            code="average_orders",
        )


def control(estimates: Estimates) -> Iterator[Control]:
    """Whether the scores follow a quality that is known."""
    if prompts_read(estimates):
        text = "Averaged over orders, scores on a criterion must rise with quality that is known."
        yield from follows_quality(estimates, text)


# -- caveats -----------------------------------------------------------------------------------


def warn(readings: Readings, estimates: Estimates) -> Iterator[str]:
    """What a reader of this run must know."""
    so = "no readable set of scores; the figures describe the rest, which may differ."
    yield from caveats_of_scores(readings, so)
    if any(not label.criterion for label in readings.labels):
        yield "Labels that name no criterion were not used: quality is compared by criterion."
    yield from about_repeats(readings)
    if estimates.known("excess_change_rate") is None:
        yield "Changes caused by the order cannot be told from noise: no order was read twice."
    lists = _lists(estimates)
    if lists.get("left_out"):
        yield (
            "Some prompts have a different number of criteria or scores than most; "
            "places in lists "
            "of different length do not compare, so these prompts were left out."
        )
    if lists.get("balanced") is False:
        yield (
            "The recorded orders do not show every criterion equally often at every position; "
            "positions are compared within responses, which is less precise."
        )
