"""Does the judge prefer where there is nothing to prefer, or follow the slot between equals?

A pair is shown in both orders and every verdict is mapped to the response that it favours. Pairs
that were not answered in both orders are left out of all figures but those of the vacuum.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from judgesheet.axis.figure import UnkeyedEstimate
from judgesheet.base.missing_reasons import Reason
from judgesheet.stats import pairwise as stats
from judgesheet.stats.flips import Which
from judgesheet.stats.interval import by_cluster, mean_excess

from ._design import KINDS
from ._pairs import Group, Pairs, by_set, figure

# -- nothing to prefer (the vacuum of paper 003) ---------------------------------------------------


figure = figure.but(passes_blind=True)
NO_VACUUM = Reason("no_vacuum", "no pair with nothing to prefer was answered")
KIND_WORDS = {
    "identical": "the same text twice",
    "empty": "two empty responses",
    "whitespace": "two blank responses",
}
"""What a pair shows in which there is nothing to prefer."""
_SYMBOLS = {"identical": "DC_=", "empty": "DC_0", "whitespace": "DC_s"}


@figure(
    "share",
    symbol=lambda dims: _SYMBOLS[dims["kind"]],
    null=0.0,
    headline={"kind=identical": 5, "kind=empty": 13, "kind=whitespace": 14},
    missing="pairs with nothing to prefer (condition vacuum)",
    sweep={"kind=identical": 3},
    reads="vacuum",
)
def dark_current(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of calls that prefer one of two responses although there is nothing to prefer.

    Both responses are empty, only white space, or the same text (003 equation 1). A tie or an
    abstention is right; every preference is false. Read it by kind: a pooled 2/3 can mean "two
    kinds always, the third never". Beta-binomial or design-effect Wilson interval over tasks.
    """
    for vacuum in pairs.main.where(condition="vacuum").by_prompt("all kinds"):
        kinds = vacuum.pairs.cells["kind"].nunique(dropna=False)
        yield _rate(vacuum, "kinds can differ: read them one by one" if kinds > 1 else "")
        for kind in KINDS:
            for group in vacuum.pairs.where(kind=kind).by_prompt(KIND_WORDS[kind], kind=kind):
                yield _rate(group)


def _rate(group: Group, note: str = "") -> UnkeyedEstimate:
    counts = group.pairs.by_task(group.pairs.decided)
    label = f"Preference between identical responses, {group.words}"
    return group.rate(label, counts, NO_VACUUM, note=note)


# -- two responses of equal quality ----------------------------------------------------------------


NO_PAIR = Reason("no_pair", "no pair was answered in both orders")
ONE_ORDER = Reason("one_order", "every pair was answered in one order only")
NO_DECISION = Reason("no_decision", "no call on pairs answered in both orders chose a response")
NO_REPEAT = Reason(
    "no_repeat",
    "noise is not known: no pair was read twice in one order (by --repeats 2 in a probe, by "
    "`repeat` in a record)",
)


