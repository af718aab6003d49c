"""Does the score follow quality, and does averaging over orders help? (Xu et al., section 5)

Quality is what people said where the stimuli carry their labels, else what another model said, else
the level that the author of a response wrote it for. `conditions` says which; they are never mixed.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axes.score_order._scores import Order, Scores, figure
from judgesheet.axes.score_order.ordering import canonical, digits
from judgesheet.axis.differences import (
    MARGIN,
    gain,
    gain_equivalence_p,
    gain_p,
    not_comparable,
)
from judgesheet.axis.estimate import maker
from judgesheet.axis.figure import Draft
from judgesheet.axis.flat import explained
from judgesheet.axis.labels import Quality
from judgesheet.records import Estimate, PaperCompatible
from judgesheet.stats import correlation as stats
from judgesheet.stats.interval import by_cluster, cluster_t
from judgesheet.stats.reads import row_means, row_sds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_estimate = maker("score_order")
NO_REFERENCE = "the stimuli carry neither human scores, nor a model's, nor intended levels"


def within_item_sd(scores: Scores) -> Iterator[Estimate]:
    """Spread of an item's scores over its reads, in points: how much one read can be off.

    Population sd (ddof 0) over the reads of an arm, mean over items (Xu et al. v1, table 3). In
    the fixed arm it is noise, in the others noise and order together. Cluster t interval.
    """
    for arm, reads in scores.arms.items():
        spread = row_sds(reads)
        known = ~np.isnan(spread)
        if reads.shape[1] < 2 or not known.any():
            note = "the arm has one read per item" if reads.shape[1] < 2 else "nothing readable"
            yield _estimate(
                "within_item_sd", f"Spread within an item, {arm} arm", None, {"arm": arm}, note=note
            )
            continue
        found = cluster_t(*by_cluster(spread[known], scores.grid.cluster[known]))
        yield _estimate(
            "within_item_sd",
            f"Spread within an item, {arm} arm",
            found.value,
            {"arm": arm},
            low=found.low if found.low is None else max(0.0, found.low),
            high=found.high,
            unit="points",
            n=int(known.sum()),
            clusters=found.clusters,
            method=found.method,
            conditions=f"{reads.shape[1]} reads per item, {scores.scale}-point rubric",
            note=found.note,
        )


def pearson_r(scores: Scores) -> Iterator[Estimate]:
    """Correlation of an arm's mean scores with quality: does the score follow what it should?

    Pearson's r over items; Fisher-z interval from the cluster jackknife. The papers' item bootstrap
    stands beside it. `conditions` says whose judgment of quality it is.
    """
    yield from _correlations("pearson_r", "Pearson", "pearson", scores)
    if scores.reference.kind is None:
        return
    for scale, grid in scores.grids.items():
        if scale == scores.scale:
            continue
        mean = row_means(grid.blocks.reshape(len(scores.items), -1))
        found = stats.cluster_jackknife_r(mean, scores.reference.values, grid.cluster)
        yield _correlation(
            "pearson_r",
            f"Pearson correlation with quality, balanced arm, {scale}-point rubric",
            {"arm": "balanced", "scale": scale},
            found,
            scores,
            len(grid.orders),
        )


def single_read_r(scores: Scores) -> Estimate:
    """Correlation of one single reading with quality: what a user without averaging gets.

    Pearson's r over all readings of the first balanced pass, each under its own order; Fisher-z
    interval from the cluster jackknife.
    """
    label = "Pearson correlation with quality, a single reading"
    if scores.reference.kind is None:
        return _estimate("single_read_r", label, None, note=NO_REFERENCE)
    reads = scores.grid.reads[:, :, 0]
    orders = reads.shape[1]
    found = stats.cluster_jackknife_r(
        reads.ravel(),
        np.repeat(scores.reference.values, orders),
        np.repeat(scores.grid.cluster, orders),
    )
    return _correlation("single_read_r", label, {}, found, scores, 1)


def spearman_r(scores: Scores) -> Iterator[Estimate]:
    """Rank correlation of an arm's mean scores with quality.

    Spearman's rho over items; Fisher-z interval from the cluster jackknife with ranks taken anew.
    """
    yield from _correlations("spearman_r", "Spearman", "spearman", scores)


def _correlations(name: str, title: str, kind: stats.Kind, scores: Scores) -> Iterator[Estimate]:
    for arm in scores.arms:
        label = f"{title} correlation with quality, {arm} arm"
        if scores.reference.kind is None:
            yield _estimate(name, label, None, {"arm": arm}, note=NO_REFERENCE)
            continue
        mean = scores.means(arm)
        truth, cluster = scores.reference.values, scores.grid.cluster
        found = stats.cluster_jackknife_r(mean, truth, cluster, kind)
        found = explained(found, mean, truth, cluster)
        paper = _paper_way(mean, scores) if kind == "pearson" else None
        yield _correlation(name, label, {"arm": arm}, found, scores, _reads(scores, arm), paper)


def _correlation(
    name: str,
    label: str,
    dims: dict[str, object],
    found: stats.Correlation,
    scores: Scores,
    reads: int,
    paper: PaperCompatible | None = None,
) -> Estimate:
    return _estimate(
        name,
        label,
        found.value,
        dims,
        low=found.low,
        high=found.high,
        unit="r",
        n=found.n,
        clusters=found.clusters,
        method=found.method,
        conditions=f"{_reference(scores)}; {reads} read{'s' if reads > 1 else ''} per item",
        note=found.note,
        reason=found.reason,
        paper_compatible=paper,
    )


def _paper_way(mean: "Floats", scores: Scores) -> PaperCompatible:
    found = stats.paper_bootstrap_r(mean, scores.reference.values, scores.rng())
    return PaperCompatible(found.value, found.low, found.high, found.method)


def _reference(scores: Scores) -> str:
    return f"quality: {scores.reference.name}"


_PAIRS = (("balanced", "fixed"), ("balanced", "random"))


def _deltas(scores: Scores) -> list[tuple[str, str, stats.DeltaR]]:
    return [
        (
            one,
            other,
            stats.delta_r(
                scores.means(one),
                scores.means(other),
                scores.reference.values,
                scores.grid.cluster,
                scores.rng(),
                margin=MARGIN,
            ),
        )
        for one, other in _PAIRS
        if other in scores.arms
        and _reads(scores, one) == _reads(scores, other)
        and scores.reference.kind is not None
    ]


def _unmatched(scores: Scores) -> Iterator[tuple[str, str]]:
    """Pairs of arms that were read, but not equally often."""
    for one, other in _PAIRS:
        if other in scores.arms and _reads(scores, one) != _reads(scores, other):
            yield one, other


def _reads(scores: Scores, arm: str) -> int:
    return int(scores.arms[arm].shape[1])


@figure("difference of r", symbol=lambda dims: f"Δr_{dims['arms'][9:12]}", better="")
def delta_r(scores: Scores) -> Iterator[Draft]:
    """What averaging over balanced orders gains in correlation with quality over another arm.

    r(balanced) - r(other), paired cluster bootstrap (Xu et al., table 3), where both arms were read
    equally often: averaging alone raises r. balanced-fixed is the effect of removing the order,
    balanced-random that of exact balance over mere shuffling.
    """
    for one, other in _unmatched(scores):
        reads = (_reads(scores, one), _reads(scores, other))
        yield not_comparable(one, other, reads)
    yield from gain(_deltas(scores), Quality(scores.reference.kind or ""), scores.temperature)


@figure("p")
def delta_r_p(scores: Scores) -> Iterator[Draft]:
    """p-value of "balanced orders correlate as well as the other arm", with Holm's correction."""
    yield from gain_p(_deltas(scores))


