"""Chance adds most to a V without bias: a difference from it must not come out too small."""

from functools import cache

import pytest

from judgesheet.axes import get_axis
from judgesheet.axis import Readings
from judgesheet.base.datasheet import by_key, from_json, to_json
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import Datasheet, MeasuredSheet
from judgesheet.decide import decide
from judgesheet.decide.baseline import against
from judgesheet.decide.compare import Comparison, Difference, compare
from judgesheet.decide.paired import pairings
from judgesheet.decide.policy import parse
from judgesheet.measuring.measure import measure_axis
from tests.simulate import parsed

AXIS = "score_order"
V = f"{AXIS}.cramers_v"
TRUE = 0.160
"""The V of `noisy?first=0.7` over the balanced orders, by enumeration."""
FAIR, BIASED = "noisy?seed=216", "noisy?first=0.7&seed=316"
WAYS = ("two runs", "two sheets")


@cache
def run(spec: str) -> tuple[Datasheet, Readings]:
    plan, rows = parsed(spec, "quick", AXIS)
    families = frozenset({"cramers_v", "cramers_v_debiased"})
    readings = Readings(rows, plan.labels, 0.0, 0, families)
    result = measure_axis(get_axis(AXIS), readings)
    return decide(
        MeasuredSheet("2.0", JudgeIdentity(spec), RunFacts(), Provenance(), (result,))
    ), readings


@cache
def compared(old: str, new: str, way: str) -> Comparison:
    (before, mine), (after, theirs) = run(old), run(new)
    pairs = (
        pairings({AXIS: mine}, {AXIS: theirs}, {V, f"{V}_debiased"}) if way == "two runs" else None
    )
    return compare(before, after, pairs)


def row(made: Comparison) -> Difference:
    return next(one for one in made.differences if one.key == V)


@pytest.mark.parametrize("way", WAYS)
def test_a_judge_that_got_worse_by_the_margin_does_not_pass_by_the_baselines_noise(
    way: str,
) -> None:
    made = compared(FAIR, BIASED, way)
    policy = parse(f'name = "x"\n[[regression]]\nkey = "{V}"\nmargin = {TRUE}', "x.toml")
    (verdict,) = against(made, policy)
    assert verdict.status == "inconclusive"
    found = row(made)
    assert found.value is not None
    assert found.value < TRUE - 0.05  # V of the fair judge is estimated as .082
    assert found.low is not None
    assert found.high is not None
    assert found.low < TRUE < found.high
    assert found.without_chance


@pytest.mark.parametrize("way", WAYS)
def test_getting_better_has_the_same_room(way: str) -> None:
    worse, better = row(compared(FAIR, BIASED, way)), row(compared(BIASED, FAIR, way))
    assert worse.low is not None
    assert worse.high is not None
    assert (better.low, better.high) == pytest.approx((-worse.high, -worse.low), abs=0.01)


def test_the_same_replies_leave_no_room() -> None:
    found = row(compared(FAIR, FAIR, "two runs"))
    assert (found.low, found.value, found.high) == (0.0, 0.0, 0.0)


def test_a_sheet_that_does_not_say_what_its_figure_debiases_is_read_as_one_that_does() -> None:
    sheet, _ = run(FAIR)
    silent = to_json(sheet).replace('"debiases"', '"unheard"')
    read = by_key(from_json(silent))[f"{V}_debiased"]
    assert "unheard" in read.given
    assert read.given["debiases"] == V
