"""Counts of limits, the decision, what would decide, remedies, also done twice."""

from dataclasses import replace
from typing import Any

import pytest

from judgesheet.base.datasheet import from_json, to_json, worst_verdicts
from judgesheet.base.effects import Effect
from judgesheet.base.facts import Provenance, StimulusPool
from judgesheet.base.records import (
    Characteristic,
    Control,
    Datasheet,
    Mitigation,
    Verdict,
)
from judgesheet.decide import decide
from judgesheet.decide.gate import distance
from judgesheet.decide.policy import Policy
from tests.decide.cases import CASES, case
from tests.decide.test_controls import KEY, OTHER, RATE, axis, failing, limits, rate, sheet

WARN = '\nnot_proven = "warn"'
ALL = 'rate"\nmax = 0.2'
PAIR: dict[str, Any] = {"estimates": (rate(KEY), rate(OTHER))}


def sheet_with(**parts: Any) -> Datasheet:
    return decide(sheet(axis(**parts)))


def row(key: str = KEY, **parts: Any) -> dict[str, Any]:
    return {"characteristics": (Characteristic(key, **parts),)}


def test_of_two_limits_on_one_figure_the_worse_outcome_counts() -> None:
    verdicts = [Verdict("r", KEY, 0.1, how, "") for how in ("pass", "fail", "invalid")]
    for order in (verdicts, verdicts[::-1]):
        made = replace(sheet(), verdicts=tuple(order))
        assert worst_verdicts(made)[KEY].status == "fail"


# -- the decision ----------------------------------------------------------------------------------


def test_limits_are_counted_apart_by_whether_they_must_hold() -> None:
    policy = limits(ALL, 'rate"\nmin = 0.01', f'other"\nmax = 0.1{WARN}', f'gone"\nmax = 1{WARN}')
    decision = decide(sheet(axis(**PAIR)), policy).decision
    assert decision is not None
    assert decision.required == {"pass": 2}
    assert decision.warning == {"inconclusive": 2}
    assert (decision.verdict, decision.because) == ("adopt", "pass")
    assert len(decision.not_settled) == 2


@pytest.mark.parametrize(
    ("rules", "verdict", "key", "because"),
    [
        ((ALL,), "adopt", KEY, "pass"),
        ((ALL, 'other"\nmax = 0.12'), "not_proven", OTHER, "inconclusive"),
        ((ALL, 'other"\nmax = 0.12', 'rate"\nmin = 0.9'), "reject", KEY, "fail"),
        ((f'rate"\nmax = 0.1{WARN}',), "not_proven", "", ""),
    ],
)
def test_by_what_it_was_decided(
    rules: tuple[str, ...], verdict: str, key: str, because: str
) -> None:
    decision = decide(sheet(axis(**PAIR)), limits(*rules)).decision
    assert decision is not None
    assert (decision.verdict, decision.limiting, decision.because) == (verdict, key, because)


@pytest.mark.parametrize(
    ("model", "warns", "verdict"),
    [
        ("a", "", "adopt"),
        ("a", WARN, "adopt"),
        ("b", "", "not_proven"),
        ("b", WARN, "conditions"),
    ],
)
def test_no_judge_is_adopted_whose_axes_were_answered_by_different_models(
    model: str, warns: str, verdict: str
) -> None:
    first = axis(estimates=(rate(KEY),), served_models={"a": 40})
    second = axis("two", estimates=(rate("two.rate"),), served_models={model: 40})
    policy = Policy(limit=[*limits(ALL).limit, *limits(ALL + warns, axis_="two").limit])
    decision = decide(sheet(first, second), policy).decision
    assert decision is not None
    assert decision.verdict == verdict
    assert any("pin one version" in words for words in decision.what_would_decide) == (
        verdict == "not_proven"
    )


