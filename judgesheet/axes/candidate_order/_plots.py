"""The plots of candidate_order, as data."""

from collections.abc import Iterator

from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Plot

_SETS = {
    "same_subset": "same content",
    "different_subset": "other content, as much",
    "natural": "own pairs",
}

_PLOTS = (
    Plot(
        kind="stacked",
        title="What two verdicts on a pair say",
        caption="Pairs shown in both orders: the same response wins twice (a reaction to content "
        "or wording), the same slot wins twice, one order ends in a tie, both do. Between equally "
        "good responses only ties are right.",
        families=(
            "stable_cross_sensitivity",
            "positional_false_preference",
            "one_sided_commit",
            "no_preference",
        ),
        x="set",
        x_label="share of pairs",
        having={"prompt": ""},
        words={
            "stable_cross_sensitivity": "same response twice",
            "positional_false_preference": "same slot twice",
            "one_sided_commit": "one order a tie",
            "no_preference": "both a tie",
            **_SETS,
        },
        shows=("raw_false_preference",),
        brief="What two verdicts on a pair say, one in each order; between equally good responses "
        "only ties are right.",
    ),
    Plot(
        kind="bars",
        title="Which slot wins?",
        caption="Share of the decisions that go to each slot, with intervals; every pair is "
        "shown in both orders, so a judge without a preference for a slot stays on the dashed "
        "line.",
        families=("slot1_share",),
        x="set",
        x_label="pairs of responses",
        y_label="share of decisions",
        even=True,
        having={"prompt": ""},
        words={"slot1_share": "slot 1", **_SETS},
        rest="slot 2",
        shows=("order_inconsistent",),
        brief="Share of the decisions that go to each slot; every pair is shown in both orders, so "
        "without a preference for a slot both reach the dashed line.",
    ),
    Plot(
        kind="bars",
        title="Preferences where there is nothing to prefer",
        caption="Share of calls that prefer one of two empty, blank or identical responses, with "
        "intervals. Only ties are right.",
        families=("dark_current",),
        x="kind",
        x_label="pairs with nothing to prefer",
        y_label="share of calls",
        having={"prompt": ""},
        shows=("dark_current",),
        brief="Share of calls that prefer one of two empty, blank or identical responses, where "
        "only a tie is right.",
    ),
    Plot(
        kind="line",
        title="How small a difference does it see?",
        caption="Share of calls that choose the better response, by the number of required "
        "elements that it states more; a tie is a miss. The vertical line is the step seen in "
        "75 % of calls, with its interval.",
        families=("target_sensitivity",),
        x="delta",
        x_label="steps between the responses",
        y_label="better response chosen",
        reference=0.75,
        having={"slot": "", "prompt": ""},
        mark="threshold75",
        shows=("target_sensitivity", "target_sensitivity_decided", "miss_by_tie"),
        brief="Share of calls that choose the better response, by the number of steps that it is "
        "better; the dashed line is 75 %.",
    ),
    Plot(
        kind="scatter",
        title="Dark current and reaction to surface",
        caption="Preference where there is nothing to prefer, against pairs of the same content in "
        "which one wording wins in both orders. A good judge stands at the lower left.",
        families=("dark_current", "stable_cross_sensitivity"),
        series="prompt",
        x_label="preference in vacuum",
        y_label="same wording wins twice",
        having={"set": "same_subset", "kind": ""},
    ),
    Plot(
        kind="scatter",
        title="Slot or wording?",
        caption="Pairs of the same content in which the same slot wins twice, against those in "
        "which the same wording does. Noise alone lies on the diagonal.",
        families=("positional_false_preference", "stable_cross_sensitivity"),
        series="prompt",
        x_label="same slot wins twice",
        y_label="same wording wins twice",
        having={"set": "same_subset"},
    ),
    Plot(
        kind="segment",
        title="What the strict tie instruction does",
        caption="Preference between responses of the same content, against the better response "
        "found at step 1. The arrow leads from the baseline to the strict prompt: two operating "
        "points, not a curve.",
        families=("raw_false_preference", "target_sensitivity"),
        series="prompt",
        x_label="preference between equals",
        y_label="better response chosen, step 1",
        having={"set": "same_subset", "delta": "1", "slot": ""},
    ),
)


def plots(estimates: Estimates) -> Iterator[Plot]:
    """The plots that this run has figures for; own pairs alone have no vacuum and no ladder."""
    for plot in _PLOTS:
        if not estimates or all(map(estimates.family, plot.families)):
            yield plot
