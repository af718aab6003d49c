"""How good is the yardstick? What the raters of a criterion agree on, and what that allows."""

from collections.abc import Iterator

from judgesheet.axes.criterion_order._scores import Scores
from judgesheet.axis.estimate import maker
from judgesheet.records import Estimate
from judgesheet.stats.agreement import rater_agreement

_estimate = maker("criterion_order")
ONE_RATING = "only one score per response is known, not the single ratings of several raters"


def rater_alpha(scores: Scores) -> Iterator[Estimate]:
    """Krippendorff's alpha of a criterion's raters: how far do they agree themselves?

    1 is agreement, 0 what chance would give; interval level of measurement, missing ratings
    allowed. Interval: cluster bootstrap over stimuli, Fisher's z, t. Krippendorff (2011).
    """
    yield from _agreements("rater_alpha", "Agreement of the raters (Krippendorff's alpha)", scores)


def rater_ceiling_r(scores: Scores) -> Iterator[Estimate]:
    """The correlation with the mean of a criterion's raters that a perfect judge could reach.

    The index of reliability, sqrt(reliability of the mean rating). Read `pearson_r` of the same
    criterion against it. No value where the mean rating shows no reliability: the raters agree no
    more than by chance. Interval: cluster bootstrap over stimuli, Fisher's z, t. Lord and Novick
    (1968), 3.4.
    """
    yield from _agreements(
        "rater_ceiling_r", "Correlation that a perfect judge could reach", scores
    )


def _agreements(name: str, label: str, scores: Scores) -> Iterator[Estimate]:
    rated = [
        (criterion, one)
        for criterion, one in zip(scores.names, scores.references, strict=True)
        if one.ratings.shape[1] > 1
    ]
    if not rated:
        yield _estimate(name, label, None, note=ONE_RATING)
    for criterion, one in rated:
        found = rater_agreement(one.ratings, scores.cluster, scores.rng())
        part = found.alpha if name == "rater_alpha" else found.ceiling
        yield _estimate(
            name,
            f"{label}, {criterion}",
            part.value,
            {"criterion": criterion},
            low=part.low,
            high=part.high,
            unit="alpha" if name == "rater_alpha" else "r",
            n=found.n,
            clusters=part.clusters,
            method=part.method,
            conditions=f"quality: {one.name}; {found.raters:.1f} ratings per response",
            note=part.note,
        )
