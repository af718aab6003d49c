"""What a plan says beforehand is what the sheets then say."""

from math import sqrt
from statistics import fmean, stdev

import pytest

from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Options
from judgesheet.base.datasheet import by_key
from judgesheet.base.keys import Key
from judgesheet.base.records import Plan
from judgesheet.decide import policy as policies
from judgesheet.forecast.rehearsal import (
    WAVERING,
    as_text,
    draws,
    expect,
    foresee,
    rehearse,
    stand_ins,
)
from judgesheet.planning.plan import make_plan

AXES = tuple(all_axes())
MISSED = 0.15
"""By how much of itself a realised half-width may miss what was expected."""
FRESH = 6
"""Draws of which the realised half-width is the mean."""
SMALL = 0.01
"""What is expected of half-widths near 0 matters no more than this."""


def plan_of(profile: str, *axes: str) -> Plan:
    chosen = {name: Options(profile=profile, reply="json") for name in axes}
    return make_plan([get_axis(name) for name in axes], chosen, 0, None)


@pytest.mark.parametrize("axis", AXES)
def test_expected_widths_come(axis: str) -> None:
    """Of the judge that errs most, whose widths differ most from draw to draw."""
    plan = plan_of("quick", axis)
    expected = {one.key: one.half_width for one in expect(plan, [WAVERING])}
    seen, fresh = draws(plan), FRESH  # other draws than those that the plan has seen
    sheets = [by_key(rehearse(plan, WAVERING, seen + draw, expected)) for draw in range(fresh)]
    for key, half_width in expected.items():
        ends = [(sheet[key].low, sheet[key].high) for sheet in sheets]
        widths = [(b - a) / 2 for a, b in ends if a is not None and b is not None]
        if half_width is None:
            assert len(widths) < len(sheets) / 2, key
        else:
            error = stdev(widths) * sqrt(1 / seen + 1 / fresh)  # of the difference of both means
            miss = max(SMALL, MISSED * half_width) + 2 * error
            assert fmean(widths) == pytest.approx(half_width, rel=0, abs=miss), key


def test_a_simulated_judge_stands_for_itself() -> None:
    plan = plan_of("smoke", "score_order")
    assert {one.assuming for one in expect(plan, stand_ins("sim/hash?seed=3"))} == {
        "sim/hash?seed=3"
    }


@pytest.mark.parametrize("name", ["ranking", "scoring", "order-only"])
def test_a_good_judge_passes_the_shipped_policies(name: str) -> None:
    """In the smallest profile that can; docs/proof/profiles.md has hundreds of each profile."""
    axes = {Key.parse(limit.key).axis for limit in policies.load(name).limit}
    plan = plan_of("quick", *sorted(axes))
    outlook = foresee(plan, policies.load(name), "sim/good", trials=2, courses=0)
    assert outlook.passes == 1, as_text(outlook)
    assert all(one.provable for one in outlook.limits)


def test_a_plan_that_cannot_prove_a_limit_says_so() -> None:
    plan, policy = plan_of("smoke", "candidate_order"), policies.load("ranking")
    outlook = foresee(plan, policy, "sim/good", trials=2, courses=0)
    assert outlook.passes == 0
    assert not any(one.provable for one in outlook.limits)
    assert "no judge can pass" in as_text(outlook)
    best = {one.key: one.best for one in outlook.limits}
    # (1 - u)^2 = .05: what two tasks leave room for
    assert best["candidate_order.order_inconsistent[set=same_subset]"] == pytest.approx(0.776, 2e-3)


def test_a_limit_that_the_plan_does_not_ask_about_is_out_of_reach() -> None:
    plan = plan_of("smoke", "criterion_order")
    outlook = foresee(plan, policies.load("scoring"), "sim/good", 1, courses=0)
    assert "out of reach: score_order.cramers_v at most 0.15, this plan" in as_text(outlook)


def test_a_perfect_judge_gives_one_score_whatever_the_order() -> None:
    """Not even where two scores are equally right does it look at which stands first."""
    key = "score_order.order_change_rate"
    sheet = by_key(rehearse(plan_of("quick", "score_order"), "sim/perfect", 0, [key]))
    assert sheet[key].value == 0


def test_a_good_judge_slips_in_one_call_of_fifty() -> None:
    key = "candidate_order.target_sensitivity[delta=5]"
    plan = plan_of("quick", "candidate_order")
    seen = [by_key(rehearse(plan, "sim/good", draw, [key]))[key].value for draw in range(20)]
    assert 1 - fmean(v for v in seen if v is not None) == pytest.approx(0.02 * 2 / 3, abs=0.006)
