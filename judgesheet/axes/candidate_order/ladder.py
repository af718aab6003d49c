"""Does the judge see a better response, and how small a step?

A step of 1 is one required element more; a step of .5 is half an element. A tie on the ladder is a
miss.
"""

from collections.abc import Callable, Iterator
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axes.candidate_order._pair import (
    Pairs,
    at_prompt,
    estimate,
    from_interval,
    rate,
    step,
    under,
)
from judgesheet.records import Estimate, PaperCompatible
from judgesheet.stats import pairwise as stats
from judgesheet.stats.interval import cluster_rate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NOTHING = "no such pair was answered"
NO_LADDER = "no pair with a better response was answered"
TARGET = 0.75
_Rung = tuple[Pairs, str, dict[str, object], str]


def target_sensitivity(pairs: Pairs) -> Iterator[Estimate]:
    """Share of calls that choose the better response; a tie counts as not correct.

    003 equation 8, by step of the ladder and by the slot that the better response stands in. For
    own pairs with a known better response the key has `set=natural`.
    """
    yield from _by_slot(pairs, "target_sensitivity", "Better response chosen", _is(1))


def target_sensitivity_decided(pairs: Pairs) -> Iterator[Estimate]:
    """Share of correct choices among the calls that choose at all (003 equation 9)."""
    for mine, prompt, dims, words in _rungs(pairs):
        sums, _ = mine.by_task(_is(1)(mine.correct))
        sizes, _ = mine.by_task(mine.decided)
        yield from_interval(
            "target_sensitivity_decided",
            f"Correct among decisions, {words}",
            cluster_rate(sums, sizes),
            int(sizes.sum()),
            "no call chose a response",
            dims,
            conditions=under(prompt),
        )


def wrong_rate(pairs: Pairs) -> Iterator[Estimate]:
    """Share of calls that choose the worse response."""
    yield from _by_slot(pairs, "wrong_rate", "Worse response chosen", _is(-1))


def tie_rate(pairs: Pairs) -> Iterator[Estimate]:
    """Share of calls that say tie (or abstain), by step and by slot of the better response."""
    yield from _by_slot(pairs, "tie_rate", "Tie", _is(0))


def miss_by_tie(pairs: Pairs) -> Iterator[Estimate]:
    """Share of calls that miss a better response by saying tie (003 equation 12).

    The complement of `target_sensitivity` splits into this and `wrong_rate`: a cautious judge
    misses here, a blind one is wrong.
    """
    for mine, prompt, dims, words in _rungs(pairs):
        sums, sizes = mine.by_task(_is(0)(mine.correct))
        label = f"Missed by a tie, {words}"
        conditions = under(prompt)
        yield rate("miss_by_tie", label, sums, sizes, NOTHING, dims, conditions=conditions)


def _is(outcome: int) -> "Callable[[Floats], Floats]":
    """1 where a call has this outcome, 0 where it has another, NaN where it has none."""

    def hits(correct: "Floats") -> "Floats":
        return np.where(np.isnan(correct), np.nan, (correct == outcome).astype(float))

    return hits


def _rungs(pairs: Pairs) -> Iterator[_Rung]:
    """(pairs, prompt, dimensions, words) of every step and prompt, own ordered pairs last."""
    for prompt in pairs.main.prompts:
        mine = pairs.main.where(prompt=prompt)
        ladder = mine.where(condition="ladder")
        for delta in ladder.steps:
            dims: dict[str, object] = {"delta": step(delta), **at_prompt(prompt)}
            yield ladder.where(delta=delta), prompt, dims, f"step {step(delta)}"
        natural = mine.where(condition="natural")
        for ordered in [natural.ordered] if len(natural.ordered) else []:
            yield ordered, prompt, {"set": "natural", **at_prompt(prompt)}, "own pairs"


def _by_slot(
    pairs: Pairs, name: str, label: str, hits: "Callable[[Floats], Floats]"
) -> Iterator[Estimate]:
    """A rate per rung, then the same by the slot that the better response stands in."""
    for mine, prompt, dims, words in _rungs(pairs):
        values = hits(mine.correct)
        conditions = under(prompt)
        sums, sizes = mine.by_task(values)
        yield rate(name, f"{label}, {words}", sums, sizes, NOTHING, dims, conditions=conditions)
        for slot in (1, 2):
            here = np.where((mine.better_slot == slot)[..., None], values, np.nan)
            sums, sizes = mine.by_task(here)
            yield rate(
                name,
                f"{label}, {words}, shown as {slot}",
                sums,
                sizes,
                NOTHING,
                {**dims, "slot": slot},
                conditions=conditions,
                published=False,
            )


