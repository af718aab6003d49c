"""False passes, false breaks and power of the gate on rates."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from judgesheet import stats
from judgesheet.stats.interval import Interval, cluster_rate, wilson
from proof.lines import BREAK, MOST_FALSE, PASS, Line, Rng, Rows, Tally, Truths
from proof.runner import Result, error
from proof.tables import grid, missed

MOVED_BY = (stats,)
SETS = 2_000
POWER_OF = 5
"""One data set of so many is also drawn for the power."""
LIMITS = (0.05, 0.10, 0.25)
ICCS = (0.0, 0.1, 0.2, 0.3, 0.5)
DESIGNS = ((10, 6), (20, 6), (40, 6), (100, 6), (20, 20))
"""Stimuli, and calls or pairs on each."""
SLIPS = 0.01
TWO_KINDS = "two kinds"
POINT, CALLS, HALF, FIFTH = "point", "calls", "half", "fifth"

WHY = """\
Beyond the target: {lines}. With many calls on few stimuli that differ a lot, one or two stimuli
  carry all the hits, and the data may not show how strongly the calls are correlated. More stimuli
  mend it, more calls do not."""

Ints = NDArray[np.int64]
Rates = Callable[[float, int, Rng], NDArray[np.float64]]
"""Mean rate, stimuli, generator -> the rate of each stimulus."""


def smooth(icc: float, p: float, stimuli: int, rng: Rng) -> NDArray[np.float64]:
    """Rates that follow a beta law."""
    if icc == 0:
        return np.full(stimuli, p)
    return rng.beta(p * (1 - icc) / icc, (1 - p) * (1 - icc) / icc, stimuli)


def two_kinds(p: float, stimuli: int, rng: Rng) -> NDArray[np.float64]:
    """Rates of 1 on a share of stimuli and of `SLIPS` on the others; of p where p is smaller."""
    always = max(0.0, (p - SLIPS) / (1 - SLIPS))
    return np.where(rng.random(stimuli) < always, 1.0, min(p, SLIPS))


def _bounds(rate: Interval) -> tuple[float, float]:
    if rate.bounds is None:
        raise ValueError("a rate of several stimuli has bounds")
    return rate.bounds


def _run(
    rates: Rates, limit: float, stimuli: int, calls: int, sets: int, rng: Rng, _truths: Truths
) -> Rows:
    tally, size = Tally(), np.full(stimuli, calls)

    def drawn(p: float) -> Ints:
        return rng.binomial(calls, rates(p, stimuli, rng))

    for number in range(sets):
        tally.next()
        hits = drawn(limit)
        low, high = _bounds(cluster_rate(hits, size))
        naive = wilson(float(hits.sum()), stimuli * calls, 0.9).high  # its end is one-sided at .95
        hit = {
            PASS: high <= limit,
            BREAK: low > limit,
            POINT: hits.sum() / (stimuli * calls) <= limit,
            CALLS: naive is not None and naive <= limit,
        }
        tally.add("rate", hit)
        if number % POWER_OF == 0:
            half, fifth = (_bounds(cluster_rate(drawn(limit / n), size))[1] for n in (2, 5))
            tally.add("rate", {HALF: half <= limit, FIFTH: fifth <= limit})
    return tally.rows()


def lines() -> Iterator[Line]:
    """Every limit, law of rates and design."""
    laws: dict[str, Rates] = {f"ICC {icc}": partial(smooth, icc) for icc in ICCS}
    laws[TWO_KINDS] = two_kinds
    for limit, (law, rates), (stimuli, calls) in product(LIMITS, laws.items(), DESIGNS):
        run = partial(_run, rates, limit, stimuli, calls)
        yield Line(f"{limit:.2f} | {law}", f"{stimuli} x {calls}", SETS, run)


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    head = ("limit", "tasks", "stimuli x calls", "false pass", "false break", "point", "calls")
    rows = [[*one.line.data.split(" | "), str(one.line.size), *_cells(one)] for one in results]
    shares = [one.rows["rate"].shares for one in results]
    sets = results[0].rows["rate"].sets
    return {
        "sets": f"{sets[PASS]:,}",
        "power": f"{sets[HALF]:,}",
        "error": f"{error(0.05, sets[PASS]):.4f}",
        "table": grid([*head, "power (half)", "power (fifth)"], rows),
        "calls": f"{max(one[CALLS] for one in shares):.0%}",
        "typical": f"{np.mean([one[PASS] for one in shares]):.1%}",
        "bold": _beyond(results),
    }


def _cells(one: Result) -> Iterator[str]:
    shares = one.rows["rate"].shares
    for metric in (PASS, BREAK):
        told = f"{shares[metric]:.3f}"
        yield f"**{told}**" if missed(one, "rate", metric) else told
    yield from (f"{shares[name]:.3f}" for name in (POINT, CALLS, HALF, FIFTH))


def _beyond(results: Sequence[Result]) -> str:
    """What lies beyond its target, and why."""
    beyond = [
        f"{one.rows['rate'].shares[metric]:.3f} ({metric}, limit {one.line.name})"
        for one in results
        for metric in (PASS, BREAK)
        if missed(one, "rate", metric)
    ]
    if beyond:
        return WHY.format(lines="; ".join(beyond))
    most = max(one.rows["rate"].shares[metric] for one in results for metric in (PASS, BREAK))
    return f"No line is beyond {MOST_FALSE} by more than two errors; the greatest is {most:.3f}."
