"""What the estimates mean, in words: findings, recommendations and caveats.

Every sentence is decided by an interval or a test, never by a point value, and names the keys that
it rests on. What the data cannot tell is said to be unknown, never good.
"""

from collections.abc import Iterator
from functools import partial

from judgesheet.axis import Readings, losses, places
from judgesheet.axis.findings import (
    NOT_SHOWN,
    PROBE_MORE,
    Wording,
    about_scores,
    caveats_of_scores,
    enough,
    few_levels,
    follows_quality,
    hardly_ranks,
    ignores_quality,
    is_perfect,
    misorders,
    order_changes,
)
from judgesheet.axis.labels import NO_REFERENCE, whose
from judgesheet.axis.repeats import about_repeats
from judgesheet.axis.reversal import NO_REPEAT
from judgesheet.axis.statements import (
    FEWEST_PROMPTS,
    NEAR_ENOUGH,
    ORDER_TEST,
    TONES,
    Certainty,
    Sentence,
    Tone,
    above,
    advice,
    announced,
    below,
    beyond_noise,
    correlation,
    ends,
    findings_of,
    if_lost,
    indicated,
    interval,
    keys,
    made,
    number,
    p_value,
    points,
    share,
    surely_above,
    too_few,
    whatever_lost,
)
from judgesheet.axis.unanswered import DO_NOT_USE, TOO_LITTLE
from judgesheet.base.digits import two_digits
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Control, Estimate, Mitigation, Recommendation, Statement

from ._questions import MAIN_SCALE, foretell
from .expected import without_expected_score
from .orders import CONFIDENT, DEFAULT_IS_BEST
from .positions import NO_BALANCED_ARM

SMALL_CHANGES = 0.05
"""Changes of the score that are proven to exceed those of a repeat by less are little."""
SMALL_V = 0.15
"""A preference for a place that is proven to be below this is called small."""
# The figure that stands for the axis where nothing more can be said.
_V = "cramers_v_debiased"


def prompts_read(estimates: Estimates) -> int:
    """Prompts with at least one reading."""
    chi2 = estimates.known("chi2")
    return 0 if chi2 is None else chi2.clusters


_SAY = Wording(
    subject="its score",
    follows="follows",
    does_not_follow="does not follow",
    equal="the same score",
    ranked_by="score",
    order="the order",
    prompts=prompts_read,
)


def _is_unbalanced(estimates: Estimates) -> bool:
    """Whether recorded orders favour positions by themselves, whatever the judge does."""
    first = estimates.known("position_share", position=1)
    return first is not None and first.given.get("balanced") is False


# -- findings ----------------------------------------------------------------------------------


def find(estimates: Estimates) -> Iterator[Statement]:
    """The findings of the first page, most consequential first."""
    v, prompts = estimates.key(_V), prompts_read(estimates)
    if _lacks_balanced_arm(estimates):
        text = f"Nothing can be said about the order: {NO_BALANCED_ARM.sentence}."
        yield Statement(text, (v,), "unknown")
        yield from _fixed(estimates)
        yield from _noise(estimates)
    elif prompts:
        yield from too_few(prompts, v)
        yield from findings_of(_SENTENCES, estimates)
    else:
        yield Statement(TOO_LITTLE, (v,), "unknown")
    yield from losses.find(estimates)


def _lacks_balanced_arm(estimates: Estimates) -> bool:
    v = estimates.of(_V)
    return v is not None and v.reason == NO_BALANCED_ARM.code


def _fixed(estimates: Estimates) -> Iterator[Statement]:
    """The correlation of the one order that was recorded, where nothing is known about others."""
    r = estimates.known("pearson_r", arm="fixed")
    if r is not None:
        unsure = "; no interval" if r.low is None else ""
        text = f"Under the one order that was recorded, its score and quality have {correlation(r)}"
        yield Statement(f"{text}{unsure} (quality: {whose(r)}).", (r.key,))


def favours_place(estimates: Estimates) -> Certainty:
    """What is known of a preference for a place in the rubric, whatever stands there."""
    little = below(estimates.known("cramers_v"), SMALL_V)
    return places.favours(
        estimates, "position_share", small=little, prompts=prompts_read(estimates)
    )


def _by_scale(estimates: Estimates) -> dict[str, Estimate]:
    """Cramér's V on rubrics of each length, where several were shown."""
    family = estimates.family("cramers_v")
    return {dims["scale"]: v for dims, v in family if "scale" in dims}


def _favouring_scales(estimates: Estimates) -> dict[str, Estimate]:
    """V on the rubrics of other lengths in which a place is surely favoured by more than little."""
    main = estimates.known("cramers_v")
    others = {
        scale: v
        for scale, v in _by_scale(estimates).items()
        if main is not None and int(scale) != main.given["scale"]
    }
    return {scale: v for scale, v in others.items() if surely_above(v, SMALL_V, of=len(others))}


