"""The effects that this axis looks for, what helps against them, and what a reader must know."""

from collections.abc import Iterator

from judgesheet.axis import Readings
from judgesheet.axis.effect import (
    AVERAGE,
    FOLLOWS,
    MOSTLY,
    averaging,
    caveats_of_scores,
    follows_quality,
)
from judgesheet.axis.repeats import about_repeats
from judgesheet.base.effects import EXCESS, Effect
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Control, Mitigation

ORDER_TEST = "criterion_order.order_dependence_p"
EFFECTS = (
    Effect(
        "criterion_order.excess_change_rate",
        null=0.0,
        small=0.15,
        harm="up",
        share=EXCESS,
        test=ORDER_TEST,
        noise="criterion_order.repeat_change_rate",
        uses=("scoring", "order", "regression"),
        remedy=AVERAGE,
        departs="change",
        says={
            "shown": "Another order of the same criteria changes {value} of scores beyond what "
            "asking twice changes ({interval}).",
            "by_test": "The order of the criteria moves scores ({p}). How often is open: "
            "{value} beyond what asking twice changes ({interval}).",
            "negligible": "Another order of the criteria hardly changes scores: {value} beyond "
            "what asking twice changes, at most {bound}.",
            "inconclusive": "Whether the order of the criteria changes scores is open: {value} "
            "beyond what asking twice changes ({interval}).",
        },
    ),
    Effect(
        "criterion_order.delta_pos[criterion=*]",
        null=0.0,
        small=0.5,
        harm="up",
        test=ORDER_TEST,
        uses=("scoring", "order", "regression"),
        remedy=AVERAGE,
        says={
            "shown": "{criterion} scores {value} more at its best place in the list than at its "
            "worst ({interval}).",
            "by_test": "The order of the criteria moves scores ({p}). From its best place in the "
            "list to its worst, {criterion} falls by {value} ({interval}).",
            "negligible": "{criterion} scores nearly alike at every place in the list: {value} "
            "apart, at most {bound}.",
            "inconclusive": "Whether the score of {criterion} depends on its place in the list is "
            "open: {value} apart ({interval}).",
        },
    ),
    Effect(
        "criterion_order.pearson_r[arm=balanced]",
        null=FOLLOWS,
        small=0.0,
        harm="down",
        uses=("scoring", "regression"),
        departs="error",
        says={
            "shown": "Scores do not follow quality: over all criteria their correlation with it is "
            "{value} ({interval}; 1 is perfect).",
            "negligible": "Scores follow quality: over all criteria their correlation with it is "
            "{value}, at least {bound}.",
            "inconclusive": "Whether scores follow quality closely enough is open: over all "
            "criteria their correlation with it is {value} ({interval}).",
        },
    ),
    Effect(
        "criterion_order.pearson_r[criterion=*,arm=balanced]",
        null=FOLLOWS,
        small=0.0,
        harm="down",
        uses=("scoring", "regression"),
        says={
            "shown": "Scores of {criterion} do not follow quality: their correlation with it is "
            "{value} ({interval}; 1 is perfect).",
            "negligible": "Scores of {criterion} follow quality: their correlation with it is "
            "{value}, at least {bound}.",
            "inconclusive": "Whether scores of {criterion} follow quality closely enough is open: "
            "their correlation with it is {value} ({interval}).",
        },
    ),
    Effect(
        "criterion_order.top_tie_rate",
        null=MOSTLY,
        small=0.0,
        harm="up",
        uses=("ranking",),
        says={
            "shown": "It hardly ranks: in {value} of readings several responses share the best "
            "mean score ({interval}).",
            "negligible": "It mostly tells the best response apart: several share the best mean "
            "score in {value} of readings, at most {bound}.",
            "inconclusive": "Whether it ranks is open: several responses share the best mean score "
            "in {value} of readings ({interval}).",
        },
    ),
)


def mitigate(estimates: Estimates) -> Iterator[Mitigation]:
    """Averaging over orders, with what it does to the correlation with quality."""
    return averaging(estimates, "criteria")


def control(estimates: Estimates) -> Iterator[Control]:
    """Whether the scores follow a quality that is known."""
    text = "Averaged over orders, scores on a criterion must rise with quality that is known."
    return follows_quality(estimates, text)


def warn(readings: Readings, estimates: Estimates) -> Iterator[str]:
    """What a reader of this run must know."""
    so = "no readable set of scores; the figures describe the rest, which may differ."
    yield from caveats_of_scores(readings, so, estimates)
    if any(not label.criterion for label in readings.labels):
        yield "Labels that name no criterion were not used: quality is compared by criterion."
    yield from about_repeats(readings)
    if estimates.known("excess_change_rate") is None:
        yield "Changes caused by the order cannot be told from noise: no order was read twice."
    gap = estimates.of("mean_delta_pos")
    lists = {} if gap is None else gap.given
    if lists.get("left_out"):
        yield (
            "Some prompts have a different number of criteria or scores than most; places in lists "
            "of different length do not compare, so these prompts were left out."
        )
    if lists.get("balanced") is False:
        yield (
            "The recorded orders do not show every criterion equally often at every position; "
            "positions are compared within responses, which is less precise."
        )
