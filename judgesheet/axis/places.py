"""What is known of a preference for a place, for axes that count what each place gets."""

from collections.abc import Iterator
from typing import NamedTuple

from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.figure import Conditions, UnkeyedEstimate, wilson_beside
from judgesheet.axis.statements import (
    ORDER_TEST,
    SIGNIFICANT,
    UNSURE,
    Certainty,
    Wordings,
    announced,
    certainty,
    indicated,
    interval,
    p_value,
    surely_above,
    surely_below,
)
from judgesheet.base.digits import percent
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Estimate
from judgesheet.stats.position import position_share
from judgesheet.stats.reads import total_calls


def shares(counts: Floats | Ints, label: str, conditions: Conditions) -> Iterator[UnkeyedEstimate]:
    """The share that each place gets, from counts of shape (stimuli, places); `label` has {place}.

    Interval of a rate over stimuli, with the papers' Wilson interval over calls beside it.
    """
    total = float(counts.sum())
    for place, share in enumerate(position_share(counts) if total else (), start=1):
        yield UnkeyedEstimate(
            label.format(place=place),
            share,
            {"position": place},
            n=total_calls(counts),
            conditions=conditions,
            # As if calls on one prompt were independent: it covers .67 of 10 clusters of 6 with ICC
            # .5 (docs/notes/layout.md), and is there for comparison only.
            paper=wilson_beside(float(counts[:, place - 1].sum()), total, "Wilson over calls"),
        )


class Farthest(NamedTuple):
    """The place whose share is farthest from the even one, which all would have."""

    place: str
    share: Estimate
    even: float


def farthest(estimates: Estimates, family: str) -> Farthest | None:
    """The place that stands out in a family of shares by place; None where there is none."""
    shares = [(dims["position"], one) for dims, one in estimates.family(family)]
    if not shares:
        return None
    even = 1 / len(shares)
    place, extreme = max(shares, key=lambda pair: abs((pair[1].value or 0.0) - even))
    return Farthest(place, extreme, even)


def favours(estimates: Estimates, family: str, *, small: bool, prompts: int) -> Certainty:
    """What is known of it: by the test of the order, and by the place that stands out.

    The first accuses; the second says that it is a place, as an order can matter without one that
    is favoured on average. `small` is the proof that all of it is.
    """
    stands_out = _stands_out(estimates, family)
    return certainty(
        shown=stands_out and announced(estimates, ORDER_TEST),
        small=small,
        indicated=stands_out and indicated(estimates, ORDER_TEST) is not None,
        prompts=prompts,
    )


def _stands_out(estimates: Estimates, family: str) -> bool:
    """Whether a place gets surely more or less than another, allowing for the number of places."""
    extreme = farthest(estimates, family)
    if extreme is None:
        return False
    of, error = round(1 / extreme.even), SIGNIFICANT / 2
    return surely_above(extreme.share, extreme.even, of, error) or surely_below(
        extreme.share, extreme.even, of, error
    )


def wordings(
    place: str, gets: str, of: Farthest, test: Estimate | None, *, little: str, none: str, rest: str
) -> Wordings:
    """The sentences on a preference for `place` (`a place in the list`).

    `gets` says what the farthest place gets. `little` is the proof that a preference is, `none` the
    sentence where hardly any is left, `rest` what stays possible where nothing is known.
    """
    text = (
        f"{gets} ({interval(of.share)}), where {percent(of.even)} would mean that the place does "
        f"not matter{'' if test is None else f'; {p_value(test)}'}"
    )
    favours = "favours" if (of.share.value or 0.0) >= of.even else "disfavours"
    return {
        "shown": f"It {favours} {place}: {text}.",
        "small": f"It {favours} {place}: {text}. This effect is measured, but small: {little}.",
        "cleared": none,
        "indicated": f"There is some evidence that it {favours} {place}{UNSURE}: {text}.",
        "not known": f"This run cannot tell whether {place} is favoured: {text}{rest}.",
    }
