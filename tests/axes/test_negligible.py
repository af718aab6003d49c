"""What is sure and too small to matter is a note; what is sure and large is a problem."""

from collections.abc import Iterator

import pytest

from judgesheet.axes import all_axes
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Estimate, Statement


def figure(key: str, value: float, half: float = 0.0, unit: str = "share") -> Estimate:
    return Estimate(key, key, value, value - half, value + half, unit=unit, n=9600, clusters=240)


def rubric(extra: float) -> Iterator[Estimate]:
    """A sure preference for position 1, which gets so much more than a fifth."""
    yield figure("score_order.chi2", 90, unit="chi-square")
    yield figure("score_order.order_dependence_p", 1e-9, unit="p")
    yield figure("score_order.cramers_v", extra, 0.01, "V")
    yield figure("score_order.position_share[position=1]", 0.2 + extra, 0.005)
    for position in range(2, 6):
        yield figure(f"score_order.position_share[position={position}]", 0.2 - extra / 4, 0.005)
    yield figure("score_order.order_change_rate", 0.3 + extra, 0.01)
    yield figure("score_order.repeat_change_rate", 0.3, 0.01)
    yield figure("score_order.excess_change_rate", extra, 0.01)


def ranked(extra: float) -> Iterator[Estimate]:
    """A sure preference for place 1 of four, which gets so much more than a quarter."""
    yield figure("listwise_consensus.order_dependence_p", 1e-9, unit="p")
    yield figure("listwise_consensus.win_share[position=1]", 0.25 + extra, 0.005)
    for position in range(2, 5):
        yield figure(f"listwise_consensus.win_share[position={position}]", 0.25 - extra / 3, 0.005)


def said(axis: str, estimates: Iterator[Estimate], about: str) -> Statement:
    found = all_axes()[axis].find(Estimates(axis, estimates))
    return next(one for one in found if about in one.text)


@pytest.mark.parametrize(("extra", "tone"), [(0.01, "neutral"), (0.3, "bad")])
@pytest.mark.parametrize(
    ("axis", "of", "about"),
    [
        ("score_order", rubric, "listed at position 1"),
        ("score_order", rubric, "in another order changes"),
        ("listwise_consensus", ranked, "at place 1 wins"),
    ],
)
def test_only_what_matters_is_a_problem(
    axis: str, of: object, about: str, extra: float, tone: str
) -> None:
    assert callable(of)
    statement = said(axis, of(extra), about)
    assert statement.tone == tone
    assert ("measured, but small" in statement.text) == (tone == "neutral")
