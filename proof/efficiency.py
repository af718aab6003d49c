"""What the gate's bound on a rate costs in stimuli, against other methods."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count

import numpy as np
import scipy
from numpy.typing import NDArray

from judgesheet import axis, stats
from judgesheet.axes import (
    candidate_order,
    criterion_order,
    listwise_consensus,
    presentation,
    score_order,
)
from judgesheet.stats.interval import cluster_rate
from proof import widths
from proof.gate import SLIPS, Rates, smooth, two_kinds
from proof.lines import Line, Rng, Rows, Tally, Truths
from proof.runner import Result, error
from proof.tables import grid

DEPENDS_ON = (
    *(stats, axis, score_order, criterion_order, candidate_order, listwise_consensus),
    presentation,
)
SETS = 300
LIMIT, TRUE = 0.10, 0.02
CALLS = 6
SIZES = (20, 29, 33, 36, 40, 45, 60, 80, 110, 150)
FLOOR = 0.1
"""Least intraclass correlation that Korn and Graubard's bound is given."""
RESAMPLES = 399
ERROR = 0.05
ENOUGH = 0.8
HIDDEN = (LIMIT - TRUE) / (1 - TRUE)
"""Share of stimuli that always deviate which takes a rate from `TRUE` to `LIMIT`."""
ALWAYS = tuple((rate - SLIPS) / (1 - SLIPS) for rate in (LIMIT, TRUE))
"""Shares of stimuli that always deviate, of *all or none* judges on the limit and at `TRUE`."""
LAWS: Mapping[str, Rates] = {
    **{f"ICC {icc}": partial(smooth, icc) for icc in (0.0, 0.1, 0.2, 0.5)},
    "all or none": two_kinds,
}
PROVEN = ("passes at the limit", "passes at .02")
Floats = NDArray[np.float64]


def _exact(rate: float, calls: float) -> float:
    """Clopper and Pearson's upper bound of so many effective calls."""
    hits = rate * calls
    return 1 - float(scipy.special.betaincinv(calls - hits, hits + 1, ERROR)) if rate < 1 else 1.0


def ours(hits: Floats) -> float:
    """The bound that a gate compares with the limit."""
    bounds = cluster_rate(hits, np.full(hits.size, CALLS)).bounds
    assert bounds is not None  # noqa: S101  (there are several stimuli)
    return bounds[1]


def known_icc(icc: float, hits: Floats) -> float:
    """Clopper and Pearson on the calls that would be independent, were the correlation known."""
    return _exact(float(hits.mean()) / CALLS, hits.size * CALLS / (1 + (CALLS - 1) * icc))


def korn_graubard(hits: Floats) -> float:
    """Clopper and Pearson on the effective calls, t-adjusted, with a floor for the correlation.

    Korn, E. L. and Graubard, B. I. (1998), Survey Methodology 24, 193-201.
    """
    groups, rate = hits.size, float(hits.mean()) / CALLS
    binomial = rate * (1 - rate) / CALLS
    deff = max(1 + (CALLS - 1) * FLOOR, float(np.var(hits / CALLS, ddof=1)) / (binomial or 1.0))
    inner, outer = (scipy.special.stdtrit(df, 0.975) for df in (groups * CALLS - 1, groups - 1))
    return _exact(rate, groups * CALLS / deff * float(inner / outer) ** 2)


def bootstrap_t(rng: Rng, hits: Floats) -> float:
    """The studentized bootstrap over stimuli; 0 of n has no bound but the value."""
    rates, groups = hits / CALLS, hits.size
    drawn = rates[rng.integers(groups, size=(RESAMPLES, groups))]
    spread = drawn.std(axis=1, ddof=1)
    gaps = (drawn.mean(axis=1) - rates.mean())[spread > 0] / spread[spread > 0]
    if not gaps.size:
        return float(rates.mean())
    return float(rates.mean() - np.quantile(gaps, ERROR) * rates.std(ddof=1))


MEANS = np.sin(np.linspace(0.002, np.pi / 2 - 0.002, 300)) ** 2
"""A grid on which Jeffreys' prior is even."""
CORRELATIONS = (np.arange(30) + 0.5) / 30


