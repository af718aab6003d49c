"""Does the order of the criteria change scores, and do these follow quality? (Xu et al., 5.5)

Every correlation is the mean over criteria of one over responses: levels of different criteria are
never mixed. Quality is people's scores if the stimuli carry them, else the level that the author of
a built-in response wrote it for; `conditions` say which.
"""

from collections.abc import Iterator

import numpy as np

from judgesheet.axis.arms import WORDS
from judgesheet.axis.figure import UnkeyedEstimate, absent
from judgesheet.axis.labels import NO_REFERENCE
from judgesheet.axis.undefined import explained
from judgesheet.stats import correlation, macro

from ._scores import FIXED, PLACED, Scores, figure


@figure(
    "r",
    symbol=lambda dims: f"r_{dims['arm'][:3]}",
    null=0.0,
    better="higher",
    headline={"arm=balanced": 50, "arm=fixed": 200},
    missing={"arm=fixed": FIXED, "": PLACED},
    sweep={"arm=balanced": 4},
    reads="passes",
)
def pearson_r(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Correlation of mean scores with quality, mean over criteria by arm, for each when balanced.

    Pearson's r over responses; Fisher-z interval from the cluster jackknife. Xu et al., tables 5
    and 6.
    """
    for arm, reads in scores.arms.items():
        label = f"Pearson correlation with quality, {WORDS[arm]}"
        if not scores.knows_quality:
            yield absent(label, NO_REFERENCE, {"arm": arm})
            continue
        means, quality, cluster = scores.means(arm), scores.reference, scores.cluster
        conditions = scores.quality(reads.shape[1])
        r = explained(macro.macro_r(means, quality, cluster), means, quality, cluster)
        yield UnkeyedEstimate(
            f"{label}, mean over criteria", r, {"arm": arm}, n=r.n, conditions=conditions
        )
        if arm != "balanced":
            continue
        for name, own, worth in zip(scores.names, means.T, quality.T, strict=True):
            r = explained(correlation.cluster_jackknife_r(own, worth, cluster), own, worth, cluster)
            dims = {"criterion": name, "arm": arm}
            yield UnkeyedEstimate(f"{label}, {name}", r, dims, n=r.n, conditions=conditions)


@figure("r", symbol="r_1", null=0.0, better="higher", headline=60)
def single_read_r(scores: Scores) -> UnkeyedEstimate:
    """Correlation of one single reading with quality, mean over criteria.

    What a user without averaging gets: Pearson's r over all readings of the first balanced pass,
    each under its own order. Fisher-z interval from the cluster jackknife.
    """
    label = "Pearson correlation with quality, a single reading, mean over criteria"
    if not scores.knows_quality:
        return absent(label, NO_REFERENCE)
    orders = scores.reads.shape[1]
    readings = [scores.by_criterion(scores.reads[:, order, 0]) for order in range(orders)]
    quality, cluster = np.tile(scores.reference, (orders, 1)), np.tile(scores.cluster, orders)
    r = macro.macro_r(np.concatenate(readings), quality, cluster)
    return UnkeyedEstimate(label, r, n=r.n, conditions=scores.quality(reads=1))
