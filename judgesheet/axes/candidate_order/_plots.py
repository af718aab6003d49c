"""The plots of candidate_order."""

from dataclasses import replace

from judgesheet.axis.results import Plots, nothing
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Plot

_SETS = {
    "same_subset": "same content",
    "different_subset": "other content",
    "natural": "own pairs",
}
_EQUALS = " Between equally good responses only ties are right."


def _if_equals(plot: Plot, estimates: Estimates) -> Plot:
    """What is right between equals is said of a run that asked about such pairs."""
    family = estimates.family(plot.families[0])
    sets = {dims["set"] for dims, share in family if share.value is not None}
    if sets == {"natural"}:
        return plot
    return replace(plot, caption=plot.caption + _EQUALS, brief=plot.brief + _EQUALS)


drawn = Plots()


drawn.but(_if_equals).plot(
    kind="bars",
    title="What two verdicts on a pair say",
    caption="Pairs shown in both orders: the same response wins twice (a reaction to content or "
    "wording), the same slot wins twice, one order ends in a tie, both do.",
    families=(
        "stable_cross_sensitivity",
        "positional_false_preference",
        "one_sided_commit",
        "no_preference",
    ),
    series="set",
    x_label="verdicts in the two orders",
    y_label="share of pairs",
    having={"prompt": ""},
    words={
        "stable_cross_sensitivity": "same response twice",
        "positional_false_preference": "same slot twice",
        "one_sided_commit": "one order a tie",
        "no_preference": "both a tie",
        **_SETS,
    },
    shows=("raw_false_preference",),
    brief="What two verdicts on a pair say, one in each order.",
)(nothing)


drawn.plot(
    kind="bars",
    title="Which slot wins?",
    caption="Share of the decisions that go to each slot, with intervals; every pair is shown in "
    "both orders, so a judge without a preference for a slot stays on the dashed line.",
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
)(nothing)


drawn.plot(
    kind="intervals",
    title="Preferences where there is nothing to prefer",
    caption="Share of calls that prefer one of two empty, blank or identical responses, with "
    "intervals. Only ties are right.",
    families=("dark_current",),
    x="kind",
    x_label="share of calls that prefer one; only ties are right",
    having={"prompt": ""},
    words={
        "empty": "two empty responses",
        "whitespace": "two blank responses",
        "identical": "the same response twice",
    },
    shows=("dark_current",),
    brief="Share of calls that prefer one of two empty, blank or identical responses, where only a "
    "tie is right.",
)(nothing)


drawn.plot(
    kind="line",
    title="How small a difference does it see?",
    caption="Share of calls that choose the better response, by the number of required elements "
    "that it states more; a tie is a miss. The vertical line is the smallest difference seen in "
    "75 % of calls, with its interval.",
    families=("target_sensitivity",),
    x="delta",
    x_label="required elements that the better response states more",
    y_label="better response chosen",
    reference=0.75,
    reference_label="seen",
    having={"prompt": ""},
    mark="threshold75",
    words={"threshold75": "seen from"},
    shows=("target_sensitivity", "target_sensitivity_decided", "miss_by_tie"),
    brief="Share of calls that choose the better response, by how much better it is.",
)(nothing)


drawn.plot(
    kind="bars",
    title="What the strict tie instruction changes",
    caption="Under the baseline prompt and under one that asks for a tie unless a difference is "
    "clear: preferences where there is nothing to prefer and between responses of the same "
    "content, which are wrong, and the better of two responses found, which is right.",
    families=("dark_current", "raw_false_preference", "target_sensitivity"),
    series="prompt",
    x_label="what is chosen from or chosen",
    y_label="calls that choose",
    having={"set": "same_subset", "kind": "", "delta": "1"},
    words={
        "": "baseline prompt",
        "strict": "strict prompt",
        "dark_current": "alike: wrong",
        "raw_false_preference": "equally good: wrong",
        "target_sensitivity": "the better one: right",
    },
)(nothing)


plots = drawn.of
