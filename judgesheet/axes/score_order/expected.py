"""What the log-probabilities add: the expected score, a second reading of the same calls.

The sampled score is one draw from what the judge might have said, the expected score the mean of
it. These estimates stand beside those of the sampled score under names of their own; no figure
mixes the two. They exist only where a run asked for log-probabilities.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judgesheet.axes.score_order import alignment
from judgesheet.axes.score_order._scores import Scores, arrange
from judgesheet.axis import Readings
from judgesheet.axis.estimate import maker
from judgesheet.axis.logprobs import Distribution
from judgesheet.records import Estimate
from judgesheet.stats import precision
from judgesheet.stats.interval import Interval, by_cluster, cluster_rate, cluster_t
from judgesheet.stats.reads import row_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_estimate = maker("score_order")


@dataclass(frozen=True, slots=True)
class Both:
    """The calls that have both readings, and what became of all that asked for two.

    `sampled` and `expected` have the same shapes and are NaN in the same places. `asked` has one
    row per answered call that asked for log-probabilities. Over the balanced passes, `chosen` (0 or
    1) and `mass` (probability) have shape (calls, positions), with the stimulus in `cluster`.
    """

    sampled: Scores
    expected: Scores
    asked: pd.DataFrame
    chosen: "Floats"
    mass: "Floats"
    cluster: "Ints"


def arrange_both(readings: Readings) -> Both | None:
    """Both readings as arrays; None if nobody asked for a second, or nothing is to be compared."""
    frame = readings.frame
    if "distribution" not in frame or frame["distribution"].isna().all():
        return None
    has_both = frame["distribution"].map(lambda one: isinstance(one, Distribution))
    means = frame.loc[has_both, "distribution"].map(lambda one: one.expected)
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
    shares = np.array([one.probabilities for one in rows["distribution"]], dtype=np.float64)
    return Both(
        sampled=sampled,
        expected=expected,
        asked=frame[frame["distribution"].notna()],
        chosen=(listed == rows["value"].to_numpy(dtype=np.int64)[:, None]).astype(np.float64),
        mass=np.take_along_axis(shares.reshape(listed.shape), listed - 1, axis=1),
        cluster=pd.factorize(rows["stimulus"])[0].astype(np.int64),
    )


def expected_readable(both: Both) -> Estimate:
    """Share of answered calls whose log-probabilities gave an expected score.

    The score's token is found by what it says; its alternatives must be listed, and the allowed
    scores must hold at least half of the probability. `note` counts the reasons where they failed.
    Interval over stimuli.
    """
    has = both.asked["distribution"].map(lambda one: isinstance(one, Distribution))
    share = cluster_rate(*by_cluster(has.to_numpy(dtype=float), both.asked["stimulus"]))
    why = Counter(both.asked.loc[~has, "distribution"])
    return _estimate(
        "expected_readable",
        "Calls with an expected score",
        share.value,
        low=share.low,
        high=share.high,
        unit="share",
        n=len(both.asked),
        clusters=share.clusters,
        method=share.method,
        note="; ".join(f"{reason}: {count}" for reason, count in why.most_common()) or share.note,
    )


def expected_mass(both: Both) -> Estimate:
    """Probability that the allowed scores held together before they were renormalised to 1.

    The rest went to other words: log-probabilities are usually taken before a grammar is applied.
    Mean over the calls with an expected score; cluster-robust t interval over stimuli.
    """
    found = _distributions(both)
    held = cluster_t(
        *by_cluster([one.mass for one in found["distribution"]], found["stimulus"]), bounded=True
    )
    slack = max((one.slack for one in found["distribution"]), default=0.0)
    return _estimate(
        "expected_mass",
        "Probability held by the allowed scores",
        held.value,
        low=held.low,
        high=held.high,
        unit="probability",
        n=len(found),
        clusters=held.clusters,
        method=held.method,
        conditions=f"scores that were not listed move no expected score by more than {slack:.2g}",
        note=held.note,
    )


def _distributions(both: Both) -> pd.DataFrame:
    has = both.asked["distribution"].map(lambda one: isinstance(one, Distribution))
    return both.asked[has]


def expected_within_item_sd(both: Both) -> Iterator[Estimate]:
    """Spread of an item's expected scores over its reads, in points: order without drawing luck.

    As `within_item_sd`, of the expected score. Nothing is drawn here, so what is left in the
    balanced arm is what the order does, and in the fixed arm what the endpoint itself varies.
    """
    yield from _again(alignment.within_item_sd(both.expected))


def expected_order_effect(both: Both) -> Estimate:
    """Share of the variance of expected scores that the order makes, not the response.

    Variance of an item's expected scores over the balanced orders, over their whole variance across
    items and orders: 0 for a judge that does not see the order, 1 for one that sees nothing else.
    Ratio estimate with a cluster-robust t interval over stimuli.
    """
    grid = both.expected.grid
    reads: Floats = grid.reads[:, :, 0]
    known = ~np.isnan(reads)
    means = row_means(reads)
    overall = float(np.nanmean(reads)) if known.any() else np.nan
    within = np.where(known, (reads - means[:, None]) ** 2, 0.0).sum(axis=1)
    total = np.where(known, (reads - overall) ** 2, 0.0).sum(axis=1)
    share = cluster_t(_per(within, grid.cluster), _per(total, grid.cluster), bounded=True)
    return _estimate(
        "expected_order_effect",
        "Variance of the expected score that the order makes",
        share.value,
        low=share.low,
        high=share.high,
        unit="share of variance",
        n=int(known.sum()),
        clusters=share.clusters,
        method=share.method,
        conditions=f"{both.expected.scale}-point rubric, {reads.shape[1]} balanced orders",
        note=share.note if share.value is not None else "every expected score is the same",
    )


def _per(values: "Floats", clusters: "Ints") -> "Floats":
    return by_cluster(values, clusters)[0]


def expected_pearson_r(both: Both) -> Iterator[Estimate]:
    """Correlation of an arm's mean expected scores with quality; read it beside `pearson_r`."""
    yield from _again(alignment.pearson_r(both.expected))


