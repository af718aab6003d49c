"""Do the scores follow quality, and does averaging over orders help? (Xu et al., section 5.5)

Every figure is the mean over criteria of a correlation over responses: levels of different criteria
are never mixed. Quality is what people said where the stimuli carry their labels, else the level
that the author of a built-in response wrote it for; `conditions` say which.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesheet.axes.criterion_order._scores import Scores, figure
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
from judgesheet.records import Estimate
from judgesheet.stats import correlation, macro
from judgesheet.stats.interval import by_cluster, cluster_t
from judgesheet.stats.reads import row_means, row_sds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_estimate = maker("criterion_order")
NO_REFERENCE = "the stimuli carry neither human scores nor intended levels of the criteria"


def within_item_sd(scores: Scores) -> Iterator[Estimate]:
    """Spread of a criterion's scores over the reads of a response, in points.

    Population sd (ddof 0) over the reads of an arm, mean over responses and criteria. In the fixed
    arm it is noise, in the others noise and order together. Cluster t interval.
    """
    for arm, reads in scores.arms.items():
        label = f"Spread within a response and criterion, {arm} arm"
        spread = row_sds(np.moveaxis(reads, 1, 2)).mean(axis=1)
        known = ~np.isnan(spread)
        if reads.shape[1] < 2 or not known.any():
            note = "the arm has one read per response" if reads.shape[1] < 2 else "nothing readable"
            yield _estimate("within_item_sd", label, None, {"arm": arm}, note=note)
            continue
        found = cluster_t(*by_cluster(spread[known], scores.cluster[known]))
        yield _estimate(
            "within_item_sd",
            label,
            found.value,
            {"arm": arm},
            low=found.low if found.low is None else max(0.0, found.low),
            high=found.high,
            unit="points",
            n=int(known.sum()),
            clusters=found.clusters,
            method=found.method,
            conditions=f"{reads.shape[1]} reads per response",
            note=found.note,
        )


def pearson_r(scores: Scores) -> Iterator[Estimate]:
    """Correlation of an arm's mean scores with quality, mean over criteria and for each.

    Pearson's r over responses. The mean over criteria carries a cluster-bootstrap interval, a
    single criterion the cluster jackknife's with Fisher's z. Xu et al., tables 5 and 6.
    """
    yield from _correlations("pearson_r", "Pearson", "pearson", scores)


def spearman_r(scores: Scores) -> Iterator[Estimate]:
    """Rank correlation of an arm's mean scores with quality, mean over criteria and for each.

    Spearman's rho over responses; intervals as for `pearson_r`, with ranks taken anew.
    """
    yield from _correlations("spearman_r", "Spearman", "spearman", scores)


def _correlations(
    name: str, title: str, kind: correlation.Kind, scores: Scores
) -> Iterator[Estimate]:
    for arm, reads in scores.arms.items():
        label = f"{title} correlation with quality, {arm} arm"
        if _unknown(scores):
            yield _estimate(name, label, None, {"arm": arm}, note=NO_REFERENCE)
            continue
        mean, times = scores.means(arm), reads.shape[1]
        found = macro.macro_r(mean, scores.reference, scores.cluster, scores.rng(), kind)
        found = explained(found, mean, scores.reference, scores.cluster)
        yield _correlation(name, f"{label}, mean over criteria", {"arm": arm}, found, scores, times)
        for index, criterion in enumerate(scores.names):
            one = correlation.cluster_jackknife_r(
                mean[:, index], scores.reference[:, index], scores.cluster, kind
            )
            dims: dict[str, object] = {"criterion": criterion, "arm": arm}
            yield _correlation(name, f"{label}, {criterion}", dims, one, scores, times)


def single_read_r(scores: Scores) -> Estimate:
    """Correlation of one single reading with quality, mean over criteria.

    What a user without averaging gets: Pearson's r over all readings of the first balanced pass,
    each under its own order. Cluster-bootstrap interval.
    """
    label = "Pearson correlation with quality, a single reading, mean over criteria"
    if _unknown(scores):
        return _estimate("single_read_r", label, None, note=NO_REFERENCE)
    columns = [scores.by_criterion(scores.reads[:, o, 0]) for o in range(scores.reads.shape[1])]
    times = len(columns)
    found = macro.macro_r(
        np.concatenate(columns),
        np.tile(scores.reference, (times, 1)),
        np.tile(scores.cluster, times),
        scores.rng(),
    )
    return _correlation("single_read_r", label, {}, found, scores, 1)


def _correlation(
    name: str,
    label: str,
    dims: dict[str, object],
    found: correlation.Correlation,
    scores: Scores,
    reads: int,
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
        conditions=f"{_quality(scores)}; {reads} read{'s' if reads > 1 else ''} per response",
        note=found.note,
        reason=found.reason,
    )


def _unknown(scores: Scores) -> bool:
    return bool(np.isnan(scores.reference).all())


def _quality(scores: Scores) -> str:
    return f"quality: {scores.reference_name}"


def _reads(scores: Scores, arm: str) -> int:
    return int(scores.arms[arm].shape[1])


def _pairs(scores: Scores) -> Iterator[tuple[str, str]]:
    for other in ("fixed", "random"):
        if other in scores.arms and other != scores.base:
            yield scores.base, other


def _deltas(scores: Scores) -> list[tuple[str, str, correlation.DeltaR]]:
    return [
        (
            one,
            other,
            macro.macro_delta_r(
                scores.means(one),
                scores.means(other),
                scores.reference,
                scores.cluster,
                scores.rng(),
                margin=MARGIN,
            ),
        )
        for one, other in _pairs(scores)
        if _reads(scores, one) == _reads(scores, other) and not _unknown(scores)
    ]


@figure("difference of r", symbol=lambda dims: f"Δr_{dims['arms'][9:12]}", better="")
def delta_r(scores: Scores) -> Iterator[Draft]:
    """What averaging over balanced orders gains in correlation with quality over another arm.

    Difference of the means over criteria, paired cluster bootstrap (Xu et al., table 6), where both
    arms were read equally often: averaging alone raises r. balanced-fixed is the effect of removing
    the order, balanced-random that of exact balance over mere shuffling.
    """
    for one, other in _pairs(scores):
        reads = (_reads(scores, one), _reads(scores, other))
        if reads[0] != reads[1]:
            yield not_comparable(one, other, reads)
    yield from gain(_deltas(scores), Quality(scores.reference_kind or ""), scores.temperature)


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


def budget_r(scores: Scores) -> Iterator[Estimate]:
    """Correlation with quality after averaging k orders, mean over criteria.

    Mean over the subsets of k of the balanced orders, responses with every reading only: how many
    readings are worth paying for.
    """
    if _unknown(scores):
        return

    def sweep(reads: "Floats", index: int, items: "Ints") -> tuple[correlation.BudgetPoint, ...]:
        return correlation.budget_r(reads, scores.reference[items, index], scores.rng())

    yield from _budget("budget_r", "r with quality", scores, sweep)


def budget_agreement(scores: Scores) -> Iterator[Estimate]:
    """Correlation of the mean of k orders with the mean of all, mean over criteria.

    Needs no label. The k orders are part of what they are compared with, so it ends at 1: it says
    how soon fewer calls stand in for all, not how good all are.
    """

    def sweep(reads: "Floats", index: int, items: "Ints") -> tuple[correlation.BudgetPoint, ...]:
        del index, items
        return correlation.budget_agreement(reads, scores.rng())

    yield from _budget("budget_agreement", "Agreement with all orders", scores, sweep)


_Sweep = Callable[[Any, int, Any], tuple[correlation.BudgetPoint, ...]]


def _budget(name: str, label: str, scores: Scores, sweep: _Sweep) -> Iterator[Estimate]:
    curves = []
    for index in range(len(scores.names)):
        items, slots = np.nonzero(scores.criterion == index)
        curve = sweep(scores.reads[items, :, 0, slots], index, items)
        if all(point.value is not None for point in curve):
            curves.append([float(point.value or 0.0) for point in curve])
    if not curves:
        return
    lost = len(scores.names) - len(curves)
    for k, value in enumerate(row_means(np.array(curves).T), start=1):
        yield _estimate(
            name,
            f"{label} after {k} order{'s' if k > 1 else ''}, mean over criteria",
            value,
            {"k": k, "arm": scores.base},
            unit="r",
            n=len(scores.cluster),
            clusters=scores.clusters,
            method="mean over subsets of k orders, then over criteria",
            conditions=_quality(scores) if name == "budget_r" else "",
            note=f"without {lost} criteria whose scores are constant" if lost else "",
        )
