"""The plots of candidate_order, each above what one sees in it."""

from dataclasses import replace

from judgesheet.axis.results import Plots
from judgesheet.axis.statements import (
    MOSTLY,
    above,
    at_most,
    below,
    share,
    surely_above,
    surely_below,
)
from judgesheet.base.digits import percent
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Plot

from .findings import (
    CLEAN,
    CLEAN_KIND,
    NOTICEABLE,
    SAME,
    SEEN,
    evidence_of_slot,
    ladder_steps,
    made_up,
)

_SETS = {
    "same_subset": "same content",
    "different_subset": "other content",
    "natural": "own pairs",
}
_WHOSE = {SAME: "responses with the same content", "natural": "your own responses"}
"""The sets that a title speaks of, in this order, and what they are pairs of."""
_BLANK = {"empty": "empty", "whitespace": "blank", "identical": "identical"}
_EQUALS = " Between equally good responses only ties are right."


def _if_equals(plot: Plot, estimates: Estimates) -> Plot:
    """What is right between equals is said of a run that asked about such pairs."""
    family = estimates.family(plot.families[0])
    sets = {dims["set"] for dims, share in family if share.value is not None}
    if sets == {"natural"}:
        return plot
    return replace(plot, caption=plot.caption + _EQUALS, brief=plot.brief + _EQUALS)


drawn = Plots()


@drawn.but(_if_equals).plot(
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
)
def _verdicts(estimates: Estimates) -> str:
    """Whether the order changes verdicts, else what most pairs of equals get."""
    for pairs, whose in _WHOSE.items():
        changes = estimates.known("order_inconsistent", set=pairs)
        if changes is not None and evidence_of_slot(estimates, pairs):
            return f"Swapping {whose} changes {share(changes)} of verdicts"
    stable = estimates.known("stable_cross_sensitivity", set=SAME)
    ties = estimates.known("no_preference", set=SAME)
    if ties is not None and above(ties, MOSTLY):
        if _says_tie_to_all(estimates):
            return "Says tie to equally good responses, and to the largest difference"
        return f"Equally good responses: a tie in both orders in {share(ties)} of pairs"
    if stable is not None and surely_above(stable, NOTICEABLE):
        return f"The same of two equally good responses wins twice in {share(stable)} of pairs"
    return ""


def _says_tie_to_all(estimates: Estimates) -> bool:
    """Whether most calls end in a tie even where one response is better by most."""
    return any(above(ties, MOSTLY) for _, ties in ladder_steps(estimates, "miss_by_tie")[-1:])


@drawn.plot(
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
)
def _slot(estimates: Estimates) -> str:
    """Which slot gets more than its half."""
    for pairs, whose in _WHOSE.items():
        first = estimates.known("slot1_share", set=pairs)
        if first is not None and surely_above(first, MOSTLY):
            return f"Slot 1 wins {share(first)} of its choices between {whose}"
        if first is not None and surely_below(first, MOSTLY):
            second = percent(1 - (first.value or 0.0))
            return f"Slot 2 wins {second} of its choices between {whose}"
    return ""


@drawn.plot(
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
)
def _vacuum(estimates: Estimates) -> str:
    """Whether it prefers where there is nothing to prefer."""
    pooled = estimates.known("dark_current")
    kinds = {
        dims["kind"]: rate
        for dims, rate in estimates.family("dark_current")
        if set(dims) == {"kind"} and rate.value is not None
    }
    if sure := made_up(kinds):
        kind = max(sure, key=lambda kind: sure[kind].value or 0.0)
        rate = share(sure[kind])
        return f"Prefers one of two {_BLANK.get(kind, kind)} responses in {rate} of calls"
    is_clean = below(pooled, CLEAN) and all(below(rate, CLEAN_KIND) for rate in kinds.values())
    if pooled is not None and is_clean:
        most = at_most(pooled.most or 0.0)
        return f"Prefers one in at most {most} of calls where there is nothing to prefer"
    return ""


@drawn.plot(
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
)
def _ladder(estimates: Estimates) -> str:
    """From which difference on it finds the better response, or that it says tie to any."""
    steps = ladder_steps(estimates, "target_sensitivity")
    if not steps:
        return ""
    seen = [all(above(rate, SEEN) for _, rate in steps[at:]) for at in range(len(steps))]
    largest, last = steps[-1]
    ties = estimates.known("miss_by_tie", delta=largest)
    if True in seen:
        step, rate = steps[seen.index(True)]
        return f"Finds the better response in {share(rate)} of calls, {_apart(step)}"
    if ties is not None and _says_tie_to_all(estimates):
        return f"Says tie to the largest difference in {share(ties)} of calls"
    if below(last, SEEN):
        return f"Finds the better response in only {share(last)} of calls, {_apart(largest)}"
    return ""


def _apart(step: str) -> str:
    """A step of the ladder as a reader says it."""
    return f"{step} required element{'' if step == '1' else 's'} apart"


@drawn.plot(
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
)
def _strict(estimates: Estimates) -> str:
    """Whether the strict prompt adds ties where they are right."""
    gain = estimates.known("criterion_shift", delta=0)
    if gain is None or not above(gain, NOTICEABLE):
        return ""
    return f"The strict prompt adds ties on equal responses, {share(gain)} of calls"


plots = drawn.of
