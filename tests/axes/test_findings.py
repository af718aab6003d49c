"""What rooms of scores have in common: differences between arms, and how many orders are enough."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judgesheet.axis.differences import compared, delta_r
from judgesheet.axis.figure import UnkeyedEstimate
from judgesheet.axis.findings import enough
from judgesheet.axis.labels import Quality
from judgesheet.axis.scored import Compared
from judgesheet.base.estimates import Estimates
from judgesheet.base.missing_reasons import ONE_CLUSTER
from judgesheet.base.records import Estimate
from judgesheet.stats.correlation import DeltaR
from judgesheet.stats.interval import without_interval


def budget(figure: str, *values: float | None) -> list[Estimate]:
    return [
        Estimate(f"any.{figure}[k={k},arm=balanced]", "r", value, note="why")
        for k, value in enumerate(values, start=1)
    ]


def test_the_smallest_number_near_the_end_is_enough() -> None:
    few = enough(Estimates("any", budget("budget_r", 0.50, 0.59, 0.60)))
    assert few is not None
    assert (few.k, few.orders) == (2, 3)
    assert few.single.value == 0.50


def test_where_every_order_is_needed_all_are_named() -> None:
    few = enough(Estimates("any", budget("budget_r", 0.50, 0.55, 0.60)))
    assert few is not None
    assert few.averaging("the list", "its r") == (
        "Average over all 3 orders of the list: fewer do not bring its r within 0.02 of that "
        "of all orders."
    )


@pytest.mark.parametrize("unknown", [(), (None, 0.6), (None, None)])
def test_without_known_quality_no_number_is_enough(unknown: tuple[float | None, ...]) -> None:
    assert enough(Estimates("any", budget("budget_r", *unknown))) is None


def gains(pairs: list[Compared]) -> Iterable[UnkeyedEstimate]:
    scores: Any = SimpleNamespace(compared=pairs, temperature=0.7, quality=lambda: Quality(""))
    return delta_r.unkeyed(scores)


def test_only_arms_that_were_read_equally_often_are_compared() -> None:
    arms = {arm: np.zeros((4, reads)) for arm, reads in
            (("balanced", 10), ("fixed", 1), ("random", 10))}  # fmt: skip

    def difference(base: str, other: str) -> DeltaR:
        assert (base, other) == ("balanced", "random")
        return DeltaR(0.1, 0.0, 0.2, n=4)

    fixed, random = gains(compared(arms, difference))
    assert fixed.interval.reason == "unequal_reads"
    assert "10 and 1 readings" in fixed.interval.note
    assert random.interval.value == 0.1
    assert dict(random.dims) == {"arms": "balanced-random"}
    [fixed] = gains(compared(arms, None))
    assert fixed.interval.value is None


def test_a_figure_without_a_value_keeps_its_clusters_and_names_no_method() -> None:
    estimate = UnkeyedEstimate(
        "p", without_interval(None, clusters=7, method="exact"), n=9, note="said before"
    )
    absent = estimate.or_absent(ONE_CLUSTER)
    assert (absent.interval.clusters, absent.n) == (7, 9)
    assert (absent.interval.method, absent.note) == ("", "")
    assert absent.interval.reason == ONE_CLUSTER.code
