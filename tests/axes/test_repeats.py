"""What repeats tell of noise: not where a cache answers them, nor where they answer otherwise."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from judgesheet.axes import get_axis
from judgesheet.axis import Readings
from judgesheet.axis.repeats import control
from judgesheet.axis.statements import LOSS_ERROR
from judgesheet.base.estimates import Estimates
from judgesheet.base.records import Datasheet
from judgesheet.decide import decide
from judgesheet.decide.policy import load
from judgesheet.measuring.measure import measure_wanted
from tests.simulate import ORDER_AXES, Sheet, parsed, simulate

REPEATS = frozenset({"repeats_p"})
RATES = frozenset({"order_change_rate", "repeat_change_rate"})


def from_a_cache(frame: pd.DataFrame) -> pd.DataFrame:
    """Every repeat is answered as the first call was, whichever arm it is for."""
    prompt = frame["cell"].map(lambda cell: json.dumps({**json.loads(cell), "arm": ""}))
    again = frame.groupby([frame["stimulus"], prompt])["text"]
    return frame.assign(text=again.transform("first"))


@pytest.mark.parametrize("axis", ORDER_AXES)
@pytest.mark.parametrize(
    ("spec", "cached", "temperature", "fails"),
    [
        *(("noisy", False, 1.0, False), ("noisy", True, 1.0, True)),
        # Greedy replies agree; of records nothing is known; a judge without noise has no effect.
        *(("noisy", True, 0.0, False), ("noisy", True, None, False), ("good", True, 1.0, False)),
    ],
)
def test_repeats_that_never_differ_are_no_measure_of_noise(
    axis: str, spec: str, cached: bool, temperature: float | None, fails: bool
) -> None:
    profile = "standard" if axis == "candidate_order" else "quick"  # which asks nothing twice
    plan, rows = parsed(spec, profile, axis, edit=from_a_cache if cached else None)
    readings = Readings(rows, plan.labels, temperature, 0, RATES)
    found = control(readings, Estimates(axis, measure_wanted(get_axis(axis), readings).estimates))
    assert [one.code for one in found] == ["repeats_sampled"] * fails


def test_one_reply_given_twice_is_no_second_call() -> None:
    """Exchanged with calls under other orders it would look like an order that is preferred."""
    cached = simulate("fair", "quick", "listwise_consensus", edit=from_a_cache)
    sampled = replace(cached.readings, temperature=1.0)
    sheet = Sheet(cached.plan, cached.axis, sampled)
    assert sheet.value("anywhere_p") < LOSS_ERROR
    made = decided(sheet)
    status = {verdict.key: verdict.status for verdict in made.verdicts}
    assert status["listwise_consensus.excess_flip_rate"] == "void"
    (problem,) = (one for one in made.axes[0].findings if one.tone == "bad" and not one.void)
    assert "the repeats are no measure of noise" in problem.text


def at_random_when_asked_again(frame: pd.DataFrame) -> pd.DataFrame:
    """Any score where the same prompt was asked before."""
    rng = np.random.default_rng(0)
    scales = frame["cell"].map(lambda cell: json.loads(cell)["scale"])
    scores = [json.dumps({"score": int(rng.integers(1, scale + 1))}) for scale in scales]
    again = frame.groupby(["stimulus", "cell"]).cumcount() > 0
    return frame.assign(text=frame["text"].where(~again, pd.Series(scores, frame.index)))


def decided(sheet: Sheet) -> Datasheet:
    return decide(Datasheet("", {}, {"complete": True}, {}, (sheet.result,)), load("order-only"))


@pytest.mark.parametrize("spec", ["fair?width=0.6&interaction=3", "fair?width=0.6"])
def test_repeats_that_are_answered_otherwise_hide_no_effect_of_the_order(spec: str) -> None:
    sheet = simulate(spec, "quick", edit=at_random_when_asked_again)
    excess = sheet["excess_change_rate"]
    assert excess.high is not None
    assert excess.high < 0.15, "by its figure alone it would be proven"
    made = decided(sheet)
    verdict = next(one for one in made.verdicts if "excess_change_rate" in one.key)
    assert verdict.status == "void"
    assert made.decision is not None
    assert made.decision.verdict != "adopt"
    told = min(made.axes[0].findings, key=lambda finding: finding.rank)
    assert "the repeats are no measure of noise" in told.text


@pytest.mark.parametrize("axis", ORDER_AXES)
@pytest.mark.parametrize("spec", ["fair", "noisy", "random", "first-biased", "constant"])
def test_repeats_of_a_judge_that_knows_no_call_before_measure_noise(axis: str, spec: str) -> None:
    result = simulate(spec, "quick", axis, families=REPEATS).result
    assert not [one for one in result.controls if one.code == "repeats_alike"]


def test_the_order_in_which_records_were_made_is_not_known() -> None:
    """Sorted records may have the nearest reading first; that is no judge that changes its mind."""
    sheet = simulate("fair?width=0.6", "quick", edit=at_random_when_asked_again, families=REPEATS)
    assert sheet.value("repeats_p") < LOSS_ERROR
    plan, rows = parsed("fair?width=0.6", "quick", "score_order", edit=at_random_when_asked_again)
    readings = Readings(rows.assign(reply="recorded"), plan.labels, None, 0, REPEATS)
    (again,) = measure_wanted(get_axis("score_order"), readings).estimates
    assert again.value is not None
    assert again.value > sheet.value("repeats_p")
