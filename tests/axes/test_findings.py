"""What rooms of scores have in common: differences between arms, and how many orders are enough."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judgesheet.axis.differences import compared, delta_r
from judgesheet.axis.effect import averaging
from judgesheet.axis.figure import UnkeyedEstimate
from judgesheet.axis.labels import Quality
from judgesheet.axis.scored import Compared
from judgesheet.base.estimates import Estimates
from judgesheet.base.missing_reasons import ONE_CLUSTER
from judgesheet.base.records import Estimate
from judgesheet.stats.correlation import DeltaR
from judgesheet.stats.interval import always, without_interval


def budget(figure: str, *values: float | None) -> list[Estimate]:
    return [
        Estimate(f"any.{figure}[k={k},arm=balanced]", "r", value, note="why")
        for k, value in enumerate(values, start=1)
    ]


@pytest.mark.parametrize(
    ("values", "calls"),
    [((0.5, 0.59, 0.6, 0.6), 3), ((0.5, 0.52, 0.55, 0.6), 4), ((0.5, 0.6), 2)],
)
def test_as_many_readings_are_averaged_as_come_near_all_and_three_at_least(
    values: tuple[float, ...], calls: int
) -> None:
    (remedy,) = averaging(Estimates("any", budget("budget_r", *values)), "list")
    assert (remedy.calls, remedy.before) == (calls, "any.budget_r[k=1,arm=balanced]")
    assert remedy.after == f"any.budget_r[k={calls},arm=balanced]"


@pytest.mark.parametrize("unknown", [(), (None, 0.6), (None, None)])
def test_without_known_quality_no_number_is_enough(unknown: tuple[float | None, ...]) -> None:
    assert not [*averaging(Estimates("any", budget("budget_r", *unknown)), "list")]


def gains(pairs: list[Compared]) -> Iterable[UnkeyedEstimate]:
    scores: Any = SimpleNamespace(compared=pairs, temperature=0.7, quality=lambda: Quality(""))
    return delta_r.unkeyed(scores)


def test_only_arms_that_were_read_equally_often_are_compared() -> None:
    arms = {arm: np.zeros((4, reads)) for arm, reads in
            (("balanced", 10), ("fixed", 1), ("random", 10))}  # fmt: skip

    def difference(base: str, other: str) -> DeltaR:
        assert (base, other) == ("balanced", "random")
        return DeltaR(0.1, always(0.0, 0.2), n=4)

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
