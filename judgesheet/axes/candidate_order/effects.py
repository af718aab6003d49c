"""The effects that this axis looks for, what helps against them, and what a reader must know."""

from collections.abc import Iterator

from judgesheet.axis import Readings
from judgesheet.axis.caveats import Question, few_asked, unread, untested
from judgesheet.axis.effect import MOSTLY
from judgesheet.axis.repeats import about_repeats
from judgesheet.base.effects import EXCESS, Effect
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Control, Estimate, Mitigation

from .figures import KIND_WORDS, NO_REPEAT
from .pairs import MISSING, arrange

SEEN = 0.75
"""A difference is seen if the better response is chosen more often than this; as in `threshold75`.
"""
RARE = 0.05
"""A fault on more calls or pairs than this happens often enough to matter."""
ORDER_TEST = "candidate_order.order_dependence_p"
BOTH_ORDERS, STRICT_PROMPT = "both_orders", "strict_prompt"
"""Codes of the remedies."""


def _of_order(pairs: str, two: str) -> Iterator[Effect]:
    """What the order does on a set of pairs, of which each holds `two`."""
    yield Effect(
        f"candidate_order.excess_change_rate[set={pairs}]",
        null=0.0,
        small=0.15,
        harm="up",
        share=EXCESS,
        test=ORDER_TEST,
        noise=f"candidate_order.repeat_change_rate[set={pairs}]",
        uses=("ranking", "order", "regression"),
        remedy=BOTH_ORDERS,
        departs="change",
        says={
            "shown": f"Swapping {two} changes the winner in {{value}} of pairs of calls, beyond "
            "what asking twice changes ({interval}).",
            "by_test": "The order of two responses decides some verdicts ({p}). How often swapping "
            f"{two} changes the winner, beyond what asking twice changes, is open ({{interval}}).",
            "negligible": f"Swapping {two} hardly changes the winner: {{value}} beyond what asking "
            "twice changes, at most {bound}.",
            "inconclusive": f"Whether swapping {two} changes the winner is open: {{value}} beyond "
            "what asking twice changes ({interval}).",
        },
    )
    yield Effect(
        f"candidate_order.positional_false_preference[set={pairs}]",
        null=RARE,
        small=0.05,
        harm="up",
        uses=("ranking", "regression"),
        remedy=BOTH_ORDERS,
        departs="change",
        says={
            "shown": f"Of {two} the one in the same slot wins in both orders on {{value}} of pairs "
            "({interval}).",
            "negligible": f"Of {two} the one in the same slot seldom wins in both orders: on "
            "{value} of pairs, at most {bound}.",
            "inconclusive": f"How often the same slot wins in both orders, of {two}, is open: "
            "{value} of pairs ({interval}).",
        },
    )


def _slot_gap(member: str, differing: str) -> Effect:
    """What the slot of the better response does, where two are `differing`."""
    return Effect(
        f"candidate_order.slot_gap[{member}]",
        null=0.0,
        small=0.20,
        harm="both",
        test=ORDER_TEST,
        uses=("ranking", "order", "regression"),
        remedy=BOTH_ORDERS,
        departs="change",
        says={
            "shown": f"Of two responses {differing}, the better one is found more often in one "
            "slot; slot 1 less slot 2: {value} ({interval}).",
            "by_test": "The order of two responses decides some verdicts ({p}). How often the "
            f"better one is found, of two {differing}, slot 1 less slot 2: {{value}} "
            "({interval}).",
            "negligible": f"Of two responses {differing}, the better one is found in either slot; "
            "slot 1 less slot 2: {value} ({interval}).",
            "inconclusive": "Whether the slot of the better response decides is open where they "
            f"are {differing}; slot 1 less slot 2: {{value}} ({{interval}}).",
        },
    )


EFFECTS = (
    *_of_order("same_subset", "two equally good responses"),
    *_of_order("natural", "the responses of your own pairs"),
    _slot_gap("delta=1", "one required element apart"),
    _slot_gap("delta=5", "five required elements apart"),
    _slot_gap("set=natural", "of your own pairs"),
    Effect(
        "candidate_order.target_sensitivity[delta=5]",
        null=SEEN,
        small=0.0,
        harm="down",
        uses=("ranking", "regression"),
        departs="error",
        says={
            "shown": "It misses large differences: the response that states five required elements "
            "more wins only {value} of calls ({interval}).",
            "negligible": "It sees large differences: the response that states five required "
            "elements more wins {value} of calls, at least {bound}.",
            "inconclusive": "Whether it sees large differences is open: the response that states "
            "five required elements more wins {value} of calls ({interval}).",
        },
    ),
    Effect(
        "candidate_order.target_sensitivity[set=natural]",
        null=MOSTLY,
        small=0.0,
        harm="down",
        uses=("ranking", "regression"),
        departs="error",
        says={
            "shown": "It does not find the better response of your own pairs: that one wins only "
            "{value} of calls ({interval}).",
            "negligible": "It mostly finds the better response of your own pairs: that one wins "
            "{value} of calls, at least {bound}.",
            "inconclusive": "Whether it finds the better response of your own pairs is open: that "
            "one wins {value} of calls ({interval}).",
        },
    ),
    Effect(
        "candidate_order.wrong_rate[delta=1]",
        null=RARE,
        small=0.05,
        harm="up",
        uses=("ranking", "regression"),
        departs="error",
        says={
            "shown": "Of two responses one required element apart it picks the worse one in "
            "{value} of calls ({interval}).",
            "negligible": "Of two responses one required element apart it seldom picks the worse "
            "one: in {value} of calls, at most {bound}.",
            "inconclusive": "How often it picks the worse of two responses one required element "
            "apart is open: {value} of calls ({interval}).",
        },
    ),
    Effect(
        "candidate_order.raw_false_preference[set=same_subset]",
        null=MOSTLY,
        small=0.0,
        harm="up",
        noise="candidate_order.repeat_change_rate[set=same_subset]",
        uses=("ranking",),
        remedy=BOTH_ORDERS,
        says={
            "shown": "It prefers one of two equally good responses in {value} of calls "
            "({interval}), where a tie is right.",
            "negligible": "Of two equally good responses it prefers one in {value} of calls, at "
            "most {bound}; else it says tie.",
            "inconclusive": "Whether it mostly says tie to two equally good responses is open: it "
            "prefers one in {value} of calls ({interval}).",
        },
    ),
    *(
        Effect(
            f"candidate_order.dark_current[kind={kind}]",
            null=RARE,
            small=0.10,
            harm="up",
            uses=("ranking", "regression"),
            remedy=STRICT_PROMPT,
            says={
                "shown": f"Shown {words} it still prefers one: in {{value}} of calls "
                "({interval}).",
                "negligible": f"Shown {words} it seldom prefers one: in {{value}} of calls, at "
                "most {bound}.",
                "inconclusive": f"Whether it prefers one, shown {words}, is open: in {{value}} of "
                "calls ({interval}).",
            },
        )
        for kind, words in KIND_WORDS.items()
    ),
    Effect(
        "candidate_order.filler_preference",
        null=0.5,
        small=0.10,
        harm="up",
        uses=("ranking", "regression"),
        says={
            "shown": "Sentences that say nothing make a response win {value} of comparisons "
            "({interval}; half is no preference): compare responses of one length only.",
            "negligible": "Sentences that say nothing hardly make a response win: {value} of "
            "comparisons, at most {bound}; half is no preference.",
            "inconclusive": "Whether sentences that say nothing make a response win is open: "
            "{value} of comparisons ({interval}; half is no preference).",
        },
    ),
)


