"""Coverage and size of the statistics of listwise consensus; writes docs/proof.

Run as `python -m proof.listwise_consensus [data sets per line]`; a few minutes on two cores.
The simulated judge is that of `axes/listwise_consensus/_simulated.py`, written again over arrays.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judgesheet.axes.listwise_consensus import agreement, decisions, places
from judgesheet.axes.listwise_consensus._design import sequences
from judgesheet.axes.listwise_consensus._lists import DIRECTLY, Arm, Lists, Runs, Table
from judgesheet.keys import Key
from judgesheet.records import Estimate

Floats = NDArray[np.float64]
Rng = np.random.Generator

SEED = 20_241_103
REPLICATIONS = 1_000
PROMPTS = (12, 44, 150)
EXACT_BELOW = 30
"""Prompts below which the sharp null draws permutations: exact, slow, and so not simulated."""
TRUTH_PROMPTS, TRUTH_ROUNDS = 4_000, 5
N, REPEATS, AGAIN = 4, 7, 2
TARGET = Path(__file__).parents[1] / "docs" / "proof" / "listwise_consensus.md"

INTRODUCTION = """\
# Proof: the statistics of listwise consensus

Simulated judges score lists of four answers, one of them right, under the eight balanced orders;
the canonical order is read seven times, two of the others twice. G prompts; {replications:,} data
sets a line, seed {seed}. Truths are the same figures over {truth:,} prompts. Made by
`python -m proof.listwise_consensus`. The Monte Carlo standard error of .95 and .05 is {error:.3f};
a figure that misses its target by more than two of these is printed in bold.

- *cover*: share of 95 % intervals that hold the truth; families are averaged over their members.
  Target .93-.975; above .9 and below .1 a rate may cover more.
- *reject*: share of data sets with p <= .05. The sharp null holds in "order-blind" only, the weak
  null and the sign test's "no gain" wherever the truth says so; target at most .065 there. The sign
  test is exact and so conservative. Under 30 prompts the sharp null draws permutations and is
  exact; that is not simulated.
"""
READING = """\
## Reading

- The gain's interval treats prompts as pairs and covers also where hardly any decision changes.
- A judge that favours other places in every prompt (last but one) depends on the order without
  favouring a place: the sharp test may say so, the weak one must not.
- `error_correlation` with a dozen prompts covers as little as .87; its note says so under 20
  prompts.
- Errors that all orders share bound what consensus can gain: compare the truths of `gain` in "no
  shared errors" and "shared errors".
"""


@dataclass(frozen=True)
class Chosen(Lists):
    """Readings of which only the arms in the table are decided."""

    @cached_property
    def arms(self) -> tuple[Arm, ...]:
        """One call, and the deepest of the other arms; the paper's K."""
        return (DIRECTLY, Arm("repeated", 7), Arm("permuted", 7), Arm("permuted", 8))


@dataclass(frozen=True)
class Judge:
    """Points added to the right answer, per place, and the standard deviations of the errors.

    `wander` is the sd of a preference for places that each prompt has of its own.
    """

    gap: float = 15.0
    slots: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    shared: float = 10.0
    perturb: float = 0.0
    wander: float = 0.0
    noise: float = 8.0
    unsure: float = 0.1

    def ask(self, prompts: int, rng: Rng) -> Lists:
        """What it answers on so many prompts."""
        orders = np.array(sequences(N))
        place = np.broadcast_to(np.argsort(orders, axis=1), (prompts, len(orders), N))
        gold = np.eye(N, dtype=bool)[rng.integers(N, size=prompts)]
        worth = self.gap * gold + rng.normal(0, self.shared, (prompts, N))
        own = rng.normal(0, self.wander, (prompts, N))
        own -= own.mean(axis=1, keepdims=True)
        liking = np.array(self.slots) + own
        means = 50 + worth[:, None] + np.take_along_axis(liking[:, None], place, axis=2)
        means = means + rng.normal(0, self.perturb, means.shape)
        repeated = self._runs(means[:, :1], REPEATS, rng)[:, 0]
        permuted = self._runs(means, 2, rng)
        permuted.scores[:, 0], permuted.marks[:, 0] = repeated.scores[:, :2], repeated.marks[:, :2]
        rows, others = np.arange(prompts)[:, None], np.arange(len(orders) - 1)
        often = (others - rows * AGAIN) % len(others) < AGAIN
        permuted.scores[:, 1:, 1][~often] = np.nan
        table = Table(permuted, repeated, repeated[:, 0], place, gold, executions=1)
        return Chosen((table,), int(rng.integers(2**31)))

    def _runs(self, means: Floats, reads: int, rng: Rng) -> Runs:
        """Scores and marks (prompts, orders, reads, n)."""
        shape = (*means.shape[:2], reads, N)
        scores = np.clip(np.rint(means[:, :, None] + rng.normal(0, self.noise, shape)), 0, 100)
        return Runs(scores, rng.random(shape) < self.unsure)


