"""How far verdicts agree beyond chance: between orders, between repeats, and with known quality.

The coefficients that users know: Krippendorff's alpha where readings are alike, Cohen's kappa where
one side is the judge. An axis gives its verdicts as `Rows`.
"""

from collections.abc import Iterator, Mapping
from typing import Literal, Protocol

import numpy as np

from judgesheet.axis.arrays import Floats
from judgesheet.axis.figure import Figures, UnkeyedEstimate, absent
from judgesheet.axis.labels import NO_REFERENCE, Reference
from judgesheet.axis.reversal import NO_ORDERS, NO_REPEAT
from judgesheet.axis.scored import Rows, Scored
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.interval import Interval
from judgesheet.stats.kappa import Level, cohens_kappa, krippendorffs_alpha

figure = Figures("", better="higher")
OTHER_SCALE = Reason(
    "other_scale",
    "quality is not given in scores of the judge's own scale (a mean of several ratings is not)",
)
LEVELS: Mapping[Level, str] = {"nominal": "equal or not", "interval": "by how far apart"}
WEIGHTS: Mapping[Level, Literal["none", "quadratic"]] = {"nominal": "none", "interval": "quadratic"}
"""What a level is called in labels, and in the dimension of a kappa."""


class VerdictRows(Protocol):
    """The readings of a run, as far as agreement needs them."""

    @property
    def rows(self) -> Iterator[Rows]:
        """The verdicts on everything together, then on each part, if there are several."""


@figure("alpha", symbol="α_ord", reads="repeats", passes_blind=True)
def order_alpha(verdicts: VerdictRows) -> Iterator[UnkeyedEstimate]:
    """Krippendorff's alpha of readings under different orders: do they agree beyond chance?

    1 is agreement, 0 what a judge with the same verdicts in any sequence would reach. The orders
    are the raters; `level=nominal` counts verdicts as equal or not, `level=interval` how far apart
    they are. It includes the judge's noise: compare `repeat_alpha`. One judge that always gives the
    same verdict has none, as chance would agree as well. Jackknife over stimuli, t.
    """
    for rows in _parts(verdicts):
        units = np.moveaxis(rows.reads, 2, 1).reshape(-1, rows.reads.shape[1])
        yield from _alphas("different orders", rows, units, NO_ORDERS)


@figure("alpha", symbol="α_rep", reads="repeats", passes_blind=True)
def repeat_alpha(verdicts: VerdictRows) -> Iterator[UnkeyedEstimate]:
    """Krippendorff's alpha of readings under the same order: how reliable is a single verdict?

    As `order_alpha`, with the repeats of one order as raters: what is missing to 1 is noise.
    """
    for rows in _parts(verdicts):
        units = rows.reads.reshape(-1, rows.reads.shape[2])
        yield from _alphas("repeats of one order", rows, units, NO_REPEAT)


@figure("kappa", symbol="κ", null=0.0, headline={"weights=quadratic": 92})
def quality_kappa(scores: Scored) -> Iterator[UnkeyedEstimate]:
    """Cohen's kappa of a single reading with quality, plain and with quadratic weights.

    1 is agreement, 0 what chance would give. Single ratings of people are compared one by one where
    they are known; every response counts the same. It needs quality in scores of the judge's own
    scale; correlations (`pearson_r`) do not, but do not notice that a judge is too mild. Readings
    under the balanced orders. Jackknife over stimuli, t.
    """
    for rows in _parts(scores):
        name = str(rows.dims.get("criterion", ""))
        quality = scores.references.get(name) or next(iter(scores.references.values()))
        for level, weights in WEIGHTS.items():
            dims = {**rows.dims, "weights": weights}
            label = f"{rows.subject} agrees with quality (kappa, {LEVELS[level]})"
            if quality.kind is None:
                yield absent(label, NO_REFERENCE, dims)
            elif not on_scale(quality, rows):
                yield absent(label, OTHER_SCALE, dims)
            else:
                kappa, calls = _with_quality(rows, quality, level)
                yield UnkeyedEstimate(label, kappa, dims, n=calls, conditions=quality.conditions())


NAMES = frozenset({"order_alpha", "repeat_alpha", "quality_kappa"})
"""The names of these figures."""


def _parts(verdicts: VerdictRows) -> Iterator[Rows]:
    """Each part alone: chance between parts of different means is no chance."""
    first, *parts = verdicts.rows
    yield from parts or (first,)


def _alphas(what: str, rows: Rows, units: Floats, why: Reason) -> Iterator[UnkeyedEstimate]:
    """Alpha of units (units, raters) at each level; rows are repeated within `rows.cluster`."""
    cluster = np.repeat(rows.cluster, len(units) // max(1, len(rows.cluster)))
    known = ~np.isnan(units)
    calls = int(known[known.sum(axis=1) > 1].sum())
    for level in rows.levels:
        alpha = krippendorffs_alpha(units, cluster, level)
        label = f"{rows.subject}: {what} agree (alpha, {LEVELS[level]})"
        estimate = UnkeyedEstimate(label, alpha, {**rows.dims, "level": level}, n=calls)
        yield estimate if calls else estimate.without_value(why)


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


def _with_quality(rows: Rows, quality: Reference, level: Level) -> tuple[Interval, int]:
    """Kappa of every reading with every rating of its item, and the number of readings."""
    reads = rows.reads.reshape(len(rows.reads), -1)
    ratings = ratings_of(quality)[rows.item]
    pairs = (~np.isnan(reads)).sum(axis=1) * (~np.isnan(ratings)).sum(axis=1)
    weights = (1 / np.maximum(pairs, 1))[:, None, None]
    both = reads[:, :, None], ratings[:, None]
    kappa = cohens_kappa(*both, rows.cluster, level, weights)
    return kappa, int((~np.isnan(reads[pairs > 0])).sum())
