"""What axes say of a run besides its effects: what an interval shows, and the usual caveats.

The whole interval must lie on one side of a limit, whatever calls without a verdict would have
said. A missing estimate or interval is on neither side.
"""

from collections.abc import Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

from judgesheet.axis import Readings
from judgesheet.base.digits import percent
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Estimate, Rating, Recommendation

if TYPE_CHECKING:
    import pandas as pd

Tone = Literal["good", "bad", "unknown", "neutral"]
"""What a sentence means for somebody who wants to use the judge."""
SIGNIFICANT = 0.05
"""The usual level of a single test."""
NEAR_ENOUGH = 0.02
"""A figure after k orders that comes this close to that of all orders is as good."""
ORDER_TEST = "order_dependence_p"
"""The test of the order, by all stimuli of an axis together (`order_test`)."""
# Prompts below which a reader is warned: as few as leave rates without a large-sample interval.
_FEW_ASKED = 20
# Share of unreadable calls above which a reader is warned: a rate can be off by as much.
_MANY_UNREAD = 0.02


def above(estimate: Estimate | None, limit: float) -> bool:
    """Whether the interval lies above a limit."""
    return estimate is not None and estimate.least is not None and estimate.least > limit


def below(estimate: Estimate | None, limit: float) -> bool:
    """Whether the interval lies below a limit."""
    return estimate is not None and estimate.most is not None and estimate.most < limit


def curve(estimates: Estimates, name: str, **having: object) -> list[tuple[int, Estimate]]:
    """(k, estimate) of the measured members of `name[k=…]` with these dimensions, in rising k."""
    members = estimates.family(name, **having)
    points = ((int(dims["k"]), estimate) for dims, estimate in members if "k" in dims)
    known = [(k, estimate) for k, estimate in points if estimate.value is not None]
    return sorted(known, key=itemgetter(0))


def keys(*estimates: Estimate | None) -> tuple[str, ...]:
    """The keys of those estimates that there are: the evidence of a sentence."""
    return tuple(estimate.key for estimate in estimates if estimate is not None)


def advice(
    axis: str, text: str, *evidence: Estimate | None, binding: bool = True, stops: bool = False
) -> Recommendation:
    """What an axis recommends, with the keys of the estimates that it rests on."""
    return Recommendation(axis, text, keys(*evidence), binding, stops)


def interval(estimate: Estimate) -> str:
    """The interval of a share in words, after its count where that is small."""
    count = f"{estimate.counted}; " if estimate.counted else ""
    if estimate.low is None or estimate.high is None:
        return f"{count}no interval"
    return f"{count}{level(estimate)} interval {percent(estimate.low)} to {percent(estimate.high)}"


def level(estimate: Estimate) -> str:
    """The confidence of its interval: `95 %`, more where a run was looked at while it grew."""
    return f"{100 * estimate.level:.3g} %"


def share(estimate: Estimate) -> str:
    """The value of a measured share in words, without its interval."""
    return percent(estimate.value or 0.0)


def share_with_interval(estimate: Estimate) -> str:
    """`11 % (95 % interval 8 % to 15 %)`."""
    return f"{share(estimate)} ({interval(estimate)})"


def made(readings: Readings) -> "pd.DataFrame":
    """The calls that were made: what was only planned tells nothing."""
    return readings.frame[readings.frame["outcome"].notna()]


def longest(readings: Readings, rating: str, unit: str) -> Iterator[Rating]:
    """The longest order that was shown, of things (`unit`) in a list that `rating` names."""
    lengths = made(readings)["order"].map(len)
    if len(lengths):
        why = "longer lists have more places to prefer, and were not tested"
        yield Rating(rating, float(lengths.max()), unit, why)


def few_asked(readings: Readings, what: str = "prompts") -> Iterator[str]:
    """The caveat of a run on few prompts (or tasks: `what`)."""
    stimuli, different = made(readings)[["cluster", "stimulus"]].nunique()
    if 0 < stimuli < _FEW_ASKED:
        text = f"{what} were" if stimuli > 1 else f"{what.removesuffix('s')} was"
        text = text if stimuli == different else f"independent {text}"
        yield f"Only {stimuli} {text} asked; intervals are wide and few effects can be seen."


def unread(readings: Readings, so: str) -> Iterator[str]:
    """The caveat of a run in which many replies could not be read, and what follows (`so`)."""
    missing = made(readings)["value"].isna()
    if len(missing) and missing.mean() > _MANY_UNREAD:
        yield f"{percent(float(missing.mean()))} of the calls gave {so}"