def _favourite(estimates: Estimates) -> Iterator[Statement]:
    """Whether a place in the rubric is favoured, whatever stands there."""
    v, test = estimates.known("cramers_v"), estimates.known(ORDER_TEST)
    tests = estimates.key(ORDER_TEST), estimates.key("cramers_v")
    extreme, certain = places.farthest(estimates, "position_share"), favours_place(estimates)
    if _is_unbalanced(estimates):
        text = (
            "This run cannot tell whether a position in the rubric is favoured: the recorded "
            "orders do not show every score equally often at every position."
        )
        yield Statement(text, (estimates.key("position_share", position=1),), "unknown")
    elif extreme is None or v is None:
        text = (
            "This run cannot tell whether a position in the rubric is favoured: too little was read"
        )
        yield Statement(f"{text}.", tests, "unknown")
    else:
        strength = f"Cramér's V is {number(v)} (0 is no preference, 1 always the same position)"
        most = "" if v.most is None else f"{number(v, 'most')} at most{whatever_lost(v)}"
        reach = "" if v.high is None else f"; {strength}, up to {number(v, 'high')}"
        length = f"{v.given['scale']}-point " if _by_scale(estimates) else ""
        says = places.wordings(
            f"a position in the {length}rubric",
            f"the score listed at position {extreme.place} is given in {share(extreme.share)} of "
            "calls",
            extreme,
            test,
            little=f"{strength}, {most}",
            none=f"No position in the {length}rubric is favoured by much: {strength}, {most}.",
            rest=f"{reach}{if_lost(v, two_digits)}",
        )
        evidence = tests if certain == "cleared" else (extreme.share.key, *tests)
        elsewhere = certain == "cleared" and _favouring_scales(estimates)
        yield Statement(says[certain], evidence, "neutral" if elsewhere else TONES[certain])


def _other_scales(estimates: Estimates) -> Iterator[Statement]:
    """The rubrics of other lengths in which a place is favoured."""
    if found := _favouring_scales(estimates):
        by_scale = [f"{number(v)} with {scale} points ({ends(v)})" for scale, v in found.items()]
        yield Statement(
            "It favours a position in rubrics of another length: "
            f"Cramér's V is {', '.join(by_scale)}.",
            keys(*found.values()),
            "bad",
        )


def _change(estimates: Estimates) -> Iterator[Statement]:
    """How often the score changes with the order, beside how often it changes by itself."""
    noise, test = estimates.known("repeat_change_rate"), estimates.known(ORDER_TEST)
    excess = estimates.known("excess_change_rate")
    if changes := order_changes(estimates, "rubric", "the score"):
        text, change = changes
        by_rates, by_test = beyond_noise(excess), announced(estimates, ORDER_TEST)
        shown, little = by_rates or by_test, below(excess, SMALL_CHANGES)
        tone: Tone = "neutral"
        if shown and little:
            means = ". This effect is measured, but small"
        elif shown:
            means, tone = "; the order itself changes it", "bad"
        elif above(excess, 0.0) or indicated(estimates, ORDER_TEST):
            means, tone = "; there is some evidence that the order itself changes it", "unknown"
        else:
            means = "; it is not shown that the order itself changes it"
        by = [points(excess)] if excess is not None and above(excess, 0.0) else []
        only_by_test = not by and (shown or tone == "unknown")
        by += [p_value(test)] if test is not None and (by_test or not by) else []
        why = f" ({'; '.join(by)})" if by else ""
        if only_by_test and excess is not None and excess.most is not None:
            why += f"; it is not shown that this is more often than for a repeat ({points(excess)})"
        yield Statement(f"{text}{means}{why}.", keys(change, noise, excess, test), tone)


def _noise(estimates: Estimates) -> Iterator[Statement]:
    """Whether the judge repeats itself."""
    noise = estimates.known("repeat_change_rate")
    if noise is not None and noise.value:
        yield Statement(
            "Its replies vary: the same question asked twice gets a different score in "
            f"{share(noise)} of cases ({interval(noise)}).",
            (noise.key,),
        )


_SENTENCES = (
    Sentence(_favourite),  # by the test that `_change` counts
    Sentence(_other_scales, tests=1),
    Sentence(_change, of_order=2),
    *about_scores(_SAY),
    Sentence(_noise),
)
SENTENCES = (*_SENTENCES, losses.SENTENCE)
"""The sentences of page one, most consequential first."""


# -- recommendations ---------------------------------------------------------------------------


_advice = partial(advice, "score_order")


def recommend(estimates: Estimates) -> Iterator[Recommendation]:
    """What to do: whether to use it, how many orders to average, which order to print."""
    v, prompts = estimates.of(_V), prompts_read(estimates)
    r = estimates.of("pearson_r", arm="balanced")
    if _lacks_balanced_arm(estimates):
        return
    if not prompts:
        yield _advice(DO_NOT_USE, v, stops=True)
    elif within := misorders(estimates):
        text = "Do not score responses with it: it puts those to one prompt in the wrong order."
        yield _advice(text, within, r, stops=True)
    elif ignores_quality(estimates):
        text = "Do not score responses with it: its scores hardly depend on their quality."
        yield _advice(text, estimates.of("top_tie_rate"), r, stops=True)
    elif prompts < FEWEST_PROMPTS:
        yield _advice(PROBE_MORE, v)
    elif r is not None and not (r.reason == NO_REFERENCE.code or above(r, 0.0) or is_perfect(r)):
        yield _advice(NOT_SHOWN, r)
        yield from _what_for(estimates)
    else:
        for part in (_what_for, _how_many, _which_order, _which_scale):
            yield from part(estimates)


