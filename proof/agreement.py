"""Kappa with people, on scores and on pairs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgesheet import axis, stats
from judgesheet.axes import all_axes, candidate_order
from judgesheet.axes.candidate_order.ask import BASELINE
from judgesheet.axes.candidate_order.pairs import Group, Pairs
from judgesheet.axis.figure import Figure
from judgesheet.axis.labels import Reference
from judgesheet.axis.scored import Rows as Verdicts
from judgesheet.stats.pairwise import FIRST, SECOND, TIE
from proof.lines import Line, Rng, Rows, Tally, Truths, estimates, population
from proof.runner import Result
from proof.tables import figures

DEPENDS_ON = (stats, axis, candidate_order)
SIZES = {12: 400, 24: 300, 100: 150}
POPULATION = 20_000, 2
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Judge:
    """How far readings lie from what is read, in its standard deviations.

    `order` is what an order adds on an item, `noise` what a call adds, `people` what a person adds.
    Items of a stimulus share a third of their variance. On a share `lost` of stimuli nothing but
    the order decides.
    """

    order: float = 0.3
    noise: float = 0.5
    people: float = 0.7
    lost: float = 0.0

    def draw(self, stimuli: int, rng: Rng, items: int = 4) -> "Drawn":
        """Readings (items, 4 orders, 2 repeats) and ratings of two people, as standard scores."""
        cluster = np.repeat(np.arange(stimuli), items)
        truth = np.sqrt(1 / 3) * rng.normal(size=stimuli)[cluster]
        truth += np.sqrt(2 / 3) * rng.normal(size=len(cluster))
        order, noise = rng.normal(size=(len(cluster), 4, 1)), rng.normal(size=(len(cluster), 4, 2))
        reads = truth[:, None, None] + self.order * order + self.noise * noise
        lost = (rng.random(stimuli) < self.lost)[cluster]
        reads[lost] = 1.5 * (order + 0.1 * noise)[lost]
        return Drawn(
            reads, truth[:, None] + self.people * rng.normal(size=(len(cluster), 2)), cluster
        )


@dataclass(frozen=True)
class Drawn:
    """What a judge read, (items, orders, repeats), and people rated, (items, people)."""

    reads: Floats
    ratings: Floats
    cluster: NDArray[np.int64]

    def scores(self) -> Any:
        """Scores of 1 to 5 from judge and people."""
        cuts = [-1.2, -0.4, 0.4, 1.2]
        reads, ratings = (
            np.searchsorted(cuts, one).astype(np.float64) + 1 for one in (self.reads, self.ratings)
        )
        known = Reference("human", ratings.mean(axis=1), ratings)
        rows = Verdicts("Verdict", {}, reads, self.cluster, np.arange(len(reads)), 5)
        return SimpleNamespace(rows=[rows], references={"": known})

    def pairs(self) -> Any:
        """Verdicts on own pairs in both orders."""
        contents = np.where(np.abs(self.reads) < 0.4, 0.0, np.sign(self.reads))[:, :2]
        slots = contents * np.array([1, -1])[:, None]
        verdicts = np.select([slots > 0, slots < 0], [FIRST, SECOND], TIE).astype(np.int64)
        cells = {"better": np.where(self.ratings[:, 0] > 0, "u", "v"), "cluster": self.cluster}
        asked = np.ones(verdicts.shape[:2], dtype=bool)
        own = Pairs(pd.DataFrame(cells), verdicts, asked)
        group = Group(own, BASELINE, {"set": "natural"}, "own pairs")
        return SimpleNamespace(rungs=[group])


WAYS: Mapping[str, str] = {
    "score_order": "scores",
    "candidate_order": "pairs",
}
"""What an axis makes of the readings."""
JUDGES = {
    "a noisy judge": Judge(),
    "hardly any noise": Judge(order=0.05, noise=0.1),
    "the order decides as much as what is read": Judge(order=1.0),
    "hardly any noise, but the order decides on a tenth of stimuli": Judge(
        order=0.05, noise=0.1, lost=0.1
    ),
}


def _figures(name: str) -> list[Figure[Any]]:
    return [all_axes()[name].ESTIMATES["quality_kappa"]]


def _draw(judge: Judge, name: str, stimuli: int, rng: Rng) -> Any:
    return getattr(judge.draw(stimuli, rng), WAYS[name])()


def _truths(judge: Judge) -> Truths:
    found: dict[str, float] = {}
    for name in WAYS:
        found |= population(_figures(name), partial(_draw, judge, name), *POPULATION)
    return found


def _run(judge: Judge, size: int, sets: int, rng: Rng, truths: Truths) -> Rows:
    tally = Tally(names_axes=True)
    for _ in range(sets):
        tally.next()
        for name in WAYS:
            for estimate in estimates(_figures(name), _draw(judge, name, size, rng)):
                tally.judge(estimate, truths)
    return tally.rows()


def lines() -> Iterator[Line]:
    """Every judge at every size."""
    for data, judge in JUDGES.items():
        for size, sets in SIZES.items():
            yield Line(data, size, sets, partial(_run, judge, size), partial(_truths, judge))


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    filled = figures(results)
    return {name: filled[name] for name in ("legend", "judges", "misses")}