def beta_binomial(hits: Floats) -> float:
    """Upper end of the posterior of the mean: Jeffreys' prior, correlation even."""
    size = (1 - CORRELATIONS) / CORRELATIONS
    a, b = MEANS[:, None] * size, (1 - MEANS[:, None]) * size
    density = np.zeros(a.shape)
    for value, times in zip(*np.unique(hits, return_counts=True), strict=True):
        many = scipy.special.betaln(a + value, b + CALLS - value) - scipy.special.betaln(a, b)
        density += times * many
    mass = np.exp(density - density.max()).sum(axis=1)
    return float(np.interp(1 - ERROR, np.cumsum(mass) / mass.sum(), MEANS))


def fewest(at_limit: float, at_true: float) -> int:
    """The fewest stimuli with which any test that errs in `ERROR` passes in `ENOUGH` of runs.

    Two judges differ in the share of stimuli that always deviate alone: by Neyman and Pearson's
    lemma no test is better than the one that counts these, and passes few.
    """

    def power(stimuli: int) -> float:
        counts = np.arange(stimuli + 1)
        wrong, right = (scipy.stats.binom.pmf(counts, stimuli, of) for of in (at_limit, at_true))
        passes = np.clip((ERROR - np.cumsum(wrong) + wrong) / wrong, 0, 1)
        return float(passes @ right)

    return next(stimuli for stimuli in count(1) if power(stimuli) >= ENOUGH)


def _run(law: str, stimuli: int, sets: int, rng: Rng, _truths: Truths) -> Rows:
    tally, rates = Tally(), LAWS[law]
    icc = float(law.removeprefix("ICC ")) if law.startswith("ICC") else 1.0
    methods: dict[str, Callable[[Floats], float]] = {
        "judgesheet": ours,
        "correlation known": partial(known_icc, icc),
        "Korn and Graubard, floor .1": korn_graubard,
        "bootstrap-t": partial(bootstrap_t, rng),
        "beta-binomial posterior": beta_binomial,
    }
    for _ in range(sets):
        tally.next()
        for metric, rate in zip(PROVEN, (LIMIT, TRUE), strict=True):
            hits = rng.binomial(CALLS, rates(rate, stimuli, rng)).astype(np.float64)
            for name, bound in methods.items():
                tally.add(name, {metric: bound(hits) <= LIMIT})
    return tally.rows()


def lines() -> Iterator[Line]:
    """Every law at every number of stimuli."""
    for law in LAWS:
        for stimuli in SIZES:
            yield Line(law, stimuli, SETS, partial(_run, law, stimuli))
    yield from widths.lines()


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    rows = []
    for law in LAWS:
        mine = [one for one in results if one.line.data == law]
        for name in mine[0].rows:
            wrong, right = (
                {one.line.size: one.rows[name].shares[metric] for one in mine} for metric in PROVEN
            )
            enough = next((size for size in SIZES if right[size] >= ENOUGH), None)
            stimuli = str(enough) if enough else f"more than {SIZES[-1]}"
            calls = f"{enough * CALLS:,}" if enough else ""
            worst = max(wrong.values())
            text = f"**{worst:.3f}**" if worst > ERROR + 2 * error(ERROR, SETS) else f"{worst:.3f}"
            rows.append([law, name, stimuli, calls, text, f"{np.mean([*wrong.values()]):.3f}"])
    head = ["judge", "method", "stimuli", "calls", "false pass, most", "false pass, mean"]
    return {
        "table": grid(head, rows),
        "sizes": ", ".join(map(str, SIZES[:-1])) + f" and {SIZES[-1]}",
        "sets": str(SETS),
        "error": f"{error(ERROR, SETS):.3f}",
        "share": f"{HIDDEN:.3f}",
        "floor": str(fewest(HIDDEN, 0.0)),
        "all_or_none_floor": str(fewest(*ALWAYS)),
        "always_limit": f"{ALWAYS[0]:.3f}",
        "always_true": f"{ALWAYS[1]:.3f}",
        **widths.fields([one for one in results if one.line.data not in LAWS]),
    }
