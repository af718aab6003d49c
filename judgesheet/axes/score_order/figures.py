"""The figures of score_order, in the order of the appendix: see `SAMPLED` at the end."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axis import (
    Readings,
    beyond_chance,
    differences,
    places,
    raters,
    reversal,
    scale_use,
    within_prompts,
)
from judgesheet.axis.arms import WORDS
from judgesheet.axis.arrays import Floats
from judgesheet.axis.figure import UnkeyedEstimate, absent, named
from judgesheet.axis.labels import NO_REFERENCE
from judgesheet.axis.logprobs import Distribution
from judgesheet.axis.undefined import explained
from judgesheet.base.digits import counted, percent, two_digits, with_noun
from judgesheet.base.limits import MOST_DIGITS
from judgesheet.base.missing_reasons import CONSTANT, NO_OBSERVATIONS, ONE_CLUSTER, Reason
from judgesheet.base.records import PaperCompatible
from judgesheet.stats import correlation
from judgesheet.stats import orders as designs
from judgesheet.stats import position as by_position
from judgesheet.stats import selection as matrices
from judgesheet.stats.correlation import cluster_jackknife_r, pearson
from judgesheet.stats.interval import (
    by_cluster,
    cluster_mean,
    cluster_rate,
    missing,
    without_interval,
)
from judgesheet.stats.orders import Order
from judgesheet.stats.reads import row_means, row_sds

from .scores import BALANCED, FIXED, Grid, RubricOrders, Scores, arrange, figure

if TYPE_CHECKING:
    import pandas as pd

# -- is a place favoured ---------------------------------------------------------------------------
# All these figures count the displayed positions of the chosen scores in the balanced arm, where
# every score stands equally often at every position: an unbiased judge chooses each position 1/n of
# the time, whichever scores it prefers.


blind = figure.but(passes_blind=True)
NO_BALANCED_ARM = Reason(
    "no_balanced_arm",
    "the records lack balanced orders, in which every score stands at every position",
)


@blind(
    "share",
    symbol=lambda dims: f"P_{dims['position']}",
    better="",
    headline={"position=1": 130},
    reads="passes",
)
def position_share(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Share of calls that chose the description listed at a position; 1/n if place does not matter.

    The rubric's n descriptions are listed in balanced orders; whichever scores a judge prefers,
    each stands equally often at each position. Interval of a rate over clusters; Wilson
    over calls beside it as in the papers (Xu et al., figure 4 and table 2).
    """
    grid = scores.grid
    return places.shares(
        grid.position_counts, "Share of choices at position {place}", grid.conditions
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested(RubricOrders):
    """The same, with the degrees of freedom of a test."""

    df: int


@blind("chi-square", sweep=5, reads="passes")
def chi2(scores: Scores) -> UnkeyedEstimate:
    """Pearson's chi-square of the chosen positions against equal shares, as in the papers.

    Xu et al., section 4.4 and table 2. It treats calls as independent, which they are not: read
    `order_dependence_p` for whether the order matters, and `cramers_v` for how much a place does.
    """
    test = by_position.chi_square(scores.grid.position_counts)
    method = "Pearson, calls taken as independent (Xu et al.)"
    estimate = UnkeyedEstimate(
        "Chi-square of positions against uniform",
        without_interval(test.chi2, clusters=scores.grid.clusters, method=method),
        n=test.n,
        conditions=Tested(**asdict(scores.grid.conditions), df=test.df),
    )
    return estimate.or_absent(NOTHING_READ)


@blind("p", reads="passes")
def chi2_p(scores: Scores) -> UnkeyedEstimate:
    """The papers' p-value of `chi2` (n-1 degrees of freedom); paper-compatible, not to be trusted.

    It is wrong in both directions: it almost never rejects for an order-blind judge, and far too
    often for a judge whose items differ without any common preference.
    """
    test = by_position.chi_square(scores.grid.position_counts)
    method = "chi-square, calls taken as independent (Xu et al.)"
    estimate = UnkeyedEstimate(
        "p of chi-square, the papers' way",
        without_interval(test.p, clusters=scores.grid.clusters, method=method),
        n=test.n,
        conditions=scores.grid.conditions,
        note="paper-compatible only",
    )
    return estimate.or_absent(NOTHING_READ)


@blind("V", symbol="V_raw", null=0.0, headline=160, sweep=1, reads="passes")
def cramers_v(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Strength of the position preference, 0 (none) to 1 (always the same position), at any n.

    V = sqrt(chi2 / (N (n-1))), Xu et al., section 4.4 and table 4. The interval inverts the
    noncentral chi-square with the design effect of the stimuli, so it also covers a judge without
    any preference. The value alone is biased upwards: an unbiased judge shows about .05 with 30
    items.
    """

    def at(grid: Grid) -> UnkeyedEstimate:
        label = "Preference for a place in the rubric (Cramér's V)"
        if not grid.conditions.balanced:
            return _uneven(label, grid)
        v = by_position.cramers_v(grid.position_counts)
        naive = by_position.chi_square(grid.position_counts).cramers_v
        paper = PaperCompatible(naive, None, None, "sqrt(chi2 / (N (n-1))), Xu et al.")
        estimate = UnkeyedEstimate(label, v, n=v.n, conditions=grid.conditions, paper=paper)
        return estimate.or_absent(NOTHING_READ)

    return _by_scale(scores, at)


@blind("V", symbol="V", null=0.0, debiases="cramers_v", headline=10, reads="passes")
def cramers_v_debiased(scores: Scores) -> UnkeyedEstimate:
    """Cramér's V without the part that chance alone would give (0 where nothing is left).

    sqrt(max(0, V^2 - trace of the shares' cluster-robust covariance, scaled)). Shares the interval
    of `cramers_v`, which is an interval for the true V.
    """
    label = "Cramér's V, corrected for chance"
    if not scores.has_balanced_arm:
        return absent(label, NO_BALANCED_ARM)
    grid = scores.grid
    if not grid.conditions.balanced:
        return _uneven(label, grid)
    v = by_position.cramers_v(grid.position_counts)
    estimate = UnkeyedEstimate(
        label,
        replace(v, value=v.debiased, drawn=v.drawn_debiased),
        n=v.n,
        conditions=grid.conditions,
        method="V squared less its expectation without bias; interval as cramers_v",
    )
    return estimate.or_absent(ONE_CLUSTER if v.clusters else NOTHING_READ)


def _by_scale(scores: Scores, at: Callable[[Grid], UnkeyedEstimate]) -> Iterator[UnkeyedEstimate]:
    """The figure of the main rubric, then of each length by name if there are several.

    That of the main length is the same under both names.
    """
    estimates = {scale: at(scores.grids[scale]) for scale in sorted(scores.grids)}
    # The main rubric also without a dimension: policies and sheets name it so, whatever its length.
    yield estimates[scores.scale]
    if len(estimates) > 1:
        for scale, estimate in estimates.items():
            label = f"{estimate.label}, {scale}-point rubric"
            yield replace(estimate, label=label, dims={"scale": scale})


def _uneven(label: str, grid: Grid) -> UnkeyedEstimate:
    """A figure whose null hypothesis is equal shares, if the design does not give them."""
    # A preference for a score would look like one for the place where it is listed most often.
    return UnkeyedEstimate(label, missing(places.NOT_EVEN), conditions=grid.conditions)


# -- does the score agree with quality -------------------------------------------------------------
# Quality is people's scores if the stimuli carry them, else another model's, else the level that
# the author of a response wrote it for. `conditions` says which; they are never mixed.


ONE_READ = Reason("one_read", "there is one reading per response")
NOTHING_READ = Reason("nothing_read", "no reply under these orders could be read")


def _of_arm(sign: str) -> Callable[[Mapping[str, str]], str]:
    """A symbol with the arm as its index: `r_bal`."""
    return lambda dims: f"{sign}_{dims['arm'][:3]}"


@figure(
    "points",
    symbol=_of_arm("s"),
    noise="within_item_sd[arm=fixed]",
    headline={"arm=balanced": 190, "arm=fixed": 230},
    missing={"arm=fixed": FIXED, "": BALANCED},
    passes_blind=True,
    sweep={"arm=balanced": 6},
)
def within_item_sd(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Spread of an item's scores over its readings, in points: how far one may be off.

    Population sd (ddof 0) over the readings of an arm, mean over items (Xu et al. v1, table 3). In
    the fixed arm this is noise, in the others noise and order together. Cluster t interval.
    """
    for arm, reads in scores.arms.items():
        label = f"Spread within a response, {WORDS[arm]}"
        conditions = (
            f"{counted(reads.shape[1], 'reading')} per response, {scores.scale}-point rubric"
        )
        if reads.shape[1] < 2:
            yield absent(label, ONE_READ, {"arm": arm})
            continue
        spread = row_sds(reads)
        known = ~np.isnan(spread)
        sums = by_cluster(spread[known], scores.cluster[known])
        # At most half of the scale: reads that lie half at each end.
        interval = cluster_mean(*sums, within=(0.0, (scores.scale - 1) / 2))
        estimate = UnkeyedEstimate(
            label, interval, {"arm": arm}, n=int(known.sum()), conditions=conditions
        )
        yield estimate.or_absent(NOTHING_READ)


@figure(
    "r",
    symbol=_of_arm("r"),
    null=0.0,
    better="higher",
    headline={"arm=balanced": 50, "arm=fixed": 200},
    missing={"arm=fixed": FIXED, "": BALANCED},
    sweep={"arm=balanced": 4},
    reads="passes",
)
def pearson_r(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Correlation of mean scores with quality, by the orders that they are means over.

    Pearson's r over items; Fisher-z interval from the cluster jackknife. The papers' item bootstrap
    is given beside it. `conditions` says whose judgment of quality it is.
    """
    yield from _by_arm(scores, "pearson")
    if scores.reference.kind is None:
        return
    for scale, grid in scores.grids.items():
        if scale != scores.scale:
            mean = row_means(grid.blocks.reshape(len(scores.items), -1))
            yield _unkeyed(
                f"Pearson correlation with quality, {WORDS['balanced']}, {scale}-point rubric",
                correlation.cluster_jackknife_r(mean, scores.reference.values, grid.cluster),
                scores,
                len(grid.orders),
                {"arm": "balanced", "scale": scale},
            )


@figure("r", symbol="r_1", null=0.0, better="higher", headline=60, reads="passes")
def single_read_r(scores: Scores) -> UnkeyedEstimate:
    """Correlation of one single reading with quality: what a user gets without averaging.

    Pearson's r over all readings of the first balanced pass, each under its own order; Fisher-z
    interval from the cluster jackknife.
    """
    label = "Pearson correlation with quality, a single reading"
    if scores.reference.kind is None:
        return absent(label, NO_REFERENCE)
    reads = scores.grid.reads[:, :, 0]
    orders = reads.shape[1]
    # Every reading is a row: the correlation of one reading, not of a mean.
    quality = np.repeat(scores.reference.values, orders)
    cluster = np.repeat(scores.grid.cluster, orders)
    return _unkeyed(
        label, correlation.cluster_jackknife_r(reads.ravel(), quality, cluster), scores, 1
    )


@figure("r", better="higher", reads="passes")
def spearman_r(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Rank correlation of mean scores with quality, by the orders that they are means over.

    Spearman's rho over items; Fisher-z interval from the cluster jackknife with ranks taken anew.
    """
    return _by_arm(scores, "spearman")


def _by_arm(scores: Scores, kind: correlation.Kind) -> Iterator[UnkeyedEstimate]:
    quality, cluster = scores.reference.values, scores.grid.cluster
    for arm, reads in scores.arms.items():
        label = f"{kind.capitalize()} correlation with quality, {WORDS[arm]}"
        if scores.reference.kind is None:
            yield absent(label, NO_REFERENCE, {"arm": arm})
            continue
        mean = scores.means(arm)
        r = correlation.cluster_jackknife_r(mean, quality, cluster, kind)
        r = explained(r, mean, quality, cluster)
        estimate = _unkeyed(label, r, scores, reads.shape[1], {"arm": arm})
        yield replace(estimate, paper=_paper_way(mean, scores)) if kind == "pearson" else estimate


def _unkeyed(
    label: str,
    r: correlation.Correlation,
    scores: Scores,
    reads: int,
    dims: Mapping[str, object] | None = None,
) -> UnkeyedEstimate:
    return UnkeyedEstimate(
        label, r, dims or {}, n=r.n, conditions=scores.reference.conditions(reads)
    )


def _paper_way(mean: Floats, scores: Scores) -> PaperCompatible:
    r = correlation.paper_bootstrap_r(mean, scores.reference.values, scores.rng())
    return PaperCompatible(r.value, r.low, r.high, r.method)


# -- which order to print, and how many ------------------------------------------------------------
# Averaging raises the correlation with quality for two reasons: noise cancels, as it would with
# repeats under one order, and the effect of the order cancels, which needs other orders.


# -- which order (Xu et al. v1, section 5.3) -------------------------------------------------------


NO_NUMBER = Reason("no_number", "an order of more than nine scores is no number; bias_cost has all")
NEVER_GIVEN = Reason("never_given", "a score was never given: its shares are unknown")
DEFAULT_IS_BEST = Reason("default_is_best", "the default order is itself the cheapest probed")
NO_RANK = Reason("no_rank", "the default order was not probed or its correlation is undefined")


def digits(order: Order) -> str:
    """An order as the key writes it: 12345, with A for the tenth score."""
    return "".join(f"{score:X}" for score in order)


def canonical(scores: Scores) -> Order:
    """The default order 1 2 … n."""
    return designs.balanced(scores.scale)[0]


@figure("share", better="nearer", passes_blind=True, reads="passes")
def selection(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """When the judge gives this score, how often is its line at this position?

    P(position | score) over the balanced arm (Xu et al. v1, table 5); 1/n everywhere for a judge
    that reads only the content. Interval of a rate over clusters.
    """
    counts = scores.grid.selections
    for score in range(scores.scale):
        sizes = counts[:, score, :].sum(axis=1)
        for position in range(scores.scale):
            share = cluster_rate(counts[:, score, position], sizes)
            label = f"Share of score {score + 1} given at position {position + 1}"
            dims = {"score": score + 1, "position": position + 1}
            yield UnkeyedEstimate(label, share, dims, n=int(sizes.sum())).or_absent(NEVER_GIVEN)


@figure(
    "percentage points",
    symbol="BC",
    null=0.0,
    headline={"order=12345": 115},
    missing="balanced orders (cell.arm) at a 5-point scale",
    passes_blind=True,
    reads="passes",
)
def bias_cost(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """How far an order's own cells of the selection matrix depart from 1/n, in percentage points.

    Cost(pi) = sum over positions p of |P(p | pi_p) - 1/n| (Xu et al. v1, table 6; summed, not
    averaged). It has no interval: a true cost of 0 gives a value well above 0 in a small probe, and
    `min_bias_confidence` says whether an order costs less than the default.
    """
    counts = scores.grid.selections
    matrix, clusters = matrices.selection_matrix(counts), int(counts.any(axis=(1, 2)).sum())
    for order in sorted({*scores.grid.orders, canonical(scores)}):
        found = matrices.bias_cost(matrix, order)
        cost = None if np.isnan(found) else found
        estimate = UnkeyedEstimate(
            f"Bias cost of the order {' '.join(map(str, order))}",
            without_interval(cost, clusters=clusters),
            {"order": digits(order)},
            n=int(counts.sum()),
            paper=PaperCompatible(cost, None, None, "Xu et al. v1, section 5.3"),
        )
        yield estimate.or_absent(NEVER_GIVEN)


@figure("order", better="", passes_blind=True)
def min_bias_order(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """The order of least bias cost, written as a number (54321 lists 5 first).

    Without a dimension: among the orders that were probed, as in Xu et al. v1, table 6;
    `[among=all]`: among all n! orders, as an assignment problem. It is the minimum of a noisy
    figure; `min_bias_confidence` says how reliable it is.
    """
    counts = scores.grid.selections
    for where, dims, among in (
        ("the probed orders", {}, scores.grid.orders),
        ("all orders", {"among": "all"}, None),
    ):
        matrix = matrices.selection_matrix(counts)
        best = matrices.min_bias_order(matrix, among)
        # A value must be a number: the order 1 2 3 4 5 is 12345.
        order = int(digits(best)) if best and len(best) <= MOST_DIGITS else None
        cost = "" if best is None else two_digits(matrices.bias_cost(matrix, best))
        estimate = UnkeyedEstimate(
            f"Order of least bias cost among {where}",
            without_interval(order, clusters=scores.grid.clusters, method="argmin of bias_cost"),
            dims,
            n=int(counts.sum()),
            conditions=cost and f"its cost is {with_noun(cost, 'point')}",
        )
        yield estimate.or_absent(NO_NUMBER if best else NEVER_GIVEN)


@figure("share", symbol="conf", better="", headline=240, passes_blind=True)
def min_bias_confidence(scores: Scores) -> UnkeyedEstimate:
    """How certain it is that the best probed order costs less than the default 1 2 … n.

    Share of 2,000 cluster-bootstrap resamples in which it does. An order is recommended only from
    .90 up: resampling the paper's own tables finds the same best order in only 13 to 52 %.
    """
    counts, probed, default = scores.grid.selections, scores.grid.orders, canonical(scores)
    best = matrices.min_bias_order(matrices.selection_matrix(counts), probed)
    share, note = None, ""
    # The default cannot be cheaper than itself: there is nothing to resample.
    if best is not None and best != default:
        share = matrices.order_gain_share(counts, best, default, scores.rng())
        again = matrices.best_order_share(counts, scores.rng(), probed)
        note = f"the same best order is found again in {percent(again or 0)} of resamples"
    method = "cluster bootstrap, 2,000 resamples"
    estimate = UnkeyedEstimate(
        "Resamples in which the cheapest order beats the default",
        without_interval(share, clusters=scores.grid.clusters, method=method),
        n=int(counts.sum()),
        note=note,
    )
    return estimate.or_absent(NEVER_GIVEN if best is None else DEFAULT_IS_BEST)


@figure("r", better="higher")
def per_order_r(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Correlation with quality of single readings under one order (Xu et al. v1, table 4).

    Pearson's r; Fisher-z interval from the cluster jackknife. `conditions` give its rank among the
    probed orders, as in the paper, but ranks of noisy correlations are unstable.
    """
    if scores.reference.kind is None:
        return
    ranks = _ranks(scores)
    for order, reads in _order_columns(scores):
        r = cluster_jackknife_r(reads, scores.reference.values, scores.grid.cluster)
        rank = f"rank {ranks.get(order, '?')} of {len(ranks)}"
        yield UnkeyedEstimate(
            f"r of single readings under the order {' '.join(map(str, order))}",
            r,
            {"order": digits(order)},
            n=r.n,
            conditions=scores.reference.conditions(remark=rank),
        )


@figure("rank")
def default_order_rank(scores: Scores) -> UnkeyedEstimate:
    """Rank of the default order 1 2 … n among the probed ones by `per_order_r` (1 is best).

    Xu et al. v1, table 4. Ranks of noisy correlations are unstable: compare the intervals of
    `per_order_r`.
    """
    label = "Rank of the default order by correlation"
    if scores.reference.kind is None:
        return absent(label, NO_REFERENCE)
    ranks, default = _ranks(scores), canonical(scores)
    if default not in ranks:
        return absent(label, NO_RANK)
    rated = scores.rated & ~np.isnan(scores.grid.reads).all(axis=(1, 2))
    return UnkeyedEstimate(
        label,
        without_interval(
            ranks[default],
            clusters=scores.grid.clusters_of(rated),
            method="rank of Pearson's r of single readings (Xu et al. v1)",
        ),
        n=int(rated.sum()),
        conditions=scores.reference.conditions(),
        unit=f"of {len(ranks)}",
    )


def _ranks(scores: Scores) -> dict[Order, int]:
    """Rank by r of every order whose r is defined; 1 is the best."""
    quality = scores.reference.values
    correlations = {order: pearson(reads, quality) for order, reads in _order_columns(scores)}
    known = {order: r for order, r in correlations.items() if not np.isnan(r)}
    return {order: 1 + sum(other > r for other in known.values()) for order, r in known.items()}


def _order_columns(scores: Scores) -> Iterator[tuple[Order, Floats]]:
    """Each order with the mean of an item's reads under it."""
    for index, order in enumerate(scores.grid.orders):
        yield order, row_means(scores.grid.reads[:, index, : scores.grid.passes])


# -- how many --------------------------------------------------------------------------------------


@figure("r", better="higher")
def budget_r(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Correlation with quality after averaging k orders (Xu et al., section 5.3).

    Mean over the subsets of size k of the arm's reads, complete items only; `low` and `high` are
    the 2.5 and 97.5 percentiles over subsets, a spread and not a confidence interval.
    """
    if scores.reference.kind is None:
        return
    # Not the fixed arm: all its reads are under one order.
    arms = {"balanced": scores.grid.reads[:, :, 0], "random": scores.arms.get("random")}
    for arm, reads in arms.items():
        if reads is None:
            continue
        entering = scores.rated & ~np.isnan(reads).any(axis=1)
        complete = int(entering.sum())
        for point in correlation.budget_r(reads, scores.reference.values, scores.rng()):
            undefined = f"undefined in {percent(point.undefined)} of subsets: constant scores"
            estimate = UnkeyedEstimate(
                f"r with quality after {counted(point.k, 'order')}, {arm} "
                "(range: over choices of orders)",
                replace(point, clusters=scores.grid.clusters_of(entering)),
                {"k": point.k, "arm": arm},
                n=complete,
                conditions=scores.reference.conditions(),
                note=undefined if point.undefined else "",
            )
            yield estimate.or_absent(CONSTANT if complete else NO_OBSERVATIONS)


# -- what log-probabilities add --------------------------------------------------------------------
# The sampled score is one draw from the distribution of the judge's scores, the expected score the
# mean of that distribution. These estimates have names of their own beside those of the sampled
# score; no figure mixes the two. They exist only if a run asked for log-probabilities.


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


of_means = figure.but(missing="log-probabilities")
SHARE = 0.0, 1.0


@of_means("share of variance", symbol="η_E", headline=302, passes_blind=True)
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


@of_means(
    "r",
    symbol=lambda dims: f"r_E,{dims['arm'][:3]}",
    null=0.0,
    better="higher",
    headline={"arm=balanced": 301},
)
def expected_pearson_r(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Correlation of mean expected scores with quality, by orders; read it beside `pearson_r`."""
    for estimate in pearson_r.unkeyed(scores):
        # The papers use sampled scores.
        yield replace(estimate, label=f"{estimate.label}, expected score", paper=None)


# -- all of them, in the order of the appendix -----------------------------------------------------

SAMPLED = {
    **named(position_share, chi2, chi2_p, cramers_v, cramers_v_debiased),
    **figure.adopted(reversal, scale_use),
    **named(within_item_sd, pearson_r, single_read_r, spearman_r),
    **figure.adopted(within_prompts, raters, beyond_chance, differences),
    **named(selection, bias_cost, min_bias_order, min_bias_confidence),
    **named(per_order_r, default_order_rank, budget_r),
    # Balance is what the axis is about; random orders come late.
    "delta_r": figure.of(
        differences.delta_r,
        headline={"arms=balanced-fixed": 80, "arms=balanced-random": 210},
    ),
}
"""The figures of the sampled score, which every run has."""
EXPECTED = named(expected_order_effect, expected_pearson_r)
"""The figures of the expected score, which need log-probabilities."""