@figure("p")
def delta_r_equivalence_p(scores: Scores) -> Iterator[Draft]:
    """p-value of "the two arms differ in r by .02 or more": small means proven equivalent (TOST).

    A difference that is not significant proves nothing; this one can.
    """
    yield from gain_equivalence_p(_deltas(scores))


def per_order_r(scores: Scores) -> Iterator[Estimate]:
    """Correlation with quality of single reads under one order (Xu et al. v1, table 4).

    Pearson's r; Fisher-z interval from the cluster jackknife. `conditions` give its rank among the
    probed orders, as the paper prints it: ranks of noisy correlations jump.
    """
    if scores.reference.kind is None:
        return
    ranks = _ranks(scores)
    for order, reads in _order_columns(scores):
        found = stats.cluster_jackknife_r(reads, scores.reference.values, scores.grid.cluster)
        yield _estimate(
            "per_order_r",
            f"r of single reads under the order {' '.join(map(str, order))}",
            found.value,
            {"order": digits(order)},
            low=found.low,
            high=found.high,
            unit="r",
            n=found.n,
            clusters=found.clusters,
            method=found.method,
            conditions=f"{_reference(scores)}; rank {ranks.get(order, '?')} of {len(ranks)}",
            note=found.note,
        )


def _ranks(scores: Scores) -> dict[Order, int]:
    """Rank by r of every order whose r is defined; 1 is the best."""
    found = {
        o: stats.pearson(reads, scores.reference.values) for o, reads in _order_columns(scores)
    }
    known = {order: r for order, r in found.items() if not np.isnan(r)}
    return {order: 1 + sum(other > r for other in known.values()) for order, r in known.items()}


