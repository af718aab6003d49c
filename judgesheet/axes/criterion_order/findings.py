"""What the estimates mean, in words: findings, recommendations and caveats.

Every sentence is decided by an interval or a test, never by a point value, and names the keys that
it rests on. What the data cannot tell is said to be unknown, never good.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgesheet.axes.criterion_order.positions import FIXED_PLACES
from judgesheet.axis import Readings, losses, unequal
from judgesheet.axis.findings import (
    USABLE_R,
    Wording,
    enough,
    is_flat,
    is_perfect,
    misorders,
    order_changes,
    quality,
    winner,
)
from judgesheet.axis.labels import NO_REFERENCE, caveats
from judgesheet.axis.repeats import about_repeats
from judgesheet.axis.words import (
    FEWEST_PROMPTS,
    NEAR_ENOUGH,
    above,
    announced,
    below,
    ends,
    few_asked,
    keys,
    level,
    number,
    surely_above,
    too_few,
    unread,
)
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Control, Estimate, Mitigation, Recommendation, Statement

SMALL_GAP = 1 / 16
"""Position gaps proven to be below this share of the scale are small: .25 points of 1 to 5."""
LARGE_GAP = 1 / 8
"""A criterion whose gap is proven to be above this share of the scale is better asked alone."""
SMALL_CHANGES = 0.05
"""Changes of score that are proven to be rarer are called few."""
_MOST_EVIDENCE = 4
# Highest score where a recorded run does not say: what the papers and the built-in pool have.
_USUAL_SCALE = 5
_SAY = Wording(
    subject="its scores",
    follows="follow",
    does_not_follow="do not follow",
    equal="the same scores on every criterion",
    ranked_by="mean score",
    order="the order of the criteria",
    over="mean over criteria",
)


def moved_criteria(estimates: Estimates) -> dict[str, Estimate]:
    """The gaps of the criteria that Friedman's test announces after Holm's correction, by size."""
    criteria = [dims["criterion"] for dims, _ in estimates.family("friedman_p_holm")]
    gaps = {
        name: estimates.known("delta_pos", criterion=name)
        for name in criteria
        if announced(estimates, "friedman_p_holm", criterion=name)
    }
    known = {name: gap for name, gap in gaps.items() if gap is not None}
    return dict(sorted(known.items(), key=lambda item: -(item[1].value or 0.0)))


def _prompts(estimates: Estimates) -> int:
    """Prompts with at least one reading."""
    figures = (estimates.known(name) for name in ("mean_delta_pos", "order_change_rate"))
    return next((figure.clusters for figure in figures if figure is not None), 0)


def _lists(estimates: Estimates) -> Mapping[str, Any]:
    """The facts of `CriterionLists`; empty for a run in which criteria never change places."""
    gap = estimates.of("mean_delta_pos")
    return {} if gap is None else gap.given


def points_of_scale(estimates: Estimates, part: float) -> float:
    """A part of the scale in points."""
    return part * ((_lists(estimates).get("scale") or _USUAL_SCALE) - 1)


def clears(estimates: Estimates, estimate: Estimate | None, limit: float) -> bool:
    """Whether an effect is proven to be small, from enough prompts to say so."""
    return _prompts(estimates) >= FEWEST_PROMPTS and below(estimate, limit)


def _one_order(estimates: Estimates) -> str:
    """Why the order is not known although replies may have been read; "" where none was."""
    gap = estimates.of("mean_delta_pos")
    if gap is not None and gap.reason == FIXED_PLACES.code:
        return FIXED_PLACES.sentence
    return "replies were read in one order only" if gap is not None and gap.n else ""


# -- findings ----------------------------------------------------------------------------------


def find(estimates: Estimates) -> Iterator[Statement]:
    """The findings of the first page, most consequential first."""
    gap, prompts, why = estimates.key("mean_delta_pos"), _prompts(estimates), _one_order(estimates)
    if prompts:
        yield from too_few(prompts, gap)
        yield _gap(estimates)
        yield from _change(estimates)
        yield from unequal.find(estimates)
        yield from winner(estimates, prompts, _SAY)
        yield from quality(estimates, prompts, _SAY, _exceptions(estimates))
    elif why:
        text = f"Nothing can be said about the order of criteria: {why}."
        yield Statement(text, (gap,), "unknown")
    else:
        text = "No reply could be read, so nothing about the order of criteria is known here."
        yield Statement(text, (gap,), "bad")
    yield from losses.find(estimates)


def _gap(estimates: Estimates) -> Statement:
    """Whether a criterion's place in the list moves its score."""
    moved, most = moved_criteria(estimates), estimates.known("max_delta_pos")
    if moved:
        return _places(estimates, moved)
    evidence = estimates.key("max_delta_pos"), estimates.key("significant_criteria")
    if most is not None and clears(estimates, most, points_of_scale(estimates, SMALL_GAP)):
        text = "No criterion's score moves by much with its place in the list"
        return Statement(f"{text}: by {number(most, 'most')} points at most.", evidence, "good")
    reach = "" if most is None or most.most is None else f": by up to {number(most, 'most')} points"
    text = f"It cannot be told whether a criterion's place in the list moves its score{reach}."
    return Statement(text, evidence, "unknown")


