"""A mean of labels from many verdicts of a judge and labels by people on a part of them.

Arrays of one length: `verdicts` (m,) without gaps, `labels` (m,) with NaN where there is none,
`clusters` (m,). The estimates are those of two papers. Prediction-powered inference moves the mean
of the labels by what the other verdicts say, and needs labels of a random part. Rogan and Gladen's
takes the judge's errors, given the label, for the same on both parts, and lets the parts differ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf, sqrt

import numpy as np
import scipy
from numpy.typing import ArrayLike

from judgesheet.base.missing_reasons import NO_OBSERVATIONS, ONE_CLUSTER, Reason
from judgesheet.base.records import LEVEL

from ._support import (
    Flags,
    Floats,
    cluster_codes,
    floats,
    sum_by,
    t_quantile,
    two_sided,
    z_quantile,
)
from .interval import (
    Interval,
    _wilson_ends,
    cluster_mean,
    cluster_rate,
    estimated,
    missing,
    skewness_of,
    student,
    without_ends,
)

FEWEST = 5
"""Labelled clusters from which an interval is given."""
AT_CHANCE = Reason(
    "judge_at_chance",
    "no correction: on the labelled rows the judge cannot be told from one that guesses "
    "(sensitivity + specificity is not proven to exceed 1)",
)
ONE_LABEL = Reason(
    "one_label",
    "no correction: the labels hardly vary, so nothing is known of the judge's errors on others",
)
FEW_LABELS = Reason("few_labels", f"fewer than {FEWEST} labelled clusters: no interval")
ALL_LABELLED = Reason("all_labelled", "every row has a label: nothing is left to correct")

Scale = tuple[float, float]
"""Least and greatest value of a verdict or a label; infinite where nothing says."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """An estimate, and what each cluster contributes to its deviation from the truth.

    Attributes
    ----------
    interval
        The estimate with its interval.
    parts
        Shape (G,), clusters in sorted order of their labels: the linear part of estimate less
        truth, which sums to 0. Its outer products give variances and covariances of estimates from
        the same clusters (the sandwich).
    """

    interval: Interval
    parts: Floats


@dataclass(frozen=True)
class _Data:
    """The arrays in one place, with what every estimate asks of them."""

    verdicts: Floats
    labels: Floats
    codes: "np.ndarray[tuple[int], np.dtype[np.int64]]"
    groups: int
    scale: Scale

    @classmethod
    def of(
        cls, verdicts: ArrayLike, labels: ArrayLike, clusters: ArrayLike, scale: Scale
    ) -> "_Data":
        return cls(floats(verdicts), floats(labels), *cluster_codes(clusters), scale)

    @property
    def known(self) -> Flags:
        flags: Flags = ~np.isnan(self.labels)
        return flags

    @property
    def labelled_groups(self) -> int:
        return int(np.unique(self.codes[self.known]).size)

    @property
    def evenness(self) -> float:
        """How many clusters of one size a labelled one is worth: Kish's (sum n)^2 / sum n^2 of all.

        Where one document holds half of the labels, the spread between clusters is known no better
        than from three or four.
        """
        sizes = self.by_group(self.known.astype(np.float64))
        return float(sizes.sum() ** 2 / (sizes @ sizes)) / self.labelled_groups

    def informative(self, clusters: int) -> float:
        """Clusters for `student`, where two numbers are taken from the labels and not one."""
        return max(2.0, 1 + (clusters - 2) * self.evenness)

    @property
    def binary(self) -> bool:
        given = np.concatenate([self.verdicts, self.labels[self.known]])
        return bool(np.isin(given, (0.0, 1.0)).all())

    def widening(self, clusters: int) -> float:
        """How much wider than the normal interval that of t is, where rows share clusters."""
        if self.groups == self.verdicts.size or clusters < 2:
            return 1.0
        upper = two_sided(LEVEL)
        return t_quantile(max(1.0, self.evenness * clusters - 1), upper) / z_quantile(upper)

    def by_group(self, parts: Floats) -> Floats:
        return sum_by(parts, self.codes, self.groups)

    def deff(self, parts: Floats) -> float:
        """How many times the variance exceeds that of independent rows, 1 at least."""
        alone, together = float(parts @ parts), self.by_group(parts)
        growth = self.groups / max(1, self.groups - 1)
        rows = parts.size / max(1, parts.size - 1)
        times = growth * float(together @ together) / (rows * alone) if alone else 1.0
        return max(1.0, times)


def error_of(parts: Floats) -> float:
    """Standard error of an estimate with these parts per cluster, by the sandwich."""
    return sqrt(parts.size / max(1, parts.size - 1) * float(parts @ parts))


def plain_mean(values: ArrayLike, clusters: ArrayLike, scale: Scale) -> Corrected:
    """Mean of values (m,), NaN for none, as `cluster_rate` (0 and 1 alone) or `cluster_mean`."""
    array = floats(values)
    codes, groups = cluster_codes(clusters)
    known = ~np.isnan(array)
    sums, sizes = (
        sum_by(part, codes, groups) for part in (np.where(known, array, 0.0), known.astype(float))
    )
    if not known.any():
        return Corrected(missing(NO_OBSERVATIONS), np.zeros(groups))
    shares = scale == (0.0, 1.0) and bool(np.isin(array[known], (0.0, 1.0)).all())
    of = cluster_rate if shares else partial(cluster_mean, within=_possible(array[known], scale))
    return Corrected(of(sums, sizes), (sums - sums.sum() / sizes.sum() * sizes) / sizes.sum())


def prediction_powered(
    verdicts: ArrayLike, labels: ArrayLike, clusters: ArrayLike, scale: Scale
) -> Corrected:
    """PPI++ for a mean: the labels' mean, moved by what the other verdicts say, power-tuned.

    With n labelled rows, theta = mean(Y) - lambda (mean(F, labelled) - mean(F, others)), where
    lambda has least variance over clusters (Angelopoulos, Duchi and Zrnic 2023, equations 5 and 6).
    It holds for any judge where the labelled rows are a random part.

    Of 0 and 1 alone that is p a + (1 - p) b, with p the share of passes among all verdicts and a, b
    the shares of true passes among labelled passes and fails. Its interval combines Jeffreys' ends
    of a and b with Wilson's of p (MOVER), as the normal one covers .77 where few labels differ.
    Else it is a t interval on the labelled clusters with skewness, leverage (HC3) and room for
    unseen clusters. Raises nothing; without labels there is no value.

    References
    ----------
    Angelopoulos, A. N., Duchi, J. C. and Zrnic, T. (2023), "PPI++: Efficient Prediction-Powered
    Inference", arXiv 2311.01453.
    Zou, G. Y. and Donner, A. (2008), Statistics in Medicine 27, 1693-1702 (MOVER).
    """
    data = _Data.of(verdicts, labels, clusters, scale)
    known = data.known
    if not known.any():
        return Corrected(missing(NO_OBSERVATIONS), np.zeros(data.groups))
    if known.all() or not _varies(data, data.verdicts):
        # Nothing is known of how verdicts and labels go together: the labels alone.
        return plain_mean(data.labels, data.codes, scale)
    return _stratified(data) if data.binary else _tuned(data)


def _varies(data: _Data, values: Floats) -> bool:
    """Whether values of the labelled rows differ in clusters enough to tell what goes with them.

    Of 0 and 1, one of each will do, as their exact ends are known. Else a slope that hangs on fewer
    clusters than `FEWEST` would have an interval that covers .85. Verdicts alone decide it of
    prediction-powered inference, so that it stays valid.
    """
    given = values[data.known]
    if data.binary:
        return bool(np.ptp(given) > 0)
    kinds, counts = np.unique(given, return_counts=True)
    off = data.codes[data.known][given != kinds[counts.argmax()]]
    return np.unique(off).size >= FEWEST


def _stratified(data: _Data) -> Corrected:
    """PPI++ of 0 and 1: the mean label of each verdict, weighted as all verdicts are."""
    known, passed = data.known, data.verdicts == 1
    method = "PPI++, Jeffreys' ends per verdict combined (MOVER)"
    own, value = np.zeros(data.verdicts.size), 0.0
    share = float(passed.mean())
    rates = {}
    for verdict, weight in ((True, share), (False, 1 - share)):
        of = known & (passed == verdict)
        rates[verdict] = float(data.labels[of].mean())
        own[of] = weight * (data.labels[of] - rates[verdict]) / of.sum()
        value += weight * rates[verdict]
    slope = rates[True] - rates[False]
    judged = slope * (passed - share) / passed.size
    parts = own + judged
    clusters = data.labelled_groups
    wider, deff = data.widening(clusters), data.deff(parts)

    def at(level: float) -> tuple[float, float]:
        margins = []
        for verdict, weight in ((True, share), (False, 1 - share)):
            of = known & (passed == verdict)
            hits, trials = (float(n) / deff for n in (data.labels[of].sum(), of.sum()))
            low, high = jeffreys(hits, trials, level)
            margins.append((weight * (rates[verdict] - low), weight * (high - rates[verdict])))
        low, high = _wilson_ends(share, passed.size / deff, z_quantile(two_sided(level)))
        margin = (slope * (share - low), slope * (high - share))
        margins.append(margin if slope >= 0 else (-margin[1], -margin[0]))
        below, above = (sqrt(sum(one[side] ** 2 for one in margins)) for side in (0, 1))
        return value - wider * below, value + wider * above

    return Corrected(_interval(data, value, at, method, clusters), data.by_group(parts))


def _tuned(data: _Data) -> Corrected:
    """PPI++ with the weight of least variance over clusters."""
    known = data.known
    judged, said = data.verdicts, np.where(known, data.labels, 0.0)
    labelled, others = int(known.sum()), int((~known).sum())
    gap = float(judged[known].mean() - judged[~known].mean())
    own = np.where(known, (said - said[known].mean()) / labelled, 0.0)
    centred = np.where(
        known,
        (judged - judged[known].mean()) / labelled,
        -(judged - judged[~known].mean()) / others,
    )
    a, b = data.by_group(own), data.by_group(centred)
    total = float(b @ b)
    weight = float(a @ b) / total if total > 0 else 0.0
    value = float(said[known].mean()) - weight * gap
    # As HC3: what a cluster draws towards itself, it does not differ by.
    share = data.by_group(np.where(known, 1 / labelled, 0.0))
    leverage = np.minimum(share + (b * b / total if total > 0 else 0.0), 0.5)
    parts = (a - weight * b) / (1 - leverage)
    method = "PPI++, t over labelled clusters with skewness and room for unseen ones"
    least, most = _possible(said[known], data.scale)
    clusters = data.labelled_groups
    # Two numbers are taken from the labels: a mean and a weight.
    at = student(value, error_of(parts), data.informative(clusters), skewness_of(parts))
    reach = value - least, most - value
    return Corrected(_interval(data, value, at, method, clusters, reach), parts)


def rogan_gladen(
    verdicts: ArrayLike, labels: ArrayLike, clusters: ArrayLike, scale: Scale
) -> Corrected:
    """The mean that makes the verdicts what they are, given how the judge errs at each label.

    Of 0 and 1 alone: theta = (p + q0 - 1) / (q0 + q1 - 1), with q1 the judge's sensitivity, q0 its
    specificity (labelled rows) and p the share of passes (the others), and the interval of Lee et
    al. (2025, section 3), which is Lang and Reiczigel's: adjusted estimates and the delta method.
    Counts are divided by the design effect where rows share clusters. Else the verdict's regression
    on the label is inverted, theta = (mean(F) - alpha) / beta, which is the same for 0 and 1, with
    a delta-method t interval over clusters.

    It holds where the judge errs alike, given the label, on labelled and other rows, also where
    labels are rarer or more frequent there. No value where the judge is not proven to be better
    than chance: theta is then a ratio to a number that may be 0.

    References
    ----------
    Rogan, W. J. and Gladen, B. (1978), American Journal of Epidemiology 107, 71-76.
    Lang, Z. and Reiczigel, J. (2014), Preventive Veterinary Medicine 113, 13-22.
    Lee, C., Zeng, T., Jeong, J., Sohn, J. and Lee, K. (2025), "How to Correctly Report
    LLM-as-a-Judge Evaluations", arXiv 2511.21140.
    """
    data = _Data.of(verdicts, labels, clusters, scale)
    known, nothing = data.known, np.zeros(data.groups)
    if not known.any():
        return Corrected(missing(NO_OBSERVATIONS), nothing)
    if known.all():
        return Corrected(missing(ALL_LABELLED), nothing)
    if not _varies(data, data.labels):
        return Corrected(missing(ONE_LABEL), nothing)
    return _plugged_in(data) if data.binary else _inverted(data)


def _plugged_in(data: _Data) -> Corrected:
    known, true = data.known, data.labels == 1
    rest = ~known
    share = float(data.verdicts[rest].mean())
    hits = {label: known & (true == label) for label in (True, False)}
    right = np.where(true, data.verdicts, 1 - data.verdicts)
    rates = {label: float(right[of].mean()) for label, of in hits.items()}
    youden = rates[True] + rates[False] - 1
    if _youden_low(right, hits) <= 0:
        return Corrected(missing(AT_CHANCE, clusters=data.groups), np.zeros(data.groups))
    value = (share + rates[False] - 1) / youden
    parts = np.zeros(data.verdicts.size)
    parts[rest] = (data.verdicts[rest] - share) / rest.sum() / youden
    for label, factor in ((True, -value), (False, 1 - value)):
        of = hits[label]
        parts[of] = factor * (right[of] - rates[label]) / of.sum() / youden
    deff = data.deff(parts)
    n, m0, m1 = (int(of.sum()) / deff for of in (rest, hits[False], hits[True]))
    wider = data.widening(data.labelled_groups)

    def at(level: float) -> tuple[float, float]:
        return lee_ends(share, rates[False], rates[True], n, m0, m1, level, wider)

    value = min(1.0, max(0.0, value))
    method = "Rogan-Gladen, interval of Lee et al. (2025)"
    interval = _interval(data, value, at, method, data.labelled_groups)
    return Corrected(interval, data.by_group(parts))


def _youden_low(right: Floats, hits: dict[bool, Flags]) -> float:
    """Lower end of sensitivity + specificity - 1, at the confidence of all intervals."""
    rates = [float(right[of].mean()) for of in hits.values()]
    lows = [jeffreys(right[of].sum(), of.sum(), LEVEL)[0] for of in hits.values()]
    below = [rate - low for rate, low in zip(rates, lows, strict=True)]
    return sum(rates) - 1 - sqrt(sum(margin**2 for margin in below))


def lee_ends(
    p: float, q0: float, q1: float, n: float, m0: float, m1: float, level: float, wider: float = 1.0
) -> tuple[float, float]:
    """The interval of Lee et al. (2025): shares `p`, `q0`, `q1` of `n`, `m0` and `m1` rows.

    p + z^2/2n and so on are Agresti and Coull's; the shift is Lang and Reiczigel's second-order
    term. Ends are those of 0 and 1 at most; `wider` times as far from the centre.
    """
    z = z_quantile(two_sided(level))
    p, n = (n * p + z * z / 2) / (n + z * z), n + z * z
    q0, m0 = (m0 * q0 + 1) / (m0 + 2), m0 + 2
    q1, m1 = (m1 * q1 + 1) / (m1 + 2), m1 + 2
    youden = q0 + q1 - 1
    if youden <= 0:
        return 0.0, 1.0
    theta = (p + q0 - 1) / youden
    of_0, of_1 = q0 * (1 - q0) / m0, q1 * (1 - q1) / m1
    centre = theta + 2 * z * z * (theta * of_1 - (1 - theta) * of_0)
    error = sqrt(p * (1 - p) / n + (1 - theta) ** 2 * of_0 + theta**2 * of_1) / youden
    margin = wider * z * error
    return max(0.0, centre - margin), min(1.0, centre + margin)


def _inverted(data: _Data) -> Corrected:
    """The label at which the judge's line gives the mean of the other verdicts."""
    known = data.known
    said, judged, rest = data.labels[known], data.verdicts[known], data.verdicts[~known]
    deviation = said - said.mean()
    spread = float(deviation @ deviation)
    slope = float(deviation @ judged) / spread
    residual = judged - judged.mean() - slope * deviation
    of_slope = np.zeros(data.verdicts.size)
    of_slope[known] = deviation * residual / spread
    clusters = data.labelled_groups
    at = student(slope, error_of(data.by_group(of_slope)), max(2, clusters))
    if clusters < FEWEST or at(LEVEL)[0] <= 0:
        return Corrected(missing(AT_CHANCE, clusters=clusters), np.zeros(data.groups))
    value = float(said.mean() + (rest.mean() - judged.mean()) / slope)
    parts = np.zeros(data.verdicts.size)
    parts[~known] = (rest - rest.mean()) / rest.size / slope
    away = value - said.mean()
    parts[known] = -(residual / said.size + away * deviation * residual / spread) / slope
    by_group = data.by_group(parts)
    ends = student(value, error_of(by_group), data.informative(clusters), skewness_of(by_group))
    least, most = _possible(said, data.scale)
    method = "Rogan-Gladen for scores: the judge's line inverted, delta method over clusters"
    value = min(max(value, data.scale[0]), data.scale[1])
    reach = max(0.0, value - least), max(0.0, most - value)
    return Corrected(_interval(data, value, ends, method, clusters, reach), by_group)


