"""False passes, false breaks and power of the gate on rates."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from judgesheet import decide as deciding
from judgesheet import stats
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import AxisResult, Bounds, Datasheet, Estimate
from judgesheet.decide import decide
from judgesheet.decide.policy import Limit, Policy
from judgesheet.stats.interval import Interval, cluster_rate, wilson
from judgesheet.stats.unseen import clusters_for
from proof.lines import BREAK, MOST_FALSE, PASS, Line, Rng, Rows, Tally, Truths
from proof.runner import Result, error
from proof.tables import grid, missed

DEPENDS_ON = (stats, deciding)
SETS = 2_000
POWER_OF = 5
"""One data set of so many is also drawn for the power."""
LIMITS = (0.05, 0.10, 0.25)
ICCS = (0.0, 0.1, 0.2, 0.3, 0.5)
DESIGNS = ((10, 6), (20, 6), (40, 6), (100, 6), (20, 20))
"""Stimuli, and calls or pairs on each."""
SLIPS = 0.01
TWO_KINDS = "two kinds"
ALL_OR_NONE = "all or none"
RECOMMENDED = tuple((limit, clusters_for(limit)) for limit in (0.05, 0.10, 0.15, 0.25))
"""Limits, and the fewest stimuli without any fault that prove them."""
AT_ONCE, PEEK, PEEK_FROM, PEEK_TO = 5, 4, 12, 40
"""Limits of a policy; stimuli between two looks, at the first and at the last of them."""
REJECTED, SINGLY, PEEKED = "rejected", "singly", "peeked"
POINT, CALLS, HALF, FIFTH = "point", "calls", "half", "fifth"

FIVE, EVERY = "five limits at once", "a sheet after every four stimuli"
OF_POLICY = 500
"""Data sets of a line of whole policies."""

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


def all_or_none(p: float, stimuli: int, rng: Rng) -> NDArray[np.float64]:
    """Rates of 1 on a share of stimuli and of 0 on the others."""
    return (rng.random(stimuli) < p).astype(np.float64)


OF_POLICIES: Mapping[str, Rates] = {
    "ICC 0.0": partial(smooth, 0.0),
    "ICC 0.3": partial(smooth, 0.3),
    ALL_OR_NONE: all_or_none,
}
"""The laws of rates under which whole policies are tried."""


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
        naive = wilson(float(hits.sum()), stimuli * calls).at(0.9).high  # one-sided at .95
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


def _sheet(rates: Sequence[Interval], *, complete: bool = True) -> Datasheet:
    """A sheet that holds these rates and nothing else."""
    estimates = tuple(
        Estimate(
            f"some.rate[n={n}]", "", one.value, one.low, one.high, unit="share",
            n=one.clusters, clusters=one.clusters, bounds=Bounds(*_bounds(one)),
        )
        for n, one in enumerate(rates)
    )  # fmt: skip
    asked = max(one.clusters for one in rates)
    axis = AxisResult("some", "", "", asked, asked, 0, 0, 0, estimates, ())
    return Datasheet(
        "2.0", JudgeIdentity("sim/some"), RunFacts(complete=complete), Provenance(), (axis,)
    )


def _broken(sheet: Datasheet, limits: Mapping[str, float]) -> bool:
    """Whether a policy of these limits rejects the judge of the sheet."""
    policy = Policy(name="some", limit=[Limit(key=key, max=most) for key, most in limits.items()])
    return any(one.status == "fail" for one in decide(sheet, policy).verdicts)


def _run_several(
    rates: Rates, limit: float, stimuli: int, calls: int, sets: int, rng: Rng, _truths: Truths
) -> Rows:
    """A judge that lies on several limits of one policy."""
    tally, size = Tally(), np.full(stimuli, calls)
    limits = {f"some.rate[n={n}]": limit for n in range(AT_ONCE)}
    for _ in range(sets):
        tally.next()
        drawn = (rng.binomial(calls, rates(limit, stimuli, rng)) for _ in limits)
        found = [cluster_rate(hits, size) for hits in drawn]
        singly = any(_bounds(one)[0] > limit for one in found)
        tally.add("policy", {REJECTED: _broken(_sheet(found), limits), SINGLY: singly})
    return tally.rows()


def _run_peeked(
    rates: Rates, limit: float, calls: int, sets: int, rng: Rng, _truths: Truths
) -> Rows:
    """A judge on its limit, of whose run a sheet is made after every few stimuli."""
    tally, limits = Tally(), {"some.rate[n=0]": limit}
    looks = range(PEEK_FROM, PEEK_TO + 1, PEEK)
    for _ in range(sets):
        tally.next()
        hits = rng.binomial(calls, rates(limit, PEEK_TO, rng))
        found = [cluster_rate(hits[:asked], np.full(asked, calls)) for asked in looks]
        sheets = [_sheet([one], complete=one is found[-1]) for one in found]
        hit = {
            REJECTED: any(_broken(sheet, limits) for sheet in sheets),
            PEEKED: any(_bounds(one)[0] > limit for one in found),
        }
        tally.add("policy", hit)
    return tally.rows()


def lines() -> Iterator[Line]:
    """Every limit, law of rates and design."""
    of_kinds: dict[str, Rates] = {ALL_OR_NONE: all_or_none, TWO_KINDS: two_kinds}
    for limit, stimuli in RECOMMENDED:
        for law, rates in of_kinds.items():
            run = partial(_run, rates, limit, stimuli, 6)
            yield Line(f"{limit:.2f} | {law}", f"{stimuli} x 6", SETS, run)
    target = {REJECTED: (0.0, MOST_FALSE)}
    for law, rates in OF_POLICIES.items():
        five = partial(_run_several, rates, 0.10, 40, 6)
        peeked = partial(_run_peeked, rates, 0.10, 6)
        yield Line(f"{FIVE} | {law}", "40 x 6", OF_POLICY, five, limits=target)
        yield Line(f"{EVERY} | {law}", f"{PEEK_TO} x 6", OF_POLICY, peeked, limits=target)
    laws: dict[str, Rates] = {f"ICC {icc}": partial(smooth, icc) for icc in ICCS}
    laws[TWO_KINDS] = two_kinds
    for limit, (law, rates), (stimuli, calls) in product(LIMITS, laws.items(), DESIGNS):
        run = partial(_run, rates, limit, stimuli, calls)
        yield Line(f"{limit:.2f} | {law}", f"{stimuli} x {calls}", SETS, run)


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    policies = [one for one in results if "policy" in one.rows]
    results = [one for one in results if one not in policies]
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
        "policies": grid(POLICY_HEAD, [_policy(one) for one in policies]),
        "policy_sets": str(OF_POLICY),
    }


POLICY_HEAD = ("what", "tasks", "stimuli x calls", "rejected", "without the guard")


def _policy(one: Result) -> list[str]:
    shares = one.rows["policy"].shares
    text = f"{shares[REJECTED]:.3f}"
    bare = next(shares[name] for name in (SINGLY, PEEKED) if name in shares)
    said = f"**{text}**" if missed(one, "policy", REJECTED) else text
    return [*one.line.data.split(" | "), str(one.line.size), said, f"{bare:.3f}"]


def _cells(one: Result) -> Iterator[str]:
    shares = one.rows["rate"].shares
    for metric in (PASS, BREAK):
        text = f"{shares[metric]:.3f}"
        yield f"**{text}**" if missed(one, "rate", metric) else text
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