def default_order_rank(scores: Scores) -> Estimate:
    """Rank of the default order 1 2 … n among the probed ones by `per_order_r` (1 is best).

    Xu et al. v1, table 4. Ranks of noisy correlations jump: read it beside their intervals.
    """
    label = "Rank of the default order by correlation"
    if scores.reference.kind is None:
        return _estimate("default_order_rank", label, None, note=NO_REFERENCE)
    ranks, default = _ranks(scores), canonical(scores)
    if default not in ranks:
        note = "the default order was not probed or its correlation is undefined"
        return _estimate("default_order_rank", label, None, note=note)
    return _estimate(
        "default_order_rank",
        label,
        ranks[default],
        unit=f"of {len(ranks)}",
        n=len(scores.items),
        clusters=scores.grid.clusters,
        method="rank of Pearson's r of single reads (Xu et al. v1)",
        conditions=_reference(scores),
    )


def _order_columns(scores: Scores) -> "Iterator[tuple[Order, Floats]]":
    for index, order in enumerate(scores.grid.orders):
        yield order, row_means(scores.grid.reads[:, index, : scores.grid.passes])


def budget_r(scores: Scores) -> Iterator[Estimate]:
    """Correlation with quality after averaging k orders (Xu et al., section 5.3).

    Mean over the subsets of size k of the arm's reads, complete items only; `low` and `high` are
    the 2.5 and 97.5 percentiles over subsets, a spread and not a confidence interval.
    """
    if scores.reference.kind is None:
        return
    yield from _budget(
        "budget_r",
        "r with quality",
        scores,
        lambda reads: stats.budget_r(reads, scores.reference.values, scores.rng()),
    )


def budget_agreement(scores: Scores) -> Iterator[Estimate]:
    """Correlation of the mean of k orders with the mean of all of them: how many are enough?

    Needs no label. The k orders are part of what they are compared with, so it ends at 1: it says
    how soon fewer calls stand in for all, not how good all are.
    """
    yield from _budget(
        "budget_agreement",
        "Agreement with all orders",
        scores,
        lambda reads: stats.budget_agreement(reads, scores.rng()),
    )


def _budget(
    name: str,
    label: str,
    scores: Scores,
    sweep: "Callable[[Floats], tuple[stats.BudgetPoint, ...]]",
) -> Iterator[Estimate]:
    for arm in ("balanced", "random"):
        reads = _one_pass(scores, arm)
        if reads is None:
            continue
        complete = int((~np.isnan(reads).any(axis=1)).sum())
        for point in sweep(reads):
            undefined = f"undefined in {point.undefined:.0%} of subsets: constant scores"
            single = point.subsets < 2  # one subset has no spread
            yield _estimate(
                name,
                f"{label} after {point.k} order{'s' if point.k > 1 else ''}, {arm} (range: "
                "over choices of orders)",
                point.value,
                {"k": point.k, "arm": arm},
                low=None if single else point.low,
                high=None if single else point.high,
                unit="r",
                n=complete,
                clusters=scores.grid.clusters,
                method=f"mean and 2.5-97.5 percentile of {point.subsets} subsets",
                conditions=_reference(scores) if name == "budget_r" else "",
                note=undefined if point.undefined else "",
            )


def _one_pass(scores: Scores, arm: str) -> "Floats | None":
    """One read per order: the first pass of the balanced arm, or the random arm."""
    if arm == "balanced":
        return scores.grid.reads[:, :, 0]
    return scores.arms.get(arm)
