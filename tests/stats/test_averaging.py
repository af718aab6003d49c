import numpy as np
import pytest
from numpy.typing import NDArray

from judgesheet.stats.averaging import NO_REPEATS, averaging_gains
from judgesheet.stats.correlation import budget_r

Floats = NDArray[np.float64]
ITEMS, ORDERS = 400, 6


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def reads(order_sd: float, noise_sd: float, repeats: int = 2) -> tuple[Floats, Floats]:
    """Scores 1 * y + item-by-order effect + noise; shape (items, orders, repeats), and y."""
    draw = np.random.default_rng(3)
    y = draw.normal(size=ITEMS)
    order = order_sd * draw.normal(size=(ITEMS, ORDERS, 1))
    noise = noise_sd * draw.normal(size=(ITEMS, ORDERS, repeats))
    return y[:, None, None] + order + noise, y


def theory(variance: float, k: int) -> float:
    """r of the mean of k reads whose errors have this variance."""
    return float(1 / np.sqrt(1 + variance / k) - 1 / np.sqrt(1 + variance))


@pytest.mark.parametrize(("order_sd", "noise_sd"), [(0.0, 1.0), (1.0, 0.0), (0.8, 0.8)])
def test_the_gain_is_split_as_planted(order_sd: float, noise_sd: float) -> None:
    table, y = reads(order_sd, noise_sd)
    variance, single = order_sd**2 + noise_sd**2, budget_r(table[:, :, 0], y, rng())[0].value or 0
    repeatability = 1 - noise_sd**2 / (1 + variance)
    for gain in averaging_gains(table, y, np.arange(ITEMS), (2, 6), rng()):
        longer = np.sqrt(gain.k / (1 + (gain.k - 1) * repeatability))
        assert gain.noise.value == pytest.approx(single * (longer - 1), abs=0.03)
        total = theory(variance, gain.k)
        left = variance - noise_sd**2 * (1 - 1 / gain.k)
        noise = 1 / np.sqrt(1 + left) - 1 / np.sqrt(1 + variance)
        assert gain.total.value == pytest.approx(total, abs=0.03)
        assert gain.noise.value == pytest.approx(noise, abs=0.03)
        assert gain.order.value == pytest.approx(total - noise, abs=0.03)
        for one, truth in ((gain.noise, noise), (gain.order, total - noise)):
            if one.low is not None:
                assert one.low - 0.01 <= truth <= (one.high or 0) + 0.01


def test_the_total_is_that_of_the_budget_curve() -> None:
    table, y = reads(0.5, 0.5)
    table[3, 1, 0] = np.nan
    curve = budget_r(table[:, :, 0], y, rng())
    for gain in averaging_gains(table, y, np.arange(ITEMS), (2, 4, 6), rng()):
        expected = (curve[gain.k - 1].value or 0) - (curve[0].value or 0)
        assert gain.total.value == pytest.approx(expected, abs=1e-12)


def test_partly_repeated_cells_suffice() -> None:
    table, y = reads(0.5, 0.8, repeats=3)
    whole = averaging_gains(table, y, np.arange(ITEMS), (6,), rng())[0]
    keep = np.random.default_rng(1).random((ITEMS, ORDERS)) < 0.3
    table[:, :, 1:][~keep] = np.nan
    part = averaging_gains(table, y, np.arange(ITEMS), (6,), rng())[0]
    assert part.noise.value == pytest.approx(whole.noise.value, abs=0.02)


def test_without_repeats_only_the_total_is_known() -> None:
    table, y = reads(0.5, 0.5, repeats=1)
    [gain] = averaging_gains(table, y, np.arange(ITEMS), (6,), rng())
    assert gain.total.low is not None
    assert gain.noise.value is gain.order.value is None
    assert gain.noise.note == gain.order.note == NO_REPEATS.sentence


def test_a_judge_that_always_repeats_has_no_noise_to_lose() -> None:
    table, y = reads(1.0, 0.0)
    gain = averaging_gains(table, y, np.arange(ITEMS), (6,), rng())[0]
    assert gain.noise.value == 0
    assert gain.noise.low is None
    assert gain.noise.note
    assert (gain.order.low or 0) > 0.1


def test_a_judge_of_pure_noise_gains_nothing_it_can_prove() -> None:
    draw = np.random.default_rng(10)
    table, y = draw.normal(size=(60, ORDERS, 2)), draw.normal(size=60)
    gain = averaging_gains(table, y, np.arange(60), (6,), rng())[0]
    assert (gain.total.low or 0) <= 0 <= (gain.total.high or 0)


@pytest.mark.parametrize(
    ("table", "y", "note"),
    [
        (np.ones((5, 3, 2)), np.arange(5.0), "constant"),
        (np.random.default_rng(0).random((5, 3, 2)), np.ones(5), "constant"),
        (np.full((5, 3, 2), np.nan), np.arange(5.0), "fewer than three items"),
        (np.random.default_rng(0).random((5, 3, 2)), np.full(5, np.nan), "fewer than three items"),
    ],
)
def test_what_cannot_be_told_is_said(table: Floats, y: Floats, note: str) -> None:
    gain = averaging_gains(table, y, np.arange(5), (2, 3), rng())[0]
    assert gain.total.value is None
    assert note in gain.total.note


@pytest.mark.parametrize(("order_sd", "noise_sd"), [(0.0, 1.0), (0.7, 0.7)])
def test_intervals_cover(order_sd: float, noise_sd: float) -> None:
    """A judge whose score without noise correlates .8 with quality, 24 stimuli of 4 items."""
    draw = np.random.default_rng(9)
    variance = order_sd**2 + noise_sd**2
    left = variance - noise_sd**2 * (1 - 1 / ORDERS)
    total = 0.8 * theory(variance, ORDERS)
    noise = 0.8 * (1 / np.sqrt(1 + left) - 1 / np.sqrt(1 + variance))
    hits = np.zeros(3)
    group = np.repeat(np.arange(24), 4)
    for _ in range(120):
        score = 0.5 * draw.normal(size=24)[group] + 0.75**0.5 * draw.normal(size=group.size)
        y = 0.8 * score + 0.6 * draw.normal(size=group.size)
        order = order_sd * draw.normal(size=(group.size, ORDERS, 1))
        noises = noise_sd * draw.normal(size=(group.size, ORDERS, 2))
        table = score[:, None, None] + order + noises
        gain = averaging_gains(table, y, group, (ORDERS,), draw, resamples=300)[0]
        for place, (one, truth) in enumerate(
            [(gain.total, total), (gain.noise, noise), (gain.order, total - noise)]
        ):
            hits[place] += (one.low or 0) <= truth <= (one.high or 0)
    assert np.all(hits / 120 > 0.87), hits
