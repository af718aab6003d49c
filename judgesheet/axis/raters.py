"""How good is the yardstick? What the raters behind quality agree on, and what that allows.

A judge cannot be expected to correlate with the mean of a few raters better than the raters'
reliability lets anyone.
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from judgesheet.axis.arrays import Ints
from judgesheet.axis.figure import Draft, absent
from judgesheet.axis.labels import Reference
from judgesheet.reasons import Reason
from judgesheet.stats.agreement import Agreement, rater_agreement
from judgesheet.stats.interval import Interval

Rng = Callable[[], np.random.Generator]
ONE_RATING = Reason(
    "one_rating", "only one score per response is known, not the single ratings of several raters"
)


def alpha(references: Mapping[str, Reference], cluster: Ints, rng: Rng) -> Iterator[Draft]:
    """Krippendorff's alpha of the raters of each criterion; "" names a criterion that is the only.

    `cluster` gives each item's stimulus, shape (items,); `rng` a fresh generator.
    """
    label = "Agreement of the raters (Krippendorff's alpha)"
    return _agreements(label, lambda agreement: agreement.alpha, references, cluster, rng)


def ceiling_r(references: Mapping[str, Reference], cluster: Ints, rng: Rng) -> Iterator[Draft]:
    """The correlation with the raters' mean that a perfect judge can reach; arguments as above."""
    label = "Correlation that a perfect judge could reach"
    return _agreements(label, lambda agreement: agreement.ceiling, references, cluster, rng)


def _agreements(
    label: str,
    part: Callable[[Agreement], Interval],
    references: Mapping[str, Reference],
    cluster: Ints,
    rng: Rng,
) -> Iterator[Draft]:
    rated = {name: of for name, of in references.items() if of.ratings.shape[1] > 1}
    if not rated:
        yield absent(label, ONE_RATING)
    for criterion, reference in rated.items():
        agreement = rater_agreement(reference.ratings, cluster, rng())
        yield Draft(
            f"{label}, {criterion}" if criterion else label,
            part(agreement),
            {"criterion": criterion} if criterion else {},
            n=agreement.n,
            given=reference.given(remark=f"{agreement.raters:.1f} ratings per response"),
        )
