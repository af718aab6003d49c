"""What a plan says beforehand of limits is what the sheet of a judge without a fault then shows."""

import json
from pathlib import Path

import pytest

from judgesheet.axes import get_axis
from judgesheet.axis import Options
from judgesheet.base.keys import Key
from judgesheet.base.records import Plan
from judgesheet.decide import decide
from judgesheet.decide import policy as policies
from judgesheet.decide.policy import Policy
from judgesheet.decide.provable import Forecast, forecasts
from judgesheet.planning.plan import make_plan
from proof.rehearsal import rehearse
from tests.command import run

FLIPS = "candidate_order.order_inconsistent[set=same_subset]"


def plan_of(profile: str, *axes: str, path: Path | None = None, repeats: int = 2) -> Plan:
    options = Options(profile=profile, reply="json", repeats=repeats)
    return make_plan([get_axis(name) for name in axes], dict.fromkeys(axes, options), 0, path)


def limit(key: str, rule: str) -> Policy:
    return policies.parse(f"[[limit]]\nkey = {json.dumps(key)}\n{rule}\n", "own.toml")


@pytest.mark.parametrize(
    ("profile", "name"),
    [("quick", "order-only"), ("quick", "scoring"), ("smoke", "ranking"), ("smoke", "scoring")],
)
def test_a_forecast_is_what_a_perfect_judge_gets(profile: str, name: str) -> None:
    policy = policies.load(name).model_copy(update={"min_independent": None})
    plan = plan_of(profile, *sorted({Key.parse(one.key).axis for one in policy.limit}))
    sheet = decide(rehearse(plan, "sim/perfect", 0, [one.key for one in policy.limit]), policy)
    found = forecasts(plan, policy)
    assert len(found) == len(policy.limit)
    settled = [one for one in found if one.provable is not None]
    assert settled
    for one in settled:
        # A limit on every member of a family is kept where each of them keeps it.
        held = [
            verdict.status == "pass"
            for verdict in sheet.verdicts
            if Key.parse(verdict.key).fits(Key.parse(one.key))
            and verdict.rule == one.rule
            # Scores without any exception have a correlation of 1, and no interval.
            and verdict.bound is not None
        ]
        assert (one.key, not held or all(held) == one.provable) == (one.key, True)


def only(found: tuple[Forecast, ...]) -> Forecast:
    (one,) = found
    return one


def test_so_many_stimuli_as_are_needed_are_enough() -> None:
    plan = plan_of("quick", "candidate_order")
    assert only(forecasts(plan, limit(FLIPS, "max = 0.08"))).provable
    few = only(forecasts(plan, limit(FLIPS, "max = 0.05")))
    # (1 - .05)^58 > .05 > (1 - .05)^59
    assert (few.provable, few.stimuli, few.needed) == (False, 42, 59)


def test_a_run_that_is_looked_at_needs_more_stimuli() -> None:
    plan, policy = plan_of("quick", "candidate_order"), limit(FLIPS, "max = 0.074")
    assert only(forecasts(plan, policy)).provable
    assert not only(forecasts(plan, policy, looked=True)).provable


def test_what_is_not_asked_cannot_be_proven() -> None:
    plan = plan_of("quick", "candidate_order")
    for key in (FLIPS.replace("same_subset", "natural"), "score_order.cramers_v"):
        one = only(forecasts(plan, limit(key, "max = 0.5")))
        assert (one.provable, one.stimuli) == (False, 0)
    assert forecasts(plan, limit("score_order.cramers_v", "max = 1\nwhen_probed = true")) == ()


def test_an_excess_over_repeats_is_not_forecast_without_any() -> None:
    policy = limit("score_order.excess_change_rate", "max = 0.15")
    for repeats, provable in ((1, None), (2, True)):
        plan = plan_of("quick", "score_order", repeats=repeats)
        assert only(forecasts(plan, policy)).provable is provable


@pytest.mark.parametrize(
    ("known", "provable"), [({"human": 2.5}, True), ({"level": 3}, True), ({}, None)]
)
def test_a_correlation_is_forecast_whatever_says_what_is_right(
    known: dict[str, float], provable: bool | None, tmp_path: Path
) -> None:
    """A run with people's scores proves it, so that no forecast may say that none can."""
    levels = [f"It is {score} of five good." for score in range(1, 6)]
    rubric = {"criterion": "Goodness", "levels": levels}
    rows = [
        {"id": f"s{n}", "prompt": f"Question {n} about {n * 7}?", "rubric": rubric,
         "candidates": [{"id": f"c{k}", "text": f"Answer {n * 10 + k}.", **known}
                        for k in range(2)]}
        for n in range(12)
    ]  # fmt: skip
    path = tmp_path / "score_order.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    plan = plan_of("quick", "score_order", path=path)
    policy = limit("score_order.pearson_r[arm=balanced]", "min = 0.5")
    assert only(forecasts(plan, policy)).provable is provable


def test_the_command_says_it_without_a_call() -> None:
    asked = ("plan", "--model", "openai/m", "--profile", "smoke", "--axis", "candidate_order",
             "--policy", "ranking")  # fmt: skip
    assert FLIPS in run(*asked).stdout
    content = json.loads(run(*asked, "--json").stdout)["limits"]
    assert [one["key"] for one in content][:1] == [policies.load("ranking").limit[0].key]
    assert not any(one["provable"] for one in content)
