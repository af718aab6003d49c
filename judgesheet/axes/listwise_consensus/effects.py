"""The effects that this axis looks for, what helps against them, and what a reader must know."""

from collections.abc import Iterator

from judgesheet.axis import Readings
from judgesheet.axis.caveats import few_asked, unread, untested
from judgesheet.axis.effect import MOSTLY, NEAR_ENOUGH, enough
from judgesheet.axis.repeats import about_repeats
from judgesheet.base.effects import EXCESS, Effect
from judgesheet.base.estimates import Estimates
from judgesheet.base.keys import Key
from judgesheet.base.records import Control, Estimate, Mitigation

SEVERAL_ORDERS = "several_orders"
"""The code of the remedy."""
ORDER_TEST = "listwise_consensus.order_dependence_p"
EFFECTS = (
    Effect(
        "listwise_consensus.excess_flip_rate",
        null=0.0,
        small=0.10,
        harm="up",
        share=EXCESS,
        test=ORDER_TEST,
        noise="listwise_consensus.repeat_flip_rate",
        uses=("ranking", "order", "regression"),
        remedy=SEVERAL_ORDERS,
        departs="change",
        says={
            "shown": "Another order of the same list changes the winner in {value} of cases, "
            "beyond what asking twice changes ({interval}).",
            "by_test": "The order of a list moves scores ({p}). How often it changes the winner is "
            "open: {value} beyond what asking twice changes ({interval}).",
            "negligible": "Another order of a list hardly changes the winner: {value} beyond what "
            "asking twice changes, at most {bound}.",
            "inconclusive": "Whether the order of a list changes the winner is open: {value} "
            "beyond what asking twice changes ({interval}).",
        },
    ),
    Effect(
        "listwise_consensus.place_v",
        null=0.0,
        small=0.25,
        harm="up",
        test=ORDER_TEST,
        uses=("ranking", "order", "regression"),
        remedy=SEVERAL_ORDERS,
        says={
            "shown": "It favours a place in the list, whatever answer stands there: Cramér's V is "
            "{value} ({interval}; 0 is no preference, 1 always the same place).",
            "by_test": "The order of a list moves scores ({p}). How much it favours a place is "
            "open: Cramér's V is {value} ({interval}; 0 is no preference).",
            "negligible": "No place in the list is favoured by much: Cramér's V is {value}, at "
            "most {bound} (0 is no preference).",
            "inconclusive": "Whether a place in the list is favoured is open: Cramér's V is "
            "{value} ({interval}; 0 is no preference).",
        },
    ),
    Effect(
        "listwise_consensus.accuracy[arm=direct,k=1]",
        null=MOSTLY,
        guessing="listwise_consensus.chance_accuracy",
        small=0.0,
        harm="down",
        uses=("ranking", "regression"),
        remedy=SEVERAL_ORDERS,
        departs="error",
        says={
            "shown": "With one call the right answer wins in only {value} of lists ({interval}).",
            "negligible": "With one call the right answer wins in {value} of lists, at least "
            "{bound}.",
            "inconclusive": "Whether the right answer mostly wins with one call is open: in "
            "{value} of lists ({interval}).",
        },
    ),
    Effect(
        "listwise_consensus.top_tie_rate",
        null=MOSTLY,
        small=0.0,
        harm="up",
        uses=("ranking",),
        says={
            "shown": "It hardly chooses: in {value} of calls several answers share the best score "
            "({interval}).",
            "negligible": "It mostly chooses one answer: several share the best score in {value} "
            "of calls, at most {bound}.",
            "inconclusive": "Whether it chooses one answer is open: several share the best score "
            "in {value} of calls ({interval}).",
        },
    ),
)


def _by_orders(estimates: Estimates) -> list[tuple[int, Estimate]]:
    """(k, accuracy) of decisions from k orders, each read once, in rising k."""
    points = estimates.curve("accuracy", arm="permuted")
    return [(k, one) for k, one in points if "executions" not in Key.parse(one.key).dims]


def mitigate(estimates: Estimates) -> Iterator[Mitigation]:
    """Deciding from several orders: accuracy before and after, for the calls that it takes."""
    if points := _by_orders(estimates):
        k, after = enough(points)
        yield Mitigation(
            action=f"decide from {k} orders of the list by permutation consensus",
            before=estimates.key("accuracy", arm="direct", k=1),
            after=after.key,
            calls=k,
            gain=estimates.key("gain", arm="permuted", k=k),
            code=SEVERAL_ORDERS,
        )


def control(estimates: Estimates) -> Iterator[Control]:
    """Whether the right answer wins more often than by chance, decided from all orders."""
    chance = estimates.known("chance_accuracy")
    for _, full in _by_orders(estimates)[-1:]:
        if chance is None or chance.value is None:
            return
        # Nearer to a pick at random than to always right.
        is_near = not full.is_above(chance.value + NEAR_ENOUGH)
        blind = is_near and full.is_below((1 + chance.value) / 2)
        passed = True if full.is_above(chance.value) else False if blind else None
        text = "Decided from all orders, the right answer must win more often than a random pick."
        yield Control("the right answer wins", passed, text, (full.key, chance.key))


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
    odd = [str(k) for k, _ in _by_orders(estimates) if places and k % places]
    if odd and shown is not None and shown.is_above(0.0):
        yield (
            f"With k = {', '.join(odd)} an answer does not stand equally often at each of the "
            f"{places} places, so these accuracies depend on which orders were shown."
        )
