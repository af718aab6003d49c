"""The exact interval of a rate of clusters, against scipy's."""

import numpy as np
import pytest
from scipy.stats import binomtest

from judgesheet.stats.exact import exact_rate


@pytest.mark.parametrize("hits", [0, 7, 40])
def test_its_ends_are_clopper_and_pearsons_and_its_bounds_err_twice_as_often(hits: int) -> None:
    found = exact_rate(np.arange(40) < hits, np.ones(40, bool))
    wanted = [binomtest(hits, 40).proportion_ci(level, "exact") for level in (0.95, 0.90)]
    assert (found.low, found.high) == pytest.approx((wanted[0].low, wanted[0].high))
    assert found.bounds == pytest.approx((wanted[1].low, wanted[1].high))
