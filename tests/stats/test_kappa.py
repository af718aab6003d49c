"""Kappa against statsmodels, and what its interval promises."""

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa as theirs

from judgesheet.base.missing_reasons import CONSTANT, NO_OBSERVATIONS, ONE_CLUSTER
from judgesheet.stats import kappa
from judgesheet.stats.correlation import DEGENERATE_WITHOUT_ONE
from judgesheet.stats.interval import Interval
from judgesheet.stats.kappa import Level, cohens_kappa


def _ratings(
    rng: np.random.Generator, clusters: int, items: int, raters: int, noise: float
) -> tuple[np.ndarray, np.ndarray]:
    """Scores 1 to 4 of items that share a part of their cluster -> (units, raters), labels."""
    truth = rng.normal(size=(clusters, 1)) + rng.normal(size=(clusters, items))
    seen = truth.reshape(-1, 1) + noise * rng.normal(size=(clusters * items, raters))
    return np.searchsorted([-1.0, 0.0, 1.0], seen) + 1.0, np.repeat(np.arange(clusters), items)


@pytest.mark.parametrize(("level", "weights"), [("nominal", None), ("interval", "quadratic")])
def test_kappa_is_that_of_statsmodels(level: Level, weights: str | None) -> None:
    scores, labels = _ratings(np.random.default_rng(1), 12, 5, 2, 0.8)
    table = np.zeros((4, 4))
    np.add.at(table, tuple(scores.astype(int).T - 1), 1)
    want = theirs(table, wt=weights, return_results=False)
    assert cohens_kappa(scores[:, 0], scores[:, 1], labels, level).value == pytest.approx(want)


@pytest.mark.parametrize("level", ["nominal", "interval"])
def test_pairs_looked_at_some_at_a_time_give_the_same(
    level: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores, labels = _ratings(np.random.default_rng(4), 12, 5, 2, 0.8)
    whole = cohens_kappa(scores[:, 0], scores[:, 1], labels, level)
    monkeypatch.setattr(kappa, "PAIRS_AT_ONCE", 7)
    parts = cohens_kappa(scores[:, 0], scores[:, 1], labels, level)
    assert (parts.value, parts.at()) == (whole.value, whole.at())


def test_a_pair_counts_by_its_weight() -> None:
    a, b = np.array([1.0, 2, 2, 1, 2]), np.array([1.0, 2, 1, 1, 2])
    labels = np.arange(5)
    thrice = [np.repeat(column, [1, 1, 3, 1, 1]) for column in (a, b, labels)]
    once = cohens_kappa(a, b, labels, weights=np.array([1.0, 1, 3, 1, 1]))
    again = cohens_kappa(thrice[0], thrice[1], thrice[2])
    assert once.value == pytest.approx(again.value)


@pytest.mark.parametrize("level", ["nominal", "interval"])
def test_two_that_always_agree_may_not_on_other_stimuli(level: Level) -> None:
    same = np.tile([1.0, 2.0, 3.0], 8)
    few, many = (cohens_kappa(np.tile(same, n), np.tile(same, n), np.arange(24 * n), level)
                 for n in (1, 4))  # fmt: skip
    assert few.value == few.high == 1.0
    assert few.low is not None
    assert many.low is not None
    assert 0.7 < few.low < many.low < 0.99


def test_no_stimulus_disagrees_more_than_is_possible() -> None:
    # A share of 1 - .05^(1/12) = .221 may differ wholly; of five categories chance differs in .8.
    five = np.tile([1.0, 2, 3, 4, 5], 12)
    assert cohens_kappa(five, five, np.repeat(np.arange(12), 5)).low == pytest.approx(
        1 - 0.221 / 0.8, abs=0.001
    )


def test_one_stimulus_that_disagrees_is_one_of_so_many() -> None:
    five = np.tile([1.0, 2, 3, 4, 5], 24)
    other = np.concatenate([np.roll(five[:5], 1), five[5:]])
    kappa = cohens_kappa(five, other, np.repeat(np.arange(24), 5))
    # One of 24 is at most .211 (Clopper and Pearson, two-sided), of .8 by chance.
    assert kappa.low == pytest.approx(1 - 0.211 / 0.8, abs=0.01)


@pytest.mark.parametrize("level", ["nominal", "interval"])
def test_opposites_are_below_chance(level: Level) -> None:
    one = np.tile([1.0, 2.0], 12)
    interval = cohens_kappa(one, 3 - one, np.arange(24), level)
    assert interval.value == pytest.approx(-1.0)
    assert interval.high is not None
    assert interval.high < 0


def test_what_cannot_be_reported_has_a_reason() -> None:
    nothing, one = np.full(3, np.nan), np.ones(3)
    assert cohens_kappa(nothing, one, np.arange(3)).reason == NO_OBSERVATIONS.code
    assert cohens_kappa(one, one, np.arange(3)).reason == CONSTANT.code
    mixed = np.array([1.0, 2.0, 2.0])
    assert cohens_kappa(mixed, mixed, np.zeros(3)).reason == ONE_CLUSTER.code
    odd = cohens_kappa([1.0, 1, 2], [1.0, 1, 2], np.arange(3))
    assert (odd.value, odd.low, odd.reason) == (1.0, None, DEGENERATE_WITHOUT_ONE.code)


def test_names_need_no_order() -> None:
    scores, labels = _ratings(np.random.default_rng(4), 20, 3, 2, 0.8)
    renamed = np.array([np.nan, 7.0, -2.0, 100.0, 3.0])[scores.astype(int)]
    first, second = (
        cohens_kappa(scores[:, 0], scores[:, 1], labels),
        cohens_kappa(renamed[:, 0], renamed[:, 1], labels),
    )
    assert first.value == pytest.approx(second.value)
    assert first.low == pytest.approx(second.low)


def _kappa(scores: np.ndarray, labels: np.ndarray, level: Level) -> Interval:
    return cohens_kappa(scores[:, 0], scores[:, 1], labels, level)


@pytest.mark.parametrize("noise", [0.3, 1.0])
@pytest.mark.parametrize("level", ["nominal", "interval"])
def test_intervals_cover_over_clusters(noise: float, level: Level) -> None:
    rng = np.random.default_rng(5)
    truth = _kappa(*_ratings(rng, 20_000, 4, 2, noise), level).value
    intervals = [_kappa(*_ratings(rng, 24, 4, 2, noise), level) for _ in range(100)]
    # 95 of 100 or more: below 88 in less than one of 200 such tests.
    assert sum(one.low <= truth <= one.high for one in intervals) >= 88  # type: ignore[operator]