JUDGES = {
    "order-blind, no shared errors": Judge(shared=0.0, gap=8.0),
    "order-blind, shared errors": Judge(),
    "first place favoured": Judge(slots=(12.0, 0.0, 0.0, 0.0)),
    "every prompt favours other places": Judge(wander=8.0),
    "errors differ by order": Judge(perturb=10.0, shared=5.0),
}

FAMILIES = {
    "accuracy": decisions.accuracy,
    "gain": decisions.gain,
    "gain_over_repeated": decisions.gain_over_repeated,
    "change_rate": decisions.change_rate,
    "win_share": places.win_share,
    "order_flip_rate": places.order_flip_rate,
    "repeat_flip_rate": places.repeat_flip_rate,
    "excess_flip_rate": places.excess_flip_rate,
    "order_agreement": agreement.order_agreement,
    "error_correlation": agreement.error_correlation,
}
TESTS = {
    "order_dependence_p": places.order_dependence_p,
    "position_bias_p": places.position_bias_p,
}
SHOWN = {
    "accuracy": (
        "accuracy[arm=direct,k=1]",
        "accuracy[arm=permuted,k=7]",
        "accuracy[arm=permuted,k=8]",
    ),
    "gain": ("gain[arm=repeated,k=7]", "gain[arm=permuted,k=8]"),
    "gain_over_repeated": ("gain_over_repeated[k=7]",),
    "change_rate": ("change_rate[arm=permuted,k=8]",),
}
"""Members of long families that stand in the table; of the others the mean over all."""


def _estimates(lists: Lists, *, tests: bool) -> Iterator[tuple[str, Estimate]]:
    few = len(lists.main.gold) < EXACT_BELOW
    names = [name for name in TESTS if tests and not (few and name == "order_dependence_p")]
    for name in [*FAMILIES, *names]:
        for estimate in {**FAMILIES, **TESTS}[name](lists):
            local = Key.parse(estimate.key).local
            if name not in SHOWN or local in SHOWN[name]:
                yield local, estimate


def truths(judge: Judge) -> dict[str, float]:
    """Every figure over so many prompts that chance hardly matters."""
    rng = np.random.default_rng([SEED, 0])
    rounds = [
        {name: e.value or 0.0 for name, e in _estimates(judge.ask(TRUTH_PROMPTS, rng), tests=False)}
        for _ in range(TRUTH_ROUNDS)
    ]
    return {name: float(np.mean([one[name] for one in rounds])) for name in rounds[0]}


@dataclass
class Tally:
    """Hits and trials per line of the table."""

    hits: dict[str, float] = field(default_factory=dict)
    trials: dict[str, int] = field(default_factory=dict)

    def add(self, line: str, hit: bool) -> None:
        """Count one data set."""
        self.hits[line] = self.hits.get(line, 0.0) + hit
        self.trials[line] = self.trials.get(line, 0) + 1

    def share(self, line: str) -> float:
        """Hits per trial; NaN without any."""
        return self.hits[line] / self.trials[line] if self.trials.get(line) else float("nan")