def ladder_steps(estimates: Estimates, name: str) -> list[tuple[str, Estimate]]:
    """(step, estimate) of a figure on the ladder under the baseline prompt, rising.

    Steps that fewer than half of the tasks are long enough for are left out.
    """
    members = [
        (dims["delta"], estimate)
        for dims, estimate in estimates.family(name)
        if set(dims) == {"delta"} and estimate.value is not None
    ]
    most = max((estimate.clusters for _, estimate in members), default=0)
    # Long ladders are those of few tasks: another step would be about other tasks.
    shared = [(delta, estimate) for delta, estimate in members if 2 * estimate.clusters >= most]
    return sorted(shared, key=lambda member: float(member[0]))


def mitigate(estimates: Estimates) -> Iterator[Mitigation]:
    """Asking in both orders with ties where they disagree, and the strict prompt.

    The first of equally good pairs only: on own pairs a preference may be right, and losing it is
    no help. What the second costs in differences missed is `criterion_shift[delta=1]`.
    """
    yield Mitigation(
        action="ask in both orders; where they disagree, call it a tie",
        before=estimates.key("raw_false_preference", set="same_subset"),
        after=estimates.key("stable_cross_sensitivity", set="same_subset"),
        calls=2,
        code=BOTH_ORDERS,
    )
    yield Mitigation(
        action="tell it to say tie unless the difference is clear (the strict prompt)",
        before=estimates.key("dark_current"),
        after=estimates.key("dark_current", prompt="strict"),
        calls=1,
        code=STRICT_PROMPT,
    )


def control(estimates: Estimates) -> Iterator[Control]:
    """Whether the judge sees the largest difference that was asked."""
    for delta, rate in ladder_steps(estimates, "target_sensitivity")[-1:]:
        passed = True if rate.is_above(MOSTLY) else False if rate.is_below(SEEN) else None
        text = (
            f"Where one response states {_elements(delta)} more than the other, it must win more "
            "than half of the calls."
        )
        yield Control("a large difference is seen", passed, text, (rate.key,))


def _elements(delta: str) -> str:
    """A difference of the ladder in words."""
    words = {"0.5": "half a required element", "1": "one required element"}
    return words.get(delta, f"{delta} required elements")


def warn(readings: Readings, estimates: Estimates) -> Iterator[str]:
    """What a reader of this run must know."""
    yield from few_asked(readings, "tasks")
    so = "no verdict; the figures describe the readable rest, which may differ."
    yield from unread(readings, so)
    yield from _partial(readings)
    excess = estimates.family("excess_change_rate")
    if any(one.reason == NO_REPEAT.code for dims, one in excess if "prompt" not in dims):
        yield "Changes caused by the order cannot be told from noise: no order was read twice."
    if ladder_steps(estimates, "target_sensitivity"):
        yield (
            "The better response is the one that states more of the required elements. This is "
            "so by construction; quality in general is more than that."
        )
    padded, own = "filler_preference", estimates.known("target_sensitivity", set="natural")
    asked: dict[Question, Estimate | None] = {"length": estimates.known(padded), "people": own}
    yield from untested({question for question, known in asked.items() if known is not None})
    yield from about_repeats(readings)


def _partial(readings: Readings) -> Iterator[str]:
    """Pairs that lack a verdict in one order, counted and the first of them named."""
    pairs = arrange(readings)
    if pairs is None or not pairs.partial.any():
        return
    names = [f"{cell.stimulus}/{cell.pair}" for cell in pairs.cells[pairs.partial].itertuples()]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    read = int((pairs.verdicts != MISSING).any(axis=(1, 2)).sum())
    yield (
        f"{len(names)} of {read} pairs have a verdict in one order only and are left out of the "
        f"rates of pairs: {', '.join(names[:3])}{more}."
    )
