from collections.abc import Mapping
from math import isnan
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from judgesheet.stats.multiplicity import holm, student_quantile, student_tail


@settings(max_examples=10)  # theirs takes 40 ms a call and more
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_is_statsmodels(p: list[float]) -> None:
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_untested_entries_pass_through() -> None:
    adjusted = holm([0.01, None, 0.04, float("nan"), 0.03])
    assert [adjusted[i] for i in (0, 2, 4)] == pytest.approx([0.03, 0.06, 0.06])
    assert adjusted[1] is None
    assert adjusted[3] is not None
    assert isnan(adjusted[3])
    assert holm([]) == ()


def test_table_2_after_holm(golden: Mapping[str, Any]) -> None:
    # 000 Table 2: 20 of 24 cells significant, 19 after Holm
    from scipy import stats

    cells = [
        chi2
        for name, entry in golden.items()
        if name.startswith("000.T4.") and name.endswith("n5")
        for chi2 in entry["inputs"]["chi2"]
    ]
    p = [float(stats.chi2.sf(chi2, 4)) for chi2 in cells]
    entry = golden["000.holm24"]
    assert sum(each < 0.05 for each in p) == entry["paper"]
    assert sum(each is not None and each < 0.05 for each in holm(p)) == entry["computed"]


@pytest.mark.parametrize("df", [1, 2, 3, 11, 12, 99, 1000])
def test_students_tail_without_numpy_is_scipys(df: int) -> None:
    from scipy import stats

    for t in (0.0, 0.5, 2.0, 4.0):
        assert student_tail(t, df) == pytest.approx(float(stats.t.sf(t, df)), rel=1e-9)
    assert student_quantile(0.01, df) == pytest.approx(float(stats.t.isf(0.01, df)), rel=1e-7)


def test_with_many_degrees_of_freedom_students_law_is_the_normal_one() -> None:
    assert student_tail(1.644854, 10**6) == pytest.approx(0.05, abs=1e-6)
