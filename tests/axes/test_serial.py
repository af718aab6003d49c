"""Memory and drift on every axis: of calls that were asked, in the sequence of the plan."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Readings
from judgesheet.axis.serial import CAVEAT, NAMES, NOT_RANDOM
from judgesheet.base.records import Call, Estimate
from judgesheet.measuring.measure import COLUMNS, measure_axis, parse_rows
from tests.simulate import planned, simulate

AXES = [name for name, axis in all_axes().items() if axis.ESTIMATES.keys() >= NAMES]


class Copying:
    """A judge that gives its last verdict again in half of the calls, else any."""

    def __init__(self, share: float) -> None:
        self.rng, self.share, self.last = np.random.default_rng(0), share, 3

    def says(self, call: Call) -> Any:
        """A verdict as records hold it."""
        if self.rng.random() >= self.share:
            self.last = int(self.rng.integers(1, 6))
        order = call.cell["order"]
        if call.axis == "candidate_order":
            return 1 + self.last % 2
        if call.axis == "score_order":
            return min(self.last, call.cell["scale"])
        if call.axis == "criterion_order":
            return dict.fromkeys(order, self.last)
        return {name: {"score": 10 * self.last, "uncertain": False} for name in order}


def _estimates(axis: str, share: float, reply: str = "text") -> tuple[Mapping[str, Estimate], Any]:
    """What the figures say of the plan's calls, answered in their sequence."""
    room, judge = get_axis(axis), Copying(share)
    # Eight calls on a list are few to remember something in.
    profile = "standard" if axis == "listwise_consensus" else "quick"
    plan = planned(profile, axis, 0, False, None)
    rows = [
        (call.id, axis, call.stimulus, json.dumps(call.cell), call.repeat, "recorded", "ok",
         json.dumps(judge.says(call)))
        for call in plan.calls
    ]  # fmt: skip
    frame = parse_rows(room, pd.DataFrame(rows, columns=list(COLUMNS))).assign(reply=reply)
    families = None if reply == "recorded" else NAMES  # a sheet of records names all that they lack
    result, _ = measure_axis(room, Readings(frame, plan.labels, 0.0, 0, families))
    return {e.key.partition(".")[2]: e for e in result.estimates}, result.caveats


@pytest.mark.parametrize("axis", AXES)
def test_a_judge_that_copies_its_last_verdict_is_told(axis: str) -> None:
    estimates, caveats = _estimates(axis, 0.5)
    test, memory = estimates["memory_p"], estimates["memory"]
    assert test.value is not None
    assert test.value < CAVEAT
    assert memory.low is not None
    assert memory.low > 0
    assert any("the one before" in caveat for caveat in caveats)


@pytest.mark.parametrize("axis", AXES)
def test_recorded_calls_were_not_asked_in_random_order(axis: str) -> None:
    estimates, caveats = _estimates(axis, 0.5, reply="recorded")
    assert {estimates[name].reason for name in NAMES} == {NOT_RANDOM.code}
    assert not any("the one before" in caveat for caveat in caveats)


def of_the_call_before(frame: pd.DataFrame) -> pd.DataFrame:
    """Every reply is that to the call before."""
    return frame.assign(text=frame["text"].shift(fill_value=frame["text"].iloc[0]))


@pytest.mark.parametrize("axis", ["score_order", "criterion_order"])
@pytest.mark.parametrize("spec", ["good", "fair", "first-biased"])
def test_replies_that_are_one_call_late_fail_a_control(axis: str, spec: str) -> None:
    late = simulate(spec, "quick", axis, edit=of_the_call_before, families=NAMES)
    assert late["late"].value == pytest.approx(1, abs=0.15)
    assert "one call late" in late["late"].label
    (failed,) = (one for one in late.result.controls if one.passed is False)
    assert (failed.code, failed.of, failed.touches) == ("own_replies", "run", ("*",))


@pytest.mark.parametrize("axis", ["score_order", "criterion_order", "listwise_consensus"])
@pytest.mark.parametrize("spec", ["good", "noisy", "first-biased", "constant", "random"])
def test_replies_to_their_own_calls_pass_it(axis: str, spec: str) -> None:
    result = simulate(spec, "quick", axis, families=NAMES).result
    assert not [one for one in result.controls if one.code == "own_replies"]


@pytest.mark.parametrize("axis", ["score_order", "criterion_order"])
def test_a_judge_that_copies_its_last_verdict_now_and_then_is_not_late(axis: str) -> None:
    rng = np.random.default_rng(0)

    def copying(calls: pd.DataFrame) -> pd.DataFrame:
        text = calls["text"].to_numpy(copy=True)
        for call in range(1, len(text)):
            text[call] = text[call - 1] if rng.random() < 0.2 else text[call]
        return calls.assign(text=text)

    sheet = simulate("good", "quick", axis, edit=copying, families=NAMES)
    assert sheet["late"].value == pytest.approx(0.2, abs=0.1)
    assert not [one for one in sheet.result.controls if one.code == "own_replies"]
