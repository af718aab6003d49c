"""Do the orders of a list agree, how many of them are enough, and are their errors shared?"""

from collections.abc import Iterator

import numpy as np

from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.figure import UnkeyedEstimate
from judgesheet.base.digits import counted, percent, two_digits
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats import majority
from judgesheet.stats.consensus import run_points
from judgesheet.stats.interval import mean_t, missing, pooled_rate, without_interval
from judgesheet.stats.reads import row_means

from ._lists import NOTHING_READ, Arm, Lists, figure, prompt_rate
from ._reply import PERMUTED

figure = figure.but(passes_blind=True)
NO_CORRELATION = Reason("no_correlation", "too few prompts, or no error that orders could share")
FEW_PROMPTS = 20
FEW_COVER = f"under {FEW_PROMPTS} prompts the interval covers .87 to .94"
"""Simulated in docs/proof/listwise_consensus.md: the jackknife is short of data there."""


@figure("share", symbol="a", better="higher", headline=80, reads=PERMUTED)
def order_agreement(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """Share of single orders whose winner is the one chosen by all orders together."""
    if lists.deepest is None:
        return
    agreeing = _agreeing(lists, lists.deepest)
    calls = (~np.isnan(agreeing)).sum(axis=1)
    share = pooled_rate(np.nansum(agreeing, axis=1), calls, lists.main.cluster)
    conditions = f"{counted(lists.deepest.k, 'order')}, lists of {lists.main.n}"
    estimate = UnkeyedEstimate(
        "One order agrees with all orders", share, n=int(calls.sum()), conditions=conditions
    )
    yield estimate.or_absent(NOTHING_READ)


@figure("share", better="")
def agreeing_orders(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """Share of prompts on which this many orders choose the winner of all orders.

    If all prompts are at the largest number, the order never matters. A tie counts its share,
    rounded to whole orders.
    """
    if lists.deepest is None:
        return
    total, conditions = lists.deepest.k, f"lists of {lists.main.n}"
    shares = row_means(_agreeing(lists, lists.deepest))
    # Shares over the orders that were read; an unreadable one neither agrees nor disagrees.
    known = ~np.isnan(shares)
    agreeing, clusters = np.rint(shares[known] * total), lists.main.cluster[known]
    for orders in range(total + 1):
        label = f"{orders} of {total} orders agree with all"
        shares = (agreeing == orders).astype(float)
        yield prompt_rate(label, shares, clusters, {"orders": orders}, conditions)


@figure("share", better="higher")
def subset_agreement(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """How often the decision from k orders equals that of the full set of orders.

    Mean over all choices of k orders (200 random ones where there are more), prompts as units: a
    t interval over prompts, as a mean of many choices varies less than one choice. At the full set
    it is 1 by definition.
    """
    if lists.deepest is None:
        return
    total, conditions = lists.deepest.k, f"lists of {lists.main.n}"
    runs = lists.main.runs(lists.deepest)
    points = run_points(runs.scores, runs.marks)
    for k in range(1, total):
        label = f"{k} of {total} orders decide as all do"
        shares = majority.subset_agreement(points, k, lists.rng())
        mean = mean_t(shares, (0.0, 1.0), lists.main.cluster)
        known = int((~np.isnan(shares)).sum())
        estimate = UnkeyedEstimate(label, mean, {"k": k}, n=known, conditions=conditions)
        yield estimate.or_absent(NOTHING_READ)
    whole = (
        without_interval(1.0, method="by definition") if lists.readable else missing(NOTHING_READ)
    )
    yield UnkeyedEstimate(f"All {total} orders decide as all do", whole, {"k": total})


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


def _agreeing(lists: Lists, whole: Arm) -> Floats:
    """How far each order's first call chooses the winner of all, (prompts, orders); NaN unread."""
    table = lists.main
    agreeing: Floats = (table.first_calls * table.picks(whole)[:, None]).sum(axis=-1)
    return agreeing


def _hits(lists: Lists) -> tuple[Floats, Ints]:
    """How right the first call under each order is, (prompts, orders), and their clusters."""
    table = lists.main
    hits: Floats = (table.first_calls * table.gold[:, None]).sum(axis=-1)
    return hits[table.known], table.cluster[table.known]
