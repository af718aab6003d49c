"""How good is the yardstick? What the raters behind the reference agree on, and what that allows.

A judge cannot be expected to correlate with the mean of a few raters better than the raters'
reliability lets anyone.
"""

from judgesheet.axes.score_order._scores import Scores
from judgesheet.axis.estimate import maker
from judgesheet.records import Estimate
from judgesheet.stats.agreement import Agreement, rater_agreement
from judgesheet.stats.interval import Interval

_estimate = maker("score_order")
ONE_RATING = "only one score per item is known, not the single ratings of several raters"


def rater_alpha(scores: Scores) -> Estimate:
    """Krippendorff's alpha of the raters behind the reference: how far do they agree themselves?

    1 is agreement, 0 what chance would give. Level of measurement: interval, since the ratings are
    averaged and correlated, which takes equal steps for equal differences already; missing ratings
    are allowed. Interval: cluster bootstrap over stimuli, Fisher's z, t. Krippendorff (2011).
    """
    return _from_agreement("rater_alpha", "Agreement of the raters (Krippendorff's alpha)", scores)


def rater_ceiling_r(scores: Scores) -> Estimate:
    """The correlation with the mean of these raters that a perfect judge can be expected to reach.

    The index of reliability, sqrt(reliability of the mean rating): ICC(C,k) where every rater rated
    every item (McGraw and Wong 1996), else Spearman-Brown of `rater_alpha` with the harmonic mean
    of the ratings per item. Read `pearson_r` against it: r = .6 under a ceiling of .7 is a good
    judge. No value where the mean rating shows no reliability: the raters agree no more than by
    chance. Interval: cluster bootstrap over stimuli, Fisher's z, t. Lord and Novick (1968), 3.4.
    """
    return _from_agreement(
        "rater_ceiling_r", "Correlation that a perfect judge could reach", scores
    )


def _from_agreement(name: str, label: str, scores: Scores) -> Estimate:
    reference = scores.reference
    if reference.ratings.shape[1] < 2:
        return _estimate(name, label, None, note=ONE_RATING)
    found = rater_agreement(reference.ratings, scores.grid.cluster, scores.rng())
    part: Interval = found.alpha if name == "rater_alpha" else found.ceiling
    return _estimate(
        name,
        label,
        part.value,
        low=part.low,
        high=part.high,
        unit="alpha" if name == "rater_alpha" else "r",
        n=found.n,
        clusters=part.clusters,
        method=part.method,
        conditions=_conditions(reference.name, found),
        note=part.note,
    )


def _conditions(name: str, found: Agreement) -> str:
    return f"quality: {name}; {found.raters:.1f} ratings per item"
