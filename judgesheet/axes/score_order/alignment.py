"""Does the score agree with quality? (Xu et al., section 5)

Quality is people's scores if the stimuli carry them, else another model's, else the level that the
author of a response wrote it for. `conditions` says which; they are never mixed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from judgesheet.axis import within_item
from judgesheet.axis.arms import WORDS
from judgesheet.axis.arrays import Floats
from judgesheet.axis.figure import UnkeyedEstimate, absent
from judgesheet.axis.labels import NO_REFERENCE
from judgesheet.axis.undefined import explained
from judgesheet.base.digits import counted
from judgesheet.base.records import PaperCompatible
from judgesheet.stats import correlation as stats
from judgesheet.stats.reads import row_means

from ._scores import BALANCED, FIXED, Scores, figure


def _of_arm(sign: str) -> Callable[[Mapping[str, str]], str]:
    """A symbol with the arm as its index: `r_bal`."""
    return lambda dims: f"{sign}_{dims['arm'][:3]}"


@figure(
    "points",
    symbol=_of_arm("s"),
    noise="within_item_sd[arm=fixed]",
    headline={"arm=balanced": 190, "arm=fixed": 230},
    missing={"arm=fixed": FIXED, "": BALANCED},
    passes_blind=True,
    sweep={"arm=balanced": 6},
)
def within_item_sd(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Spread of an item's scores over its readings, in points: how far one may be off.

    Population sd (ddof 0) over the readings of an arm, mean over items (Xu et al. v1, table 3). In
    the fixed arm this is noise, in the others noise and order together. Cluster t interval.
    """
    for arm, reads in scores.arms.items():
        label = f"Spread within a response, {WORDS[arm]}"
        conditions = (
            f"{counted(reads.shape[1], 'reading')} per response, {scores.scale}-point rubric"
        )
        yield within_item.within_item_sd(
            label, arm, reads, scores.grid.cluster, scores.scale - 1, conditions
        )


@figure(
    "r",
    symbol=_of_arm("r"),
    null=0.0,
    better="higher",
    headline={"arm=balanced": 50, "arm=fixed": 200},
    missing={"arm=fixed": FIXED, "": BALANCED},
    sweep={"arm=balanced": 4},
    reads="passes",
)
def pearson_r(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Correlation of mean scores with quality, by the orders that they are means over.

    Pearson's r over items; Fisher-z interval from the cluster jackknife. The papers' item bootstrap
    is given beside it. `conditions` says whose judgment of quality it is.
    """
    yield from _by_arm(scores, "pearson")
    if scores.reference.kind is None:
        return
    for scale, grid in scores.grids.items():
        if scale != scores.scale:
            mean = row_means(grid.blocks.reshape(len(scores.items), -1))
            yield _unkeyed(
                f"Pearson correlation with quality, {WORDS['balanced']}, {scale}-point rubric",
                stats.cluster_jackknife_r(mean, scores.reference.values, grid.cluster),
                scores,
                len(grid.orders),
                {"arm": "balanced", "scale": scale},
            )


@figure("r", symbol="r_1", null=0.0, better="higher", headline=60, reads="passes")
def single_read_r(scores: Scores) -> UnkeyedEstimate:
    """Correlation of one single reading with quality: what a user gets without averaging.

    Pearson's r over all readings of the first balanced pass, each under its own order; Fisher-z
    interval from the cluster jackknife.
    """
    label = "Pearson correlation with quality, a single reading"
    if scores.reference.kind is None:
        return absent(label, NO_REFERENCE)
    reads = scores.grid.reads[:, :, 0]
    orders = reads.shape[1]
    # Every reading is a row: the correlation of one reading, not of a mean.
    quality = np.repeat(scores.reference.values, orders)
    cluster = np.repeat(scores.grid.cluster, orders)
    return _unkeyed(label, stats.cluster_jackknife_r(reads.ravel(), quality, cluster), scores, 1)


@figure("r", better="higher", reads="passes")
def spearman_r(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Rank correlation of mean scores with quality, by the orders that they are means over.

    Spearman's rho over items; Fisher-z interval from the cluster jackknife with ranks taken anew.
    """
    return _by_arm(scores, "spearman")


def _by_arm(scores: Scores, kind: stats.Kind) -> Iterator[UnkeyedEstimate]:
    quality, cluster = scores.reference.values, scores.grid.cluster
    for arm, reads in scores.arms.items():
        label = f"{kind.capitalize()} correlation with quality, {WORDS[arm]}"
        if scores.reference.kind is None:
            yield absent(label, NO_REFERENCE, {"arm": arm})
            continue
        mean = scores.means(arm)
        r = stats.cluster_jackknife_r(mean, quality, cluster, kind)
        r = explained(r, mean, quality, cluster)
        estimate = _unkeyed(label, r, scores, reads.shape[1], {"arm": arm})
        yield replace(estimate, paper=_paper_way(mean, scores)) if kind == "pearson" else estimate


def _unkeyed(
    label: str,
    r: stats.Correlation,
    scores: Scores,
    reads: int,
    dims: Mapping[str, object] | None = None,
) -> UnkeyedEstimate:
    return UnkeyedEstimate(
        label, r, dims or {}, n=r.n, conditions=scores.reference.conditions(reads)
    )


def _paper_way(mean: Floats, scores: Scores) -> PaperCompatible:
    r = stats.paper_bootstrap_r(mean, scores.reference.values, scores.rng())
    return PaperCompatible(r.value, r.low, r.high, r.method)
