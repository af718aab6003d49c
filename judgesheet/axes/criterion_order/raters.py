"""How good is the yardstick? What the raters of a criterion agree on, and what that allows."""

from collections.abc import Iterator

from judgesheet.axes.criterion_order._scores import Scores, figure
from judgesheet.axis import raters
from judgesheet.axis.figure import Draft


@figure("alpha", better="")
def rater_alpha(scores: Scores) -> Iterator[Draft]:
    """Krippendorff's alpha of a criterion's raters: how far do they agree themselves?

    1 is agreement, 0 what chance would give; interval level of measurement, missing ratings
    allowed. Interval: cluster bootstrap over stimuli, Fisher's z, t. Krippendorff (2011).
    """
    return raters.alpha(scores.references, scores.cluster, scores.rng)


@figure("r", better="")
def rater_ceiling_r(scores: Scores) -> Iterator[Draft]:
    """The correlation with the mean of a criterion's raters that a perfect judge could reach.

    The index of reliability, sqrt(reliability of the mean rating). Read `pearson_r` of the same
    criterion against it. No value where the mean rating shows no reliability: the raters agree no
    more than by chance. Interval: cluster bootstrap over stimuli, Fisher's z, t. Lord and Novick
    (1968), 3.4.
    """
    return raters.ceiling_r(scores.references, scores.cluster, scores.rng)
