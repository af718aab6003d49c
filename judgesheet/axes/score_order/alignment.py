"""Does the score follow quality, and does averaging over orders help? (Xu et al., section 5)

Quality is what people said where the stimuli carry their labels, else what another model said, else
the level that the author of a response wrote it for. `conditions` says which; they are never mixed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from judgesheet.axes.score_order._scores import Scores, figure
from judgesheet.axis import alignment, raters
from judgesheet.axis.arrays import Floats
from judgesheet.axis.differences import gain, gain_equivalence_p, gain_p, gain_symbol
from judgesheet.axis.figure import Draft, absent
from judgesheet.axis.labels import NO_REFERENCE
from judgesheet.axis.undefined import explained
from judgesheet.records import PaperCompatible
from judgesheet.stats import correlation as stats
from judgesheet.stats.reads import row_means


def _of_arm(sign: str) -> Callable[[Mapping[str, str]], str]:
    """A symbol with the arm as its index: `r_bal`."""
    return lambda dims: f"{sign}_{dims['arm'][:3]}"


@figure("points", symbol=_of_arm("s"), noise="within_item_sd[arm=fixed]")
def within_item_sd(scores: Scores) -> Iterator[Draft]:
    """Spread of an item's scores over its reads, in points: how much one read can be off.

    Population sd (ddof 0) over the reads of an arm, mean over items (Xu et al. v1, table 3). In
    the fixed arm it is noise, in the others noise and order together. Cluster t interval.
    """
    for arm, reads in scores.arms.items():
        label = f"Spread within a response, {arm} arm"
        given = f"{reads.shape[1]} reads per response, {scores.scale}-point rubric"
        yield alignment.within_item_sd(
            label, arm, reads, scores.grid.cluster, scores.scale - 1, given
        )


@figure("r", symbol=_of_arm("r"), null=0.0, better="higher")
def pearson_r(scores: Scores) -> Iterator[Draft]:
    """Correlation of an arm's mean scores with quality: does the score follow what it should?

    Pearson's r over items; Fisher-z interval from the cluster jackknife. The papers' item bootstrap
    stands beside it. `conditions` says whose judgment of quality it is.
    """
    yield from _by_arm(scores, "pearson")
    if scores.reference.kind is None:
        return
    for scale, grid in scores.grids.items():
        if scale != scores.scale:
            mean = row_means(grid.blocks.reshape(len(scores.items), -1))
            yield _draft(
                f"Pearson correlation with quality, balanced arm, {scale}-point rubric",
                stats.cluster_jackknife_r(mean, scores.reference.values, grid.cluster),
                scores,
                len(grid.orders),
                {"arm": "balanced", "scale": scale},
            )


@figure("r", symbol="r_1", null=0.0, better="higher")
def single_read_r(scores: Scores) -> Draft:
    """Correlation of one single reading with quality: what a user without averaging gets.

    Pearson's r over all readings of the first balanced pass, each under its own order; Fisher-z
    interval from the cluster jackknife.
    """
    label = "Pearson correlation with quality, a single reading"
    if scores.reference.kind is None:
        return absent(label, NO_REFERENCE)
    reads = scores.grid.reads[:, :, 0]
    orders = reads.shape[1]
    quality = np.repeat(scores.reference.values, orders)
    cluster = np.repeat(scores.grid.cluster, orders)
    return _draft(label, stats.cluster_jackknife_r(reads.ravel(), quality, cluster), scores, 1)


@figure("r", better="higher")
def spearman_r(scores: Scores) -> Iterator[Draft]:
    """Rank correlation of an arm's mean scores with quality.

    Spearman's rho over items; Fisher-z interval from the cluster jackknife with ranks taken anew.
    """
    return _by_arm(scores, "spearman")


def _by_arm(scores: Scores, kind: stats.Kind) -> Iterator[Draft]:
    quality, cluster = scores.reference.values, scores.grid.cluster
    for arm, reads in scores.arms.items():
        label = f"{kind.capitalize()} correlation with quality, {arm} arm"
        if scores.reference.kind is None:
            yield absent(label, NO_REFERENCE, {"arm": arm})
            continue
        mean = scores.means(arm)
        r = stats.cluster_jackknife_r(mean, quality, cluster, kind)
        r = explained(r, mean, quality, cluster)
        draft = _draft(label, r, scores, reads.shape[1], {"arm": arm})
        yield replace(draft, paper=_paper_way(mean, scores)) if kind == "pearson" else draft


def _draft(
    label: str,
    r: stats.Correlation,
    scores: Scores,
    reads: int,
    dims: Mapping[str, object] | None = None,
) -> Draft:
    return Draft(label, r, dims or {}, n=r.n, given=scores.reference.given(reads))


def _paper_way(mean: Floats, scores: Scores) -> PaperCompatible:
    r = stats.paper_bootstrap_r(mean, scores.reference.values, scores.rng())
    return PaperCompatible(r.value, r.low, r.high, r.method)


@figure("alpha", symbol="α", better="")
def rater_alpha(scores: Scores) -> Iterator[Draft]:
    """Krippendorff's alpha of the raters behind the reference: how far do they agree themselves?

    1 is agreement, 0 what chance would give. Level of measurement: interval, since the ratings are
    averaged and correlated, which takes equal steps for equal differences already; missing ratings
    are allowed. Interval: cluster bootstrap over stimuli, Fisher's z, t. Krippendorff (2011).
    """
    return raters.alpha({"": scores.reference}, scores.grid.cluster, scores.rng)


@figure("r", symbol="r_max", better="")
def rater_ceiling_r(scores: Scores) -> Iterator[Draft]:
    """The correlation with the mean of these raters that a perfect judge can be expected to reach.

    The index of reliability, sqrt(reliability of the mean rating): ICC(C,k) where every rater rated
    every item (McGraw and Wong 1996), else Spearman-Brown of `rater_alpha` with the harmonic mean
    of the ratings per item. Read `pearson_r` against it: r = .6 under a ceiling of .7 is a good
    judge. No value where the mean rating shows no reliability: the raters agree no more than by
    chance. Interval: cluster bootstrap over stimuli, Fisher's z, t. Lord and Novick (1968), 3.4.
    """
    return raters.ceiling_r({"": scores.reference}, scores.grid.cluster, scores.rng)


@figure("difference of r", symbol=gain_symbol, better="")
def delta_r(scores: Scores) -> Iterator[Draft]:
    """What averaging over balanced orders gains in correlation with quality over another arm.

    r(balanced) - r(other), paired cluster bootstrap (Xu et al., table 3), where both arms were read
    equally often: averaging alone raises r. balanced-fixed is the effect of removing the order,
    balanced-random that of exact balance over mere shuffling.
    """
    return gain(scores.compared, scores.reference.given(), scores.temperature)


@figure("p")
def delta_r_p(scores: Scores) -> Iterator[Draft]:
    """p-value of "balanced orders correlate as well as the other arm", with Holm's correction."""
    return gain_p(scores.compared)


@figure("p")
def delta_r_equivalence_p(scores: Scores) -> Iterator[Draft]:
    """p-value of "the two arms differ in r by .02 or more": small means proven equivalent (TOST).

    A difference that is not significant proves nothing; this one can.
    """
    return gain_equivalence_p(scores.compared)
