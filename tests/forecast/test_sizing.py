"""Which design reaches a half-width."""

import json
from dataclasses import replace
from functools import cache

import pytest

from judgesheet.axes import all_axes
from judgesheet.axis import Options
from judgesheet.base.errors import UsageError
from judgesheet.base.records import Plan
from judgesheet.forecast.sizing import Design, Target, as_text, designs
from judgesheet.planning.plan import make_plan
from tests.command import run, sentence

FLIPS = "candidate_order.order_inconsistent[set=same_subset]"


@pytest.mark.parametrize("sign", ["±", "+-", "+/-", " ± "])
def test_a_target_is_a_key_and_a_width(sign: str) -> None:
    target = Target.parse(f"{FLIPS}{sign}0.05")
    assert (str(target.key), target.half_width) == (FLIPS, 0.05)


@pytest.mark.parametrize("text", [FLIPS, f"{FLIPS}±", "±0.1", f"{FLIPS}±0", f"{FLIPS}±1.2.3"])
def test_anything_else_is_refused(text: str) -> None:
    assert "is not KEY±WIDTH" in sentence(run("plan", "--model", "sim/fair", "--target", text), 2)


@cache
def plan() -> Plan:
    axis = all_axes()["candidate_order"]
    return make_plan([axis], {axis.NAME: Options(profile="quick", reply="json")}, 0, None)


@cache
def design(width: float) -> Design:
    target = Target.parse(f"{FLIPS}±{width}")
    (found,) = designs(target, [("quick", plan())], ["sim/noisy"], (1, 4))
    return found


def test_the_design_has_the_width_that_a_plan_of_it_expects() -> None:
    wide, narrow = design(0.14), design(0.03)
    assert wide.stimuli < wide.available == narrow.available == 40 < narrow.stimuli
    assert wide.half_width == pytest.approx(0.14, rel=0.15)
    assert narrow.half_width == pytest.approx(0.03, rel=0.02)
    # Two pairs of a task, each in both orders: nothing else is read.
    assert (wide.orders, wide.repeats) == (2, 1)
    assert wide.calls == 4 * wide.stimuli
    assert narrow.calls == 4 * narrow.stimuli
    # A mean over stimuli: about the square.
    assert narrow.stimuli / wide.stimuli == pytest.approx((0.14 / 0.03) ** 2, rel=0.35)
    assert wide.cost
    assert narrow.cost
    assert wide.cost < narrow.cost


def test_a_design_in_words() -> None:
    found = replace(design(0.14), stimuli=52, calls=208, cost=None)
    assert as_text(Target.parse(f"{FLIPS}±0.1"), [found]).splitlines() == [
        f"{FLIPS} ± 0.1 for a judge such as sim/noisy:",
        "  52 stimuli (40 are there: bring 12 more by --stimuli), each under 2 orders, once, as "
        "--profile quick asks",
        "  208 calls that the figure reads, give --prices IN,OUT for the cost; expect ± "
        f"{found.half_width:.3f}",
    ]


def test_the_command_compares_profiles_and_makes_no_plan() -> None:
    words = ["plan", "--model", "sim/fair", "--target", f"{FLIPS}+-0.1"]
    (found,) = json.loads(run(*words, "--json").stdout)
    assert (found["key"], found["profile"]) == (FLIPS, "quick")
    assert run(*words, "--out", "plan.jsonl").returncode == 2


def test_a_figure_that_no_profile_measures_is_refused() -> None:
    target = Target.parse("candidate_order.order_flips±0.1")
    with pytest.raises(UsageError, match=r"candidate_order\.order_flips"):
        list(designs(target, [("quick", plan())], ["sim/fair"], None))