def _interval(
    data: _Data,
    value: float,
    at: Callable[[float], tuple[float, float]],
    method: str,
    clusters: int,
    reach: tuple[float, float] = (0.0, 0.0),
) -> Interval:
    """The interval where there are labelled clusters enough."""
    if clusters < 2:
        return without_ends(value, ONE_CLUSTER, clusters=clusters, method=method)
    if clusters < FEWEST:
        return without_ends(value, FEW_LABELS, clusters=clusters, method=method)
    return estimated(value, at, clusters, method, reach, data.scale)


def _possible(values: Floats, scale: Scale) -> Scale:
    """The scale, and where it is open the values that were met."""
    least, most = float(values.min()), float(values.max())
    return (
        scale[0] if scale[0] > -inf else least,
        scale[1] if scale[1] < inf else most,
    )


def jeffreys(hits: float, trials: float, level: float) -> tuple[float, float]:
    """Jeffreys' interval of hits among trials, which may be fractions; (0, 1) of none.

    It reaches 0 and 1 where all trials are alike (Brown, Cai and DasGupta 2001, section 4.3).
    """
    if trials <= 0:
        return 0.0, 1.0
    tail, misses = (1 - level) / 2, trials - hits
    low = float(scipy.special.betaincinv(hits + 0.5, misses + 0.5, tail)) if hits > 0 else 0.0
    high = (
        float(scipy.special.betaincinv(hits + 0.5, misses + 0.5, 1 - tail)) if misses > 0 else 1.0
    )
    return low, high
