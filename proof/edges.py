"""Which interval holds at the edges: methods compared."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgesheet import stats
from judgesheet.stats import interval, position
from judgesheet.stats.interval import cluster_rate
from judgesheet.stats.position import cramers_v
from proof.lines import COVER, Line, Rng, Row, Rows, Tally, Truths
from proof.runner import Result, error
from proof.tables import grid, missed

DEPENDS_ON = (stats,)
SETS = 600
DESIGNS = ((12, 30), (24, 40), (100, 10))
"""Stimuli, and calls on each."""
POSITIONS = 5
SLIPS = 0.01
LEAST_COVER = 0.9
MOST_NARROWING = 0.1
ADOPTED = "adopted"
NARROWING = "narrowing"


Floats = NDArray[np.float64]
Pair = tuple[float, float]


def _at(low: float | None, high: float | None) -> Pair:
    return (-np.inf if low is None else low), (np.inf if high is None else high)


def student(k: Floats, n: Floats) -> Pair:
    """Cluster-robust t, cut to 0 and 1; Clopper-Pearson on the stimuli where none differs."""
    half = interval.student(0.0, interval._ratio_error(k, n), k.size)(0.95)[1]
    half = half or float(1 - 0.025 ** (1 / k.size))
    p = k.sum() / n.sum()
    return max(0.0, p - half), min(1.0, p + half)


def posterior(k: Floats, n: Floats) -> Pair:
    """Beta-binomial posterior."""
    low, high = interval._Posterior.of(k, n).ends(0.95)
    return (0.0 if not k.sum() else low), (1.0 if k.sum() == n.sum() else high)


def wilson(k: Floats, n: Floats) -> Pair:
    """Wilson on the effective n, design effect at least 1, quantile of t."""
    p, total = float(k.sum() / n.sum()), float(n.sum())
    variance = p * (1 - p)
    deff = max(1.0, interval._ratio_error(k, n) ** 2 * total / variance) if variance else 1.0
    return interval._wilson_ends(p, total / deff, float(special.stdtrit(k.size - 1, 0.975)))


def both(k: Floats, n: Floats) -> Pair:
    """The wider ends of posterior and Wilson."""
    lows, highs = zip(posterior(k, n), wilson(k, n), strict=True)
    return min(lows), max(highs)


def adopted(k: Floats, n: Floats) -> Pair:
    """What the datasheet prints."""
    found = cluster_rate(k, n)
    return _at(found.low, found.high)


SHARES: Mapping[str, Callable[[Floats, Floats], Pair]] = {
    "t": student,
    "beta-binomial": posterior,
    "Wilson": wilson,
    "both": both,
    "adopted": adopted,
}


def _v_with(deff: Callable[[position._Shares, Floats], float], counts: Floats) -> Pair:
    sample = position._shares(counts)
    assert sample is not None  # noqa: S101
    v = min(1.0, float(np.sqrt(sample.chi2 / (sample.calls * sample.df))))
    used = deff(sample, counts)
    if used <= 0:
        return 0.0, float(1 - 0.025 ** (1 / sample.clusters))
    low, high = position._v_ends(sample, used, 0.95)
    return min(low, v), max(high, v)


def _shown(sample: position._Shares, _: Floats) -> float:
    """Design effect that the data show."""
    return position._v_deff(sample)


def _at_least_one(sample: position._Shares, _: Floats) -> float:
    """The same, not believed below 1."""
    return max(1.0, position._v_deff(sample))


def _dirichlet(sample: position._Shares, counts: Floats) -> float:
    """Design effect at the 95th percentile of the ICC of a Dirichlet-multinomial."""
    icc = (np.arange(60) + 0.5) / 60
    alpha = (sample.shares + 0.5 / sample.calls) * ((1 - icc) / icc)[:, None]
    whole, log_density = alpha.sum(axis=1), np.zeros_like(icc)
    for row in counts:
        log_density += special.gammaln(whole) - special.gammaln(whole + row.sum())
        log_density += (special.gammaln(alpha + row) - special.gammaln(alpha)).sum(axis=1)
    below = np.cumsum(np.exp(log_density - log_density.max()))
    top = float(np.interp(0.95, below / below[-1], icc))
    return 1 + top * (sample.calls / sample.clusters - 1)


def _adopted_v(counts: Floats) -> Pair:
    found = cramers_v(counts)
    return _at(found.low, found.high)


STRENGTHS: Mapping[str, Callable[[Floats], Pair]] = {
    "as is": partial(_v_with, _shown),
    "at least 1": partial(_v_with, _at_least_one),
    "Dirichlet": partial(_v_with, _dirichlet),
    "adopted": _adopted_v,
}


def smooth(p: float, icc: float, stimuli: int, calls: int, rng: Rng) -> Floats:
    """Hits per stimulus whose rates follow a beta law."""
    a, b = (q * (1 - icc) / icc for q in (p, 1 - p)) if icc else (p, 1 - p)
    rates = rng.beta(a, b, stimuli) if icc else np.full(stimuli, p)
    return rng.binomial(calls, rates).astype(np.float64)


def few(p: float, always: float, stimuli: int, calls: int, rng: Rng) -> Floats:
    """Hits per stimulus of which a share always hits."""
    rates = np.where(rng.random(stimuli) < always, 1.0, p)
    return rng.binomial(calls, rates).astype(np.float64)


def blind(always: float, stimuli: int, calls: int, rng: Rng) -> Floats:
    """Choices per position (G, 5): even but for slips; a share of stimuli takes the first."""
    even = np.full(POSITIONS, calls // POSITIONS)
    slips = rng.binomial(calls, SLIPS, stimuli)
    lost = np.array([rng.multivariate_hypergeometric(even, one) for one in slips])
    found = rng.multinomial(slips, np.full(POSITIONS, 1 / POSITIONS))
    first = calls * np.eye(POSITIONS)[0]
    biased = rng.random(stimuli) < always
    drawn: Floats = np.where(biased[:, None], first, even - lost + found).astype(np.float64)
    return drawn


@dataclass(frozen=True)
class Study:
    """One line: how data are drawn, the truth, and the methods that are asked."""

    name: str
    draw: Callable[[int, int, Rng], Floats]
    truth: float
    of_v: bool = False
    column: bool = False

    def answers(self, data: Floats, calls: int) -> dict[str, Pair]:
        """The interval of every method."""
        if self.of_v:
            return {name: method(data) for name, method in STRENGTHS.items()}
        hits = data[:, 0] if self.column else data
        sizes = np.full(len(data), float(calls))
        return {name: method(hits, sizes) for name, method in SHARES.items()}


def studies() -> Iterator[Study]:
    """Every line of the table, in its order."""
    for p, icc in ((0.02, 0.0), (0.02, 0.3), (0.2, 0.0), (0.2, 0.34), (0.5, 0.2)):
        yield Study(f"share: smooth {p:g}, ICC {icc:g}", partial(smooth, p, icc), p)
    for p in (0.01, 0.2):
        for u in (0.05, 0.1, 0.2):
            name = f"share: {p:g}, {u:.0%} always"
            yield Study(name, partial(few, p, u), p * (1 - u) + u)
    shares = (0.0, 0.05, 0.1, 0.2)
    for u in shares:
        even = 1 / POSITIONS
        name = f"share of position 1: order-blind, {u:.0%} biased"
        yield Study(name, partial(blind, u), even * (1 - u) + u, column=True)
    for u in shares:
        yield Study(f"V: order-blind, {u:.0%} biased", partial(blind, u), u, of_v=True)


def _run(study: Study, stimuli: int, calls: int, sets: int, rng: Rng, _truths: Truths) -> Rows:
    tally = Tally()
    for _ in range(sets):
        tally.next()
        answers = study.answers(study.draw(stimuli, calls, rng), calls)
        for method, (low, high) in answers.items():
            tally.add(method, {COVER: low - 1e-9 <= study.truth <= high + 1e-9})
            tally.note(method, width=high - low)
    return tally.rows()


def lines() -> Iterator[Line]:
    """Every study at every design, and the rule on narrowing."""
    for study in studies():
        for stimuli, calls in DESIGNS:
            run = partial(_run, study, stimuli, calls)
            judged = frozenset({ADOPTED})
            yield Line(study.name, stimuli, SETS, run, least=LEAST_COVER, judged=judged)
    for name, methods, of_v in KINDS:
        for stimuli, calls in DESIGNS:
            run = partial(_narrow, methods, of_v, stimuli, calls)
            yield Line(name, stimuli, 1, run, part=NARROWING, judged=frozenset())


def _narrow(
    methods: Sequence[str], of_v: bool, stimuli: int, calls: int, _sets: int, _: Rng, __: Truths
) -> Rows:
    found = {method: narrowing(stimuli, calls, of_v, method) for method in methods}
    return {method: Row({}, {}, {NARROWING: worst}) for method, worst in found.items()}


def narrowing(stimuli: int, calls: int, of_v: bool, method: str) -> float:
    """The largest share of its length by which the far end moves in with one more slip."""
    worst = 0.0
    for spread in (False, True):
        before: float | None = None
        for slips in range(6):
            k = np.zeros(stimuli)
            k[: slips if spread else 1] = 1 if spread else slips
            if of_v:
                data = np.full((stimuli, POSITIONS), calls / POSITIONS)
                data[:, 0] += k
                data[:, 1] -= k
                far = STRENGTHS[method](data)[1]
            else:
                far = SHARES[method](k, np.full(stimuli, float(calls)))[1]
            worst = max(worst, 0.0 if before is None else 1 - far / before)
            before = far
    return worst


KINDS = (("share from 0", list(SHARES), False), ("V from 0", list(STRENGTHS), True))


def fields(results: Sequence[Result]) -> dict[str, str]:
    """A line per study and method, then the rule."""
    covers = [one for one in results if one.line.part != NARROWING]
    sizes = [stimuli for stimuli, _ in DESIGNS]
    heads = [f"{kind}, G = {size}" for kind in (COVER, "width") for size in sizes]
    cover = [
        [data, method, *(_cover(at[size], method) for size in sizes), *_widths(at, method)]
        for data, at in _by_data(covers).items()
        for method in at[sizes[0]].rows
    ]
    narrow = [
        [data, method, *(_narrowing(at[size].rows[method]) for size in sizes)]
        for data, at in _by_data([one for one in results if one not in covers]).items()
        for method in at[sizes[0]].rows
    ]
    sets = covers[0].rows[ADOPTED].sets[COVER]
    return {
        "sets": f"{sets:,}",
        "error": f"{error(0.95, sets):.3f}",
        "cover": grid(["data", "method", *heads], cover),
        "narrowing": grid([NARROWING, "method", *(f"G = {size}" for size in sizes)], narrow),
    }


def _by_data(results: Sequence[Result]) -> dict[str, dict[int | str, Result]]:
    found: dict[str, dict[int | str, Result]] = {}
    for one in results:
        found.setdefault(one.line.data, {})[one.line.size] = one
    return found


def _cover(one: Result, method: str) -> str:
    text = f"{one.rows[method].shares[COVER]:.3f}"
    return f"**{text}**" if missed(one, method, COVER) else text


def _widths(at: Mapping[int | str, Result], method: str) -> Iterator[str]:
    return (f"{one.rows[method].facts['width']:.3f}" for one in at.values())


def _narrowing(row: Row) -> str:
    worst = max(0.0, row.facts[NARROWING])
    return f"**{worst:.3f}**" if worst > MOST_NARROWING else f"{worst:.3f}"
