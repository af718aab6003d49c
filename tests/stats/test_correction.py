"""Corrected means against what is known: published formulae, and data with a known answer."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from judgesheet.stats import simultaneous
from judgesheet.stats.correction import (
    Corrected,
    _Data,
    jeffreys,
    lee_ends,
    plain_mean,
    prediction_powered,
    rogan_gladen,
)
from judgesheet.stats.interval import Interval, always
from judgesheet.stats.simultaneous import differences, stands

SHARES = (0.0, 1.0)


def sample(rows: int, labelled: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    true = rng.random(rows) < 0.7
    said = np.where(true, rng.random(rows) < 0.9, rng.random(rows) < 0.2).astype(float)
    labels = np.where(np.arange(rows) < labelled, true.astype(float), np.nan)
    return said, labels


def test_the_interval_of_lee_et_al() -> None:
    # From the formulae of arXiv 2511.21140 for p = .5 of 10,000 and q0 = q1 = .9 of 5,000.
    low, high = lee_ends(0.5, 0.9, 0.9, 10_000, 5_000, 5_000, 0.95)
    z = 1.959964
    q = (5000 * 0.9 + 1) / 5002
    error = np.sqrt(0.25 / (10_000 + z * z) + 0.5 * q * (1 - q) / 5002) / (2 * q - 1)
    assert (low, high) == pytest.approx((0.5 - z * error, 0.5 + z * error), abs=1e-6)


def test_rogan_gladen_is_the_inverted_line_of_0_and_1() -> None:
    said, labels = sample(400, 150)
    known = ~np.isnan(labels)
    q1, q0 = said[known & (labels == 1)].mean(), 1 - said[known & (labels == 0)].mean()
    expected = (said[~known].mean() + q0 - 1) / (q0 + q1 - 1)
    found = rogan_gladen(said, labels, np.arange(400), SHARES).interval
    # The same data on another scale are no longer 0 and 1, and go through the line.
    scaled = rogan_gladen(said * 4 + 1, labels * 4 + 1, np.arange(400), (1.0, 5.0)).interval
    assert found.value == pytest.approx(expected)
    assert scaled.value == pytest.approx(1 + 4 * expected)
    assert found.low is not None
    assert scaled.low is not None
    assert 1 + 4 * found.low == pytest.approx(scaled.low, abs=0.25)


def test_parts_give_the_variance_that_resampling_gives() -> None:
    said, labels = sample(600, 200)
    rng = np.random.default_rng(1)
    for estimate in (prediction_powered, rogan_gladen):
        whole = estimate(said, labels, np.arange(600), SHARES)
        drawn = []
        for _ in range(400):
            at = rng.integers(600, size=600)
            drawn.append(estimate(said[at], labels[at], np.arange(600), SHARES).interval.value)
        assert float(np.sqrt((whole.parts**2).sum())) == pytest.approx(
            float(np.std([one for one in drawn if one is not None])), rel=0.15
        )


def test_a_judge_that_says_nothing_leaves_the_labels_alone() -> None:
    _, labels = sample(300, 60)
    silent = prediction_powered(np.ones(300), labels, np.arange(300), SHARES)
    alone = plain_mean(labels, np.arange(300), SHARES)
    assert silent.interval.at() == alone.interval.at()
    assert silent.interval.value == alone.interval.value


def test_a_good_judge_makes_the_interval_shorter_than_the_labels() -> None:
    said, labels = sample(2000, 100)
    powered = prediction_powered(said, labels, np.arange(2000), SHARES).interval
    alone = plain_mean(labels, np.arange(2000), SHARES).interval
    assert powered.low is not None
    assert powered.high is not None
    assert alone.low is not None
    assert alone.high is not None
    assert powered.high - powered.low < 0.85 * (alone.high - alone.low)


def test_rows_of_a_group_make_it_wider() -> None:
    said, labels = sample(100, 40)
    five = [np.repeat(one, 5) for one in (said, labels, np.arange(100))]
    wide = prediction_powered(five[0], five[1], five[2], SHARES).interval
    alone = prediction_powered(five[0], five[1], np.arange(500), SHARES).interval
    assert wide.low is not None
    assert wide.high is not None
    assert alone.low is not None
    assert wide.high - wide.low > 1.8 * ((alone.high or 0) - alone.low)


@pytest.mark.parametrize("seed", range(3))
def test_intervals_of_few_labels_hold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    held = 0
    for number in range(200):
        said, labels = sample(500, 20, seed=int(rng.integers(2**31)) + number)
        found = prediction_powered(said, labels, np.arange(500), SHARES).interval
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.7 <= found.high
    assert held >= 180


@pytest.mark.parametrize("estimate", [prediction_powered, rogan_gladen])
def test_intervals_hold_where_one_document_has_most_of_the_labels(
    estimate: Callable[..., Corrected],
) -> None:
    rng = np.random.default_rng(5)
    held = asked = 0
    for _ in range(200):
        found = estimate(*documents(rng), SHARES).interval
        if found.low is not None and found.high is not None:
            asked += 1
            held += found.low <= 0.5 <= found.high
    assert held >= 0.93 * asked


def documents(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sixty documents, of which few have most questions, fifteen of them labelled; half pass."""
    sizes = np.clip((rng.pareto(1.1, 60) * 4).astype(int), 1, 300)
    document = np.repeat(np.arange(60), sizes)
    passes, right = rng.beta(7 / 6, 7 / 6, 60), rng.beta(8, 2, 60)
    true = (rng.random(document.size) < passes[document]).astype(float)
    said = np.where(rng.random(document.size) < right[document], true, 1 - true)
    asked = np.isin(document, rng.permutation(60)[:15])
    return said, np.where(asked, true, np.nan), document