def expected_single_read_r(both: Both) -> Iterator[Estimate]:
    """Correlation of one single expected score with quality; read it beside `single_read_r`.

    What is lost against `expected_pearson_r` is the order's doing; `single_read_r` loses to the
    draw as well.
    """
    yield from _again([alignment.single_read_r(both.expected)])


def _again(estimates: Iterable[Estimate]) -> Iterator[Estimate]:
    """Estimates of the expected score under names of their own."""
    for one in estimates:
        axis, name = one.key.split(".", 1)
        yield replace(
            one,
            key=f"{axis}.expected_{name}",
            label=f"{one.label}, expected score",
            paper_compatible=None,  # the papers read sampled scores
        )


def expected_position_mass(both: Both) -> Iterator[Estimate]:
    """Mean probability on the description listed at a position; 1/n if place does not matter.

    As `position_share`, without the luck of the draw: each call counts with all its probabilities
    instead of the one score that came out. Cluster-robust t interval over stimuli.
    """
    for index in range(both.mass.shape[1]):
        share = cluster_t(*by_cluster(both.mass[:, index], both.cluster), bounded=True)
        yield _estimate(
            "expected_position_mass",
            f"Mean probability at position {index + 1}",
            share.value,
            {"position": index + 1},
            low=share.low,
            high=share.high,
            unit="probability",
            n=len(both.mass),
            clusters=share.clusters,
            method=share.method,
            conditions=f"{both.expected.scale}-point rubric, balanced orders",
            note=share.note if share.value is not None else "no balanced call has a distribution",
        )


def calls_for_same_width(both: Both) -> Iterator[Estimate]:
    """Calls that the sampled score needs for the interval that one expected score gives.

    1 is no gain. `of=item_score`: calls per response, each under its own order, that tell responses
    apart as well (ratio of noise to signal: what only shrinks all scores gains nothing).
    `of=mean_score`, `of=position_share`, `of=single_read_r` (Fisher's z): ratio of the variances of
    figures over prompts, where prompts are to be multiplied along with their calls. Over the calls
    that have both readings; interval from the delete-a-prompt jackknife of the logarithm.
    """
    for of, what, find in _FIGURES:
        ratio = find(both)
        yield _estimate(
            "calls_for_same_width",
            f"Sampled calls worth one expected score, for {what}",
            ratio.value,
            {"of": of},
            low=ratio.low,
            high=ratio.high,
            unit="calls",
            n=int((~np.isnan(both.expected.grid.reads)).sum()),
            clusters=ratio.clusters,
            method=ratio.method,
            conditions=_same_quantity(both.expected.temperature),
            note=ratio.note,
        )


def _same_quantity(temperature: float | None) -> str:
    """What the two readings estimate; they agree only where the judge draws as it believes."""
    if temperature:
        return f"sampled at temperature {temperature:g}"
    return "sampled at temperature 0: the likeliest score, not a draw"


def _of_item_score(both: Both) -> Interval:
    one, other = (scores.grid.reads[:, :, 0] for scores in (both.sampled, both.expected))
    return precision.reliability_ratio(one, other, both.expected.grid.cluster)


def _of_mean_score(both: Both) -> Interval:
    known = ~np.isnan(both.expected.grid.reads)
    cluster = np.broadcast_to(both.expected.grid.cluster[:, None, None], known.shape)[known]
    one, other = (
        precision.mean_parts(scores.grid.reads[known], cluster)
        for scores in (both.sampled, both.expected)
    )
    return precision.variance_ratio(one, other)


def _of_position_share(both: Both) -> Interval:
    one, other = (precision.mean_parts(x, both.cluster) for x in (both.chosen, both.mass))
    return precision.variance_ratio(one, other)


def _of_single_read_r(both: Both) -> Interval:
    reads = both.expected.grid.reads[:, :, 0]
    quality = np.broadcast_to(both.expected.reference.values[:, None], reads.shape)
    known = ~(np.isnan(reads) | np.isnan(quality))
    cluster = np.broadcast_to(both.expected.grid.cluster[:, None], reads.shape)[known]
    one, other = (
        precision.correlation_parts(scores.grid.reads[:, :, 0][known], quality[known], cluster)
        for scores in (both.sampled, both.expected)
    )
    if len(one) != len(other) or not len(one):
        return Interval(None, None, None, note="a correlation is not known, or perfect")
    return precision.variance_ratio(one, other)


_FIGURES: tuple[tuple[str, str, Callable[[Both], Interval]], ...] = (
    ("item_score", "telling responses apart", _of_item_score),
    ("mean_score", "the mean score", _of_mean_score),
    ("position_share", "the shares of positions", _of_position_share),
    ("single_read_r", "the correlation of single reads", _of_single_read_r),
)