def test_a_remedy_is_a_condition_where_the_limit_is_kept_with_it_alone() -> None:
    remedy = Mitigation("swap", OTHER, KEY, 2, "one.gain")
    for before, verdict in ((rate(OTHER, 0.5, 0.4, 0.6), "conditions"), (rate(OTHER), "adopt")):
        one = axis(estimates=(rate(KEY), before), mitigations=(remedy,))
        decision = decide(sheet(one), limits(ALL)).decision
        assert decision is not None
        assert decision.verdict == verdict


def test_the_figure_furthest_beyond_its_limit_rejects_and_never_a_void_one() -> None:
    worse = rate("two.rate", 0.9, 0.8, 0.95)
    first = axis(estimates=(rate(KEY),))
    second = axis("two", estimates=(worse,))
    policy = Policy(limit=[*limits('rate"\nmax = 0.01').limit,
                           *limits('rate"\nmax = 0.01', axis_="two").limit])  # fmt: skip
    reached = decide(sheet(first, second), policy)
    assert reached.decision is not None
    assert reached.decision.limiting == "two.rate"
    void = decide(sheet(first, replace(second, controls=(failing(),))), policy)
    assert void.decision is not None
    assert (void.decision.verdict, void.decision.limiting) == ("reject", KEY)
    assert void.decision.required == {"fail": 1, "invalid": 1}


@pytest.mark.parametrize("warns", ["", WARN])
def test_a_judge_is_not_adopted_where_a_figure_of_the_policy_is_not_usable(warns: str) -> None:
    first = axis(estimates=(rate(KEY),))
    void = axis("two", estimates=(rate("two.rate"),), controls=(failing(),))
    policy = Policy(limit=[*limits(ALL).limit, *limits(ALL + warns, axis_="two").limit])
    decision = decide(sheet(first, void), policy).decision
    assert decision is not None
    assert (decision.verdict, decision.limiting) == ("not_proven", "two.rate")
    assert decision.because == "invalid"


def test_a_limit_of_zero_has_a_distance() -> None:
    assert distance(Verdict("r", KEY, 0.1, "fail", "", limit=0.0, bound=0.05)) == 5.0
    assert distance(Verdict("r", KEY, 0.1, "fail", "")) == 0.0


# -- what would decide -----------------------------------------------------------------------------


def needed(made: Datasheet, *rules: str) -> tuple[str, ...]:
    decision = decide(made, limits(*(rules or ('rate"\nmax = 0.12',)))).decision
    assert decision is not None
    return decision.what_would_decide


def test_an_unfinished_run_is_finished_first_and_nothing_more_is_asked_of_it() -> None:
    cut = sheet(axis(answered=60), complete=False)
    (first,) = needed(cut)
    assert first.startswith("finish the run: 60 of 100")
    whole = sheet(axis())
    assert not any("finish" in one for one in needed(whole))


def test_what_was_left_out_of_the_pool_comes_before_more_stimuli() -> None:
    pool = Provenance(stimuli=(StimulusPool("one", stimuli=24, in_pool=40),))
    (with_pool,) = needed(replace(sheet(), provenance=pool))
    assert "(16 in" in with_pool
    assert "--profile" in with_pool
    assert "of your own" in with_pool  # 16 are fewer than it takes
    (without,) = needed(sheet())
    assert f"about 211 for “{KEY}”" in without  # 40 * ((0.05 / 0.02)^2 - 1), a float above 210
    assert "--profile" not in without


def test_what_makes_void_is_mended_before_stimuli_are_added() -> None:
    one = axis(estimates=(rate(KEY), rate(OTHER)),
               controls=(failing(touches=("rate",), mend="ask again"),))  # fmt: skip
    first, second = needed(sheet(one), RATE, 'other"\nmax = 0.12')
    assert first == f"ask again (“{KEY}”)"
    assert second.startswith("more stimuli")