def _places(estimates: Estimates, moved: Mapping[str, Estimate]) -> Statement:
    """Which criteria depend on their place, and where the first of them scores highest."""
    (name, gap), *others = moved.items()
    count = estimates.known("significant_criteria")
    how_many = "some" if count is None else f"{len(moved)} {count.unit} criteria"
    shifts = sorted(
        (shift.value, dims["position"])
        for dims, shift in estimates.family("position_shift", criterion=name)
        if shift.value is not None
    )
    text = (
        f"A criterion's score depends on its place in the list for {how_many}: {name} scores "
        f"{number(gap)} points more at position {shifts[-1][1]} than at position {shifts[0][1]}"
    )
    if gap.low is not None:
        text += f" (gap: {level(gap)} interval {ends(gap)})"
    if others:
        text += f"; also {_listed([other for other, _ in others])}"
    limit = points_of_scale(estimates, SMALL_GAP)
    # Proven to be there and proven to be small: told, without blame.
    small = all(below(each, limit) for each in moved.values())
    tests = (estimates.key("friedman_p_holm", criterion=each) for each in moved)
    return Statement(f"{text}.", (gap.key, *tests), "neutral" if small else "bad")


def _listed(names: Sequence[str]) -> str:
    shown = names if len(names) < 5 else [*names[:4], f"{len(names) - 4} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _change(estimates: Estimates) -> Iterator[Statement]:
    """How often the order changes a criterion's score, beside how often a repeat does."""
    matters = surely_above(estimates.known("excess_change_rate"), 0.0)
    if told := order_changes(estimates, "criteria", "a criterion's score"):
        text, change = told
        few = clears(estimates, change, SMALL_CHANGES)
        yield Statement(
            f"{text}{', so the order matters beyond noise' if matters else ''}.",
            (change.key, estimates.key("repeat_change_rate"), estimates.key("excess_change_rate")),
            "bad" if matters else "good" if few else "neutral",
        )


def _exceptions(estimates: Estimates) -> str:
    """The criteria whose scores do not follow quality, as a sentence; "" for none."""
    criteria = estimates.family("pearson_r", arm="balanced")
    weak = [dims["criterion"] for dims, r in criteria if "criterion" in dims and below(r, USABLE_R)]
    return f" They do not follow it on {_listed(weak)}." if weak else ""


# -- recommendations ---------------------------------------------------------------------------


def recommend(estimates: Estimates) -> Iterator[Recommendation]:
    """What to do: whether to use it, and how many orders to average."""
    gap, prompts = estimates.of("mean_delta_pos"), _prompts(estimates)
    if gap is None or gap.reason == FIXED_PLACES.code:
        return
    r = estimates.of("pearson_r", arm="balanced")
    if not prompts and _one_order(estimates):
        yield _advice("Ask for each response in other orders of the criteria too.", gap)
    elif not prompts:
        yield _advice("Do not use it as it was asked: no reply could be read.", gap, stops=True)
    elif within := misorders(estimates):
        text = "Do not score several criteria with it: it puts a prompt's responses in wrong order."
        yield _advice(text, within, r, stops=True)
    elif r is not None and (is_flat(r) or below(r, USABLE_R)):
        text = "Do not score several criteria with it: what it says hardly depends on quality."
        yield _advice(text, r, stops=True)
    elif prompts < FEWEST_PROMPTS:
        yield _advice(
            f"Probe at least {FEWEST_PROMPTS} prompts before relying on this sheet; the standard "
            "profile asks 24.",
            gap,
        )
    elif r is not None and r.value is not None and not (above(r, 0.0) or is_perfect(r)):
        yield _advice(
            "Probe more prompts before scoring with it: this run does not show that it follows "
            "quality.",
            r,
        )
    else:
        yield from _orders(estimates)


def _advice(text: str, *evidence: Estimate | None, stops: bool = False) -> Recommendation:
    return Recommendation("criterion_order", text, keys(*evidence), stops=stops)


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
        alone = f", and ask for {_listed(list(large))} in a prompt of its own" if large else ""
        yield _advice(
            f"Average over {orders} of the criteria, which cancels the effect of the place; where "
            f"one call must do, shuffle the criteria for every response{alone}.",
            estimates.of("significant_criteria"),
            most,
            *list(large.values())[:_MOST_EVIDENCE],
        )
        return
    if surely_above(excess, 0.0):
        yield _advice(
            "Average over several orders of the criteria: the order changes scores, though no "
            "place is shown to be favoured throughout.",
            excess,
            few and few.at,
        )
    elif clears(estimates, most, small):
        yield _advice(
            f"Do not worry about the order of the criteria: no place is worth {small:g} points.",
            most,
        )
    if few and few.k > 1:
        what = "its correlation with quality" if few.figure == "budget_r" else "its scores"
        yield _advice(
            f"Average over {few.k} readings, each under another order of the criteria: that "
            f"brings {what} within {NEAR_ENOUGH} of {few.orders} orders.",
            few.at,
        )


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
        )


