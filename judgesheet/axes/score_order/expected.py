"""The expected score: a second reading of the same calls, from log-probabilities.

The sampled score is one draw from the distribution of the judge's scores, the expected score the
mean of that distribution. These estimates have names of their own beside those of the sampled
score; no figure mixes the two. They exist only if a run asked for log-probabilities.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Floats
from judgesheet.axis.figure import UnkeyedEstimate
from judgesheet.axis.logprobs import Distribution
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats.interval import by_cluster, cluster_mean
from judgesheet.stats.reads import row_means

from . import alignment
from ._scores import Scores, arrange, figure

if TYPE_CHECKING:
    import pandas as pd

NO_DISTRIBUTION = Reason("no_distribution", "no balanced call has a distribution")
NO_VARIANCE = Reason("no_variance", "every expected score is the same")


def arrange_expected(readings: Readings) -> Scores | None:
    """The expected scores as arrays; None if nobody asked for them, or there is nothing to compare.

    They are NaN where a call has no distribution.
    """
    frame = readings.frame
    if "distribution" not in frame or frame["distribution"].isna().all():
        return None
    means = frame.loc[_readable(frame), "distribution"].map(lambda of: of.expected)
    scores = arrange(replace(readings, frame=frame.assign(value=means.reindex(frame.index))))
    return scores if scores is not None and scores.has_balanced_arm else None


def without_expected_score(readings: Readings) -> Iterator[str]:
    """How many calls have no expected score, and why."""
    if "distribution" not in readings.frame:
        return
    asked = readings.frame[readings.frame["distribution"].notna()]
    why = Counter(asked.loc[~_readable(asked), "distribution"])
    if why:
        reasons = "; ".join(f"{reason}: {count}" for reason, count in why.most_common())
        yield f"{why.total()} of {len(asked)} calls have no expected score ({reasons})."


def _readable(frame: "pd.DataFrame") -> "pd.Series[bool]":
    """The rows with a distribution; the others hold a reason of `axis.logprobs.Unread`."""
    return frame["distribution"].map(lambda value: isinstance(value, Distribution)).astype(bool)


figure = figure.but(missing="log-probabilities")
SHARE = 0.0, 1.0


@figure("share of variance", symbol="η_E", headline=302, passes_blind=True)
def expected_order_effect(scores: Scores) -> UnkeyedEstimate:
    """Share of the variance of expected scores that is due to the order, not to the response.

    Variance of an item's expected scores over the balanced orders, divided by their total variance
    over items and orders: 0 for a judge that ignores the order, 1 for one that follows nothing
    else. Ratio estimate with a cluster-robust t interval over stimuli.
    """
    grid = scores.grid
    reads: Floats = grid.reads[:, :, 0]
    known = ~np.isnan(reads)
    overall = float(np.nanmean(reads)) if known.any() else np.nan
    within = np.where(known, (reads - row_means(reads)[:, None]) ** 2, 0.0).sum(axis=1)
    total = np.where(known, (reads - overall) ** 2, 0.0).sum(axis=1)
    (made, _), (whole, _) = by_cluster(within, grid.cluster), by_cluster(total, grid.cluster)
    estimate = UnkeyedEstimate(
        "Variance of the expected score that the order makes",
        cluster_mean(made, whole, SHARE),
        n=int(known.sum()),
        conditions=f"{scores.scale}-point rubric, {reads.shape[1]} balanced orders",
    )
    return estimate.or_absent(NO_VARIANCE if known.any() else NO_DISTRIBUTION)


@figure(
    "r",
    symbol=lambda dims: f"r_E,{dims['arm'][:3]}",
    null=0.0,
    better="higher",
    headline={"arm=balanced": 301},
)
def expected_pearson_r(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Correlation of mean expected scores with quality, by orders; read it beside `pearson_r`."""
    for estimate in alignment.pearson_r.unkeyed(scores):
        # The papers use sampled scores.
        yield replace(estimate, label=f"{estimate.label}, expected score", paper=None)
