"""More labels: does the interval halve where that was said, and which rows are named?"""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
import pytest

from judgesheet.correcting.labelled import estimate
from judgesheet.correcting.labelling import labelling
from judgesheet.correcting.result import Labelling
from judgesheet.correcting.sample import Sample
from judgesheet.stats.bradley_terry import strengths
from judgesheet.stats.interval import Interval

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True)
class Evaluation:
    """Documents of some rows each, with what people and a judge say of every row."""

    said: Floats
    true: Floats
    document: np.ndarray[tuple[int], np.dtype[np.int64]]
    scale: tuple[float, float]

    @classmethod
    def scores(cls, documents: int, rows: int, rng: np.random.Generator) -> "Evaluation":
        document = np.repeat(np.arange(documents), rows)
        level = 3.2 + rng.normal(0, 0.7, documents)[document]
        true = np.clip(np.round(level + rng.normal(0, 0.8, document.size)), 1, 5)
        said = np.clip(np.round(0.7 * true + 0.5 + rng.normal(0, 0.6, document.size)), 1, 5)
        return cls(said, true, document, (1.0, 5.0))

    @classmethod
    def passes(cls, documents: int, rows: int, rng: np.random.Generator) -> "Evaluation":
        document = np.repeat(np.arange(documents), rows)
        chance = rng.beta(2.1, 0.9, documents)[document] if rows > 1 else 0.7
        true = (rng.random(document.size) < chance).astype(np.float64)
        said = np.where(rng.random(document.size) < 0.88, true, 1 - true)
        return cls(said, true, document, (0.0, 1.0))

    def labelled(self, known: np.ndarray) -> tuple[float, Labelling | None]:
        """Width of the interval with labels on these rows, and what is said of more."""
        labels = np.where(known, self.true, np.nan)
        ids = tuple(f"row {number}" for number in range(known.size))
        groups = tuple(f"document {number:04}" for number in self.document)
        sample = Sample("", ids, groups, self.said, labels, np.zeros(known.size))
        found = estimate(sample, "random", self.scale, self.scale)
        plan = labelling(sample, found.foreseen, "random")
        return width(found.interval), plan


def width(interval: Interval) -> float:
    assert interval.low is not None
    assert interval.high is not None
    return interval.high - interval.low


SETTINGS = {
    "scores, 12 of 200 documents of four": ("scores", 200, 4, 12, True),
    "scores, 20 of 200 rows": ("scores", 200, 1, 20, False),
    "scores, 60 single rows of 200 documents": ("scores", 200, 4, 60, False),
    "passes, 100 of 1000 rows": ("passes", 1000, 1, 100, False),
    "passes, 20 of 300 documents of four": ("passes", 300, 4, 20, True),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_as_many_more_labels_as_are_asked_for_halve_the_interval(setting: str) -> None:
    kind, documents, rows, labels, whole = SETTINGS[setting]
    rng, ratios, of_all = np.random.default_rng(4), [], []
    for _ in range(16):
        table = getattr(Evaluation, kind)(documents, rows, rng)
        units = table.document if whole else np.arange(table.document.size)
        order = rng.permutation(units.max() + 1)
        now, plan = table.labelled(np.isin(units, order[:labels]))
        assert plan is not None
        assert plan.best_width is not None
        every, nothing = table.labelled(np.ones(units.size, dtype=bool))
        assert nothing is None, "nothing is left to label"
        of_all.append(plan.best_width / every)
        if plan.more is not None:
            more = round(plan.more / rows) if whole else plan.more
            ratios.append(table.labelled(np.isin(units, order[: labels + more]))[0] / now)
    assert len(ratios) >= 4
    assert 0.45 <= np.median(ratios) <= 0.6
    assert np.median(of_all) == pytest.approx(1, abs=0.2)


def test_documents_that_were_labelled_whole_are_named_whole() -> None:
    table = Evaluation.scores(40, 4, np.random.default_rng(1))
    _, plan = table.labelled(table.document < 10)
    assert plan is not None
    named = [int(name.removeprefix("row ")) for name in plan.next]
    of = table.document[named]
    assert min(of) >= 10
    assert all(np.bincount(of)[of] == 4)


def test_more_labels_on_strengths_halve_the_widest_interval() -> None:
    rng, ratios = np.random.default_rng(2), []
    pairs, level = np.array([(0, 1), (1, 2), (0, 2)]), np.array([0.8, 0.0, -0.8])
    for _ in range(12):
        first, second = pairs[rng.integers(3, size=1500)].T
        chance = 1 / (1 + np.exp(level[second] - level[first]))
        true = (rng.random(1500) < chance).astype(np.float64)
        said = np.where(rng.random(1500) < 0.8, true, 1.0)
        known = [np.where(np.arange(1500) < labels, true, np.nan) for labels in range(60, 1500)]
        few = strengths(first, second, said, known[0], np.arange(1500), 3)
        assert few.foresee is not None
        foreseen, now = few.foresee(0), width(few.intervals[0])
        more = bisect_left(range(1440), -now / 2, key=lambda n: -width(foreseen(1 + n / 60)))
        if more < len(known):
            many = strengths(first, second, said, known[more], np.arange(1500), 3)
            ratios.append(width(many.intervals[0]) / now)
    assert len(ratios) >= 8
    assert 0.45 <= np.median(ratios) <= 0.6
