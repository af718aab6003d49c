"""Coverage of the statistics of candidate_order; writes docs/proof/candidate_order.md.

Run as `python -m proof.candidate_order [data sets per line]`; some minutes on two cores.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import sqrt
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgesheet.stats.interval import Interval, by_cluster, cluster_mean, cluster_rate, mean_t
from judgesheet.stats.pairwise import (
    FIRST,
    NO_PREFERENCE,
    ONE_SIDED,
    POSITIONAL,
    SECOND,
    STABLE,
    TIE,
    classify,
    components,
    d_prime_bound,
    log_linear,
    threshold,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Rng = np.random.Generator
Outcome = dict[str, float]

SEED = 20_261_121
REPLICATIONS = 1_000
CLUSTERS = (10, 20, 60)
PAIRS = 6
"""Pairs of equal quality per task, as in the standard profile."""
STEPS = (0.5, 1, 2, 3, 4, 5)
PER_STEP = (4, 5, 4, 3, 2, 1)
KINDS = (-1.0, 0.0, 1.0)
"""Tasks and pairs are of three kinds each, equally likely: truths are sums over them."""
TARGET = Path(__file__).parents[1] / "docs" / "proof" / "candidate_order.md"

INTRODUCTION = """\
# Proof: the statistics of candidate_order

Simulated judges of pairs, truths by enumeration. A task has a slot preference and a tie threshold
of three kinds each, a pair a reaction to surface of three kinds, all equally likely; verdicts are
drawn as in `axes.candidate_order._simulated`. G tasks with {pairs} pairs of equal quality in both
orders, two reads each, and a ladder of {steps} pairs per step; {replications:,} data sets
a line, seed {seed}. Made by `python -m proof.candidate_order`. The Monte Carlo standard error of
.95 is {error:.3f}; a figure outside its target is printed in bold.

- *cover*: share of 95 % intervals that hold the truth. Target .93-.975; no upper limit for truths
  under .1 or over .9, where an end of the interval is 0 or 1; at least .90 for `threshold75`.
- *bound*: share of data sets in which the lower bound of d' lies below its truth; at least .965.
"""
READING = """\
## Reading

- Rates are beta-binomial under 20 tasks and design-effect Wilson from 20 up. Both allow calls to be
  more alike than chance, never less. Where one call makes another unlikely (a judge that follows
  the content chooses each slot once) `slot1_share` covers more than its target. It is kept: too
  wide is the safe side, and a share that the two orders fix needs no narrow interval.
- The components are unbiased, and single data sets may give a negative one. Their interval is a
  cluster t: at 10 tasks it covers .89 to .98, least where few pairs carry a small component.
