"""What does the prompt do: a stricter word about ties, another listing of the answers?"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axes.candidate_order._design import BASELINE, LISTING, STRICT, SWAPPED
from judgesheet.axes.candidate_order._pair import Pairs, from_interval, rate, step, under
from judgesheet.records import Estimate, PaperCompatible
from judgesheet.stats.interval import Interval, by_cluster
from judgesheet.stats.pairwise import paired_difference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    ByPair = dict[tuple[int, str], float]

NO_SHIFT = "no pair was answered under both prompts"
NO_CUE = "no pair was answered in both orders under both listings of the answers"


def criterion(pairs: Pairs) -> Iterator[Estimate]:
    """Share of ties under a prompt: the operating point (003 equation 11).

    Step 0 are pairs with the same content. Ties are right there and misses on the ladder: a prompt
    moves both together.
    """
    for delta, mine in _points(pairs):
        for prompt in mine.prompts:
            here = mine.where(prompt=prompt)
            sums, sizes = here.by_task(_ties(here))
            yield rate(
                "criterion",
                f"Ties at step {step(delta)}, {prompt} prompt",
                sums,
                sizes,
                "no such pair was answered",
                {"delta": step(delta), "prompt": prompt},
                conditions=under(prompt),
            )


def criterion_shift(pairs: Pairs) -> Iterator[Estimate]:
    """How much a stricter instruction about ties raises their share (003 equation 11).

    Strict minus baseline on the same pairs, paired by task. A rise at step 0 is what the prompt is
    for; a rise on the ladder is its price.
    """
    for delta, mine in _points(pairs):
        if mine.prompts != [BASELINE, STRICT]:
            continue
        tables = [mine.where(prompt=prompt) for prompt in (BASELINE, STRICT)]
        usual, strict = (_by_pair(one, _ties(one)) for one in tables)
        found, n = _paired(strict, usual)
        (ties, calls), (strict_ties, strict_calls) = (one.by_task(_ties(one)) for one in tables)
        asked = calls.sum() > 0 and strict_calls.sum() > 0
        yield from_interval(
            "criterion_shift",
            f"Ties added by the strict prompt, step {step(delta)}",
            found,
            n,
            NO_SHIFT,
            {"delta": step(delta)},
            unit="difference",
            conditions="strict minus baseline, same pairs",
            paper=PaperCompatible(
                strict_ties.sum() / strict_calls.sum() - ties.sum() / calls.sum(),
                None,
                None,
                "difference of the pooled rates (003)",
            )
            if asked
            else None,
        )


def format_cue(pairs: Pairs) -> Iterator[Estimate]:
    """How much the listing of the allowed answers moves the choice of slot 1.

    Preference for slot 1 (a tie counts half) where the prompt lists 1, 2, tie minus the same where
    it lists 2, 1, tie; the same pairs, both orders, paired pair by pair. Away from 0 a slot
    preference belongs in part to the prompt, not to the order of the responses.
    """
    same = pairs.where(condition="delta0_same", prompt=BASELINE)
    swapped = same.where(listing=SWAPPED)
    if not len(swapped):
        return
    tables = [same.where(listing=listing) for listing in (LISTING, SWAPPED)]
    usual, other = (_by_pair(one, (one.slots + 1) / 2) for one in tables)
    found, n = _paired(usual, other)
    yield from_interval(
        "format_cue",
        "Slot 1 under 1|2|tie minus under 2|1|tie",
        found,
        n,
        NO_CUE,
        unit="difference",
        conditions="baseline prompt, pairs with the same content",
    )


def _points(pairs: Pairs) -> Iterator[tuple[float, Pairs]]:
    """(step, pairs): pairs with the same content as step 0, then the ladder."""
    same = pairs.main.where(condition="delta0_same")
    if len(same):
        yield 0.0, same
    ladder = pairs.main.where(condition="ladder")
    for delta in ladder.steps:
        yield delta, ladder.where(delta=delta)


def _ties(pairs: Pairs) -> "Floats":
    return 1 - pairs.decided


def _paired(one: "ByPair", other: "ByPair") -> tuple[Interval, int]:
    """Mean of `one` minus `other` over the pairs that have both, and how many these are."""
    shared = sorted(one.keys() & other.keys())
    each = [one[pair] - other[pair] for pair in shared]
    sums, sizes = by_cluster(each, np.array([cluster for cluster, _ in shared], dtype=np.int64))
    return paired_difference(sums, sizes), len(shared)


def _by_pair(pairs: Pairs, values: "Floats") -> "ByPair":
    """(stimulus, pair) -> mean value, of the pairs that were answered in both orders."""
    known = ~np.isnan(values)
    count = known.sum(axis=2)
    total = np.where(known, values, 0.0).sum(axis=2)
    whole = (count > 0).all(axis=1)
    means = (total[whole] / count[whole]).mean(axis=1)
    keys = zip(pairs.cluster[whole].tolist(), pairs.name[whole].tolist(), strict=True)
    return dict(zip(keys, means.tolist(), strict=True))
