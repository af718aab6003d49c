"""Which interval holds at the edges: methods compared; writes docs/proof/edges.md.

Run as `python -m proof.edges [data sets per line]`; five minutes on two cores.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgesheet.stats import interval, position
from judgesheet.stats.interval import cluster_rate
from judgesheet.stats.position import cramers_v

SEED = 20_261_122
REPLICATIONS = 400
DESIGNS = ((12, 30), (24, 40), (100, 10))
"""Stimuli, and calls on each."""
POSITIONS = 5
SLIPS = 0.01
LEAST_COVER = 0.9
MOST_NARROWING = 0.1
TARGET = Path(__file__).parents[1] / "docs" / "proof" / "edges.md"

INTRODUCTION = """\
# Proof: intervals at the edges

Judges that agree with themselves almost perfectly, and bias that few stimuli carry. G stimuli x m
calls (12 x 30, 24 x 40, 100 x 10); {replications:,} data sets a line, seed {seed}. Made by
`python -m proof.edges`. The Monte Carlo standard error of .95 is {error:.3f}.

- *cover*: share of 95 % intervals that hold the truth, a column per number of stimuli; below .90 in
  bold. *width*: their mean width.
- *narrowing*: by how much of its length the far end moves in at most, from no deviating call to
  five, on one stimulus or on as many; above a tenth in bold.
- "smooth p, ICC i": the stimuli's rates are beta. "p, u % always": a share u of the stimuli always
  deviates, the others with probability p. "order-blind": every stimulus spreads its choices evenly
  over five positions but for 1 % slips, and a share u of them always chooses the first one.

Methods for shares: *t*, cluster-robust t cut to 0 and 1 (Clopper-Pearson on the stimuli
where none differs); *beta-binomial*, its posterior; *Wilson*
on the effective n with a design effect of at least 1 and the quantile of t; *both*, the wider ends
of the last two; *adopted*, these with room for unseen stimuli (`stats.interval.cluster_rate`). For
V the noncentral chi-square is inverted with *as is*, the design effect of the data; *at least 1*;
*Dirichlet*, that of a Dirichlet-multinomial with uniform ICC (95th percentile of its posterior);
*adopted*, at least 1, with an upper end that is at least that of the largest share
(`stats.position.cramers_v`).
"""
READING = """\
## Reading

- A t interval and a design effect below 1 take a lack of spread for knowledge: they narrow by 90 %
  and more where a call deviates, and cover few biased stimuli in a third to nine tenths of samples.
- The posterior covers smooth differences, but not a few stimuli that differ wholly: it takes them
  for the tail of a smooth law. The Dirichlet-multinomial fails for V for the same reason.
- None of the methods covers what is in no stimulus of the sample. Room for it (a share u with
  (1 - u)^G = .1) is what brings the few biased stimuli to .90 with 12 and 24 of them; it costs
  width where nothing deviates and little elsewhere. More stimuli take it away, more calls do not.
- With one or two biased stimuli in the sample, their share is not known to 5 % either: there the
  coverage is .89 to .94.
"""

Floats = NDArray[np.float64]
Pair = tuple[float, float]
Rng = np.random.Generator


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
    return np.where(biased[:, None], first, even - lost + found).astype(np.float64)


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


Line = dict[str, tuple[float, float]]
"""Method -> coverage and mean width."""


def _run(task: tuple[int, int, int, int]) -> Line:
    number, stimuli, calls, replications = task
    study, rng = list(studies())[number], np.random.default_rng([SEED, number, stimuli])
    sums: dict[str, Floats] = {}
    for _ in range(replications):
        answers = study.answers(study.draw(stimuli, calls, rng), calls)
        for name, (low, high) in answers.items():
            hit = low - 1e-9 <= study.truth <= high + 1e-9
            sums[name] = sums.get(name, np.zeros(2)) + np.array([hit, high - low])
    means = {name: total / replications for name, total in sums.items()}
    return {name: (float(mean[0]), float(mean[1])) for name, mean in means.items()}


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


def table(replications: int) -> str:
    """A line per study and method: coverage and width by number of stimuli, then the rule."""
    everything = list(studies())
    tasks = [(n, g, m, replications) for n in range(len(everything)) for g, m in DESIGNS]
    with Pool(2) as pool:
        found = dict(zip(tasks, pool.map(_run, tasks, chunksize=1), strict=True))
    heads = [f"{kind}, G = {g}" for kind in ("cover", "width") for g, _ in DESIGNS]
    rows = ["| data | method | " + " | ".join(heads) + " |", "|---|---" + "|--:" * 6 + "|"]
    for number, study in enumerate(everything):
        lines = [found[number, g, m, replications] for g, m in DESIGNS]
        for method in lines[0]:
            cover = [_bold(one[method][0], one[method][0] < LEAST_COVER) for one in lines]
            width = [f"{one[method][1]:.3f}" for one in lines]
            rows.append(f"| {study.name} | {method} | " + " | ".join(cover + width) + " |")
    rows += ["", "| narrowing | method | " + " | ".join(f"G = {g}" for g, _ in DESIGNS) + " |"]
    rows.append("|---|---" + "|--:" * 3 + "|")
    for name, methods, of_v in (("share from 0", SHARES, False), ("V from 0", STRENGTHS, True)):
        for method in methods:
            cells = [narrowing(g, m, of_v, method) for g, m in DESIGNS]
            shown = " | ".join(_bold(max(0.0, cell), cell > MOST_NARROWING) for cell in cells)
            rows.append(f"| {name} | {method} | {shown} |")
    return "\n".join(rows)


def _bold(value: float, missed: bool) -> str:
    return f"**{value:.3f}**" if missed else f"{value:.3f}"


def document(replications: int) -> str:
    """The committed page."""
    error = float(np.sqrt(0.05 * 0.95 / replications))
    opening = INTRODUCTION.format(replications=replications, seed=SEED, error=error)
    return "\n".join([opening, table(replications), "", READING])


if __name__ == "__main__":
    TARGET.write_text(document(int(sys.argv[1]) if len(sys.argv) > 1 else REPLICATIONS), "utf-8")
