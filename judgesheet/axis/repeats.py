"""What repeats of one question can tell of a judge's noise, and what they cannot."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from judgesheet.axis import Readings
from judgesheet.axis.items import codes, items
from judgesheet.axis.statements import announced_of_repeats, keys, p_value
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Control

if TYPE_CHECKING:
    import pandas as pd

FEWEST = 20
"""Questions that must have been repeated before it is remarkable that all repeats agree."""

REST_ON_REPEATS = (
    *("excess_change_rate", "excess_flip_rate"),
    *("position_component", "content_component", "noise_component"),
    *("averaging_gain_noise", "averaging_gain_order"),
)
"""Figures of the order beyond noise, which is taken from repeats."""


def control(estimates: Estimates) -> Iterator[Control]:
    """That repeats are no measure of noise, where they are shown not to be."""
    test = estimates.known("repeats_p")
    if test is not None and announced_of_repeats(estimates):
        yield Control(
            "repeats are like first readings",
            False,
            "asking again changes the reply otherwise than by chance, more than another order "
            f"does or in another way ({p_value(test)}): the repeats are no measure of noise, and "
            "nothing is said of changes beyond noise",
            keys(test),
            "repeats_alike",
            REST_ON_REPEATS,
            of="run",
            mend="ask each question anew: no cache, no session that knows the calls before",
        )


def about_repeats(readings: Readings, so: str = "") -> Iterator[str]:
    """The caveat that repeats hold no noise of sampling, and what follows (`so`)."""
    if readings.temperature == 0:
        yield (
            "At temperature 0 repeats show only what the endpoint itself varies (batching, prefix "
            f"caching){so}."
        )
    elif readings.temperature and _only_orders_differ(readings.frame):
        yield (
            "Asked twice in one order it always says the same, although the temperature is above "
            "0, but in another order it does not: "
            "if a cache or a fixed seed answers repeats, then "
            f"noise looks like an effect of the order{so}."
        )


def _only_orders_differ(frame: "pd.DataFrame") -> bool:
    """Whether no question ever got two verdicts, but some item did under several orders."""
    import pandas as pd

    read = frame[frame["value"].notna()]
    if read.empty:
        return False
    item = items(read)
    verdicts = pd.Series(codes(read[["value"]]), index=read.index)
    same = verdicts.groupby(codes(read[["order"]].assign(item=item)))
    repeated = same.size() > 1
    others = verdicts.groupby(item).nunique()
    return bool(
        repeated.sum() >= FEWEST and (same.nunique()[repeated] == 1).all() and (others > 1).any()
    )