def control(estimates: Estimates) -> Iterator[Control]:
    """Whether the scores follow a quality that is known."""
    r = estimates.of("pearson_r", arm="balanced")
    if r is None or r.reason == NO_REFERENCE.code or not _prompts(estimates):
        return
    follows, poor = above(r, 0.0) or is_perfect(r), is_flat(r) or below(r, USABLE_R)
    passed = False if poor else True if follows else None
    text = "Averaged over orders, a criterion's scores must rise with the quality that is known."
    yield Control("scores follow quality", passed, text, (r.key,), "follows_quality")


# -- caveats -----------------------------------------------------------------------------------


def warn(readings: Readings, estimates: Estimates) -> Iterator[str]:
    """What a reader of this run must know."""
    yield from few_asked(readings)
    yield from unread(
        readings, "no readable set of scores; the figures describe the rest, which may differ."
    )
    yield from caveats(readings.labels, list(readings.frame["item"].unique()))
    if any(not label.criterion for label in readings.labels):
        yield "Labels that name no criterion were not used: quality is compared by criterion."
    yield from about_repeats(readings)
    if estimates.known("excess_change_rate") is None:
        yield "Changes caused by the order cannot be told from noise: no order was read twice."
    lists = _lists(estimates)
    if lists.get("left_out"):
        yield (
            "Some prompts have another number of criteria or of scores than most; places in lists "
            "of different length do not compare, so these prompts were left out."
        )
    if lists.get("balanced") is False:
        yield (
            "The recorded orders do not show every criterion equally often at every position; "
            "positions are compared within responses, which is less precise."
        )
