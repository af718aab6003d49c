"""The figures of listwise_consensus."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from judgesheet.axis import places, reversal
from judgesheet.axis.arrays import Floats, Ints
from judgesheet.axis.figure import UnkeyedEstimate, wilson_beside
from judgesheet.base.digits import counted, percent, two_digits
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats import majority
from judgesheet.stats import position as stats
from judgesheet.stats.consensus import WEIGHTS
from judgesheet.stats.flips import top1_flip
from judgesheet.stats.interval import (
    by_cluster,
    missing,
    pooled,
    without_interval,
)
from judgesheet.stats.paired import changes, paired_difference, sign_test

from .lists import DIRECTLY, NOTHING_READ, SEVERAL, Arm, Gains, Lists, Table, figure, prompt_rate
from .read import DIRECT, PERMUTED, REPEATED

# -- is the right answer chosen, what is gained ----------------------------------------------------
# Direct is one call in the canonical order; repeated takes k calls of that order, permuted one call
# under each of k orders. All decide by equation 5 of the paper, the direct one with k = 1.


ONCE = "the canonical order (arm direct)"
DEPTHS = (2, 4, 6, 7, 8, 10)
"""Orders a decision: the paper's 7, and what short lists are balanced at."""
NO_GOLD = Reason("no_gold", "no prompt has a known right answer")


def _as_repeated(dims: Mapping[str, str]) -> str:
    """As many calls in one order: the accuracy that repetition alone gives."""
    return "" if dims["arm"] == DIRECT else f"accuracy[arm={REPEATED},k={dims['k']}]"