@figure("share", symbol=by_set("RFP"), null=0.0, headline={"set=same_subset": 9})
def raw_false_preference(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of calls that prefer one of two responses: false between equals (RFP0, 003 equation 2).

    A mixture: it is the sum of `stable_cross_sensitivity`, `positional_false_preference`, half of
    `one_sided_commit` and `other_conflict`, exactly (equation 7). On own pairs, of which one
    response may be better, it is simply how often the judge decides.
    """
    for group in pairs.sets:
        verdicts, cluster = group.pairs.both_orders
        # An invalid answer counts as "no tie" here, so that equation 7 holds exactly.
        preferred = (verdicts != stats.TIE).astype(float)
        counts = by_cluster(preferred.ravel(), np.repeat(cluster, 2))
        yield group.rate(f"Calls that prefer one, {group.words}", counts, _unpaired(group))


@figure("share", symbol=by_set("SCS"), null=0.0, headline={"set=same_subset": 11})
def stable_cross_sensitivity(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of pairs in which the same response wins in both orders (SCS, 003 equation 3).

    Between equally good responses this is a stable reaction to surface features: wording,
    arrangement. Noise alone gives .5 of the pairs that are decided twice.
    """
    return _kinds(pairs.sets, "Same response wins twice", stats.STABLE)


@figure(
    "share",
    symbol=by_set("PFP"),
    null=0.0,
    headline={"set=same_subset": 10},
    sweep={"set=same_subset": 1, "set=natural": 2},
)
def positional_false_preference(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of pairs in which the same slot wins in both orders (PFP, 003 equation 4).

    The winner changes when the responses are swapped. Noise alone gives .5 of the pairs that are
    decided twice; `excess_change_rate` excludes it.

    n counts the pairs that were read in both orders, each once per repeat.
    """
    return _kinds(pairs.sets, "Same slot wins twice", stats.POSITIONAL)


@figure("share", symbol=by_set("OSC"), null=0.0)
def one_sided_commit(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of pairs with a preference in one order and a tie in the other (OSC, equation 5).

    n counts the pairs that were read in both orders, each once per repeat.
    """
    return _kinds(pairs.sets, "A tie in one order only", stats.ONE_SIDED)


@figure("share")
def other_conflict(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """The part of `raw_false_preference` from pairs with an invalid answer (Other, 003 equation 6).

    There, an answer outside the allowed ones does not count as a tie; 0 if every answer was valid.
    """
    for group in pairs.sets:
        verdicts, cluster = group.pairs.both_orders
        invalid = stats.classify(verdicts) == stats.OTHER
        share = np.where(invalid, (verdicts != stats.TIE).mean(axis=1), 0.0)
        label = f"Pairs with an invalid answer, {group.words}"
        yield group.rate(label, by_cluster(share, cluster), _unpaired(group))


@figure("share", symbol=by_set("NP"), better="")
def no_preference(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of pairs with a tie (or an abstention) in both orders (NP of 003).

    n counts the pairs that were read in both orders, each once per repeat.
    """
    return _kinds(pairs.sets, "A tie in both orders", stats.NO_PREFERENCE)


@figure(
    "share",
    symbol=by_set("OI"),
    null=0.0,
    noise="repeat_change_rate[set={set}]",
    headline={"set=natural": 1, "set=same_subset": 2},
)
def order_inconsistent(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of pairs whose verdict changes when the responses are swapped: PFP + OSC.

    The papers' least biased judge has a `positional_false_preference` of .083 but .433 here. Pairs
    with filler are a set here (`set=filler`): where the slot always wins, each of the two responses
    wins half of the calls, and `filler_preference` is .5.

    n counts the pairs that were read in both orders, each once per repeat.
    """
    kinds = stats.POSITIONAL, stats.ONE_SIDED
    return _kinds(pairs.swapped_sets, "Verdict changes with the order", *kinds)


def _kinds(sets: Iterable[Group], label: str, *kinds: int) -> Iterator[UnkeyedEstimate]:
    """The share of pairs of some kinds, for every set and prompt."""
    for group in sets:
        verdicts, cluster = group.pairs.both_orders
        hits = np.isin(stats.classify(verdicts), kinds).astype(float)
        counts = by_cluster(hits, cluster)
        yield group.rate(f"{label}, {group.words}", counts, _unpaired(group))


def _unpaired(group: Group) -> Reason:
    """Why there are no pairs to compare: nothing was read, or nothing in the other order."""
    return ONE_ORDER if group.pairs.partial.any() else NO_PAIR


@figure(
    "share",
    symbol=by_set("S1"),
    null=0.5,
    better="nearer",
    headline={"set=natural": 3, "set=same_subset": 4},
)
def slot1_share(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Share of slot 1 among the calls that choose a response: the direction of a slot preference.

    Each response is shown in slot 1 once, so a judge that follows only the content gives exactly
    .5.

    n counts the calls that choose, on pairs that were read in both orders.
    """
    for group in pairs.sets:
        verdicts, cluster = group.pairs.both_orders
        first, second = ((verdicts == slot).sum(axis=1) for slot in (stats.FIRST, stats.SECOND))
        sums, _ = by_cluster(first, cluster)
        sizes, _ = by_cluster(first + second, cluster)
        label = f"Slot 1 among decisions, {group.words}"
        yield group.rate(label, (sums, sizes), NO_DECISION)


@figure("share", symbol="OCR", noise="repeat_change_rate[set={set}]", headline={"set=natural": 20})
def order_change_rate(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """How often two calls on a pair in different orders disagree on the winner.

    All pairs of calls, verdicts mapped to the responses; includes the judge's own noise, which
    `repeat_change_rate` shows alone.

    n counts the calls on all pairs that were read in both orders.
    """
    for group in pairs.sets:
        label = f"Winner differs in the other order, {group.words}"
        yield _change_rate(group, "different", label).or_absent(_unpaired(group))


@figure("share", symbol="RCR", headline={"set=natural": 21})
def repeat_change_rate(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """How often two calls on a pair in the same order disagree on the winner: the noise.

    Only changes beyond it are an effect of the order.

    n counts all calls on the pairs of which some order was asked twice; `order_inconsistent`, which
    compares one call with one, counts pairs instead.
    """
    for group in pairs.sets:
        label = f"Winner differs in the same order, {group.words}"
        yield _change_rate(group, "same", label).or_absent(NO_REPEAT)


def _change_rate(group: Group, which: Which, label: str) -> UnkeyedEstimate:
    """How often two calls on a pair disagree on the winner, in two orders or in one."""
    share, n = group.flips.rate(which, group.pairs.cluster), group.flips.n(which)
    return UnkeyedEstimate(label, share, group.dims, n=n, conditions=group.conditions)


@figure(
    "difference",
    symbol="ΔC",
    null=0.0,
    headline={"set=same_subset": 17, "set=natural": 19},
    missing="pairs that were read twice in each order (repeat)",
)
def excess_change_rate(pairs: Pairs) -> Iterator[UnkeyedEstimate]:
    """Changes of the winner that the order of two responses causes, beyond noise.

    Per pair, `order_change_rate` minus `repeat_change_rate`; t interval over tasks, which ends at 0
    (or at a value that noise put below 0), as repeats agree at least as often as orders. A judge
    that flips a coin whatever the order has 0: it is noisy, and does not follow a slot.

    n counts the calls on the pairs that were read in both orders, one of them twice.
    """
    for group in pairs.sets:
        flips = group.flips
        yield UnkeyedEstimate(
            f"Winner changes beyond noise, {group.words}",
            mean_excess(flips.excess, group.pairs.cluster, flips.most_excess),
            group.dims,
            n=flips.n("excess"),
            conditions=group.conditions,
        ).or_absent(_unpaired(group) if np.isnan(flips.different).all() else NO_REPEAT)
