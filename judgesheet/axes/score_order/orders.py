"""Which order should the rubric be printed in, and how many are enough? (Xu et al., 5.2 and 5.3)

Averaging raises the correlation with quality for two reasons: noise cancels, as it would with
repeats under one order, and the effect of the order cancels, which needs other orders.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from judgesheet.axis.arrays import Floats
from judgesheet.axis.figure import UnkeyedEstimate, absent
from judgesheet.axis.labels import NO_REFERENCE
from judgesheet.base.digits import counted, percent, two_digits, with_noun
from judgesheet.base.limits import MOST_DIGITS
from judgesheet.base.missing_reasons import CONSTANT, NO_OBSERVATIONS, Reason
from judgesheet.base.records import PaperCompatible
from judgesheet.stats import correlation
from judgesheet.stats import orders as designs
from judgesheet.stats import selection as matrices
from judgesheet.stats.correlation import cluster_jackknife_r, pearson
from judgesheet.stats.interval import cluster_rate, without_interval
from judgesheet.stats.orders import Order
from judgesheet.stats.reads import row_means

from ._scores import Scores, figure

# -- which order (Xu et al. v1, section 5.3) -------------------------------------------------------


NO_NUMBER = Reason("no_number", "an order of more than nine scores is no number; bias_cost has all")
NEVER_GIVEN = Reason("never_given", "a score was never given: its shares are unknown")
DEFAULT_IS_BEST = Reason("default_is_best", "the default order is itself the cheapest probed")
NO_RANK = Reason("no_rank", "the default order was not probed or its correlation is undefined")


def digits(order: Order) -> str:
    """An order as the key writes it: 12345, with A for the tenth score."""
    return "".join(f"{score:X}" for score in order)


def canonical(scores: Scores) -> Order:
    """The default order 1 2 … n."""
    return designs.balanced(scores.scale)[0]


@figure("share", better="nearer", passes_blind=True, reads="passes")
def selection(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """When the judge gives this score, how often is its line at this position?

    P(position | score) over the balanced arm (Xu et al. v1, table 5); 1/n everywhere for a judge
    that reads only the content. Interval of a rate over clusters.
    """
    counts = scores.grid.selections
    for score in range(scores.scale):
        sizes = counts[:, score, :].sum(axis=1)
        for position in range(scores.scale):
            share = cluster_rate(counts[:, score, position], sizes)
            label = f"Share of score {score + 1} given at position {position + 1}"
            dims = {"score": score + 1, "position": position + 1}
            yield UnkeyedEstimate(label, share, dims, n=int(sizes.sum())).or_absent(NEVER_GIVEN)


@figure(
    "percentage points",
    symbol="BC",
    null=0.0,
    headline={"order=12345": 115},
    missing="balanced orders (cell.arm) at a 5-point scale",
    passes_blind=True,
    reads="passes",
)
def bias_cost(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """How far an order's own cells of the selection matrix depart from 1/n, in percentage points.

    Cost(pi) = sum over positions p of |P(p | pi_p) - 1/n| (Xu et al. v1, table 6; summed, not
    averaged). A true cost of 0 gives a value well above 0 in a small probe; the interval allows for
    that.
    """
    counts = scores.grid.selections
    paper_way = matrices.selection_matrix(counts)
    for order in sorted({*scores.grid.orders, canonical(scores)}):
        cost = matrices.bias_cost_interval(counts, order)
        plain = matrices.bias_cost(paper_way, order)
        printed = None if np.isnan(plain) else plain
        estimate = UnkeyedEstimate(
            f"Bias cost of the order {' '.join(map(str, order))}",
            cost,
            {"order": digits(order)},
            n=int(counts.sum()),
            paper=PaperCompatible(printed, None, None, "Xu et al. v1, section 5.3"),
        )
        yield estimate.or_absent(NEVER_GIVEN)


@figure("order", better="", passes_blind=True)
def min_bias_order(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """The order of least bias cost, written as a number (54321 lists 5 first).

    Without a dimension: among the orders that were probed, as in Xu et al. v1, table 6;
    `[among=all]`: among all n! orders, as an assignment problem. It is the minimum of a noisy
    figure; `min_bias_confidence` says how reliable it is.
    """
    counts = scores.grid.selections
    for where, dims, among in (
        ("the probed orders", {}, scores.grid.orders),
        ("all orders", {"among": "all"}, None),
    ):
        matrix = matrices.selection_matrix(counts)
        best = matrices.min_bias_order(matrix, among)
        # A value must be a number: the order 1 2 3 4 5 is 12345.
        order = int(digits(best)) if best and len(best) <= MOST_DIGITS else None
        cost = "" if best is None else two_digits(matrices.bias_cost(matrix, best))
        estimate = UnkeyedEstimate(
            f"Order of least bias cost among {where}",
            without_interval(order, clusters=scores.grid.clusters, method="argmin of bias_cost"),
            dims,
            n=int(counts.sum()),
            conditions=cost and f"its cost is {with_noun(cost, 'point')}",
        )
        yield estimate.or_absent(NO_NUMBER if best else NEVER_GIVEN)


@figure("share", symbol="conf", better="", headline=240, passes_blind=True)
def min_bias_confidence(scores: Scores) -> UnkeyedEstimate:
    """How certain it is that the best probed order costs less than the default 1 2 … n.

    Share of 2,000 cluster-bootstrap resamples in which it does. An order is recommended only from
    .90 up: resampling the paper's own tables finds the same best order in only 13 to 52 %.
    """
    counts, probed, default = scores.grid.selections, scores.grid.orders, canonical(scores)
    best = matrices.min_bias_order(matrices.selection_matrix(counts), probed)
    share, note = None, ""
    # The default cannot be cheaper than itself: there is nothing to resample.
    if best is not None and best != default:
        share = matrices.order_gain_share(counts, best, default, scores.rng())
        again = matrices.best_order_share(counts, scores.rng(), probed)
        note = f"the same best order is found again in {percent(again or 0)} of resamples"
    method = "cluster bootstrap, 2,000 resamples"
    estimate = UnkeyedEstimate(
        "Resamples in which the cheapest order beats the default",
        without_interval(share, clusters=scores.grid.clusters, method=method),
        n=int(counts.sum()),
        note=note,
    )
    return estimate.or_absent(NEVER_GIVEN if best is None else DEFAULT_IS_BEST)


@figure("r", better="higher")
def per_order_r(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Correlation with quality of single readings under one order (Xu et al. v1, table 4).

    Pearson's r; Fisher-z interval from the cluster jackknife. `conditions` give its rank among the
    probed orders, as in the paper, but ranks of noisy correlations are unstable.
    """
    if scores.reference.kind is None:
        return
    ranks = _ranks(scores)
    for order, reads in _order_columns(scores):
        r = cluster_jackknife_r(reads, scores.reference.values, scores.grid.cluster)
        rank = f"rank {ranks.get(order, '?')} of {len(ranks)}"
        yield UnkeyedEstimate(
            f"r of single readings under the order {' '.join(map(str, order))}",
            r,
            {"order": digits(order)},
            n=r.n,
            conditions=scores.reference.conditions(remark=rank),
        )