@figure(
    "share",
    symbol=lambda dims: "acc" if dims["arm"] == DIRECT else f"acc_{dims['k']}",
    better="higher",
    noise=_as_repeated,
    headline={"arm=direct,k=1": 1, **{f"arm=permuted,k={k}": 10 + k for k in DEPTHS}},
    missing={"arm=direct": ONCE, "": SEVERAL},
    sweep={"arm=direct,k=1": 3},
)
def accuracy(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """How often the right answer wins; a tie of m answers that includes it counts 1/m.

    By arm and number of runs (004 tables 1 and 2). The prompt is the unit: the interval is that of
    a rate over prompts, with Wilson's beside it as in the paper.
    """
    # Lists differ in length and in the number of right answers: chance is not 1/n for all.
    conditions = f"a random pick is right in {percent(lists.chance)}" if lists.has_gold else ""
    for arm in lists.arms:
        label = f"Right answer chosen, {arm.words}"
        yield _hit_rate(label, lists, lists.hits(arm), arm.dims, conditions)


@figure("share", better="")
def chance_accuracy(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """How often a pick at random would be right: the share of right answers in a list.

    Where recorded orders are not balanced, it takes the place where the right answer stood most
    often: a judge that always chooses this place must not seem to find the right answer.
    """
    if lists.has_gold:
        read = np.concatenate([table.known & table.read for table in lists.tables])
        known, clusters = int(read.sum()), len(np.unique(lists.cluster[read]))
        even = "share of right answers per list, exact"
        method = even if lists.shown.balanced else "right answers at the best place, exact"
        share = without_interval(lists.chance, clusters=clusters, method=method)
        yield UnkeyedEstimate("Right answer chosen by a random pick", share, n=known)


@figure(
    "difference",
    symbol="Δ_{k}",
    null=0.0,
    better="",
    noise="gain[arm=repeated,k={k}]",
    headline={f"arm=permuted,k={k}": 30 + k for k in DEPTHS},
)
def gain(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """Accuracy of several calls less that of one, on the same prompts: what the extra calls buy.

    Interval of paired proportions from the exact ones of both parts (MOVER). `calls_per_decision`
    gives its price.
    """
    for arm, gains in lists.gains.items():
        label = f"Gain in accuracy, {arm.words} against one call"
        yield _mean_gain(label, gains, arm, arm.dims)


@figure(
    "difference",
    symbol="Δ_{k} − Δ_rep",
    null=0.0,
    better="",
    headline={f"k={k}": 50 + k for k in DEPTHS},
)
def gain_over_repeated(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """Accuracy with k orders minus that with k repeats of one order: what permuting itself adds.

    At the same number of calls; if it is zero, repeating one order is as good as using other
    orders.
    """
    for arm in lists.alternatives if lists.has_gold else ():
        again = Arm(REPEATED, arm.k, arm.executions)
        if arm.name == PERMUTED and again in lists.arms:
            label = f"Gain in accuracy, {arm.k} orders against {arm.k} repeats of one"
            gains = lists.gained(lists.hits(arm) - lists.hits(again))
            yield _mean_gain(label, gains, arm, {"k": arm.k})


@figure("prompts", better="higher")
def improved(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """Prompts on which several calls are right, or tied with fewer others, and one call is not."""
    return _counts(lists, "improved", 0)


@figure("prompts")
def regressed(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """Prompts on which one call is right, or tied with fewer others, and several calls are not."""
    return _counts(lists, "regressed", 1)


@figure(
    "prompts",
    better="",
)
def unchanged(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """Prompts on which several calls do exactly as well as one."""
    return _counts(lists, "unchanged", 2)


@figure("p", better="")
def sign_test_p(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """p-value of the exact two-sided sign test of improved against regressed prompts (004, 4.5)."""
    for arm, gains in lists.gains.items():
        better, worse, same = changes(gains.each)
        method = "exact sign test, two-sided"
        # Prompts that are copies change together: what they have in common is one change.
        differing = changes(by_cluster(*gains)[0])[:2]
        p = without_interval(sign_test(*differing), clusters=gains.clusters, method=method)
        yield UnkeyedEstimate(
            f"p of the gain, {arm.words} against one call",
            p if gains.each.size else missing(NOTHING_READ),
            arm.dims,
            n=gains.each.size,
            conditions=f"{better} improved, {worse} regressed, {same} unchanged",
        )


@figure("calls")
def calls_per_decision(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """Calls that one decision takes: the price of its gain."""
    for arm in lists.arms:
        calls = without_interval(arm.calls, method="by design")
        yield UnkeyedEstimate(f"Calls a decision, {arm.words}", calls, arm.dims)


@figure("share", passes_blind=True)
def change_rate(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """How often several calls and one choose different answers; needs no known answer.

    Ties are resolved as independent uniform picks. Part of it is noise: compare the repeated arm.
    """
    for arm in lists.alternatives:
        label = f"Decision changes, {arm.words} against one call"
        yield prompt_rate(label, _changes(lists, arm), lists.cluster, arm.dims)


@figure("share", better="higher")
def weight_sensitivity(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """Accuracy of the full set of orders under other weights of equation 5 (004 table 3).

    If rows hardly differ, the gain does not depend on the choice of weights; picking the best row
    afterwards would be overfitting.
    """
    if lists.deepest is None or not lists.has_gold:
        return
    # The rows of 004, table 3, all of them: a choice among rows would be overfitting.
    for name, weights in WEIGHTS.items():
        parts = (weights.score, weights.rank, weights.top, weights.uncertainty)
        label = f"Right answer chosen, weights {name.replace('_', ' ')}"
        conditions = f"{lists.deepest.k} orders, weights {parts}"
        hits = lists.hits(lists.deepest, weights)
        yield _hit_rate(label, lists, hits, {"weights": name}, conditions)


def _hit_rate(
    label: str, lists: Lists, hits: Floats, dims: Mapping[str, object], conditions: str
) -> UnkeyedEstimate:
    """How often decisions are right, with the paper's interval beside the one over prompts."""
    estimate = prompt_rate(label, hits, lists.cluster, dims, conditions)
    if not estimate.n:
        return estimate if lists.has_gold else estimate.without_value(NO_GOLD)
    right = float(np.nansum(hits))
    return replace(estimate, paper=wilson_beside(right, estimate.n, "Wilson over prompts (004)"))


def _mean_gain(label: str, gains: Gains, arm: Arm, dims: Mapping[str, object]) -> UnkeyedEstimate:
    mean = paired_difference(*gains)
    estimate = UnkeyedEstimate(
        label,
        mean,
        dims,
        n=gains.each.size,
        conditions=f"{counted(arm.calls, 'call')} per decision",
    )
    return estimate.or_absent(NOTHING_READ)


def _counts(lists: Lists, which: str, index: int) -> Iterator[UnkeyedEstimate]:
    """One of the three counts of `changes` for every arm."""
    for arm, gains in lists.gains.items():
        prompts = gains.each.size
        count = without_interval(
            changes(gains.each)[index], clusters=gains.clusters, method="count"
        )
        yield UnkeyedEstimate(
            f"Prompts {which}, {arm.words} against one call",
            count if prompts else missing(NOTHING_READ),
            arm.dims,
            n=prompts,
            conditions=f"of {counted(prompts, 'prompt')}",
        )


def _changes(lists: Lists, arm: Arm) -> Floats:
    """Per prompt, how often an arm and one call choose different answers."""
    return lists.joined(lambda table: top1_flip(table.picks(DIRECTLY), table.picks(arm)))


# -- are errors common to the orders ---------------------------------------------------------------


NO_CORRELATION = Reason("no_correlation", "too few prompts, or no error that orders could share")
FEW_PROMPTS = 20
FEW_COVER = f"under {FEW_PROMPTS} prompts the interval covers .87 to .94"
"""Simulated in docs/proof/listwise_consensus.md: the jackknife is short of data there."""


@figure("r", symbol="ρ_err", better="", headline=81)
def error_correlation(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """Correlation of the errors under two orders: 0 independent, 1 the same errors.

    Over pairs of single calls on a prompt under different orders. Voting does not remove errors
    that the orders share: at 1 no number of orders helps (004, section 3.4).
    """
    if not lists.has_gold:
        return
    hits, clusters = _hits(lists)
    label = "Correlation of errors between orders"
    conditions = f"lists of {lists.main.n}"
    correlation = majority.error_correlation(hits, clusters)
    if correlation.value is None:
        why = NO_CORRELATION.saying(correlation.note) if lists.readable else NOTHING_READ
        yield UnkeyedEstimate(label, missing(why), conditions=conditions)
        return
    calls, few = int((~np.isnan(hits)).sum()), correlation.clusters < FEW_PROMPTS
    yield UnkeyedEstimate(
        label, correlation, n=calls, conditions=conditions, note=FEW_COVER if few else ""
    )


@figure("share", better="")
def independent_error_bound(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """Hoeffding's bound of the error of a majority of orders, if errors were independent.

    004 proposition 1, at the largest odd k: context only. The note gives the error of a majority
    under the measured correlation; compare `accuracy`.
    """
    if lists.deepest is None or not lists.has_gold:
        return
    hits, clusters = _hits(lists)
    # Odd, so that a majority cannot tie.
    k = lists.deepest.k - (lists.deepest.k + 1) % 2
    if np.isnan(hits).all() or k < 3:
        return
    right, r = float(np.nanmean(hits)), majority.error_correlation(hits, clusters).value
    note = f"independent votes would err in {percent(majority.majority_error(right, k))}"
    if r is not None:
        shared = majority.majority_error(right, k, max(0.0, r))
        note += (
            f"; with the measured correlation of {two_digits(r)} a majority errs in "
            f"{percent(shared)}"
        )
    yield UnkeyedEstimate(
        f"Hoeffding's bound for {k} independent orders",
        without_interval(
            majority.majority_error_bound(right, k),
            clusters=len(np.unique(clusters[(~np.isnan(hits)).any(axis=1)])),
            method="exp(-2 k (q - 1/2)^2) (004 proposition 1)",
        ),
        n=int((~np.isnan(hits)).sum()),
        conditions=f"one call is right in {percent(right)}",
        note=note,
    )


def _hits(lists: Lists) -> tuple[Floats, Ints]:
    """How right the first call under each order is, (prompts, orders), and their clusters."""
    table = lists.main
    hits: Floats = (table.first_calls * table.gold[:, None]).sum(axis=-1)
    return hits[table.known], table.cluster[table.known]


# -- does the winner follow its place --------------------------------------------------------------
# Every single call under the balanced orders is a separate decision: which candidate won, and at
# which place? Each candidate stands equally often at each place, so the winners of a judge that
# follows the content are spread evenly, whichever candidates it prefers.


TWICE = "an order that was read twice (repeat; for a log: --map repeat=COLUMN)"
blind = figure.but(passes_blind=True)


@blind(
    "share",
    symbol="w_{position}",
    better="",
    headline={"position=1": 70},
    reads=PERMUTED,
)
def win_share(lists: Lists) -> Iterator[UnkeyedEstimate]:
    """Share of single calls whose winner stood at this place; 1/n if the place does not matter.

    Over the balanced orders, ties counted in shares. Interval of a rate over clusters;
    Wilson over calls beside it.
    """
    return places.shares(_wins(lists.main), "Winner stood at place {place}", lists.shown)


@blind("V", symbol="V", null=0.0, reads=PERMUTED)
def place_v(lists: Lists) -> UnkeyedEstimate:
    """Strength of the preference for a place, 0 (none) to 1 (the same place always wins), at any n.

    V of the shares of `win_share`, ties counted in shares; with four answers .33 where one place
    wins half of the calls. A preference between nearly equal answers shows here although repeats
    change the winner as often as orders do, so that `excess_flip_rate` is small. Interval as for
    `score_order.cramers_v`; the value alone is biased upwards.
    """
    v = stats.cramers_v(_wins(lists.main))
    label = "Preference for a place in the list (Cramér's V)"
    estimate = UnkeyedEstimate(label, v, n=v.n, conditions=lists.shown)
    if not lists.shown.balanced:
        return estimate.without_value(places.NOT_EVEN)
    return estimate.or_absent(NOTHING_READ)


def _wins(table: Table) -> Floats:
    """Winners by displayed place, (clusters, places); ties count their shares."""
    shown = np.argsort(table.place, axis=-1)  # the candidate at each place
    winners = np.take_along_axis(table.first_calls, shown, axis=-1)  # of each order's first call
    wins = np.sum(np.nan_to_num(winners), axis=1)
    sums: Floats = np.stack(pooled(table.cluster, *wins.T), axis=1)
    return sums


# They read single calls of every arm.
OF_WINNERS = {
    one.name: figure.of(one, reads="")
    for one in (
        figure.of(reversal.order_flip_rate, symbol="f", headline=73, sweep=2),
        figure.of(reversal.repeat_flip_rate, headline={}),
        figure.of(reversal.excess_flip_rate, symbol="Δf", headline=74, sweep=1, missing=TWICE),
        figure.of(reversal.top_tie_rate, headline=75),
    )
}
"""How often the winner of single calls changes, as on axes with scores."""
