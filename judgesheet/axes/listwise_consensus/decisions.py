"""Is the right answer chosen, and does deciding from several runs choose it more often? (004)

Direct is one call in the canonical order; repeated takes k calls of that order, permuted one call
under each of k orders. All decide by equation 5 of the paper, the direct one with k = 1.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axes.listwise_consensus._design import PERMUTED, REPEATED
from judgesheet.axes.listwise_consensus._lists import (
    DIRECTLY,
    NO_GOLD,
    NOTHING,
    Arm,
    Lists,
    compared,
    estimate,
    from_interval,
)
from judgesheet.records import Estimate, PaperCompatible
from judgesheet.stats.consensus import WEIGHTS
from judgesheet.stats.flips import top1_flip
from judgesheet.stats.interval import Interval, cluster_rate, wilson
from judgesheet.stats.paired import agresti_min, changes, sign_test

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def accuracy(lists: Lists) -> Iterator[Estimate]:
    """How often the right answer wins; a tie of m answers that holds it counts 1/m.

    By arm and number of runs (004 tables 1 and 2). The prompt is the unit: the interval is that of
    a rate over prompts, and Wilson's stands beside it as in the paper.
    """
    for arm in lists.arms:
        label = f"Right answer chosen, {arm.words}"
        yield _accuracy("accuracy", label, lists.hits(arm), arm.dims, lists)


def _accuracy(
    name: str, label: str, hits: "Floats", dims: dict[str, object], lists: Lists
) -> Estimate:
    known = hits[~np.isnan(hits)]
    paper = wilson(float(known.sum()), known.size)
    return from_interval(
        name,
        label,
        cluster_rate(known, np.ones_like(known)),
        known.size,
        NOTHING if lists.has_gold else NO_GOLD,
        dims,
        conditions=f"a blind pick is right in {lists.chance:.0%}" if lists.has_gold else "",
        paper=PaperCompatible(paper.value, paper.low, paper.high, "Wilson over prompts (004)")
        if known.size
        else None,
    )


def chance_accuracy(lists: Lists) -> Iterator[Estimate]:
    """How often a blind pick would be right: the share of right answers in a list, over prompts."""
    if lists.has_gold:
        known = int(lists.joined(lambda table: table.known.astype(float)).sum())
        yield estimate(
            "chance_accuracy",
            "Right answer chosen by a blind pick",
            lists.chance,
            unit="share",
            n=known,
            clusters=known,
            method="share of right answers per list, exact",
        )


def _differences(lists: Lists) -> "Iterator[tuple[Arm, Floats]]":
    """Per arm, how much righter it is than the direct decision, prompt by prompt."""
    if lists.has_gold:
        direct = lists.hits(DIRECTLY)
        for arm in compared(lists):
            yield arm, lists.hits(arm) - direct


def improved(lists: Lists) -> Iterator[Estimate]:
    """Prompts on which an arm is right, or right with fewer in a tie, and the direct call not."""
    yield from _counts(lists, "improved", 0)


def regressed(lists: Lists) -> Iterator[Estimate]:
    """Prompts on which the direct call is right, or right with fewer in a tie, and the arm not."""
    yield from _counts(lists, "regressed", 1)


def unchanged(lists: Lists) -> Iterator[Estimate]:
    """Prompts on which an arm is exactly as right as the direct call."""
    yield from _counts(lists, "unchanged", 2)


def _counts(lists: Lists, name: str, which: int) -> Iterator[Estimate]:
    for arm, differences in _differences(lists):
        pairs = int((~np.isnan(differences)).sum())
        yield estimate(
            name,
            f"Prompts {name}, {arm.words} against one call",
            changes(differences)[which] if pairs else None,
            arm.dims,
            unit="prompts",
            n=pairs,
            clusters=pairs,
            method="count",
            conditions=f"of {pairs} prompts",
            note="" if pairs else NOTHING,
        )


def sign_test_p(lists: Lists) -> Iterator[Estimate]:
    """Exact two-sided sign test of improved against regressed prompts: its p (004, section 4.5)."""
    for arm, differences in _differences(lists):
        better, worse, same = changes(differences)
        pairs = better + worse + same
        yield estimate(
            "sign_test_p",
            f"p: no gain, {arm.words} against one call",
            sign_test(better, worse) if pairs else None,
            arm.dims,
            unit="p",
            n=pairs,
            clusters=pairs,
            method="exact sign test, two-sided",
            conditions=f"{better} improved, {worse} regressed, {same} unchanged",
            note="" if pairs else NOTHING,
        )


def gain(lists: Lists) -> Iterator[Estimate]:
    """Accuracy of an arm less that of one call, on the same prompts: what the extra calls buy.

    Agresti-Min interval for paired proportions. `calls_per_decision` stands beside it: a gain is
    bought, not given.
    """
    for arm, differences in _differences(lists):
        yield _gain("gain", f"Gain in accuracy, {arm.words} against one call", differences, arm)


def gain_over_repeated(lists: Lists) -> Iterator[Estimate]:
    """Accuracy with k orders less that with k repeats of one order: what permuting itself adds.

    At the same number of calls; if it is nil, asking again does as well as asking in other orders.
    """
    for arm in lists.arms if lists.has_gold else ():
        if arm.name == PERMUTED and Arm(REPEATED, arm.k) in lists.arms and arm.executions == 1:
            differences = lists.hits(arm) - lists.hits(Arm(REPEATED, arm.k))
            label = f"Gain in accuracy, {arm.k} orders against {arm.k} repeats of one"
            yield _gain("gain_over_repeated", label, differences, arm, {"k": arm.k})


def _gain(
    name: str,
    label: str,
    differences: "Floats",
    arm: Arm,
    dims: dict[str, object] | None = None,
) -> Estimate:
    return from_interval(
        name,
        label,
        agresti_min(differences),
        int((~np.isnan(differences)).sum()),
        NOTHING,
        arm.dims if dims is None else dims,
        unit="difference",
        conditions=f"{arm.calls} calls a decision",
    )


def calls_per_decision(lists: Lists) -> Iterator[Estimate]:
    """Calls that one decision takes: the price beside every gain."""
    for arm in lists.arms:
        yield estimate(
            "calls_per_decision",
            f"Calls a decision, {arm.words}",
            arm.calls,
            arm.dims,
            unit="calls",
            method="by design",
        )


def calls_per_point_gained(lists: Lists) -> Iterator[Estimate]:
    """Extra calls a decision for each percentage point of accuracy; only where a gain is proven."""
    for arm, differences in _differences(lists):
        found, extra = agresti_min(differences), arm.calls - 1
        proven = found.value is not None and found.low is not None and found.low > 0
        price = _price(found, extra) if proven else Interval(None, None, None)
        yield from_interval(
            "calls_per_point_gained",
            f"Extra calls per point gained, {arm.words}",
            price,
            found.clusters,
            "no gain is proven" if found.value is not None else NOTHING,
            arm.dims,
            unit="calls per point",
        )


def _price(gained: Interval, extra: int) -> Interval:
    value, low, high = (
        extra / (100 * part) for part in (gained.value or 0, gained.high or 0, gained.low or 0)
    )
    return Interval(value, low, high, gained.level, gained.clusters, "from the interval of gain")


def weight_sensitivity(lists: Lists) -> Iterator[Estimate]:
    """Accuracy of the full set of orders under other weights of equation 5 (004 table 3).

    Rows that hardly differ say that the gain does not hang on one choice of weights; picking the
    best row afterwards would be overfitting.
    """
    if lists.deepest is None or not lists.has_gold:
        return
    for name, weights in WEIGHTS.items():
        parts = (weights.score, weights.rank, weights.top, weights.uncertainty)
        label = f"Right answer chosen, weights {name.replace('_', ' ')}"
        hits = lists.hits(lists.deepest, weights)
        found = _accuracy("weight_sensitivity", label, hits, {"weights": name}, lists)
        yield replace(found, conditions=f"{lists.deepest.k} orders, weights {parts}")


def change_rate(lists: Lists) -> Iterator[Estimate]:
    """How often an arm chooses another answer than one call does; needs no gold.

    Ties are resolved as independent uniform picks. Part of it is noise: compare the repeated arm.
    """
    for arm in compared(lists):
        flips = lists.joined(
            lambda table, arm=arm: top1_flip(table.picks(DIRECTLY), table.picks(arm))  # type: ignore[misc]
        )
        known = flips[~np.isnan(flips)]
        yield from_interval(
            "change_rate",
            f"Decision changes, {arm.words} against one call",
            cluster_rate(known, np.ones_like(known)),
            known.size,
            NOTHING,
            arm.dims,
        )
