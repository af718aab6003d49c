"""Agreement with people beyond chance, against replies of which it is known."""

from types import SimpleNamespace

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from judgesheet.axis.arrays import Floats
from judgesheet.axis.beyond_chance import OTHER_SCALE, quality_kappa
from judgesheet.axis.labels import Kind, Reference
from judgesheet.axis.scored import Rows
from judgesheet.base.records import LEVEL, Estimate


def _rows(reads: Floats, name: str = "", scale: int | None = 5) -> Rows:
    items = np.arange(len(reads))
    return Rows("Score", {"criterion": name} if name else {}, reads, items, items, scale)


def _by_dims(estimates: tuple[Estimate, ...]) -> dict[str, Estimate]:
    return {estimate.key.partition("[")[2].rstrip("]"): estimate for estimate in estimates}


def _scores(*rows: Rows, ratings: Floats, kind: Kind | None = "human") -> SimpleNamespace:
    known = Reference(kind, np.nanmean(ratings, axis=1), ratings)
    names = [str(row.dims.get("criterion", "")) for row in rows] or [""]
    return SimpleNamespace(rows=rows, references=dict.fromkeys(names, known))


@pytest.fixture
def reads() -> Floats:
    """Scores 1 to 5 of 30 items under 4 orders, each read twice; the order adds to some."""
    rng = np.random.default_rng(3)
    item, order = rng.normal(3, 1, (30, 1, 1)), rng.normal(0, 0.6, (30, 4, 1))
    return np.clip(np.round(item + order + rng.normal(0, 0.3, (30, 4, 2))), 1, 5)


def test_every_response_counts_the_same_with_people(reads: Floats) -> None:
    ratings = np.round(reads[:, 0, :1])
    ratings = np.concatenate([ratings, np.clip(ratings + 1, 1, 5)], axis=1)
    ratings[::2, 1] = np.nan
    one = reads[:, :1, :1]
    estimates = _by_dims(quality_kappa(_scores(_rows(one), ratings=ratings), LEVEL))
    table = np.zeros((5, 5))
    for score, given in zip(one.ravel(), ratings, strict=True):
        known = given[~np.isnan(given)]
        for rating in known:
            table[int(score) - 1, int(rating) - 1] += 1 / len(known)
    for name in ("none", "quadratic"):
        want = cohens_kappa(table, wt=None if name == "none" else name, return_results=False)
        assert estimates[f"weights={name}"].value == pytest.approx(want)


@pytest.mark.parametrize("ratings", [2.5, 7.0])
def test_another_scale_gives_no_kappa(reads: Floats, ratings: float) -> None:
    estimates = quality_kappa(_scores(_rows(reads), ratings=np.full((30, 1), ratings)), LEVEL)
    assert {estimate.reason for estimate in estimates} == {OTHER_SCALE.code}
