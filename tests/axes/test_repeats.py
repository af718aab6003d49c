"""What repeats tell of noise: not where a cache answers them."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from judgesheet.axes import get_axis
from judgesheet.axis import Readings
from judgesheet.axis.order_test import ORDER_TEST
from judgesheet.axis.repeats import control
from judgesheet.base.estimates import Estimates
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import Datasheet, MeasuredSheet
from judgesheet.decide import decide
from judgesheet.decide.policy import load
from judgesheet.measuring.measure import measure_wanted
from tests.simulate import ORDER_AXES, Sheet, parsed, simulate

RATES = frozenset(f"{of}_{what}_rate" for of in ("order", "repeat") for what in ("change", "flip"))
ASKING_TWICE = [name for name in ORDER_AXES if RATES & get_axis(name).ESTIMATES.keys()]


def from_a_cache(frame: pd.DataFrame) -> pd.DataFrame:
    """Every repeat is answered as the first call was, whichever arm it is for."""
    prompt = frame["cell"].map(lambda cell: json.dumps({**json.loads(cell), "arm": ""}))
    again = frame.groupby([frame["stimulus"], prompt])["text"]
    return frame.assign(text=again.transform("first"))


@pytest.mark.parametrize("axis", ASKING_TWICE)
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


@pytest.mark.parametrize("spec", ["noisy", "fair"])
def test_one_reply_given_twice_is_no_second_call(spec: str) -> None:
    """Exchanged with calls under other orders it would look like an order that is preferred."""
    cached = simulate(spec, "quick", "listwise_consensus", edit=from_a_cache)
    sampled = Sheet(cached.plan, cached.axis, replace(cached.readings, temperature=1.0))
    assert sampled.value(ORDER_TEST) > 0.05
    assert not sampled.shown()


def test_of_one_reply_given_twice_no_change_beyond_noise_is_said() -> None:
    cached = simulate("noisy", "quick", "listwise_consensus", edit=from_a_cache)
    made = decided(Sheet(cached.plan, cached.axis, replace(cached.readings, temperature=1.0)))
    status = {verdict.key: verdict.status for verdict in made.verdicts}
    assert status["listwise_consensus.excess_flip_rate"] == "invalid"
    assert not any(one.verdict == "shown" for one in made.axes[0].effects)


def decided(sheet: Sheet) -> Datasheet:
    return decide(
        MeasuredSheet("", JudgeIdentity(), RunFacts(complete=True), Provenance(), (sheet.result,)),
        load("order-only"),
    )
