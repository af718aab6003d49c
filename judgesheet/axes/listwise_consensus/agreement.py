"""Are errors common to the orders of a list?"""

from collections.abc import Iterator

import numpy as np

from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.figure import UnkeyedEstimate
from judgesheet.base.digits import percent, two_digits
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats import majority
from judgesheet.stats.interval import missing, without_interval

from ._lists import NOTHING_READ, Lists, figure

figure = figure.but(passes_blind=True)
NO_CORRELATION = Reason("no_correlation", "too few prompts, or no error that orders could share")
FEW_PROMPTS = 20
FEW_COVER = f"under {FEW_PROMPTS} prompts the interval covers .87 to .94"
"""Simulated in docs/proof/listwise_consensus.md: the jackknife is short of data there."""


@figure("r", symbol="ρ_err", better="", headline=81, passes_blind=False)
def error_correlation(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """Correlation of the errors under two orders: 0 independent, 1 the same errors.

    Over pairs of single calls on a prompt under different orders. Voting does not remove errors
    that the orders share: at 1 no number of orders helps (004, section 3.4).
    """
    if not lists.has_gold:
        return
    hits, clusters = _hits(lists)
    label = "Correlation of errors between orders"
    conditions = f"lists of {lists.main.n}"
    correlation = majority.error_correlation(hits, clusters)
    if correlation.value is None:
        why = NO_CORRELATION.saying(correlation.note) if lists.readable else NOTHING_READ
        yield UnkeyedEstimate(label, missing(why), conditions=conditions)
        return
    calls, few = int((~np.isnan(hits)).sum()), correlation.clusters < FEW_PROMPTS
    yield UnkeyedEstimate(
        label, correlation, n=calls, conditions=conditions, note=FEW_COVER if few else ""
    )


@figure(
    "share",
    better="",
    passes_blind=False,
)
def independent_error_bound(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """Hoeffding's bound of the error of a majority of orders, if errors were independent.

    004 proposition 1, at the largest odd k: context only. The note gives the error of a majority
    under the measured correlation; compare `accuracy`.
    """
    if lists.deepest is None or not lists.has_gold:
        return
    hits, clusters = _hits(lists)
    # Odd, so that a majority cannot tie.
    k = lists.deepest.k - (lists.deepest.k + 1) % 2
    if np.isnan(hits).all() or k < 3:
        return
    right, r = float(np.nanmean(hits)), majority.error_correlation(hits, clusters).value
    note = f"independent votes would err in {percent(majority.majority_error(right, k))}"
    if r is not None:
        shared = majority.majority_error(right, k, max(0.0, r))
        note += (
            f"; with the measured correlation of {two_digits(r)} a majority errs in "
            f"{percent(shared)}"
        )
    yield UnkeyedEstimate(
        f"Hoeffding's bound for {k} independent orders",
        without_interval(
            majority.majority_error_bound(right, k),
            clusters=len(np.unique(clusters[(~np.isnan(hits)).any(axis=1)])),
            method="exp(-2 k (q - 1/2)^2) (004 proposition 1)",
        ),
        n=int((~np.isnan(hits)).sum()),
        conditions=f"one call is right in {percent(right)}",
        note=note,
    )


def _hits(lists: Lists) -> tuple[Floats, Ints]:
    """How right the first call under each order is, (prompts, orders), and their clusters."""
    table = lists.main
    hits: Floats = (table.first_calls * table.gold[:, None]).sum(axis=-1)
    return hits[table.known], table.cluster[table.known]
