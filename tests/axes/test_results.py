"""The titles of plots say what one sees in them, by intervals and never against the findings."""

from dataclasses import replace

import pytest

from judgesheet.axes import all_axes, get_axis
from judgesheet.axis.results import orders_enough
from judgesheet.base.estimates import Estimates
from judgesheet.base.keys import Key
from judgesheet.base.records import AxisResult, Plot
from tests.simulate import ORDER_AXES, simulate

JUDGES = ("fair", "first-biased", "constant", "noisy", "random", "position-only")
LONGEST = 75
"""Characters of a title on one line and a half of a column."""


def plots(result: AxisResult, estimates: Estimates) -> list[Plot]:
    return [plot for plot in get_axis(result.name).plots(estimates) if plot.result]


def by_intervals(plot: Plot) -> bool:
    """Of these curves the sheet has no intervals; their titles say what an advice says."""
    return not {"budget_r"} & set(plot.families)


@pytest.mark.parametrize("axis", all_axes())
@pytest.mark.parametrize("spec", JUDGES)
def test_no_title_knows_what_the_findings_do_not(spec: str, axis: str) -> None:
    result = simulate(spec, "quick", axis).result
    for plot in result.figures:
        names = {*plot.families, *plot.shows}
        tones = {
            finding.tone
            for finding in result.findings
            if names & {Key.parse(key).name for key in finding.evidence}
        }
        assert not plot.result or tones != {"unknown"}, plot.result
        assert len(plot.result) <= LONGEST


@pytest.mark.parametrize("axis", ORDER_AXES)
@pytest.mark.parametrize("spec", ["first-biased", "position-only"])
def test_intervals_decide_titles_and_values_do_not(spec: str, axis: str) -> None:
    """With the widest intervals around the same values nothing is shown."""
    result = simulate(spec, "quick", axis).result
    known = Estimates(axis, result.estimates)
    assert any(map(by_intervals, plots(result, known)))
    wide = Estimates(
        axis,
        (
            replace(e, low=-1e3, high=1e3, imputed=None) if e.low is not None
            else replace(e, value=0.5 if e.unit == "p" else e.value)
            for e in result.estimates
        ),
    )  # fmt: skip
    assert [plot.result for plot in plots(result, wide) if by_intervals(plot)] == []


def told(spec: str, axis: str, title: str) -> str:
    figures = simulate(spec, "quick", axis).result.figures
    return next(plot.result for plot in figures if plot.title == title)


def test_a_planted_preference_is_the_title_and_a_fair_judge_has_none() -> None:
    for axis, title, words in (
        ("score_order", "Where the chosen score stood", "place 1"),
        ("listwise_consensus", "Where the winner stood", "Place 1"),
        ("criterion_order", "Position gap by criterion", "5 of 5"),
    ):
        assert words in told("first-biased", axis, title)
        assert words not in told("fair", axis, title)
    assert "Slot 1" in told("position-only", "candidate_order", "Which slot wins?")
    assert not told("fair", "candidate_order", "Which slot wins?")


def test_how_many_orders_are_enough_is_told_of_scores_that_follow_quality() -> None:
    for spec, tells in (("first-biased", True), ("random", False)):
        result = simulate(spec, "quick", "score_order").result
        assert bool(orders_enough(Estimates("score_order", result.estimates))) == tells
