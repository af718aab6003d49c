"""Coverage and size of the statistics of criterion order; writes docs/proof/criterion_order.md.

Run as `python -m proof.criterion_order [data sets per line]`; some minutes on two cores.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgesheet.stats.criteria import (
    PositionEffects,
    friedman,
    item_cells,
    position_effects,
    position_shift,
    spreads,
)
from judgesheet.stats.interval import Interval
from judgesheet.stats.macro import macro_delta_r, macro_r
from judgesheet.stats.orders import balanced

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Outcome = dict[str, float]

SEED = 20_261_121
REPLICATIONS = 1_000
RESAMPLES = 500
CLUSTERS = (12, 24, 96)
TARGET = Path(__file__).parents[1] / "docs" / "proof" / "criterion_order.md"
N, SCALE, ITEMS = 5, 5, 2
PLACE: Integers = np.argsort(np.array(balanced(N)), axis=1)  # (orders, criteria)
LEVELS = np.linspace(1.6, 4.4, 8)
"""Deserved scores, equally likely for each prompt and criterion."""
OFFSETS = np.array([-0.3, 0.3])
"""How the two responses to a prompt depart from it."""
TASTE = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
LABEL_NOISE = 0.5

INTRODUCTION = """\
# Proof: the statistics of criterion order

Simulated judges with planted parameters, truths by enumeration. G prompts x 2 responses x 10
balanced orders of five criteria on a five-point scale; {replications:,} data sets a line, seed
{seed}. Made by `python -m proof.criterion_order`. The Monte Carlo standard error of .95 and .05 is
{error:.3f} at most (five criteria share a data set); a figure outside its target is in bold.

A criterion's score is the deserved one, plus the planted shift of its place, plus normal noise,
rounded and cut to 1..5. "Prompts differ": each prompt has a taste for places of its own, which
cancels on average over prompts. "Few prompts move": one prompt in forty has a strong one.

- *cover*: share of 95 % intervals that hold the truth. Target .93-.975; where the gap between best
  and worst position is 0 or several positions tie, its interval may cover more.
- *reject*: share of data sets with p <= .05, target .035-.065 where no position is favoured.
"""
READING = """\
## Reading

- The interval of `delta_pos` bounds the error of every pair of positions at once. Where one pair
  makes the gap it covers more than 95 %; where there is no gap it covers 95 % or a little more,
  which a percentile bootstrap never does (a spread of resampled means is never 0).
- `mean_delta_pos` and `max_delta_pos` add up or maximise those errors and are wide for that reason.
- Friedman's test keeps its size with prompts as blocks. With responses as blocks, as the papers
  take them, it announces a bias that is not there as soon as the responses to a prompt share its
  taste for places.
- A judge that hardly ever changes a score gives blocks that are nearly all tied; the test then
  rejects less often than .05.
