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
from judgesheet.axis.reversal import NO_REPEAT
from judgesheet.base.effects import EXCESS, Effect
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Control, Mitigation

from .ask import cannot_show
from .figures import without_expected_score

ORDER_TEST = "score_order.order_dependence_p"
EFFECTS = (
    Effect(
        "score_order.excess_change_rate",
        null=0.0,
        small=0.10,
        harm="up",
        share=EXCESS,
        test=ORDER_TEST,
        noise="score_order.repeat_change_rate",
        uses=("scoring", "order", "regression"),
        remedy=AVERAGE,
        departs="change",
        says={
            "shown": "Another order of the same rubric changes {value} of scores beyond what "
            "asking twice changes ({interval}).",
            "by_test": "The order of the rubric moves scores ({p}). How often is open: "
            "{value} beyond what asking twice changes ({interval}).",
            "negligible": "Another order of the rubric hardly changes scores: {value} beyond what "
            "asking twice changes, at most {bound}.",
            "inconclusive": "Whether the order of the rubric changes scores is open: {value} "
            "beyond what asking twice changes ({interval}).",
        },
    ),
    Effect(
        "score_order.cramers_v",
        null=0.0,
        small=0.15,
        harm="up",
        test=ORDER_TEST,
        uses=("scoring", "order", "regression"),
        remedy=AVERAGE,
        says={
            "shown": "It favours a place in the rubric, whatever score is listed there: Cramér's V "
            "is {value} ({interval}; 0 is no preference, 1 always the same place).",
            "by_test": "The order of the rubric moves scores ({p}). How much it favours a place "
            "is open: Cramér's V is {value} ({interval}; 0 is no preference).",
            "negligible": "No place in the rubric is favoured by much: Cramér's V is {value}, at "
            "most {bound} (0 is no preference).",
            "inconclusive": "Whether a place in the rubric is favoured is open: Cramér's V is "
            "{value} ({interval}; 0 is no preference).",
        },
    ),
    Effect(
        "score_order.excess_flip_rate",
        null=0.0,
        small=0.10,
        harm="up",
        noise="score_order.repeat_flip_rate",
        uses=("ranking", "order", "regression"),
        remedy=AVERAGE,
        departs="change",
        says={
            "shown": "The order of the rubric decides which response comes out best: in {value} of "
            "comparisons beyond what asking twice changes ({interval}).",
            "negligible": "The order of the rubric hardly decides which response comes out best: "
            "{value} beyond what asking twice changes, at most {bound}.",
            "inconclusive": "Whether the order of the rubric decides which response comes out best "
            "is open: {value} beyond what asking twice changes ({interval}).",
        },
    ),
    Effect(
        "score_order.pearson_r[arm=balanced]",
        null=FOLLOWS,
        small=0.0,
        harm="down",
        uses=("scoring", "regression"),
        departs="error",
        says={
            "shown": "Scores do not follow quality: their correlation with it is {value} "
            "({interval}; 1 is perfect).",
            "negligible": "Scores follow quality: their correlation with it is {value}, at least "
            "{bound}.",
            "inconclusive": "Whether scores follow quality closely enough is open: their "
            "correlation with it is {value} ({interval}).",
        },
    ),
    Effect(
        "score_order.pair_accuracy",
        null=MOSTLY,
        small=0.0,
        harm="down",
        uses=("ranking", "scoring", "regression"),
        departs="error",
        says={
            "shown": "Of two responses to one prompt the better one gets the higher score in only "
            "{value} of pairs ({interval}; guessing gives half).",
            "negligible": "Of two responses to one prompt the better one gets the higher score in "
            "{value} of pairs, at least {bound}.",
            "inconclusive": "Whether the better of two responses to one prompt gets the higher "
            "score is open: in {value} of pairs ({interval}; guessing gives half).",
        },
    ),
    Effect(
        "score_order.top_tie_rate",
        null=MOSTLY,
        small=0.0,
        harm="up",
        uses=("ranking",),
        says={
            "shown": "It hardly ranks: in {value} of readings several responses share the best "
            "score ({interval}).",
            "negligible": "It mostly tells the best response apart: several share the best score "
            "in {value} of readings, at most {bound}.",
            "inconclusive": "Whether it ranks is open: several responses share the best score in "
            "{value} of readings ({interval}).",
        },
    ),
)


def mitigate(estimates: Estimates) -> Iterator[Mitigation]:
    """Averaging over orders, with what it does to the correlation with quality."""
    return averaging(estimates, "rubric")


def control(estimates: Estimates) -> Iterator[Control]:
    """Whether the scores follow a quality that is known."""
    text = "Averaged over orders, scores must rise with the quality that is known."
    return follows_quality(estimates, text)


def warn(readings: Readings, estimates: Estimates) -> Iterator[str]:
    """What a reader of this run must know."""
    so = "no score; the figures describe the readable rest, which may differ."
    yield from caveats_of_scores(readings, so, estimates)
    yield from about_repeats(readings)
    yield from without_expected_score(readings)
    if "scale" in readings.frame:
        yield from cannot_show({"scale": scale} for scale in readings.made["scale"].unique())
    flips = estimates.of("excess_flip_rate")
    if flips is None or flips.reason == NO_REPEAT.code:
        yield "Flips caused by the order cannot be told from noise: no order was read twice."
    first = estimates.known("position_share", position=1)
    if first is not None and first.given.get("balanced") is False:
        yield (
            "The recorded orders are not balanced over positions: position figures mix the judge's "
            "preference for a place with its preference for a score."
        )
