"""How reliable is the measure of quality? How far its raters agree, and what that allows.

A judge cannot be expected to correlate with the mean of a few raters better than the raters'
reliability lets anyone.
"""

from collections.abc import Callable, Iterator

from judgesheet.axis.figure import Figures, UnkeyedEstimate, absent
from judgesheet.axis.labels import NO_REFERENCE, RatingsAlone
from judgesheet.axis.scored import Scored
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.agreement import Agreement, rater_agreement
from judgesheet.stats.interval import Interval

figure = Figures("")
ONE_RATING = Reason(
    "one_rating", "only one score per response is known, not the single ratings of several raters"
)


@figure("alpha", symbol="α", better="", headline=91)
def rater_alpha(scores: Scored) -> Iterator[UnkeyedEstimate]:
    """Krippendorff's alpha of the raters behind the reference: how far do they agree?

    1 is agreement, 0 what chance would give; of each criterion where there are several. Level of
    measurement: interval, since averaging and correlating the ratings already assumes that equal
    steps are equal differences; missing ratings are allowed. Interval: cluster bootstrap over
    stimuli, Fisher's z, t. Krippendorff (2011).
    """
    label = "Agreement of the raters (Krippendorff's alpha)"
    return _agreements(label, lambda agreement: agreement.alpha, scores)


@figure("r", symbol="r_max", better="", headline=90)
def rater_ceiling_r(scores: Scored) -> Iterator[UnkeyedEstimate]:
    """The correlation with the mean of these raters that a perfect judge can be expected to reach.

    The index of reliability, sqrt(reliability of the mean rating): ICC(C,k) where every rater rated
    every item (McGraw and Wong 1996), else Spearman-Brown of `rater_alpha` with the harmonic mean
    of the ratings per item. Compare `pearson_r` (of the same criterion) with it: r = .6 under a
    ceiling of .7 is a good judge. No value where the mean rating shows no reliability: the raters
    agree no more than by chance. Interval: cluster bootstrap over stimuli, Fisher's z, t. Lord and
    Novick (1968), 3.4.
    """
    label = "Correlation that a perfect judge could reach"
    return _agreements(label, lambda agreement: agreement.ceiling, scores)


def agreements(scores: Scored) -> dict[str, Agreement]:
    """How far the raters of each criterion agree, where there are several."""
    return {
        criterion: rater_agreement(reference.ratings, scores.cluster, scores.rng())
        for criterion, reference in scores.references.items()
        if reference.ratings.shape[1] > 1
    }


def _agreements(
    label: str, part: Callable[[Agreement], Interval], scores: Scored
) -> Iterator[UnkeyedEstimate]:
    if not scores.agreements:
        yield absent(label, ONE_RATING if scores.references else NO_REFERENCE)
    for criterion, agreement in scores.agreements.items():
        reference = scores.references[criterion]
        yield UnkeyedEstimate(
            f"{label}, {criterion}" if criterion else label,
            part(agreement),
            {"criterion": criterion} if criterion else {},
            n=agreement.n,
            conditions=RatingsAlone(reference.kind or "", agreement.raters),
        )