"""


@dataclass(frozen=True)
class Judge:
    """`shift` points at each place, `taste` of prompts for places, `rare` share of tastes kept."""

    shift: tuple[float, ...] = (0.0,) * N
    taste: float = 0.0
    noise: float = 0.5
    rare: float = 1.0

    def chances(self, level: Floats, moved: Floats) -> Floats:
        """P(score 1..5) of deserved scores and shifts that broadcast."""
        edges = np.arange(1.5, SCALE)
        below = special.ndtr((edges - (level + moved)[..., None]) / self.noise)
        zero, one = np.zeros_like(below[..., :1]), np.ones_like(below[..., :1])
        return np.diff(np.concatenate([zero, below, one], axis=-1), axis=-1)

    @cached_property
    def kinds(self) -> Floats:
        """What a prompt's taste adds at each place: the equally likely kinds, (kinds, places)."""
        tastes = np.stack([np.roll(TASTE, turn) for turn in range(N)]) * self.taste
        return tastes if self.taste else np.zeros((1, N))

    @cached_property
    def table(self) -> Floats:
        """P(score), shape (levels, offsets, kinds, places, scores)."""
        level = (LEVELS[:, None] + OFFSETS)[:, :, None, None]
        moved = np.array(self.shift) + np.concatenate([self.kinds, np.zeros((1, N))])
        return self.chances(level, np.broadcast_to(moved, (1, 1, *moved.shape)))

    @cached_property
    def shares(self) -> Floats:
        """How likely each kind is; the last has no taste."""
        tasteful = len(self.kinds)
        return np.array([self.rare / tasteful] * tasteful + [1 - self.rare])

    def position_means(self) -> Floats:
        """True mean score at every place."""
        means = self.table @ np.arange(1, SCALE + 1)
        result: Floats = means.mean(axis=(0, 1)).T @ self.shares
        return result

    def correlation(self, places: list[int]) -> float:
        """True r of the mean over reads at these places with labels (quality plus noise)."""
        points = np.arange(1, SCALE + 1)
        means = self.table @ points
        spread = self.table @ points**2 - means**2
        read = means[..., places].mean(axis=-1)  # (levels, offsets, kinds)
        noise = spread[..., places].mean(axis=-1) / len(places)
        weight = np.broadcast_to(self.shares / read[..., 0].size, read.shape)
        quality = np.broadcast_to((LEVELS[:, None] + OFFSETS)[..., None], read.shape)

        def moment(a: Floats, b: Floats) -> float:
            return float((weight * a * b).sum() - (weight * a).sum() * (weight * b).sum())

        own = moment(read, read) + float((weight * noise).sum())
        return moment(read, quality) / float(
            np.sqrt(own * (moment(quality, quality) + LABEL_NOISE**2))
        )

    def draw(self, groups: int, rng: np.random.Generator) -> tuple["Prompts", Floats]:
        """Prompts, and scores (groups x items, orders, criteria) under the balanced orders."""
        prompts = Prompts(
            rng.integers(LEVELS.size, size=(groups, N)),
            rng.choice(len(self.shares), p=self.shares, size=(groups, N)),
        )
        return prompts, self.ask(prompts, PLACE, rng)

    def ask(self, prompts: "Prompts", place: Integers, rng: np.random.Generator) -> Floats:
        """Scores of both responses to each prompt at places (orders, criteria)."""
        level = prompts.level[:, None, None, :]
        kind = prompts.kind[:, None, None, :]
        offset = np.arange(ITEMS)[None, :, None, None]
        chances = self.table[level, offset, kind, place]  # (G, items, orders, criteria, scores)
        steps = np.cumsum(chances, axis=-1)[..., :-1]
        scores = 1 + (rng.random((*chances.shape[:-1], 1)) > steps).sum(axis=-1)
        result: Floats = scores.reshape(-1, *scores.shape[2:]).astype(np.float64)
        return result


@dataclass(frozen=True)
class Prompts:
    """Level and kind of taste, as indices, of each prompt and criterion."""

    level: Integers
    kind: Integers

    @property
    def clusters(self) -> Integers:
        """The prompt of each response."""
        return np.repeat(np.arange(len(self.level)), ITEMS)

    def labels(self, rng: np.random.Generator) -> Floats:
        """What people say of each response, (groups x items, criteria)."""
        quality = (LEVELS[self.level][:, None, :] + OFFSETS[:, None]).reshape(-1, N)
        labels: Floats = quality + rng.normal(0, LABEL_NOISE, quality.shape)
        return labels


def effects_of(prompts: Prompts, scores: Floats) -> list[PositionEffects]:
    """The position effects of every criterion."""
    shape, groups = scores.shape[:2], len(prompts.level)
    return [
        position_effects(
            scores[:, :, c], np.broadcast_to(PLACE[:, c], shape), prompts.clusters, N, groups
        )
        for c in range(N)
    ]


def _covers(truth: float, found: Interval) -> float:
    if found.low is None or found.high is None:
        return float("nan")
    return float(found.low - 1e-12 <= truth <= found.high + 1e-12)


def positions(judge: Judge, groups: int, rng: np.random.Generator) -> Outcome:
    """Coverage and rejections of everything about positions in one data set."""
    prompts, scores = judge.draw(groups, rng)
    found = effects_of(prompts, scores)
    means = judge.position_means()
    gap, shift = float(np.ptp(means)), means - means.mean()
    family = spreads(found, SCALE - 1, rng, resamples=RESAMPLES)
    covered = [
        [_covers(t, one) for t, one in zip(shift, position_shift(part, SCALE - 1), strict=True)]
        for part in found
    ]
    place = [np.broadcast_to(PLACE[:, c], scores.shape[:2]) for c in range(N)]
    naive = [friedman(item_cells(scores[:, :, c], place[c], N)).p for c in range(N)]
    return {
        "cover position_shift": float(np.nanmean(covered)),
        "cover delta_pos": float(np.nanmean([_covers(gap, one) for one in family.each])),
        "cover mean_delta_pos": _covers(gap, family.mean),
        "cover max_delta_pos": _covers(gap, family.most),
        "reject friedman_p": float(np.mean([(friedman(p.cells).p or 0) <= 0.05 for p in found])),
        "reject friedman, blocks are responses": float(np.mean([(p or 0) <= 0.05 for p in naive])),
    }


