"""How reliable is the measure of quality? How far its raters agree, and what that allows.

A judge cannot be expected to correlate with the mean of a few raters better than the raters'
reliability lets anyone.
"""

from judgesheet.axis.figure import Figures, UnkeyedEstimate, absent
from judgesheet.axis.labels import NO_REFERENCE, RatingsAlone
from judgesheet.axis.scored import Scored
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.reliability import rater_reliability

figure = Figures("")
ONE_RATING = Reason(
    "one_rating", "only one score per response is known, not the single ratings of several raters"
)


@figure("r", symbol="r_max", better="", headline=90)
def rater_ceiling_r(scores: Scored) -> UnkeyedEstimate:
    """The correlation with the mean of these raters that a perfect judge can be expected to reach.

    The index of reliability, sqrt(reliability of the mean rating): ICC(C,k) where every rater rated
    every item (McGraw and Wong 1996), else Spearman-Brown of Krippendorff's alpha with the harmonic
    mean of the ratings per item. Compare `pearson_r` with it: r = .6 under a ceiling of .7 is a
    good judge. No value where the mean rating shows no reliability: the raters agree no more than
    by chance. Interval: cluster bootstrap over stimuli, Fisher's z, t. Lord and Novick (1968), 3.4.
    """
    label = "Correlation that a perfect judge could reach"
    reference = next(iter(scores.references.values()), None)
    if reference is None or reference.kind is None:
        return absent(label, NO_REFERENCE)
    if reference.ratings.shape[1] < 2:
        return absent(label, ONE_RATING)
    found = rater_reliability(reference.ratings, scores.cluster, scores.rng())
    conditions = RatingsAlone(reference.kind, found.raters)
    return UnkeyedEstimate(label, found.ceiling, n=found.n, conditions=conditions)
