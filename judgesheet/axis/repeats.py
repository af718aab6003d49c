"""What repeats of one question can tell of a judge's noise, and what they cannot."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from judgesheet.axis import Readings
from judgesheet.axis.items import codes, items

if TYPE_CHECKING:
    import pandas as pd

FEWEST = 20
"""Questions that must have been repeated before it is remarkable that all repeats agree."""


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