- `threshold75` resamples tasks: .89 to .95 under 60 tasks, and the sheet says so.
- The bound of d' takes the ends of two rates together (Zou and Donner) and is on the safe side.
"""


@dataclass(frozen=True)
class Judge:
    """Logits of a judge; those named `..._spread` are multiplied by -1, 0 or 1 at random."""

    slot: float = 0.0
    slot_spread: float = 0.0
    tie: float = 1.0
    tie_spread: float = 0.0
    surface: float = 0.0
    sensitivity: float = 2.0
    strict: float = 1.5

    @cached_property
    def kinds(self) -> Floats:
        """Slot logit, tie threshold -> (9 kinds of task, 2)."""
        kinds = product(KINDS, KINDS)
        return np.array(
            [
                (self.slot + a * self.slot_spread, max(0.0, self.tie + b * self.tie_spread))
                for a, b in kinds
            ]
        )

    def chances(self, content: Floats, extra_tie: float = 0.0) -> Floats:
        """P(1), P(2), P(tie) -> (kinds of task, *content.shape, orders, 3).

        `content` is the leaning towards u in logits.
        """
        slot, tie = self.kinds.T.reshape(2, -1, *[1] * (content.ndim + 1))
        leaning = slot + content[..., None] * np.array([1.0, -1.0])
        one = special.expit(leaning - tie - extra_tie)
        two = special.expit(-leaning - tie - extra_tie)
        return np.stack([one, two, np.maximum(0.0, 1 - one - two)], axis=-1)

    @cached_property
    def equal(self) -> Floats:
        """Chances on pairs of equal quality -> (kinds of task, kinds of pair, orders, 3)."""
        return self.chances(self.surface * np.array(KINDS))

    def ladder(self, extra_tie: float = 0.0) -> Floats:
        """Chances on the ladder, u better -> (kinds of task, steps, orders, 3)."""
        return self.chances(self.sensitivity * np.array(STEPS), extra_tie)

    def truths(self) -> dict[str, float]:
        """Every rate, by summing over the kinds."""
        u, v = self.equal[..., 0, :], self.equal[..., 1, :]
        decided = 1 - self.equal[..., 2].mean()
        slot = (u[..., 0] - u[..., 1] + v[..., 0] - v[..., 1]) / 2
        content = (u[..., 0] - u[..., 1] - v[..., 0] + v[..., 1]) / 2
        positional = float((u[..., 0] * v[..., 0] + u[..., 1] * v[..., 1]).mean())
        stable = float((u[..., 0] * v[..., 1] + u[..., 1] * v[..., 0]).mean())
        position, surface = float((slot**2).mean()), float((content**2).mean())
        none = float((u[..., 2] * v[..., 2]).mean())
        return {
            "raw_false_preference": float(decided),
            "stable_cross_sensitivity": stable,
            "positional_false_preference": positional,
            "one_sided_commit": 1 - stable - positional - none,
            "order_inconsistent": 1 - stable - none,
            "no_preference": none,
            "slot1_share": float(self.equal[..., 0].mean() / decided),
            "position_component": position,
            "content_component": surface,
            "noise_component": float(decided) - position - surface,
        }


def _draw(chances: Floats, repeats: int, rng: Rng) -> Integers:
    """Verdict codes (..., orders, repeats) for chances (..., orders, 3)."""
    steps = np.cumsum(chances, axis=-1)[..., None, :2]
    drawn = (rng.random((*chances.shape[:-1], repeats, 1)) > steps).sum(axis=-1)
    return np.array([FIRST, SECOND, TIE])[drawn]


def _covers(truth: float, found: Interval) -> float:
    if found.low is None or found.high is None:
        return float("nan")
    return float(found.low - 1e-12 <= truth <= found.high + 1e-12)


def _equal_quality(judge: Judge) -> Callable[[int, Rng], Outcome]:
    """Coverage of everything on pairs of equal quality."""
    truths = judge.truths()
    sign = {FIRST: 1.0, SECOND: -1.0, TIE: 0.0}
    signs = np.array([sign[code] for code in range(3)])
    kinds = {
        "stable_cross_sensitivity": [STABLE],
        "positional_false_preference": [POSITIONAL],
        "one_sided_commit": [ONE_SIDED],
        "order_inconsistent": [POSITIONAL, ONE_SIDED],
        "no_preference": [NO_PREFERENCE],
    }

    def draw(clusters: int, rng: Rng) -> Outcome:
        task = rng.integers(len(judge.kinds), size=clusters)
        pair = rng.integers(len(KINDS), size=(clusters, PAIRS))
        verdicts = _draw(judge.equal[task[:, None], pair], 2, rng)  # (G, pairs, orders, repeats)
        rows = np.moveaxis(verdicts, 3, 2).reshape(-1, 2)
        cluster = np.repeat(np.arange(clusters), PAIRS * 2)
        first, chosen = (rows == FIRST).sum(axis=1), (rows != TIE).sum(axis=1)
        found = {
            name: cluster_rate(*by_cluster(np.isin(classify(rows), codes), cluster))
            for name, codes in kinds.items()
        }
        sums, sizes = by_cluster(chosen, cluster)
        found["raw_false_preference"] = cluster_rate(sums, 2 * sizes)
        found["slot1_share"] = cluster_rate(by_cluster(first, cluster)[0], sums)
        parts = components(signs[verdicts].reshape(-1, 2, 2))
        for part in ("position", "content", "noise"):
            sums, sizes = by_cluster(getattr(parts, part), np.repeat(range(clusters), PAIRS))
            found[f"{part}_component"] = cluster_mean(sums, sizes, (0.0, 1.0))
        return {f"cover {name}": _covers(truths[name], one) for name, one in found.items()}

    return draw


def _ladder(judge: Judge) -> Callable[[int, Rng], Outcome]:
    """Coverage of sensitivity, threshold, d' and criterion shift."""
    chances, strict = judge.ladder(), judge.ladder(judge.strict)
    right = (chances[..., 0, 0] + chances[..., 1, 1]) / 2  # (kinds, steps)
    curve = right.mean(axis=0)
    exact = np.array([curve * 1e6])
    truth = threshold(exact, np.full_like(exact, 1e6), STEPS, np.random.default_rng(0)).value
    ties = strict[..., 2].mean(axis=(0, 2)) - chances[..., 2].mean(axis=(0, 2))
    first = chances[:, 1, :, 0] + chances[:, 1, :, 2] / 2  # step 1: slot 1, a tie counts half
    rates = first.mean(axis=0)
    sensitivity = float(special.ndtri(rates[0]) - special.ndtri(rates[1])) / sqrt(2)
    place = STEPS.index(1)

    def draw(clusters: int, rng: Rng) -> Outcome:
        task = rng.integers(len(judge.kinds), size=clusters)
        verdicts = [_draw(chances[task, s], n, rng) for s, n in enumerate(PER_STEP)]
        hits = [(v[:, 0] == FIRST).sum(axis=1) + (v[:, 1] == SECOND).sum(axis=1) for v in verdicts]
        calls = np.tile(2 * np.array(PER_STEP), (clusters, 1))
        step = threshold(np.stack(hits, axis=1), calls, STEPS, rng)
        low = 0.0 if step.low is None and step.value is None else step.low
        inside = Interval(None, low, np.inf if step.high is None else step.high)
        one = verdicts[place]
        again = _draw(strict[task, place], PER_STEP[place], rng)
        shift = (again == TIE).mean(axis=(1, 2)) - (one == TIE).mean(axis=(1, 2))
        found = cluster_rate(hits[place], calls[:, place])
        half = (one == FIRST) + (one == TIE) / 2
        size = np.full(clusters, PER_STEP[place])
        chose = [half[:, order].sum(axis=1) for order in (0, 1)]
        rates = (log_linear(float(k.sum()), float(size.sum())) for k in chose)
        bound = d_prime_bound(*rates, *(cluster_rate(k, size) for k in chose))
        return {
            "cover threshold75": _covers(truth or np.inf, inside),
            "cover target_sensitivity, step 1": _covers(float(curve[place]), found),
            "cover criterion_shift, step 1": _covers(
                float(ties[place]), mean_t(shift, (-1.0, 1.0))
            ),
            "bound d_prime, step 1": float(bound is None or bound <= sensitivity),
        }

    return draw