def _what_for(estimates: Estimates) -> Iterator[Recommendation]:
    if ties := hardly_ranks(estimates):
        yield _advice(
            "Do not choose between responses to a prompt by its scores: several of them get the "
            "best score.",
            ties,
            stops=True,
        )
    elif few := few_levels(estimates):
        yield _advice(*few)


def _how_many(estimates: Estimates) -> Iterator[Recommendation]:
    """Smallest k within .02 of all orders, where quality is known."""
    few = enough(estimates)
    if few is None or few.orders == 1:
        return
    what = "its correlation with quality"
    adds_little = f"adds less than {NEAR_ENOUGH} to {what}"
    if few.k > 1:
        yield _advice(few.averaging("the rubric's scores", what), few.at, few.single)
    elif announced(estimates, ORDER_TEST):
        yield _advice(
            f"Average over {few.orders} orders where the score itself matters: the order moves "
            f"it, though averaging {adds_little}.",
            estimates.of(ORDER_TEST),
            few.single,
        )
    elif not hardly_ranks(estimates):
        text = f"One reading is enough: averaging over {few.orders} orders {adds_little}."
        yield _advice(text, few.single, binding=False)


def _which_order(estimates: Estimates) -> Iterator[Recommendation]:
    """An order is worth a word only where the position is shown to matter."""
    sure, best = estimates.of("min_bias_confidence"), estimates.known("min_bias_order")
    if not announced(estimates, ORDER_TEST) or best is None:
        return
    # 54321 is the order 5 4 3 2 1.
    order = " ".join(str(int(best.value or 0)))
    if sure is not None and sure.value is not None and sure.value >= CONFIDENT:
        yield _advice(
            f"If only one order can be used, print {order}: it costs less than the default in "
            f"{share(sure)} of resamples.",
            sure,
            best,
        )
    elif sure is not None and sure.reason == DEFAULT_IS_BEST.code:
        yield _advice(
            f"If only one order can be used, keep {order}: it is the default and costs least of "
            "those probed.",
            best,
            binding=False,
        )
    else:
        text = "If only one order can be used, keep the default: no order is measurably better."
        yield _advice(text, sure, best, binding=False)


def _which_scale(estimates: Estimates) -> Iterator[Recommendation]:
    """A shorter or longer rubric, if it is less biased and follows quality as well."""
    main_v, main_r = estimates.known("cramers_v"), estimates.known("pearson_r", arm="balanced")
    if main_v is None or main_v.least is None or main_r is None:
        return
    for dims, v in estimates.family("cramers_v"):
        scale = dims.get("scale")
        r = estimates.known("pearson_r", arm="balanced", scale=scale)
        as_good = r is not None and (r.value or 0.0) >= (main_r.value or 0.0) - NEAR_ENOUGH
        if as_good and below(v, main_v.least):
            yield _advice(
                f"Consider a rubric of {scale} points: its position preference is proven weaker, "
                "and its score follows quality as well.",
                v,
                main_v,
                r,
            )
            return


# -- mitigations and controls ------------------------------------------------------------------


def mitigate(estimates: Estimates) -> Iterator[Mitigation]:
    """Averaging over the balanced orders, with what it does to the correlation with quality."""
    probed = [int(dims["k"]) for dims, _ in estimates.family("budget_r", arm="balanced")]
    orders = max(probed, default=2 * MAIN_SCALE)
    yield Mitigation(
        action=f"average {orders} balanced orders of the rubric",
        before=estimates.key("budget_r", k=1, arm="balanced"),
        after=estimates.key("budget_r", k=orders, arm="balanced"),
        calls=orders,
        code="average_orders",
    )


def control(estimates: Estimates) -> Iterator[Control]:
    """Whether the scores follow a quality that is known."""
    text = "Averaged over orders, scores must rise with the quality that is known."
    return follows_quality(estimates, text)


# -- caveats -----------------------------------------------------------------------------------


def warn(readings: Readings, estimates: Estimates) -> Iterator[str]:
    """What a reader of this run must know."""
    so = "no score; the figures describe the readable rest, which may differ."
    yield from caveats_of_scores(readings, so)
    yield from about_repeats(readings)
    yield from without_expected_score(readings)
    if "scale" in readings.frame:
        yield from foretell({"scale": scale} for scale in made(readings)["scale"].unique())
    flips = estimates.of("excess_flip_rate")
    if flips is None or flips.reason == NO_REPEAT.code:
        yield "Flips caused by the order cannot be told from noise: no order was read twice."
    if _is_unbalanced(estimates):
        yield (
            "The recorded orders are not balanced over positions: position figures mix the judge's "
            "preference for a place with its preference for a score."
        )
