"""The figures of criterion_order, in the order of the appendix: see `FIGURES` at the end."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from judgesheet.axis import differences, reversal, scale_use
from judgesheet.axis.arms import WORDS
from judgesheet.axis.figure import UnkeyedEstimate, absent, named
from judgesheet.axis.labels import NO_REFERENCE
from judgesheet.axis.scored import FIXED_TOO, RANDOM_TOO
from judgesheet.axis.undefined import explained
from judgesheet.base.digits import counted, two_digits, with_noun
from judgesheet.base.missing_reasons import Reason
from judgesheet.base.records import PaperCompatible
from judgesheet.stats import correlation, macro
from judgesheet.stats import criteria as stats
from judgesheet.stats.interval import Interval, at_most, missing, without_interval
from judgesheet.stats.multiplicity import holm
from judgesheet.stats.reads import row_means

from .scores import FIXED, PLACED, REPEATED, Scores, figure

# -- does a place score higher ---------------------------------------------------------------------
# All these figures compare the readings of one response with each other, in the balanced arm, where
# every criterion stands equally often at every position. Recorded orders that are not balanced are
# also compared within responses, and `conditions` say so.


blind = figure.but(passes_blind=True)
NOTHING_READ = Reason("nothing_read", "no readable reply with criteria in changing places")
FIXED_PLACES = Reason("fixed_places", "criteria never change places in this run")
FEW = 6
"""A criterion read in fewer prompts than this gets a note."""
# Of the criteria together: Holm's correction comes first.
ALPHA = 0.05


@blind(
    "points",
    symbol="ΔP",
    noise="mean_delta_pos_null",
    headline=1,
    sweep=1,
    reads="passes",
)
def mean_delta_pos(scores: Scores | None) -> UnkeyedEstimate:
    """How many points lie between a criterion's best and worst place in the list, on average.

    Mean over criteria of `delta_pos` (Xu et al., table 5). It is above 0 for any noisy judge:
    compare `mean_delta_pos_null`. Interval as for `delta_pos`, criteria resampled together.
    """
    label = "Position gap, mean over criteria"
    return _gap(label, scores.gaps.mean, scores) if scores else absent(label, FIXED_PLACES)


@blind("points", symbol="ΔP_0", better="", headline=240)
def mean_delta_pos_null(scores: Scores) -> UnkeyedEstimate:
    """The mean position gap expected if the order did not matter at all.

    Mean over 1,000 permutations of each response's replies over its orders: the noise of this judge
    at this number of prompts, without any effect of the place. `conditions` give the 95th
    percentile.
    """
    label = "Position gap by noise alone, mean over criteria"
    return _with_p95(label, scores.null_gaps.mean, scores)


@blind("points", symbol="ΔP_max", noise="max_delta_pos_null", headline=2, reads="passes")
def max_delta_pos(scores: Scores) -> UnkeyedEstimate:
    """Position gap, in points, of the criterion whose score changes most with its place.

    Largest `delta_pos` of all criteria (Xu et al., table 5). The largest of several noisy figures
    is biased upwards: its interval allows for that, and `max_delta_pos_null` says what noise alone
    gives.
    """
    return _gap("Position gap, largest of all criteria", scores.gaps.most, scores)


@blind("points", better="")
def max_delta_pos_null(scores: Scores) -> UnkeyedEstimate:
    """The largest position gap expected if the order did not matter at all.

    As `mean_delta_pos_null`; `conditions` give the 95th percentile.
    """
    label = "Position gap by noise alone, largest of all criteria"
    return _with_p95(label, scores.null_gaps.most, scores)


@blind("criteria", symbol="S", null=0.0, headline=3)
def significant_criteria(scores: Scores) -> UnkeyedEstimate:
    """Number of criteria whose score depends on the position at p < .05, corrected by Holm.

    Xu et al., table 5, count without a correction and with each response as a block; that count is
    given beside it.
    """
    label = "Criteria whose score depends on their place"
    tested = [p for p in holm([test.p for test in scores.position_tests]) if p is not None]
    if not tested:
        return absent(label, NOTHING_READ)
    # The papers' count: with responses as blocks a bias that does not exist is found in a fifth of
    # data sets whose prompts differ (docs/notes/order-tests.md).
    papers = [_papers_p(scores, index) for index in range(len(scores.names))]
    count, papers_count = (
        sum(p is not None and p < ALPHA for p in tests) for tests in (tested, papers)
    )
    interval = without_interval(
        count, clusters=scores.clusters, method="friedman_p with Holm below .05"
    )
    estimate = UnkeyedEstimate(
        label, interval, n=len(tested), conditions=scores.lists, unit=f"of {len(tested)}"
    )
    how = "p < .05 uncorrected, blocks are responses (Xu et al.)"
    return replace(estimate, paper=PaperCompatible(float(papers_count), None, None, how))


@blind("points", reads="passes")
def delta_pos(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Best minus worst position of a criterion: how many points its place in the list can add.

    Xu et al., table 5. It is above 0 for any noisy judge: compare `mean_delta_pos_null`. The
    interval allows for what noise adds, by a cluster bootstrap of the range, and reaches 0 where
    the data allow it.
    """
    for index, (name, gap) in enumerate(zip(scores.names, scores.gaps.each, strict=True)):
        estimate = _gap(f"Position gap of {name}", gap, scores)
        yield replace(estimate, dims={"criterion": name}, note=_few(scores, index))