def alignment(judge: Judge, groups: int, rng: np.random.Generator) -> Outcome:
    """Coverage of the macro-averages and of their difference between arms."""
    prompts, scores = judge.draw(groups, rng)
    fixed = judge.ask(prompts, np.tile(np.arange(N), (2 * N, 1)), rng)
    labels, x, other = prompts.labels(rng), scores.mean(axis=1), fixed.mean(axis=1)
    truth = judge.correlation(list(range(N)) * 2)  # ten reads, two at each place
    apart = truth - float(np.mean([judge.correlation([place] * 2 * N) for place in range(N)]))
    found = macro_r(x, labels, prompts.clusters, rng, resamples=RESAMPLES)
    gain = macro_delta_r(x, other, labels, prompts.clusters, rng, resamples=RESAMPLES)
    return {
        "cover pearson_r, mean over criteria": _covers(
            truth, Interval(found.value, found.low, found.high)
        ),
        "cover delta_r": _covers(apart, Interval(gain.value, gain.low, gain.high)),
    }


def studies() -> Iterator[tuple[str, Judge, bool]]:
    """Name, judge and whether alignment is studied too; lines of the table in order."""
    yield "no shift, prompts alike", Judge(), True
    yield "no shift, prompts differ", Judge(taste=0.5), False
    yield "no shift, hardly any noise", Judge(noise=0.15), False
    yield "no shift, few prompts move", Judge(noise=0.15, taste=1.5, rare=0.025), False
    yield "first place +.15", Judge(shift=(0.15, 0, 0, 0, 0)), False
    yield "first place +.4, prompts differ", Judge(shift=(0.4, 0, 0, 0, 0), taste=0.3), True
    yield "slope of .8 points", Judge(shift=(0.4, 0.2, 0, -0.2, -0.4), taste=0.3), True


def _run(task: tuple[int, int, int]) -> Outcome:
    number, groups, replications = task
    _, judge, aligned = list(studies())[number]
    rng = np.random.default_rng([SEED, number, groups])
    drawn = [positions(judge, groups, rng) for _ in range(replications)]
    outcome = {line: float(np.nanmean([one[line] for one in drawn])) for line in drawn[0]}
    if aligned:
        more = [alignment(judge, groups, rng) for _ in range(replications)]
        outcome |= {line: float(np.nanmean([one[line] for one in more])) for line in more[0]}
    return outcome


def table(replications: int) -> str:
    """The Markdown table: a line per study and statistic, a column per number of prompts."""
    cases = list(studies())
    tasks = [(n, g, replications) for n in range(len(cases)) for g in CLUSTERS]
    with Pool(2) as pool:
        found = dict(zip(tasks, pool.map(_run, tasks, chunksize=1), strict=True))
    rows = ["| data | statistic | " + " | ".join(f"G = {g}" for g in CLUSTERS) + " |"]
    rows.append("|---|---|" + "---|" * len(CLUSTERS))
    for number, (name, judge, _) in enumerate(cases):
        by_size = [found[number, g, replications] for g in CLUSTERS]
        for line in by_size[0]:
            cells = " | ".join(_cell(judge, line, outcome[line]) for outcome in by_size)
            rows.append(f"| {name} | {line} | {cells} |")
    return "\n".join(rows)


def _cell(judge: Judge, line: str, share: float) -> str:
    """The share, bold where it misses a target that applies to its line."""
    missed = False
    if line.startswith("cover"):
        most = 1.0 if "delta_pos" in line else 0.975
        missed = not 0.93 <= round(share, 3) <= most
    elif line == "reject friedman_p" and not any(judge.shift):
        missed = not 0.035 <= round(share, 3) <= 0.065
    return f"**{share:.3f}**" if missed else f"{share:.3f}"


def document(replications: int) -> str:
    """The committed page: what was simulated, the table, and how to read it."""
    error = float(np.sqrt(0.05 * 0.95 / replications))
    opening = INTRODUCTION.format(replications=replications, seed=SEED, error=error)
    return "\n".join([opening, table(replications), "", READING])


if __name__ == "__main__":
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(document(int(sys.argv[1]) if len(sys.argv) > 1 else REPLICATIONS), "utf-8")
