"""The expected score: a second reading of the same calls, from log-probabilities.

The sampled score is one draw from the distribution of the judge's scores, the expected score the
mean of that distribution. These estimates have names of their own beside those of the sampled
score; no figure mixes the two. They exist only if a run asked for log-probabilities.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.beyond_chance import OTHER_SCALE, on_scale, ratings_of
from judgesheet.axis.figure import UnkeyedEstimate, absent
from judgesheet.axis.labels import NO_REFERENCE
from judgesheet.axis.logprobs import Distribution
from judgesheet.base.digits import two_digits
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats import precision
from judgesheet.stats.interval import (
    Interval,
    by_cluster,
    cluster_mean,
    cluster_rate,
    missing,
    without_interval,
)
from judgesheet.stats.reads import row_means

from . import alignment
from ._scores import Scores, arrange, figure

if TYPE_CHECKING:
    import pandas as pd

NO_DISTRIBUTION = Reason("no_distribution", "no balanced call has a distribution")
NO_VARIANCE = Reason("no_variance", "every expected score is the same")
NO_CORRELATION = Reason("no_correlation", "a correlation is not known, or perfect")


@dataclass(frozen=True, slots=True)
class PairedReadings:
    """The calls that have both readings, and all that were meant to have both.

    `sampled` and `expected` have the same shapes and are NaN in the same places. `asked` has one
    row per answered call that asked for log-probabilities. Over the balanced passes, `chosen` (0 or
    1) and `mass` (probability) have shape (calls, positions), with the stimulus's in `cluster`.
    """

    sampled: Scores
    expected: Scores
    asked: "pd.DataFrame"
    chosen: Floats
    mass: Floats
    cluster: Ints


def arrange_both(readings: Readings) -> PairedReadings | None:
    """Both readings as arrays; None if no second was requested, or there is nothing to compare."""
    import pandas as pd

    frame = readings.frame
    if "distribution" not in frame or frame["distribution"].isna().all():
        return None
    has_both = _readable(frame)
    means = frame.loc[has_both, "distribution"].map(lambda distribution: distribution.expected)
    # Both from the same calls: one reading must not gain by the calls that the other lacks.
    sampled = arrange(replace(readings, frame=frame.assign(value=frame["value"].where(has_both))))
    expected = arrange(replace(readings, frame=frame.assign(value=means.reindex(frame.index))))
    if sampled is None or expected is None or not sampled.has_balanced_arm:
        return None
    rows = frame[
        has_both
        & (frame["arm"] == "balanced")
        & (frame["scale"] == sampled.scale)
        & (frame["repeat"] < sampled.grid.passes)
    ]
    listed = np.array(rows["order"].tolist(), dtype=np.int64).reshape(-1, sampled.scale)
    shares = np.array([row.probabilities for row in rows["distribution"]], dtype=np.float64)
    return PairedReadings(
        sampled=sampled,
        expected=expected,
        asked=frame[frame["distribution"].notna()],
        chosen=(listed == rows["value"].to_numpy(dtype=np.int64)[:, None]).astype(np.float64),
        mass=np.take_along_axis(shares.reshape(listed.shape), listed - 1, axis=1),
        cluster=pd.factorize(rows["cluster"])[0].astype(np.int64),
    )


def _readable(frame: "pd.DataFrame") -> "pd.Series[bool]":
    """The rows with a distribution; the others hold a reason of `axis.logprobs.Unread`."""
    return frame["distribution"].map(lambda value: isinstance(value, Distribution))


figure = figure.but(missing="log-probabilities")
WITHIN = 0.0, 1.0
"""Range of a share of variance, and of a probability."""


@figure(
    "share",
    symbol="R_E",
    better="higher",
    headline=307,
)
def expected_readable(both: PairedReadings) -> UnkeyedEstimate:
    """Share of answered calls whose log-probabilities gave an expected score.

    The score's token is found by its text; its alternatives must be listed, and the allowed scores
    must have at least half of the probability. `note` counts the calls that failed, by reason.
    Interval over stimuli.
    """
    readable = _readable(both.asked)
    share = cluster_rate(*by_cluster(readable.to_numpy(dtype=float), both.asked["cluster"]))
    why = Counter(both.asked.loc[~readable, "distribution"])
    note = "; ".join(f"{reason}: {count}" for reason, count in why.most_common())
    return UnkeyedEstimate("Calls with an expected score", share, n=len(both.asked), note=note)


@figure(
    "probability",
    symbol="M",
    better="higher",
    headline=306,
)
def expected_mass(both: PairedReadings) -> UnkeyedEstimate:
    """Total probability of the allowed scores before they were renormalised to 1.

    The rest went to other words: log-probabilities are usually computed before a grammar is
    applied. Mean over the calls with an expected score; cluster-robust t interval over stimuli.
    """
    rows = both.asked[_readable(both.asked)]
    slack = max((row.slack for row in rows["distribution"]), default=0.0)
    return UnkeyedEstimate(
        "Probability held by the allowed scores",
        _mean([row.mass for row in rows["distribution"]], rows["cluster"]),
        n=len(rows),
        conditions=f"unlisted scores move no expected score by more than {two_digits(slack)}",
    )


@figure("points", symbol="s_E", headline={"arm=balanced": 303}, passes_blind=True)
def expected_within_item_sd(both: PairedReadings) -> Iterator[UnkeyedEstimate]:
    """Spread of an item's expected scores over its readings, in points, without sampling noise.

    As `within_item_sd`, of the expected score. Nothing is sampled here, so in the balanced arm the
    spread is the effect of the order, and in the fixed arm the variation of the endpoint itself.
    """
    return _of_expected(alignment.within_item_sd.unkeyed(both.expected))


@figure("share of variance", symbol="η_E", headline=302, passes_blind=True)
def expected_order_effect(both: PairedReadings) -> UnkeyedEstimate:
    """Share of the variance of expected scores that is due to the order, not to the response.

    Variance of an item's expected scores over the balanced orders, divided by their total variance
    over items and orders: 0 for a judge that ignores the order, 1 for one that follows nothing
    else. Ratio estimate with a cluster-robust t interval over stimuli.
    """
    grid = both.expected.grid
    reads: Floats = grid.reads[:, :, 0]
    known = ~np.isnan(reads)
    overall = float(np.nanmean(reads)) if known.any() else np.nan
    within = np.where(known, (reads - row_means(reads)[:, None]) ** 2, 0.0).sum(axis=1)
    total = np.where(known, (reads - overall) ** 2, 0.0).sum(axis=1)
    (made, _), (whole, _) = by_cluster(within, grid.cluster), by_cluster(total, grid.cluster)
    estimate = UnkeyedEstimate(
        "Variance of the expected score that the order makes",
        cluster_mean(made, whole, WITHIN),
        n=int(known.sum()),
        conditions=f"{both.expected.scale}-point rubric, {reads.shape[1]} balanced orders",
    )
    return estimate.or_absent(NO_VARIANCE if known.any() else NO_DISTRIBUTION)


@figure("probability", better="nearer", passes_blind=True)
def expected_position_mass(both: PairedReadings) -> Iterator[UnkeyedEstimate]:
    """Mean probability on the description listed at a position; 1/n if place does not matter.

    As `position_share`, without sampling noise: each call counts with all its probabilities instead
    of the one sampled score. Cluster-robust t interval over stimuli.
    """
    for index, mass in enumerate(both.mass.T):
        estimate = UnkeyedEstimate(
            f"Mean probability at position {index + 1}",
            _mean(mass, both.cluster),
            {"position": index + 1},
            n=len(mass),
            conditions=f"{both.expected.scale}-point rubric, balanced orders",
        )
        yield estimate.or_absent(NO_DISTRIBUTION)


@figure(
    "r",
    symbol=lambda dims: f"r_E,{dims['arm'][:3]}",
    null=0.0,
    better="higher",
    headline={"arm=balanced": 301},
)
def expected_pearson_r(both: PairedReadings) -> Iterator[UnkeyedEstimate]:
    """Correlation of mean expected scores with quality, by orders; read it beside `pearson_r`."""
    return _of_expected(alignment.pearson_r.unkeyed(both.expected))


@figure("r", symbol="r_E", null=0.0, better="higher", headline=300)
def expected_single_read_r(both: PairedReadings) -> Iterator[UnkeyedEstimate]:
    """Correlation of one single expected score with quality; read it beside `single_read_r`.

    The difference from `expected_pearson_r` is due to the order; `single_read_r` also loses by
    sampling.
    """
    return _of_expected(alignment.single_read_r.unkeyed(both.expected))


def _of_expected(estimates: Iterable[UnkeyedEstimate]) -> Iterator[UnkeyedEstimate]:
    """Figures of the expected score, with labels that say so; the papers use sampled scores."""
    for estimate in estimates:
        yield replace(estimate, label=f"{estimate.label}, expected score", paper=None)


def _mean(values: ArrayLike, clusters: ArrayLike) -> Interval:
    return cluster_mean(*by_cluster(values, clusters), WITHIN)


@figure(
    "calls",
    symbol=lambda dims: {"item_score": "k_E", "position_share": "k_P"}.get(dims["of"], ""),
    better="",
    headline={"of=item_score": 304, "of=position_share": 305},
)
def calls_for_same_width(both: PairedReadings) -> Iterator[UnkeyedEstimate]:
    """Calls that the sampled score needs for the interval that one expected score gives.

    1 is no gain. `of=item_score`: calls per response, each under its own order, that separate
    responses as well (ratio of noise to signal: only shrinking all scores gains nothing).
    `of=mean_score`, `of=position_share`, `of=single_read_r` (Fisher's z): ratio of the variances of
    figures over prompts, if the number of prompts grows with that of the calls. Over the calls that
    have both readings; interval from the delete-a-prompt jackknife of the logarithm.
    """
    calls = int((~np.isnan(both.expected.grid.reads)).sum())
    for of, what, ratio in (
        ("item_score", "telling responses apart", _of_item_score),
        ("mean_score", "the mean score", _of_mean_score),
        ("position_share", "the shares of positions", _of_position_share),
        ("single_read_r", "the correlation of single readings", _of_single_read_r),
    ):
        label = f"Sampled calls worth one expected score, for {what}"
        conditions = _same_quantity(both.expected.temperature)
        yield UnkeyedEstimate(label, ratio(both), {"of": of}, n=calls, conditions=conditions)


def _same_quantity(temperature: float | None) -> str:
    """What the two readings estimate; they agree only where sampling follows the probabilities."""
    if temperature is None:
        return "sampled at a temperature that is not known"
    if temperature:
        return f"sampled at temperature {temperature:g}"
    return "sampled at temperature 0: the likeliest score, not a draw"


def _of_item_score(both: PairedReadings) -> Interval:
    sampled, expected = (scores.grid.reads[:, :, 0] for scores in (both.sampled, both.expected))
    return precision.reliability_ratio(sampled, expected, both.expected.grid.cluster)


def _of_mean_score(both: PairedReadings) -> Interval:
    known = ~np.isnan(both.expected.grid.reads)
    cluster = np.broadcast_to(both.expected.grid.cluster[:, None, None], known.shape)[known]
    sampled, expected = (
        precision.mean_parts(scores.grid.reads[known], cluster)
        for scores in (both.sampled, both.expected)
    )
    return precision.variance_ratio(sampled, expected)


def _of_position_share(both: PairedReadings) -> Interval:
    sampled, expected = (precision.mean_parts(x, both.cluster) for x in (both.chosen, both.mass))
    return precision.variance_ratio(sampled, expected)


def _of_single_read_r(both: PairedReadings) -> Interval:
    reads = both.expected.grid.reads[:, :, 0]
    quality = np.broadcast_to(both.expected.reference.values[:, None], reads.shape)
    known = ~(np.isnan(reads) | np.isnan(quality))
    cluster = np.broadcast_to(both.expected.grid.cluster[:, None], reads.shape)[known]
    sampled, expected = (
        precision.correlation_parts(scores.grid.reads[:, :, 0][known], quality[known], cluster)
        for scores in (both.sampled, both.expected)
    )
    if len(sampled) != len(expected) or not len(sampled):
        return missing(NO_CORRELATION)
    return precision.variance_ratio(sampled, expected)


# -- confidence ------------------------------------------------------------------------------------

# A call counts with the score that is likeliest there: its probability is the judge's confidence,
# and it is right where the reference gave that score. Several ratings count a share each.
BINS = 10
"""Of confidence, from 0 to 1."""
DRAWS = 500
"""Of what a judge whose confidence is right would show by chance."""


@dataclass(frozen=True, slots=True)
class StatedConfidence:
    """The calls on responses of known quality, (calls,): what they stated and what was right.

    `confidence` is the probability of the likeliest score, `right` the share of ratings that are
    that score, `squares` the mean over ratings of the squared distance of all probabilities.
    """

    confidence: Floats
    right: Floats
    squares: Floats
    cluster: Floats

    @property
    def bin(self) -> Floats:
        """The tenth in which the confidence lies, by its lower end times ten."""
        return np.minimum(np.floor(self.confidence * BINS), BINS - 1)

    def error(self, right: Floats) -> float:
        """Mean over tenths of how far the share right lies from the confidence."""
        gaps = np.bincount(self.bin.astype(np.int64), weights=right - self.confidence)
        return float(np.abs(gaps).sum() / len(self.confidence))


def stated(both: PairedReadings) -> StatedConfidence | Reason:
    """The calls with probabilities at the main scale in balanced orders, or why there are none."""
    scores = both.sampled
    if scores.reference.kind is None:
        return NO_REFERENCE
    (rows,) = scores.rows
    if not on_scale(scores.reference, rows):
        return OTHER_SCALE
    at_main = (both.asked["arm"] == "balanced") & (both.asked["scale"] == scores.scale)
    frame = both.asked[at_main & _readable(both.asked)]
    place = {name: at for at, name in enumerate(scores.items)}
    ratings = ratings_of(scores.reference)[[place[name] for name in frame["item"]]]
    known = ~np.isnan(ratings).all(axis=1)
    if not known.any():
        return NO_REFERENCE
    ratings, of_calls = ratings[known], frame["distribution"].to_numpy(dtype=object)[known]
    given = np.array([one.probabilities for one in of_calls], dtype=np.float64)
    hit = ratings[:, :, None] == np.arange(1, scores.scale + 1)  # (calls, raters, scores)
    counts = (~np.isnan(ratings)).sum(axis=1, keepdims=True)
    shares = hit.sum(axis=1) / counts
    best = given.argmax(axis=1)[:, None]
    # Mean over ratings k of sum_j (p_j - [j = k])^2 = sum p^2 - 2 sum p s + 1.
    squares = (given**2).sum(axis=1) - 2 * (given * shares).sum(axis=1) + 1
    confidence, right = (np.take_along_axis(one, best, axis=1)[:, 0] for one in (given, shares))
    return StatedConfidence(
        confidence, right, squares, frame["cluster"].to_numpy(dtype=object)[known]
    )


@figure("Brier score", symbol="B")
def brier(both: PairedReadings) -> UnkeyedEstimate:
    """Brier score of the probabilities of the scores: squared distance to what was right.

    Sum over the scores of (p - [it was given])^2, mean over calls: 0 for a judge that is sure and
    right, 2 for one that is sure and wrong, 1 - 1/n for one that knows nothing of n scores.
    Cluster-robust t interval over stimuli. Brier (1950), Monthly Weather Review 78, 1-3.
    """
    label, found = "Squared distance of the probabilities to what was right", stated(both)
    if isinstance(found, Reason):
        return absent(label, found)
    mean = cluster_mean(*by_cluster(found.squares, found.cluster), (0.0, 2.0))
    return UnkeyedEstimate(
        label, mean, n=len(found.squares), conditions=both.sampled.reference.conditions()
    )


@figure("difference", symbol="conf - right", null=0.0, better="nearer")
def overconfidence(both: PairedReadings) -> UnkeyedEstimate:
    """Mean probability of the likeliest score less how often it is right.

    Above 0 the judge is surer than it is right. Cluster-robust t interval over stimuli.
    """
    label, found = "Confidence less share right", stated(both)
    if isinstance(found, Reason):
        return absent(label, found)
    gaps = found.confidence - found.right
    mean = cluster_mean(*by_cluster(gaps, found.cluster), (-1.0, 1.0))
    return UnkeyedEstimate(label, mean, n=len(gaps), conditions=both.sampled.reference.conditions())


@figure("probability", symbol="ECE")
def calibration_error(both: PairedReadings) -> UnkeyedEstimate:
    """Expected calibration error: how far confidence lies from the share right, over its tenths.

    Mean over calls of the distance of the two in the tenth of the confidence. A judge whose
    confidence is exactly right shows more than 0 by chance: `conditions` say how much, if calls
    were independent. No interval, as its distribution at 0 has no use; `overconfidence` has one.
    Guo et al. (2017), ICML, "On calibration of modern neural networks".
    """
    label, found = "Distance of confidence from the share right, by tenths", stated(both)
    if isinstance(found, Reason):
        return absent(label, found)
    rng = both.sampled.rng()
    drawn = [
        found.error((rng.random(len(found.confidence)) < found.confidence).astype(np.float64))
        for _ in range(DRAWS)
    ]
    error = without_interval(found.error(found.right), clusters=len(np.unique(found.cluster)))
    conditions = f"{two_digits(float(np.mean(drawn)))} by chance if confidence were exactly right"
    return UnkeyedEstimate(label, error, n=len(found.confidence), conditions=conditions)


@figure("share", better="")
def right_at_confidence(both: PairedReadings) -> Iterator[UnkeyedEstimate]:
    """Share of calls whose likeliest score is right, by the tenth of its probability.

    The reliability diagram: equal to `confidence_in_tenth` for a judge that knows how sure it may
    be. Cluster intervals over stimuli.
    """
    found = stated(both)
    if isinstance(found, Reason):
        return
    for tenth in np.unique(found.bin):
        mine = found.bin == tenth
        share = cluster_rate(*by_cluster(found.right[mine], found.cluster[mine]))
        label, dims = _tenth("Right", tenth)
        yield UnkeyedEstimate(label, share, dims, n=int(mine.sum()))


@figure("probability", better="")
def confidence_in_tenth(both: PairedReadings) -> Iterator[UnkeyedEstimate]:
    """Mean probability of the likeliest score, in the calls of `right_at_confidence`."""
    found = stated(both)
    if isinstance(found, Reason):
        return
    for tenth in np.unique(found.bin):
        mine = found.bin == tenth
        mean = without_interval(float(found.confidence[mine].mean()))
        label, dims = _tenth("Mean confidence", tenth)
        yield UnkeyedEstimate(label, mean, dims, n=int(mine.sum()))


def _tenth(what: str, tenth: float) -> tuple[str, dict[str, object]]:
    low = tenth / BINS
    return f"{what} at a confidence of {low:.1f} to {low + 0.1:.1f}", {"confidence": f"{low:.1f}"}