def run(judge: Judge, truth: dict[str, float], prompts: int, replications: int) -> Tally:
    """Coverage and rejections over data sets of one size."""
    rng, tally = np.random.default_rng([SEED, prompts]), Tally()
    for _ in range(replications):
        lists = judge.ask(prompts, rng)
        for local, estimate in _estimates(lists, tests=True):
            name = Key.parse(estimate.key).name
            line = name if name == "win_share" else local
            if name in TESTS and estimate.value is not None:
                tally.add(f"reject {line}", estimate.value <= 0.05)
            elif estimate.low is not None and estimate.high is not None:
                inside = estimate.low - 1e-9 <= truth[local] <= estimate.high + 1e-9
                tally.add(f"cover {line}", inside)
        for estimate in decisions.sign_test_p(lists):
            dims = Key.parse(estimate.key).dims
            if dims == {"arm": "permuted", "k": "8"} and estimate.value is not None:
                tally.add("reject sign_test_p[arm=permuted,k=8]", estimate.value <= 0.05)
    return tally


def _run(task: tuple[str, dict[str, float], int, int]) -> Tally:
    """The tally of one judge at one number of prompts."""
    name, truth, prompts, replications = task
    return run(JUDGES[name], truth, prompts, replications)


def table(replications: int) -> str:
    """The Markdown table: a line per judge and statistic, a column per number of prompts."""
    cells = [(name, prompts) for name in JUDGES for prompts in PROMPTS]
    with Pool(2) as pool:
        truth_of = dict(zip(JUDGES, pool.map(truths, JUDGES.values(), chunksize=1), strict=True))
        tasks = [(name, truth_of[name], prompts, replications) for name, prompts in cells]
        found = dict(zip(cells, pool.map(_run, tasks, chunksize=1), strict=True))
    rows = ["| judge | statistic | truth | " + " | ".join(f"G = {g}" for g in PROMPTS) + " |"]
    rows.append("|---|---|---|" + "---|" * len(PROMPTS))
    for name in JUDGES:
        tallies = [found[name, prompts] for prompts in PROMPTS]
        for line in tallies[-1].hits:
            told = truth_of[name].get(line.removeprefix("cover "))
            shares = [tally.share(line) for tally in tallies]
            shown = " | ".join(_cell(line, told, name, one, replications) for one in shares)
            rows.append(f"| {name} | {line} | {'' if told is None else f'{told:.3f}'} | {shown} |")
    return "\n".join(rows)


def _cell(line: str, truth: float | None, judge: str, share: float, replications: int) -> str:
    """The share, bold where it misses the target of its line by more than chance would."""
    doubt = 2 * (0.05 * 0.95 / replications) ** 0.5
    least, most = 0.93, 0.975
    if line.startswith("reject"):
        least, most = 0.0, 0.065
        sharp, weak = "order_dependence_p" in line, "position_bias_p" in line
        if (sharp and "blind" not in judge) or (weak and "first" in judge) or "sign_test" in line:
            most = 1.0  # no null holds
    elif truth is not None and not 0.1 <= truth <= 0.9:
        most = 1.0
    if np.isnan(share):
        return "–"
    missed = not least - doubt <= share <= most + doubt
    return f"**{share:.3f}**" if missed else f"{share:.3f}"


def document(replications: int) -> str:
    """The committed page: what was simulated, the table, and how to read it."""
    error = float(np.sqrt(0.05 * 0.95 / replications))
    opening = INTRODUCTION.format(
        replications=replications, seed=SEED, error=error, truth=TRUTH_PROMPTS * TRUTH_ROUNDS
    )
    return "\n".join([opening, table(replications), "", READING])


if __name__ == "__main__":
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(document(int(sys.argv[1]) if len(sys.argv) > 1 else REPLICATIONS), "utf-8")
