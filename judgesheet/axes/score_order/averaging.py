"""How many orders are enough, and is the gain only less noise? (Xu et al., 5.2 and 5.3)

Averaging raises the correlation with quality for two reasons: noise cancels, as it would with
repeats under one order, and the effect of the order cancels, which needs other orders.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from judgesheet.axes.score_order._scores import CHANGES, Scores, figure, of_main_scale
from judgesheet.axis.figure import Draft, absent
from judgesheet.axis.labels import NO_REFERENCE, Quality
from judgesheet.axis.views import off_quality, repeated
from judgesheet.base.digits import percent
from judgesheet.base.missing_reasons import CONSTANT, NO_OBSERVATIONS
from judgesheet.stats import correlation as stats
from judgesheet.stats.averaging import Gain
from judgesheet.stats.interval import Interval


@figure("r", better="higher", cases=off_quality)
def budget_r(scores: Scores) -> Iterator[Draft]:
    """Correlation with quality after averaging k orders (Xu et al., section 5.3).

    Mean over the subsets of size k of the arm's reads, complete items only; `low` and `high` are
    the 2.5 and 97.5 percentiles over subsets, a spread and not a confidence interval.
    """
    if scores.reference.kind is not None:
        sweep = partial(stats.budget_r, y=scores.reference.values)
        yield from _budget("r with quality", scores, sweep, scores.reference.given())


@figure("r", better="higher", passes_blind=True, cases=CHANGES)
def budget_agreement(scores: Scores) -> Iterator[Draft]:
    """Correlation of the mean of k orders with the mean of all of them: how many are enough?

    Needs no label. The k orders are part of what they are compared with, so it ends at 1: it shows
    how many calls can replace all of them, not how good all of them are.
    """
    return _budget("Agreement with all orders", scores, stats.budget_agreement, "")


def _budget(
    label: str,
    scores: Scores,
    sweep: Callable[..., tuple[stats.BudgetPoint, ...]],
    given: Quality | str,
) -> Iterator[Draft]:
    """`sweep` over one read per order of the balanced arm, then over the random arm."""
    # Not the fixed arm: all its reads are under one order.
    arms = {"balanced": scores.grid.reads[:, :, 0], "random": scores.arms.get("random")}
    for arm, reads in arms.items():
        if reads is None:
            continue
        complete = int((~np.isnan(reads).any(axis=1)).sum())
        for point in sweep(reads, rng=scores.rng()):
            orders = f"{point.k} order{'s' if point.k > 1 else ''}"
            undefined = f"undefined in {percent(point.undefined)} of subsets: constant scores"
            draft = Draft(
                f"{label} after {orders}, {arm} (range: over choices of orders)",
                _band(point, scores.grid.clusters),
                {"k": point.k, "arm": arm},
                n=complete,
                given=given,
                note=undefined if point.undefined else "",
            )
            yield draft.or_absent(CONSTANT if complete else NO_OBSERVATIONS)


def _band(point: stats.BudgetPoint, clusters: int) -> Interval:
    single = point.subsets < 2  # one subset has no spread
    low, high = (None, None) if single else (point.low, point.high)
    method = f"mean and 2.5-97.5 percentile of {point.subsets} subsets"
    return Interval(point.value, low, high, clusters=clusters, method=method, proves=False)


@figure("difference of r", symbol="G", better="", headline={"k=10": 100}, cases=off_quality)
def averaging_gain(scores: Scores) -> Iterator[Draft]:
    """Gain in correlation with quality from averaging k orders, against a single reading.

    r_k - r_1, each the mean over the subsets of that many orders of the first balanced pass (Xu et
    al., section 5.3). It has two parts: `averaging_gain_noise` + `averaging_gain_order`. Cluster
    bootstrap over stimuli.
    """
    return _gains(scores, "Gain in r", lambda gain: gain.total)


@figure(
    "difference of r",
    symbol="G_noi",
    better="",
    headline={"k=10": 102},
    cases=of_main_scale(repeated),
)
def averaging_gain_noise(scores: Scores) -> Iterator[Draft]:
    """The part of `averaging_gain` that k calls in one and the same order would give.

    r_1 (sqrt(k / (1 + (k - 1) rho)) - 1), Spearman and Brown's prophecy, where rho = 1 - s2 / V is
    the share of the variance V of one reading over items that a repeat in the same order repeats,
    and s2 the variance between such repeats. Not identified where no order was read twice. Cluster
    bootstrap over stimuli. Xu et al., section 5.2 (variance reduction).
    """
    return _gains(scores, "Gain in r from less noise", lambda gain: gain.noise, _greedy(scores))


@figure("difference of r", symbol="G_ord", better="", headline={"k=10": 101}, cases=off_quality)
def averaging_gain_order(scores: Scores) -> Iterator[Draft]:
    """The rest of `averaging_gain`: the gain because the k orders differ.

    `averaging_gain` - `averaging_gain_noise`. 0 for a judge that the order does not affect; all of
    the gain for one that always repeats itself. Cluster bootstrap over stimuli. Xu et al., section
    5.2 (de-biasing).
    """
    return _gains(scores, "Gain in r from other orders", lambda gain: gain.order, _greedy(scores))


def _gains(
    scores: Scores, label: str, part: Callable[[Gain], Interval], note: str = ""
) -> Iterator[Draft]:
    for gain in scores.gains:
        interval, words = part(gain), f"{label}, {gain.k} orders averaged"
        if scores.reference.kind is None:
            yield absent(words, NO_REFERENCE, {"k": gain.k})
            continue
        yield Draft(
            words,
            interval,
            {"k": gain.k},
            n=len(scores.items),
            given=scores.reference.given(remark="balanced orders"),
            note="" if interval.value is None else note,
        )


def _greedy(scores: Scores) -> str:
    """At temperature 0 the split is one of this endpoint, not of the judge when it samples."""
    if scores.temperature == 0:
        return "at temperature 0 repeats show only the noise of the endpoint itself"
    return ""
