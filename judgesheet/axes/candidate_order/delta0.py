"""Two responses of equal quality: is a preference stable, or does it follow the slot?

A pair is shown in both orders and every verdict is traced back to the content. Pairs that were not
answered in both orders count nowhere here.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axes.candidate_order._pair import (
    Pairs,
    at_prompt,
    from_interval,
    rate,
    sets,
    under,
)
from judgesheet.records import Estimate
from judgesheet.stats import pairwise as stats
from judgesheet.stats.flips import call_flips, one_hot
from judgesheet.stats.interval import by_cluster, cluster_rate, cluster_t

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NO_PAIR = "no pair was answered in both orders"
ONE_ORDER = "every pair was answered in one order only"
NO_DECISION = "no call on pairs answered in both orders chose a response"
AGAIN = "an order is read twice by --repeats 2 in a probe, by `repeat` in a record"
NO_SPLIT = (
    "split not identified: no pair was read twice in each order, and without repeats a judge that "
    f"flips a coin looks the same ({AGAIN})"
)
NO_REPEAT = f"no pair was read twice in one order, so noise is not known ({AGAIN})"


def raw_false_preference(pairs: Pairs) -> Iterator[Estimate]:
    """Share of calls that prefer one of two equally good responses (RFP0, 003 equation 2).

    A mixture: it is the sum of `stable_cross_sensitivity`, `positional_false_preference`, half of
    `one_sided_commit` and `other_conflict`, exactly (equation 7). On own pairs, whose quality is
    not known, it is simply how often the judge decides.
    """
    for mine, prompt, dims, words in sets(pairs):
        verdicts, cluster = mine.both_orders()
        stats.decompose(verdicts)  # raises if the parts do not add up
        calls = (verdicts != stats.TIE).astype(float)
        sums, sizes = by_cluster(calls.ravel(), np.repeat(cluster, 2))
        yield rate(
            "raw_false_preference",
            f"Calls that prefer one, {words}",
            sums,
            sizes,
            _missing(mine),
            dims,
            conditions=under(prompt),
        )


def stable_cross_sensitivity(pairs: Pairs) -> Iterator[Estimate]:
    """Share of pairs in which the same response wins in both orders (SCS, 003 equation 3).

    Between equally good responses that is a stable reaction to surface: wording, arrangement.
    Noise alone gives .5 of the pairs that are decided twice; `content_component` leaves it out.
    """
    yield from _kinds(pairs, "stable_cross_sensitivity", "Same response wins twice", stats.STABLE)


def positional_false_preference(pairs: Pairs) -> Iterator[Estimate]:
    """Share of pairs in which the same slot wins in both orders (PFP, 003 equation 4).

    The winner changes when the responses are swapped. Noise alone gives .5 of the pairs that are
    decided twice; `position_component` leaves it out.
    """
    yield from _kinds(
        pairs, "positional_false_preference", "Same slot wins twice", stats.POSITIONAL
    )


def one_sided_commit(pairs: Pairs) -> Iterator[Estimate]:
    """Share of pairs with a preference in one order and a tie in the other (OSC, equation 5)."""
    yield from _kinds(pairs, "one_sided_commit", "A tie in one order only", stats.ONE_SIDED)


def no_preference(pairs: Pairs) -> Iterator[Estimate]:
    """Share of pairs with a tie (or an abstention) in both orders (NP of 003)."""
    yield from _kinds(pairs, "no_preference", "A tie in both orders", stats.NO_PREFERENCE)


def order_inconsistent(pairs: Pairs) -> Iterator[Estimate]:
    """Share of pairs whose verdict changes when the responses are swapped: PFP + OSC.

    The papers' cleanest judge has a `positional_false_preference` of .083 but .433 here.
    """
    yield from _kinds(
        pairs,
        "order_inconsistent",
        "Verdict changes with the order",
        stats.POSITIONAL,
        stats.ONE_SIDED,
    )


def other_conflict(pairs: Pairs) -> Iterator[Estimate]:
    """What pairs with an invalid answer add to `raw_false_preference` (Other, 003 equation 6).

    An answer outside the allowed ones counts as no tie there; 0 where every answer was valid.
    """
    for mine, prompt, dims, words in sets(pairs):
        verdicts, cluster = mine.both_orders()
        invalid = stats.classify(verdicts) == stats.OTHER
        share = np.where(invalid, (verdicts != stats.TIE).mean(axis=1), 0.0)
        sums, sizes = by_cluster(share, cluster)
        yield rate(
            "other_conflict",
            f"Pairs with an invalid answer, {words}",
            sums,
            sizes,
            _missing(mine),
            dims,
            conditions=under(prompt),
        )


def _missing(pairs: Pairs) -> str:
    """Why there are no pairs to compare: nothing was read, or nothing in the other order."""
    return ONE_ORDER if pairs.partial.any() else NO_PAIR


def _kinds(pairs: Pairs, name: str, label: str, *kinds: int) -> Iterator[Estimate]:
    """The share of pairs of some kinds, for every set and prompt."""
    for mine, prompt, dims, words in sets(pairs):
        verdicts, cluster = mine.both_orders()
        hits = np.isin(stats.classify(verdicts), kinds).astype(float)
        sums, sizes = by_cluster(hits, cluster)
        yield rate(
            name,
            f"{label}, {words}",
            sums,
            sizes,
            _missing(mine),
            dims,
            conditions=under(prompt),
        )


def slot1_share(pairs: Pairs) -> Iterator[Estimate]:
    """Share of slot 1 among the calls that choose a response: the direction of a slot preference.

    Each response stands in slot 1 once, so a judge that follows content alone gives exactly .5.
    """
    for mine, prompt, dims, words in sets(pairs):
        verdicts, cluster = mine.both_orders()
        first, second = (
            (verdicts == stats.FIRST).sum(axis=1),
            (verdicts == stats.SECOND).sum(axis=1),
        )
        sums, _ = by_cluster(first, cluster)
        sizes, _ = by_cluster(first + second, cluster)
        yield from_interval(
            "slot1_share",
            f"Slot 1 among decisions, {words}",
            cluster_rate(sums, sizes),
            int(sizes.sum()),
            NO_DECISION,
            dims,
            conditions=under(prompt),
        )


def position_component(pairs: Pairs) -> Iterator[Estimate]:
    """Part of the decisions that follows the slot, with noise left out.

    The squared mean slot preference of a pair over its two orders, averaged over pairs, estimated
    without bias from products of different calls. Position, content and noise sum to the share of
    calls that decide. Needs repeats: without them noise cannot be told apart.
    """
    yield from _component(pairs, "position_component", "Decisions due to the slot", "position")


def content_component(pairs: Pairs) -> Iterator[Estimate]:
    """Part of the decisions that follows the content, with noise left out.

    Between responses of equal quality: a reaction to surface that repeats. See
    `position_component` for the arithmetic.
    """
    yield from _component(pairs, "content_component", "Decisions due to the content", "content")


def noise_component(pairs: Pairs) -> Iterator[Estimate]:
    """Part of the decisions that does not repeat when the same call is made again.

    The rest after `position_component` and `content_component`; a coin-flipping judge has all of
    its decisions here although its SCS and PFP look like .5 each.
    """
    yield from _component(pairs, "noise_component", "Decisions due to noise", "noise")


def _component(pairs: Pairs, name: str, label: str, part: str) -> Iterator[Estimate]:
    for mine, prompt, dims, words in sets(pairs):
        each: Floats = getattr(stats.components(mine.slots), part)
        known = each[~np.isnan(each)]
        inside = bool(((known >= 0) & (known <= 1)).all())
        sums, sizes = by_cluster(each, mine.cluster)
        yield from_interval(
            name,
            f"{label}, {words}",
            cluster_t(sums, sizes, bounded=inside),
            known.size,
            NO_SPLIT,
            dims,
            unit="share",
            conditions=f"{under(prompt)}, {mine.verdicts.shape[2]} reads per order",
        )


def order_change_rate(pairs: Pairs) -> Iterator[Estimate]:
    """How often two calls on a pair in different orders disagree on the winner.

    All pairs of calls, verdicts traced back to the content; contains the judge's own noise, which
    `repeat_change_rate` shows alone.
    """
    yield from _change(pairs, "order_change_rate", "Winner differs in the other order", "different")


def repeat_change_rate(pairs: Pairs) -> Iterator[Estimate]:
    """How often two calls on a pair in the same order disagree on the winner: the noise.

    An effect of the order is what exceeds it.
    """
    yield from _change(pairs, "repeat_change_rate", "Winner differs in the same order", "same")


def _change(pairs: Pairs, name: str, label: str, which: str) -> Iterator[Estimate]:
    for mine, prompt, dims, words in sets(pairs):
        each: Floats = getattr(call_flips(one_hot(mine.contents + 2, 3)), which)
        sums, sizes = by_cluster(each, mine.cluster)
        yield rate(
            name,
            f"{label}, {words}",
            sums,
            sizes,
            NO_REPEAT if which == "same" else _missing(mine),
            dims,
            conditions=under(prompt),
            published=False,
        )


def filler_preference(pairs: Pairs) -> Iterator[Estimate]:
    """Among the calls that choose, the share that prefers a response with empty sentences added.

    The other response is the same without them: .5 means indifference to length. Apart from all
    other pairs and never pooled with them (003 appendix A.3).
    """
    filler = pairs.main.where(condition="filler")
    for prompt in filler.prompts:
        mine = filler.where(prompt=prompt)
        sums, _ = mine.by_task((mine.contents == -1).astype(float))
        sizes, calls = mine.by_task(mine.decided)
        yield from_interval(
            "filler_preference",
            "Longer response among decisions, filler pairs",
            cluster_rate(sums, sizes),
            int(sizes.sum()),
            f"none of {int(calls.sum())} calls on filler pairs chose a response",
            at_prompt(prompt),
            conditions=f"{under(prompt)}; {int(calls.sum())} calls, the others tie",
        )
