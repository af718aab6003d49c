"""Whether the order matters anywhere: one test of all stimuli together, on every axis."""

import json
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from judgesheet.axis.order_test import ORDER_TEST
from judgesheet.decide.effects import TESTS
from tests.simulate import simulate
from tests.test_edges import CHOOSE, rewritten

AXES = [*CHOOSE]
"""The axes of which the tests know how an answer prefers a place."""
ORDER_ERROR = TESTS[ORDER_TEST]
GOOD = "fair?width=0.2"
Edit = Callable[[pd.DataFrame], pd.DataFrame]


@pytest.mark.parametrize("axis", AXES)
def test_a_judge_that_all_stimuli_show_to_be_biased_is_announced(axis: str) -> None:
    assert simulate("first-biased", "quick", axis).value(ORDER_TEST) < ORDER_ERROR


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("spec", ["fair", "noisy"])
def test_a_judge_that_is_blind_to_the_order_is_not(axis: str, spec: str) -> None:
    sheet = simulate(spec, "quick", axis)
    assert sheet.value(ORDER_TEST) > ORDER_ERROR


def own_places(axis: str, calls: float) -> Edit:
    """On every stimulus a place of its own is preferred, in this share of calls."""

    def edit(frame: pd.DataFrame) -> pd.DataFrame:
        places = frame["cell"].map(lambda cell: len(json.loads(cell)["order"]))
        place = pd.factorize(frame["stimulus"])[0] % places
        chosen = np.random.default_rng(0).random(len(frame)) < calls
        for at in place.unique():
            frame = rewritten(frame, axis, np.flatnonzero((place == at) & chosen).tolist(), at)
        return frame

    return edit


@pytest.mark.parametrize("axis", AXES)
def test_effects_that_cancel_in_averages_are_a_problem(axis: str) -> None:
    sheet = simulate(GOOD, "standard", axis, edit=own_places(axis, 0.7))
    assert sheet.value(ORDER_TEST) < ORDER_ERROR


@pytest.mark.parametrize(
    ("axis", "average", "limit"),
    [("score_order", "cramers_v", 0.15), ("criterion_order", "max_delta_pos", 0.5)],
)
def test_excess_changes_see_what_cancels_in_averages(axis: str, average: str, limit: float) -> None:
    sheet = simulate(GOOD, "standard", axis, edit=own_places(axis, 1.0))
    assert sheet.value(average) < limit
    excess = sheet["excess_change_rate"]
    assert excess.bounds is not None
    assert excess.bounds.low > 0.25, "the limit of the shipped policies"
    assert "excess_change_rate" in sheet.shown()


def test_pairs_that_were_each_read_once_in_both_orders_are_tested_together() -> None:
    """No task has more than two calls, which alone could show nothing."""

    def edit(frame: pd.DataFrame) -> pd.DataFrame:
        cells = frame["cell"].map(json.loads)
        pair = cells.map(lambda cell: (cell["pair"], cell["condition"]))
        chosen = cells.map(lambda cell: cell["condition"] == "delta0_same")
        firsts = pair[chosen].groupby(frame["stimulus"]).first()
        keep = pair == frame["stimulus"].map(firsts)
        prompt = cells.map(lambda cell: cell["prompt"] == "baseline")
        listing = cells.map(lambda cell: cell["listing"] == "1|2|tie")
        return frame[keep & prompt & listing].reset_index(drop=True)

    sheet = simulate("always-1", "quick", "candidate_order", edit=edit)
    assert sheet.value(ORDER_TEST) < ORDER_ERROR


@pytest.mark.parametrize("axis", AXES)
def test_a_judge_that_answers_alike_everywhere_shows_nothing(axis: str) -> None:
    assert simulate("constant", "quick", axis).value(ORDER_TEST) == 1


def test_an_order_in_pairs_is_distinguished_from_noise() -> None:
    """A coin changes its verdict in half of the pairs, but to either side."""
    coin = simulate("random", "quick", "candidate_order")
    slot = simulate("fair?slot=8", "quick", "candidate_order")
    for sheet, by_order in ((coin, False), (slot, True)):
        assert sheet.value("order_inconsistent[set=same_subset]") > 0.3
        assert (sheet.value(ORDER_TEST) < ORDER_ERROR) == by_order
