"""Do the orders of a list agree, how many of them are enough, and are their errors shared?"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axes.listwise_consensus._lists import (
    NOTHING,
    Lists,
    Table,
    estimate,
    from_interval,
)
from judgesheet.records import Estimate
from judgesheet.stats.consensus import run_points
from judgesheet.stats.interval import cluster_rate
from judgesheet.stats.majority import (
    error_correlation as correlate,
)
from judgesheet.stats.majority import (
    majority_error,
    majority_error_bound,
)
from judgesheet.stats.majority import subset_agreement as agree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def subset_agreement(lists: Lists) -> Iterator[Estimate]:
    """How often the decision from k orders is that of the full set of orders.

    Mean over all choices of k orders (200 random ones where there are more), prompts as units. At
    the full set it is 1 by definition.
    """
    if lists.deepest is None:
        return
    table = lists.main
    points = run_points(*table.runs(lists.deepest))
    for k in range(1, lists.deepest.k):
        shares = agree(points, k, lists.rng())
        known = shares[~np.isnan(shares)]
        yield from_interval(
            "subset_agreement",
            f"{k} of {lists.deepest.k} orders decide as all do",
            cluster_rate(known, np.ones_like(known)),
            known.size,
            NOTHING,
            {"k": k},
            conditions=f"lists of {table.n}",
        )
    yield estimate(
        "subset_agreement",
        f"All {lists.deepest.k} orders decide as all do",
        1.0 if lists.readable else None,
        {"k": lists.deepest.k},
        unit="share",
        method="by definition",
        note="1 by definition" if lists.readable else NOTHING,
    )


def order_agreement(lists: Lists) -> Iterator[Estimate]:
    """Share of single orders whose winner is the one that all orders together choose."""
    if lists.deepest is None:
        return
    shares, calls = _agreeing(lists)
    yield from_interval(
        "order_agreement",
        "One order agrees with all orders",
        cluster_rate(np.nan_to_num(shares) * calls, calls),
        int(calls.sum()),
        NOTHING,
        conditions=f"{lists.deepest.k} orders, lists of {lists.main.n}",
    )


def agreeing_orders(lists: Lists) -> Iterator[Estimate]:
    """Share of prompts on which this many orders choose the winner of all orders.

    All prompts at the largest number: the order never matters. A tie counts its share, rounded to
    whole orders.
    """
    if lists.deepest is None:
        return
    (shares, _), total = _agreeing(lists), lists.deepest.k
    known = shares[~np.isnan(shares)]
    agreeing = np.rint(known * total)
    for orders in range(total + 1):
        hits = (agreeing == orders).astype(float)
        yield from_interval(
            "agreeing_orders",
            f"{orders} of {total} orders agree with all",
            cluster_rate(hits, np.ones_like(hits)),
            known.size,
            NOTHING,
            {"orders": orders},
            conditions=f"lists of {lists.main.n}",
        )


def _agreeing(lists: Lists) -> "tuple[Floats, Floats]":
    """Per prompt of the main table, the share of orders that choose the winner of all.

    And how many orders could be read.
    """
    table, arm = lists.main, lists.deepest
    if arm is None:
        return np.empty(0), np.empty(0)
    same = (table.calls[:, :, 0] * table.picks(arm)[:, None]).sum(axis=-1)
    known = ~np.isnan(same)
    total, count = np.where(known, same, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64)
    shares: Floats = np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
    return shares, count


def error_correlation(lists: Lists) -> Iterator[Estimate]:
    """How far errors under one order are errors under another: 0 independent, 1 the same errors.

    Over pairs of single calls on a prompt under different orders. What the orders share cannot be
    voted away: at 1 no number of orders helps (004, section 3.4).
    """
    if lists.has_gold:
        hits = _order_hits(lists)
        found = correlate(hits)
        yield from_interval(
            "error_correlation",
            "Correlation of errors between orders",
            found,
            int((~np.isnan(hits)).sum()),
            "" if lists.readable else NOTHING,
            unit="r",
            conditions=f"lists of {lists.main.n}",
            note="under 20 prompts the interval covers .87 to .94" if found.clusters < 20 else "",
        )


def independent_error_bound(lists: Lists) -> Iterator[Estimate]:
    """What Hoeffding's bound would promise a majority of orders if errors were independent.

    004 proposition 1, at the largest odd k: context only. The note gives the error of a majority
    with the correlation that was measured; compare `accuracy`.
    """
    if lists.deepest is None or not lists.has_gold:
        return
    hits = _order_hits(lists)
    k = lists.deepest.k - (lists.deepest.k + 1) % 2
    if np.isnan(hits).all() or k < 3:
        return
    q, r = float(np.nanmean(hits)), correlate(hits).value
    told = f"independent votes would err in {majority_error(q, k):.1%}"
    if r is not None:
        shared = majority_error(q, k, max(0.0, r))
        told += f"; with the measured correlation of {r:.2f} a majority errs in {shared:.1%}"
    yield estimate(
        "independent_error_bound",
        f"Hoeffding's bound for {k} independent orders",
        majority_error_bound(q, k),
        unit="share",
        n=int((~np.isnan(hits)).sum()),
        clusters=int((~np.isnan(hits)).any(axis=1).sum()),
        method="exp(-2 k (q - 1/2)^2) (004 proposition 1)",
        conditions=f"one call is right in {q:.1%}",
        note=told,
    )


def _order_hits(lists: Lists) -> "Floats":
    """How right the first call under each order is, (prompts of the main table, orders)."""
    table: Table = lists.main
    return table.call_hits[table.known]
