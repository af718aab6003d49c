import numpy as np
import pytest
from scipy.special import ndtri

from judgesheet.stats.interval import cluster_rate
from judgesheet.stats.spending import Spending, crossing, nominal, obrien_fleming, pocock
from judgesheet.stats.unseen import clusters_for, unseen_share

QUARTERS = (0.25, 0.5, 0.75, 1.0)


@pytest.mark.parametrize(
    ("spending", "published"),
    [
        # Reboussin, DeMets, Kim, Lan (2000), Controlled Clinical Trials 21, 190-207: two-sided .05
        (obrien_fleming, (4.333, 2.963, 2.359, 2.014)),
        (pocock, (2.368, 2.368, 2.358, 2.350)),
    ],
)
def test_bounds_of_four_looks_are_the_published_ones(
    spending: Spending, published: tuple[float, ...]
) -> None:
    bounds = -ndtri(nominal(QUARTERS, 0.025, spending))
    assert bounds == pytest.approx(published, abs=6e-4)


@pytest.mark.parametrize("spending", [obrien_fleming, pocock])
@pytest.mark.parametrize("shares", [QUARTERS, (1.0,), (0.4, 0.6, 0.8, 0.9, 1.0), (0.999, 1.0)])
def test_all_looks_together_spend_alpha(spending: Spending, shares: tuple[float, ...]) -> None:
    assert spending(1.0, 0.05) == pytest.approx(0.05)
    tails = nominal(shares, 0.05, spending).tolist()
    assert crossing(shares, tails) == pytest.approx(0.05, abs=1e-7)
    for n in range(1, len(shares)):
        assert crossing(shares[:n], tails[:n]) == pytest.approx(spending(shares[n - 1], 0.05))


def test_one_look_has_the_whole_error_and_peeking_more() -> None:
    assert nominal([1.0], 0.05)[0] == pytest.approx(0.05)
    assert crossing(QUARTERS, [0.05] * 4) > 0.11


@pytest.mark.parametrize("shares", [(), (0.0, 1.0), (0.5, 0.5, 1.0), (0.8, 0.4)])
def test_looks_must_go_on(shares: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="rising shares"):
        nominal(shares, 0.05)


def test_the_level_reaches_interval_bounds_and_room_for_unseen_stimuli() -> None:
    hits, calls = np.arange(24) % 3 == 0, np.full(24, 4)
    usual = cluster_rate(hits, calls)
    surer = usual.at(0.99)
    assert unseen_share(24, 0.99) == pytest.approx(1 - 0.01 ** (1 / 24))
    assert usual.at() == usual.at(0.95)
    assert surer.low is not None
    assert usual.low is not None
    assert surer.low < usual.low
    assert surer.bounds is not None
    assert usual.bounds is not None
    assert surer.low < surer.bounds[0] < usual.bounds[0]
    none = cluster_rate(np.zeros(24), calls).at(0.99)
    assert none.high is not None
    assert none.high >= 1 - 0.01 ** (1 / 24)
    assert clusters_for(0.1) == 29
    assert clusters_for(0.1, 0.99) == 44
