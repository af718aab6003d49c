"""What does averaging over orders buy, and is it the order or just fewer dice? (Xu et al., 5.2)

Averaging raises the correlation with quality for two reasons: noise cancels, which repeats under
one order would do as well, and the effect of the order cancels, which only other orders do.
"""

from collections.abc import Iterator

from judgesheet.axes.score_order._scores import Scores
from judgesheet.axes.score_order.alignment import NO_REFERENCE
from judgesheet.axis.estimate import maker
from judgesheet.records import Estimate
from judgesheet.stats.averaging import Gain, averaging_gains
from judgesheet.stats.interval import Interval

_estimate = maker("score_order")
AT = (2, 3, 5)
"""Numbers of orders to report beside all of them (Xu et al., section 5.3: most is had by 3)."""


def averaging_gain(scores: Scores) -> Iterator[Estimate]:
    """Gain in correlation with quality from averaging k orders, against a single reading.

    r_k - r_1, each the mean over the subsets of that many orders of the first balanced pass (Xu et
    al., section 5.3). It has two parts: `averaging_gain_noise` + `averaging_gain_order`. Cluster
    bootstrap over stimuli.
    """
    for gain in _gains(scores):
        yield _from_gain("averaging_gain", "Gain in r", scores, gain.k, gain.total)


def averaging_gain_noise(scores: Scores) -> Iterator[Estimate]:
    """The part of `averaging_gain` that asking k times in one and the same order would give.

    r_1 (sqrt(k / (1 + (k - 1) rho)) - 1), Spearman and Brown's prophecy, where rho = 1 - s2 / V is
    the share of the variance V of one reading over items that a repeat in the same order repeats,
    and s2 the variance between such repeats. Not identified where no order was read twice. Cluster
    bootstrap over stimuli. Xu et al., section 5.2 (variance reduction).
    """
    for gain in _gains(scores):
        name = "averaging_gain_noise"
        yield _from_gain(name, "Gain in r from less noise", scores, gain.k, gain.noise)


def averaging_gain_order(scores: Scores) -> Iterator[Estimate]:
    """The rest of `averaging_gain`: what is gained because the k orders differ.

    `averaging_gain` - `averaging_gain_noise`. 0 for a judge that the order does not move; all of
    the gain for one that always repeats itself. Cluster bootstrap over stimuli. Xu et al., section
    5.2 (de-biasing).
    """
    for gain in _gains(scores):
        name = "averaging_gain_order"
        yield _from_gain(name, "Gain in r from other orders", scores, gain.k, gain.order)


def _gains(scores: Scores) -> tuple[Gain, ...]:
    grid = scores.grid
    most = len(grid.orders)
    at = tuple(sorted({k for k in (*AT, most) if 1 < k <= most}))
    return averaging_gains(
        grid.reads, scores.reference.values, grid.cluster, at, scores.rng()
    ).points


def _from_gain(name: str, label: str, scores: Scores, k: int, part: Interval) -> Estimate:
    label = f"{label}, {k} orders averaged"
    if scores.reference.kind is None:
        return _estimate(name, label, None, {"k": k}, note=NO_REFERENCE)
    return _estimate(
        name,
        label,
        part.value,
        {"k": k},
        low=part.low,
        high=part.high,
        unit="difference of r",
        n=len(scores.items),
        clusters=part.clusters,
        method=part.method,
        conditions=f"quality: {scores.reference.name}; balanced arm",
        note="; ".join(text for text in (part.note, _greedy(name, scores, part)) if text),
    )


def _greedy(name: str, scores: Scores, part: Interval) -> str:
    """At temperature 0 the split is one of this endpoint, not of the judge when it samples."""
    if name == "averaging_gain" or scores.temperature != 0 or part.value is None:
        return ""
    return "at temperature 0 repeats show only the noise of the endpoint itself"
