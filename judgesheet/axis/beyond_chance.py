"""How far scores agree with known quality beyond chance: Cohen's kappa."""

from collections.abc import Iterator, Mapping
from typing import Literal

import numpy as np

from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.figure import Figures, UnkeyedEstimate, absent
from judgesheet.axis.labels import NO_REFERENCE, Reference
from judgesheet.axis.scored import Rows, Scored
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.interval import Interval
from judgesheet.stats.kappa import Level, cohens_kappa

figure = Figures("", better="higher")
OTHER_SCALE = Reason(
    "other_scale",
    "quality is not given in scores of the judge's own scale (a mean of several ratings is not)",
)
LEVELS: Mapping[Level, str] = {"nominal": "equal or not", "interval": "by how far apart"}
WEIGHTS: Mapping[Level, Literal["none", "quadratic"]] = {"nominal": "none", "interval": "quadratic"}
"""What a level is called in labels, and in the dimension of a kappa."""


@figure("kappa", symbol="κ", null=0.0, headline={"weights=quadratic": 92})
def quality_kappa(scores: Scored) -> Iterator[UnkeyedEstimate]:
    """Cohen's kappa of a single reading with quality, plain and with quadratic weights.

    1 is agreement, 0 what chance would give. Single ratings of people are compared one by one where
    they are known; every response counts the same. It needs quality in scores of the judge's own
    scale; correlations (`pearson_r`) do not, but do not notice that a judge is too mild. Readings
    under the balanced orders. Jackknife over stimuli, t.
    """
    rows, quality = next(iter(scores.rows)), next(iter(scores.references.values()))
    for level, weights in WEIGHTS.items():
        dims = {"weights": weights}
        label = f"{rows.subject} agrees with quality (kappa, {LEVELS[level]})"
        if quality.kind is None:
            yield absent(label, NO_REFERENCE, dims)
        elif not on_scale(quality, rows):
            yield absent(label, OTHER_SCALE, dims)
        else:
            ratings = ratings_of(quality)[rows.item]
            kappa, calls = kappa_with(rows.reads, ratings, rows.cluster, level)
            yield UnkeyedEstimate(label, kappa, dims, n=calls, conditions=quality.conditions())


def on_scale(quality: Reference, rows: Rows) -> bool:
    """Whether quality is given in scores that the judge could have given."""
    ratings = ratings_of(quality)[rows.item]
    ratings = ratings[~np.isnan(ratings)]
    whole = bool((ratings == np.round(ratings)).all())
    return (
        rows.scale is not None and whole and bool(((ratings >= 1) & (ratings <= rows.scale)).all())
    )


def ratings_of(quality: Reference) -> Floats:
    """The single ratings (items, raters) where they are known, else the one score of each item."""
    return quality.ratings if quality.ratings.shape[1] else quality.values[:, None]


def kappa_with(reads: Floats, ratings: Floats, cluster: Ints, level: Level) -> tuple[Interval, int]:
    """Kappa of each reading (items, …) with each rating (items, raters), and the readings' number.

    Every item counts the same.
    """
    reads = reads.reshape(len(reads), -1)
    pairs = (~np.isnan(reads)).sum(axis=1) * (~np.isnan(ratings)).sum(axis=1)
    weights = (1 / np.maximum(pairs, 1))[:, None, None]
    kappa = cohens_kappa(reads[:, :, None], ratings[:, None], cluster, level, weights)
    return kappa, int((~np.isnan(reads[pairs > 0])).sum())