def test_documents_of_one_size_count_in_full() -> None:
    five = np.repeat(np.arange(12), 5)
    data = _Data.of(np.ones(60), np.where(five < 8, 1.0, np.nan), five, SHARES)
    assert (data.evenness, data.labelled_groups) == (1, 8)
    assert data.informative(8) == 7


def test_jeffreys_reaches_the_ends() -> None:
    assert jeffreys(0, 0, 0.95) == (0.0, 1.0)
    assert jeffreys(0, 10, 0.95)[0] == 0
    assert jeffreys(10, 10, 0.95)[1] == 1


def test_many_differences_hold_together_as_few_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the covariance of every two, which of 300 estimates is larger than most machines."""
    parts = np.random.default_rng(0).normal(0, 0.01, (60, 12))
    each = [Interval(0.5, always(0.35, 0.65), 60)] * 12
    few = differences(each, parts)
    monkeypatch.setattr(simultaneous, "FEW", 10)
    many = differences(each, parts)
    for pair, one in few.items():
        assert many[pair].high == pytest.approx(one.high, rel=0.02)
    monkeypatch.undo()
    wide = np.random.default_rng(0).normal(0, 0.01, (8, 60))
    tracemalloc.start()
    differences([Interval(0.5, always(0.4, 0.6), 8)] * 60, wide)
    assert tracemalloc.get_traced_memory()[1] < 2e7
    tracemalloc.stop()


def test_differences_of_equal_estimates_are_nothing() -> None:
    parts = np.random.default_rng(0).normal(size=(50, 2)) / 50
    same = Interval(0.5, always(0.4, 0.6), 50)
    twice = np.stack([parts[:, 0], parts[:, 0], parts[:, 1]], axis=1)
    far = Interval(0.9, always(0.8, 1.0), 50)
    found = differences([same, same, far], twice)
    assert found[0, 1].low == pytest.approx(0)
    assert found[0, 1].high == pytest.approx(0)
    assert [stands(one) for one in found.values()] == [False, True, True]