@blind("p", better="", reads="passes")
def friedman_p(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """p-value of "the score of this criterion is the same at every position" (Friedman's test).

    Corrected for ties; p = 1 where all are tied. Blocks are clusters: responses to one prompt are
    averaged first, since they are not independent. The papers take each response as a block; that p
    is given beside it. Xu et al., section 5.5.
    """
    method = "Friedman, corrected for ties, blocks are clusters"
    papers = "Friedman, blocks are responses (Xu et al.)"
    for index, test in enumerate(scores.position_tests):
        paper = PaperCompatible(_papers_p(scores, index), None, None, papers)
        yield replace(_test(scores, index, test.p, method), paper=paper)


@blind("points", better="", reads="passes")
def position_shift(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """How far a criterion's mean score at a position departs from its mean over positions.

    In points of the scale; 0 everywhere if the place does not matter. Least squares with one
    constant per response, cluster-robust t interval over prompts. Xu et al., figure 10.
    """
    for index, effects in enumerate(scores.effects):
        shifts = stats.position_shift(effects, scores.span)
        yield from _by_position("Shift of {name} at position {position}", scores, index, shifts)


@blind("points", better="", reads="passes")
def position_mean(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Mean score of a criterion when it is listed at a position.

    Responses are compared only with themselves, so a missing reply does not shift it. The interval
    (cluster-robust t over prompts) includes the differences between prompts: to compare positions,
    read `position_shift`. Xu et al., section 5.5.
    """
    for index, effects in enumerate(scores.effects):
        means = stats.position_mean(effects, scores.span, scores.limits)
        yield from _by_position("Mean score of {name} at position {position}", scores, index, means)


def _gap(label: str, gap: Interval, scores: Scores) -> UnkeyedEstimate:
    """Best less worst position, with an interval that no scale can exceed."""
    # The interval of a range knows no scale, and a gap of more points than there are is none.
    gap = at_most(gap, scores.lists.scale and scores.lists.scale - 1.0)
    readings = sum(effects.counts.sum() for effects in scores.effects)
    how = "best minus worst position mean, no interval (Xu et al.)"
    paper = PaperCompatible(gap.value, None, None, how)
    n = int(readings / scores.lists.criteria)
    return UnkeyedEstimate(label, gap, n=n, conditions=scores.lists, paper=paper)


def _null(label: str, value: float | None, scores: Scores) -> UnkeyedEstimate:
    """A gap of permuted replies."""
    method = "replies permuted over the orders of each response, 1,000 draws"
    interval = _number(value, stats.NOT_COMPARED, scores.clusters, method)
    return UnkeyedEstimate(label, interval, n=len(scores.cluster))


def _with_p95(label: str, null: stats.NullSpread, scores: Scores) -> UnkeyedEstimate:
    estimate = _null(label, null.mean, scores)
    if null.p95 is None:
        return estimate
    most = with_noun(two_digits(null.p95), "point")
    return replace(estimate, conditions=f"95th percentile {most}")


def _by_position(
    label: str, scores: Scores, index: int, parts: Sequence[Interval]
) -> Iterator[UnkeyedEstimate]:
    """One estimate per position of a criterion; `label` has braces for criterion and position."""
    name, counts = scores.names[index], scores.effects[index].counts
    for position, (part, count) in enumerate(zip(parts, counts, strict=True), start=1):
        yield UnkeyedEstimate(
            label.format(name=name, position=position),
            part,
            {"criterion": name, "position": position},
            n=int(count),
            conditions=scores.lists,
            note=_few(scores, index),
        )


def _test(scores: Scores, index: int, p: float | None, method: str) -> UnkeyedEstimate:
    """A p-value of Friedman's test of a criterion, as it is or corrected."""
    name, test = scores.names[index], scores.position_tests[index]
    interval = _number(p, stats.FEW_BLOCKS, test.blocks, method)
    return UnkeyedEstimate(
        f"p of the place, {name}",
        replace(interval, note=test.note),
        {"criterion": name},
        n=test.blocks,
        conditions=scores.lists,
        note=_few(scores, index),
    )


def _papers_p(scores: Scores, index: int) -> float | None:
    """Friedman's p as the papers count: blocks are responses."""
    values, place, _ = scores.of(index)
    return stats.friedman(stats.item_cells(values, place, scores.lists.criteria)).p


def _number(value: float | None, why: Reason, clusters: int, method: str) -> Interval:
    """A number without an interval, or its absence if it is undefined."""
    if value is None:
        return missing(why, clusters=clusters, method=method)
    return without_interval(value, clusters=clusters, method=method)


def _few(scores: Scores, index: int) -> str:
    """A note if a criterion was read in few of the prompts."""
    clusters = scores.effects[index].clusters
    few = clusters < FEW and clusters != scores.clusters
    return f"read in {clusters} of {scores.clusters} prompts" if few else ""


# -- does the order change scores, do they follow quality ------------------------------------------
# Every correlation is the mean over criteria of one over responses: levels of different criteria
# are never mixed. Quality is people's scores if the stimuli carry them, else the level that the
# author of a built-in response wrote it for; `conditions` say which.


@figure(
    "r",
    symbol=lambda dims: f"r_{dims['arm'][:3]}",
    null=0.0,
    better="higher",
    headline={"arm=balanced": 50, "arm=fixed": 200},
    missing={"arm=fixed": FIXED, "": PLACED},
    sweep={"arm=balanced": 4},
    reads="passes",
)
def pearson_r(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Correlation of mean scores with quality, mean over criteria by arm, for each when balanced.

    Pearson's r over responses; Fisher-z interval from the cluster jackknife. Xu et al., tables 5
    and 6.
    """
    for arm, reads in scores.arms.items():
        label = f"Pearson correlation with quality, {WORDS[arm]}"
        if not scores.knows_quality:
            yield absent(label, NO_REFERENCE, {"arm": arm})
            continue
        means, quality, cluster = scores.means(arm), scores.reference, scores.cluster
        conditions = scores.quality(reads.shape[1])
        r = explained(macro.macro_r(means, quality, cluster), means, quality, cluster)
        yield UnkeyedEstimate(
            f"{label}, mean over criteria", r, {"arm": arm}, n=r.n, conditions=conditions
        )
        if arm != "balanced":
            continue
        for name, own, worth in zip(scores.names, means.T, quality.T, strict=True):
            r = explained(correlation.cluster_jackknife_r(own, worth, cluster), own, worth, cluster)
            dims = {"criterion": name, "arm": arm}
            yield UnkeyedEstimate(f"{label}, {name}", r, dims, n=r.n, conditions=conditions)


@figure("r", symbol="r_1", null=0.0, better="higher", headline=60)
def single_read_r(scores: Scores) -> UnkeyedEstimate:
    """Correlation of one single reading with quality, mean over criteria.

    What a user without averaging gets: Pearson's r over all readings of the first balanced pass,
    each under its own order. Fisher-z interval from the cluster jackknife.
    """
    label = "Pearson correlation with quality, a single reading, mean over criteria"
    if not scores.knows_quality:
        return absent(label, NO_REFERENCE)
    orders = scores.reads.shape[1]
    readings = [scores.by_criterion(scores.reads[:, order, 0]) for order in range(orders)]
    quality, cluster = np.tile(scores.reference, (orders, 1)), np.tile(scores.cluster, orders)
    r = macro.macro_r(np.concatenate(readings), quality, cluster)
    return UnkeyedEstimate(label, r, n=r.n, conditions=scores.quality(reads=1))


# -- how many orders are enough --------------------------------------------------------------------


@figure("r", better="higher")
def budget_r(scores: Scores) -> Iterator[UnkeyedEstimate]:
    """Correlation with quality after averaging k orders, mean over criteria.

    Mean over the subsets of k of the balanced orders, only for responses with every reading: shows
    how many readings are worth paying for.
    """
    if not scores.knows_quality:
        return
    curves, entering = [], np.zeros(len(scores.cluster), dtype=bool)
    for index in range(len(scores.names)):
        items, slots = np.nonzero(scores.criterion == index)
        reads = scores.reads[items, :, 0, slots]
        quality = scores.reference[items, index]
        values = [point.value for point in correlation.budget_r(reads, quality, scores.rng())]
        if None not in values:
            curves.append(values)
            entering[items] |= ~np.isnan(quality) & ~np.isnan(reads).any(axis=1)
    if not curves:
        return
    clusters = len(np.unique(scores.cluster[entering]))
    lost = len(scores.names) - len(curves)
    constant = counted(lost, "criterion", "criteria")
    method = "mean over subsets of k orders, then over criteria"
    for k, value in enumerate(row_means(np.array(curves, dtype=float).T), start=1):
        yield UnkeyedEstimate(
            f"r with quality after {counted(k, 'order')}, mean over criteria",
            without_interval(value, clusters=clusters, method=method),
            {"k": k, "arm": scores.base},
            n=int(entering.sum()),
            conditions=scores.quality(),
            note=f"without {constant} whose scores are constant" if lost else "",
        )


# -- all of them, in the order of the appendix -----------------------------------------------------

_OF_SCORES = {"top1_flip_rate", "kendall_tau"}
"""Figures of the order of scores in a rubric, which are not asked of criteria."""
_SHARED = figure.adopted(reversal, scale_use).items()
FIGURES = {
    **named(mean_delta_pos, mean_delta_pos_null, max_delta_pos, max_delta_pos_null),
    **named(significant_criteria, delta_pos, friedman_p, position_shift, position_mean),
    **{name: one for name, one in _SHARED if name not in _OF_SCORES},
    **named(pearson_r, single_read_r),
    **figure.adopted(differences),
    **named(budget_r),
    "repeat_change_rate": figure.of(reversal.repeat_change_rate, missing=REPEATED),
    "excess_change_rate": figure.of(reversal.excess_change_rate, missing=REPEATED),
    "repeat_flip_rate": figure.of(reversal.repeat_flip_rate, missing=REPEATED),
    "excess_flip_rate": figure.of(reversal.excess_flip_rate, headline=45, missing=REPEATED),
    "delta_r": figure.of(
        differences.delta_r,
        missing={
            "arms=balanced-fixed": f"{FIXED_TOO}, and labels",
            "arms=balanced-random": f"{RANDOM_TOO}, and labels",
        },
    ),
}
"""The figures of the scores."""