def _vacuum(rate: float, icc: float) -> Callable[[int, Rng], Outcome]:
    """Coverage of dark current: six calls a task, tasks differ."""
    concentration = (1 - icc) / icc

    def draw(clusters: int, rng: Rng) -> Outcome:
        own = rng.beta(rate * concentration, (1 - rate) * concentration, size=clusters)
        found = cluster_rate(rng.binomial(6, own), np.full(clusters, 6))
        return {"cover dark_current": _covers(rate, found)}

    return draw


@dataclass(frozen=True)
class Study:
    """One way to draw data sets; `draw` gets the number of tasks and a generator."""

    name: str
    draw: Callable[[int, Rng], Outcome]


JUDGES = {
    "tasks differ in slot and ties": Judge(slot=0.5, slot_spread=1.0, tie_spread=0.8),
    "strong slot preference": Judge(slot=2.5, slot_spread=1.0, tie_spread=0.5),
    "reacts to surface": Judge(surface=3.0, slot_spread=0.5, tie_spread=0.5),
    "coin": Judge(tie=0.0),
    "ties often": Judge(tie=3.0, tie_spread=1.0, slot=0.5, slot_spread=0.5),
}


def studies() -> Iterator[Study]:
    """Every line of the table, in its order."""
    for rate in (0.02, 0.1, 0.5):
        yield Study(f"vacuum, rate {rate:g}, ICC .2", _vacuum(rate, 0.2))
    for name, judge in JUDGES.items():
        yield Study(name, _equal_quality(judge))
    for sensitivity, tie in ((2.5, 3.0), (1.2, 1.5)):
        judge = Judge(sensitivity=sensitivity, tie=tie, tie_spread=1.0, slot=0.5, slot_spread=0.5)
        yield Study(f"ladder, {sensitivity:g} logits a step", _ladder(judge))


def _run(task: tuple[int, int, int]) -> Outcome:
    """Mean outcomes of one study at one number of clusters."""
    number, clusters, replications = task
    study = list(studies())[number]
    rng = np.random.default_rng([SEED, number, clusters])
    drawn = [study.draw(clusters, rng) for _ in range(replications)]
    return {line: float(np.nanmean([one[line] for one in drawn])) for line in drawn[0]}


def table(replications: int) -> str:
    """The Markdown table: a line per study and statistic, a column per number of tasks."""
    names = [study.name for study in studies()]
    tasks = [(n, g, replications) for n in range(len(names)) for g in CLUSTERS]
    with Pool(2) as pool:
        found = dict(zip(tasks, pool.map(_run, tasks, chunksize=1), strict=True))
    rows = ["| data | statistic | truth | " + " | ".join(f"G = {g}" for g in CLUSTERS) + " |"]
    rows.append("|---|---|---|" + "---|" * len(CLUSTERS))
    for number, name in enumerate(names):
        by_size = [found[number, g, replications] for g in CLUSTERS]
        truths = JUDGES[name].truths() if name in JUDGES else {}
        for line in by_size[0]:
            truth = truths.get(line.removeprefix("cover "))
            cells = " | ".join(_cell(line, truth, outcome[line]) for outcome in by_size)
            shown = "" if truth is None else f"{truth:.3f}"
            rows.append(f"| {name} | {line} | {shown} | {cells} |")
    return "\n".join(rows)


def _cell(line: str, truth: float | None, share: float) -> str:
    """The share, bold where it misses the target of its line."""
    least, most = 0.93, 0.975
    if line.startswith("bound"):
        least, most = 0.965, 1.0
    elif "threshold75" in line:
        least = 0.90
    if truth is not None and not 0.1 <= truth <= 0.9:
        most = 1.0
    missed = not least <= round(share, 3) <= most
    return f"**{share:.3f}**" if missed else f"{share:.3f}"


def document(replications: int) -> str:
    """The committed page: what was simulated, the table, and how to read it."""
    error = float(np.sqrt(0.05 * 0.95 / replications))
    opening = INTRODUCTION.format(
        pairs=PAIRS, steps="/".join(map(str, PER_STEP)), replications=replications, seed=SEED,
        error=error,
    )  # fmt: skip
    return "\n".join([opening, table(replications), "", READING])


if __name__ == "__main__":
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(document(int(sys.argv[1]) if len(sys.argv) > 1 else REPLICATIONS), "utf-8")