def threshold75(pairs: Pairs) -> Iterator[Estimate]:
    """The smallest step at which the better response is chosen three times in four.

    Weighted isotonic fit of `target_sensitivity` (003 equation 10), interpolated between steps;
    interval by resampling tasks (it covers .90 to .94 under 60 tasks), or the two steps around the
    crossing where all resamples agree on it. Where the smallest step
    already reaches .75 the true threshold is at most that; where none does there is no value.
    """
    ladder = pairs.main.where(condition="ladder", prompt="baseline")
    if not len(ladder):
        return
    steps = ladder.steps
    tables = [ladder.where(delta=delta) for delta in steps]
    groups = int(ladder.cluster.max()) + 1
    hits, calls = np.zeros((groups, len(steps))), np.zeros((groups, len(steps)))
    for column, mine in enumerate(tables):
        values = _is(1)(mine.correct).reshape(len(mine), -1)
        np.add.at(hits[:, column], mine.cluster, np.nansum(values, axis=1))
        np.add.at(calls[:, column], mine.cluster, (~np.isnan(values)).sum(axis=1))
    asked = calls.sum(axis=1) > 0
    rng = np.random.default_rng([ladder.seed, 75])
    found = stats.threshold(hits[asked], calls[asked], steps, rng, TARGET)
    smallest, largest = step(steps[0]), step(steps[-1])
    told = {
        stats.LEFT: f"left-censored: at most {smallest}, the smallest step shown",
        stats.RIGHT: f"right-censored: above {largest}, the largest step shown",
    }
    notes = [told.get(found.censored, "")]
    if found.low is not None and found.high is None:
        notes.append(f"the interval is open above {largest}")
    if found.bracketed:
        notes.append("all resamples agree: the interval is that of the two steps around the value")
    elif found.clusters < 60:
        notes.append("under 60 tasks the interval covers .90 to .94")
    yield estimate(
        "threshold75",
        "Smallest step seen in 75 % of calls",
        found.value,
        low=found.low,
        high=found.high,
        unit="steps",
        n=int(calls.sum()),
        clusters=found.clusters,
        method="isotonic fit, linear between steps; "
        + ("neighbouring steps" if found.bracketed else "task bootstrap, percentiles"),
        conditions="; ".join(
            ["baseline prompt", f"steps {', '.join(map(step, steps))}"]
            + ([f"{found.censored}-censored"] if found.censored else [])
        ),
        note="; ".join(filter(None, notes)) if calls.sum() else NO_LADDER,
    )


def d_prime(pairs: Pairs) -> Iterator[Estimate]:
    """Sensitivity to a step in the units of signal detection, on the scale of a forced choice.

    (z(hits) - z(false alarms)) / sqrt 2, where slot 1 is the signal and a tie counts half to each
    slot. Near the ceiling the value depends on the number of calls alone: read the lower bound,
    which is an interval's end for tasks as units. The paper's z(H) - z(F), log-linear per slot, is
    printed beside it.
    """
    for mine, prompt, dims, words in _rungs(pairs):
        slots = mine.slots
        signal = (mine.better_slot == 1)[..., None]
        first = (slots + 1) / 2  # 1 for slot 1, a half for a tie
        hits = mine.by_task(np.where(signal, first, np.nan))
        alarms = mine.by_task(np.where(signal, np.nan, first))
        value = stats.d_prime(*(float(part.sum()) for part in (*hits, *alarms)))
        strict_first = np.where(np.isnan(slots), np.nan, (slots == 1).astype(float))
        paper = stats.d_prime(
            *(
                float(part.sum())
                for part in (
                    *mine.by_task(np.where(signal, strict_first, np.nan)),
                    *mine.by_task(np.where(signal, np.nan, strict_first)),
                )
            )
        )
        level = 0.975
        bound = stats.d_prime_bound(cluster_rate(*hits, level), cluster_rate(*alarms, level))
        calls = int(hits[1].sum() + alarms[1].sum())
        perfect = bool(hits[0].sum() == hits[1].sum() and alarms[0].sum() == 0)
        yield estimate(
            "d_prime",
            f"d′, {words}",
            None if value is None else value / sqrt(2),
            dims,
            low=bound,
            unit="d'",
            n=calls,
            clusters=mine.clusters,
            method="log-linear per slot, 2AFC scale; bound from the two rates' intervals",
            conditions=under(prompt),
            note=_trust(value, bound, perfect=perfect),
            paper_compatible=None
            if paper is None
            else PaperCompatible(paper, None, None, "z(H) - z(F), log-linear per slot (003)"),
        )


def _trust(value: float | None, bound: float | None, *, perfect: bool) -> str:
    """Which of value and bound to read."""
    if value is None:
        return NOTHING
    known = "no lower bound" if bound is None else f"lower bound {bound:.2f}"
    if not perfect:
        return known
    return f"{known}; at ceiling the value depends on the number of calls alone: trust the bound"
