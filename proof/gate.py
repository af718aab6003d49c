"""False passes and power of the gate on rates; writes docs/proof/gate.md.

Run as `python -m proof.gate [data sets per line]`; a few minutes on two cores.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judgesheet.stats.interval import cluster_rate, wilson

SEED = 20_261_121
REPLICATIONS = 4_000
MOST_FALSE_PASSES = 0.06
LIMITS = (0.05, 0.10, 0.25)
ICCS = (0.0, 0.1, 0.2, 0.4)
DESIGNS = ((10, 6), (20, 6), (40, 6), (100, 6), (20, 20))
"""Stimuli, and calls or pairs on each."""
TARGET = Path(__file__).parents[1] / "docs" / "proof" / "gate.md"

INTRODUCTION = """\
# Proof: the gate on rates

A judge's rate on each stimulus is drawn from a beta law with the given mean and intraclass
correlation (ICC), its calls from that rate; {replications:,} data sets a line, seed {seed}. Made by
`python -m proof.gate`. The Monte Carlo standard error of .05 is {error:.4f}.

The rate goes the way of every other (`stats.interval.cluster_rate`, `Interval.bounds`), and
the gate asks for `max = limit`. A floor (`min`) is the same mirrored.

- *false pass*: the true rate is the limit, and the gate says it is below. Target at most .06;
  above it a figure is in bold.
- *false break*: the true rate is the limit, and the gate says it is above.
- *point*, *calls*: false passes of a gate that looks at the value alone, and of one that takes the
  calls as independent (one-sided Wilson).
- *power*: the true rate is half the limit (a fifth), and the gate says it is below the limit.
"""
READING = """\
## Reading

- A gate on the value passes half of the judges that sit exactly on the limit, one that counts calls
  as independent up to {calls:.0%}. This one passes {typical:.1%} on average, and at most
  {worst:.1%} where the ICC is .2 or less.
- {bold}
  With many calls on few stimuli that differ a lot, one or two stimuli carry all the hits, and the
  data may not show how strongly the calls are correlated. More stimuli mend it, more calls do not.
- Power is bought with stimuli: a judge at half of a limit of 5 or 10 % is seldom proven with 20 of
  them. `judgesheet gate` says how many more would decide.
"""


@dataclass(frozen=True)
class Line:
    """One row of the table."""

    limit: float
    icc: float
    stimuli: int
    calls: int
    false_pass: float
    false_break: float
    point: float
    naive: float
    power: float
    power_fifth: float


Ints = NDArray[np.int64]


def draw(p: float, icc: float, stimuli: int, calls: int, rng: np.random.Generator) -> Ints:
    """Hits per stimulus."""
    rates = (
        np.full(stimuli, p)
        if icc == 0
        else rng.beta(p * (1 - icc) / icc, (1 - p) * (1 - icc) / icc, stimuli)
    )
    return rng.binomial(calls, rates)


def bounds(hits: Ints, calls: int) -> tuple[float, float]:
    """The one-sided bounds as a datasheet carries them."""
    found = cluster_rate(hits, np.full(hits.size, calls))
    assert found.bounds is not None  # noqa: S101
    return found.bounds


def line(task: tuple[float, float, tuple[int, int], int]) -> Line:
    """Simulate one row."""
    limit, icc, (stimuli, calls), replications = task
    rng = np.random.default_rng([SEED, int(1000 * limit), int(100 * icc), stimuli, calls])
    n, sums = stimuli * calls, np.zeros(6)
    for _ in range(replications):
        at = draw(limit, icc, stimuli, calls, rng)
        low, high = bounds(at, calls)
        naive = wilson(float(at.sum()), n, 0.9).high  # its upper end is one-sided at .95
        half = bounds(draw(limit / 2, icc, stimuli, calls, rng), calls)[1]
        fifth = bounds(draw(limit / 5, icc, stimuli, calls, rng), calls)[1]
        sums += (
            high <= limit,
            low > limit,
            at.sum() / n <= limit,
            naive is not None and naive <= limit,
            half <= limit,
            fifth <= limit,
        )
    return Line(limit, icc, stimuli, calls, *map(float, sums / replications))


def table(lines: list[Line]) -> Iterator[str]:
    """The rows as Markdown."""
    yield (
        "| limit | ICC | stimuli x calls | false pass | false break | point | calls | power (half) "
        "| power (fifth) |"
    )
    yield "|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for one in lines:
        passed = f"{one.false_pass:.3f}"
        passed = f"**{passed}**" if one.false_pass > MOST_FALSE_PASSES else passed
        yield (
            f"| {one.limit:.2f} | {one.icc:.1f} | {one.stimuli} x {one.calls} | {passed} | "
            f"{one.false_break:.3f} | {one.point:.2f} | {one.naive:.3f} | {one.power:.2f} | "
            f"{one.power_fifth:.2f} |"
        )


def reading(lines: list[Line]) -> str:
    """The reading, with its figures from the lines."""
    mean = float(np.mean([one.false_pass for one in lines]))
    usual = [one.false_pass for one in lines if one.icc <= 0.2]
    over = [one for one in lines if one.false_pass > MOST_FALSE_PASSES]
    worst = ", ".join(
        f"{one.false_pass:.3f} (limit {one.limit:.0%}, ICC {one.icc}, {one.stimuli} x {one.calls})"
        for one in over
    )
    return READING.format(
        calls=max(one.naive for one in lines),
        typical=mean,
        worst=max(usual),
        bold=f"Above .06: {worst}." if over else "No line is above .06.",
    )


def main() -> None:
    """Simulate every line and write the page."""
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else REPLICATIONS
    tasks = [(*cell, replications) for cell in product(LIMITS, ICCS, DESIGNS)]
    with Pool(2) as pool:
        lines = pool.map(line, tasks, chunksize=1)
    introduction = INTRODUCTION.format(
        replications=replications, seed=SEED, error=(0.05 * 0.95 / replications) ** 0.5
    )
    page = "\n".join([introduction, *table(lines), "", reading(lines)])
    TARGET.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