@pytest.mark.parametrize("helps", [True, False])
def test_what_helps_against_a_broken_limit_is_named_and_nothing_where_none_was_shown_to(
    helps: bool,
) -> None:
    after = rate(OTHER, 0.01, 0.005, 0.02) if helps else rate(OTHER, 0.5, 0.4, 0.6)
    remedy = Mitigation("ask in both orders", KEY, OTHER, 2)
    figures = rate(KEY, 0.5, 0.4, 0.6), after
    one = axis(estimates=figures, mitigations=(remedy,), **row(better="lower"))
    sentences = needed(sheet(one), 'rate"\nmax = 0.2')
    assert [text.startswith(remedy.action) for text in sentences] == [True] * helps


def test_what_moves_another_figure_than_the_one_that_broke_is_no_help() -> None:
    figures = rate(KEY, 0.5, 0.4, 0.6), rate(OTHER, 0.3, 0.2, 0.4), rate(f"{OTHER}[k=2]", 0.01)
    remedy = Mitigation("average two orders", OTHER, f"{OTHER}[k=2]", 2)
    one = axis(estimates=figures, mitigations=(remedy,),
               characteristics=(Characteristic(OTHER, better="lower"),))  # fmt: skip
    assert decide(sheet(one)).axes[0].mitigations[0].outcome == "helps"
    assert needed(sheet(one), RATE) == ()


def test_nothing_would_decide_what_is_decided() -> None:
    assert needed(sheet(), RATE) == ()


# -- remedies --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gain", "outcome"),
    [((0.2, 0.1, 0.3), "helps"), ((0.2, -0.1, 0.3), "not shown"), ((-0.2, -0.3, -0.1), "harms"),
     ((0.0, -0.01, 0.01), "gains nothing")],
)  # fmt: skip
def test_a_gain_is_reported_by_its_interval(gain: tuple[float, float, float], outcome: str) -> None:
    remedy = Mitigation("swap", KEY, OTHER, 2, "one.gain")
    figures = (rate(KEY), rate(OTHER), rate("one.gain", *gain))
    made = sheet_with(mitigations=(remedy,), estimates=figures)
    assert made.axes[0].mitigations[0].outcome == outcome
    void = sheet_with(
        mitigations=(remedy,), estimates=figures, controls=(failing(touches=("other",)),)
    )
    assert void.axes[0].mitigations[0].outcome == "void"


@pytest.mark.parametrize("code", ["swap", "other"])
def test_a_remedy_is_recommended_against_what_is_shown_whatever_the_policy(code: str) -> None:
    effect = Effect(KEY, 0.0, 0.0, "up", {"shown": "It wavers."}, remedy="swap")
    remedy = Mitigation("swap", KEY, OTHER, 2, code=code)
    made = sheet_with(declared=(effect,), mitigations=(remedy,), **PAIR)
    assert [(one.keys, one.calls) for one in made.recommendations] == [((KEY,), 2)] * (
        code == "swap"
    )


def test_without_a_figure_there_is_no_outcome() -> None:
    remedy = Mitigation("swap", KEY, "one.gone", 2)
    assert sheet_with(mitigations=(remedy,)).axes[0].mitigations[0].outcome == ""


# -- twice -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_to_decide_again_changes_nothing(name: str) -> None:
    one = case(name)
    once = one.judged
    assert decide(once) == once
    assert decide(once, one.rules) == once
    assert from_json(to_json(once)) == once
    assert decide(from_json(to_json(once))) == once


def test_another_policy_takes_the_place_of_the_first() -> None:
    first = decide(sheet(axis(**PAIR)), limits('rate"\nmax = 0.01'))
    again = decide(first, limits(RATE))
    assert again == decide(sheet(axis(**PAIR)), limits(RATE))
    assert [one.status for one in again.verdicts] == ["pass"]


def test_controls_that_the_sheet_brings_are_kept_once() -> None:
    own = Control("mine", True, "yes", code="mine")
    once = decide(sheet(axis(controls=(own,))))
    codes = [one.code for one in decide(once).axes[0].controls]
    assert len(codes) == len(set(codes)) == 4