@figure("rank")
def default_order_rank(scores: Scores) -> UnkeyedEstimate:
    """Rank of the default order 1 2 … n among the probed ones by `per_order_r` (1 is best).

    Xu et al. v1, table 4. Ranks of noisy correlations are unstable: compare the intervals of
    `per_order_r`.
    """
    label = "Rank of the default order by correlation"
    if scores.reference.kind is None:
        return absent(label, NO_REFERENCE)
    ranks, default = _ranks(scores), canonical(scores)
    if default not in ranks:
        return absent(label, NO_RANK)
    rated = scores.rated & ~np.isnan(scores.grid.reads).all(axis=(1, 2))
    return UnkeyedEstimate(
        label,
        without_interval(
            ranks[default],
            clusters=scores.grid.clusters_of(rated),
            method="rank of Pearson's r of single readings (Xu et al. v1)",
        ),
        n=int(rated.sum()),
        conditions=scores.reference.conditions(),
        unit=f"of {len(ranks)}",
    )


def _ranks(scores: Scores) -> dict[Order, int]:
    """Rank by r of every order whose r is defined; 1 is the best."""
    quality = scores.reference.values
    correlations = {order: pearson(reads, quality) for order, reads in _order_columns(scores)}
    known = {order: r for order, r in correlations.items() if not np.isnan(r)}
    return {order: 1 + sum(other > r for other in known.values()) for order, r in known.items()}


def _order_columns(scores: Scores) -> Iterator[tuple[Order, Floats]]:
    """Each order with the mean of an item's reads under it."""
    for index, order in enumerate(scores.grid.orders):
        yield order, row_means(scores.grid.reads[:, index, : scores.grid.passes])


# -- how many --------------------------------------------------------------------------------------


@figure("r", better="higher")
def budget_r(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Correlation with quality after averaging k orders (Xu et al., section 5.3).

    Mean over the subsets of size k of the arm's reads, complete items only; `low` and `high` are
    the 2.5 and 97.5 percentiles over subsets, a spread and not a confidence interval.
    """
    if scores.reference.kind is None:
        return
    # Not the fixed arm: all its reads are under one order.
    arms = {"balanced": scores.grid.reads[:, :, 0], "random": scores.arms.get("random")}
    for arm, reads in arms.items():
        if reads is None:
            continue
        entering = scores.rated & ~np.isnan(reads).any(axis=1)
        complete = int(entering.sum())
        for point in correlation.budget_r(reads, scores.reference.values, scores.rng()):
            undefined = f"undefined in {percent(point.undefined)} of subsets: constant scores"
            estimate = UnkeyedEstimate(
                f"r with quality after {counted(point.k, 'order')}, {arm} "
                "(range: over choices of orders)",
                replace(point, clusters=scores.grid.clusters_of(entering)),
                {"k": point.k, "arm": arm},
                n=complete,
                conditions=scores.reference.conditions(),
                note=undefined if point.undefined else "",
            )
            yield estimate.or_absent(CONSTANT if complete else NO_OBSERVATIONS)
