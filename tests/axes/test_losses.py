"""Lost calls: found where they follow a pattern, and never a reason to accuse or to clear."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Axis, Readings, items, losses
from judgesheet.base.defaults import LOSS_ERROR
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import Bounds, Estimate, Imputed, MeasuredSheet, Verdict
from judgesheet.decide import decide
from judgesheet.decide.controls import READ
from judgesheet.decide.policy import Policy, parse
from judgesheet.measuring import impute
from judgesheet.measuring.measure import parse_rows
from tests.simulate import Sheet, parsed, planned, simulate

AXES = list(all_axes())
IMPUTING = [name for name, axis in all_axes().items() if type(axis).impute is not Axis.impute]
"""The axes that say what their lost calls could have answered."""
PLACES = losses.NAMES | {
    *("chi2", "order_dependence_p", "cramers_v", "position_share", "win_share")
}  # fmt: skip
"""What it takes to accuse a judge of favouring a place, or to clear it."""
Losing = Callable[[pd.DataFrame], pd.Series]
UNDECIDED = {"candidate_order": "fair?tie=1&surface=4", "presentation": "fair?tie=1&loves_length=4",
             "listwise_consensus": "fair?gap=5&shared=10"}  # fmt: skip
"""Judges that favour either response now and then, where `fair` always knows the better one."""


def lossy(axis: str, where: Losing, spec: str = "", seed: int = 0, profile: str = "quick",
          families: frozenset[str] | None = None) -> Sheet:  # fmt: skip
    """The sheet of a judge that loses the calls where `where` says so of their readings."""

    def lose(frame: pd.DataFrame) -> pd.DataFrame:
        table = parse_rows(get_axis(axis), frame)
        return frame.assign(text=frame["text"].mask(where(table).to_numpy(), "no verdict"))

    spec = spec or UNDECIDED.get(axis, "fair")
    return simulate(f"{spec}{'&' if '?' in spec else '?'}seed={seed}",
                    profile, axis, seed, edit=lose, families=families)  # fmt: skip


def bounded(axis: str) -> frozenset[str]:
    """The figures that have bounds: neither p-values nor what they are of."""
    figures = get_axis(axis).ESTIMATES
    return frozenset(name for name, one in figures.items() if one.unit != "p")


@cache
def unspoilt(axis: str) -> Sheet:
    """The same with every call read."""
    return lossy(axis, lambda table: pd.Series(False, index=table.index))


def place(table: pd.DataFrame) -> pd.Series:
    """Where the favourite of each verdict stands, from 1; 0 for none."""
    found = [_place(*call) for call in zip(table["value"], table["order"], strict=True)]
    return pd.Series(found, index=table.index)


def _place(value: Any, order: list[Any]) -> int:
    if isinstance(value, dict):
        points: list[Any] = [
            one["score"] if isinstance(one, dict) else one for one in map(value.get, order)
        ]
        best = max(points)
        return points.index(best) + 1 if points.count(best) == 1 else 0
    slots = {"1": 1, "2": 2}
    return slots[value] if value in slots else order.index(value) + 1 if value in order else 0


def first(share: float, seed: int) -> Losing:
    """A share of the calls that favour place 1."""
    return lambda table: (
        (place(table) == 1) & (np.random.default_rng(seed).random(len(table)) < share)
    )


def accused(sheet: Sheet) -> bool:
    return "cramers_v" in sheet.shown()


def by_chance(sheet: Sheet) -> bool | None:
    """Whether nothing shows that losses depend on the order; None where nothing was lost."""
    rate = sheet["loss_rate"]
    if not rate.value:
        return None
    p = rate.given["order_p"]  # None where only repeats were lost, which one order has
    return p is None or p >= LOSS_ERROR


# -- the finding -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", AXES)
def test_where_nothing_is_lost_nothing_is_said_and_nothing_moves(axis: str) -> None:
    sheet = unspoilt(axis)
    assert sheet.value("loss_rate") == 0
    assert all(one.imputed is None for one in sheet.estimates.values())


def test_a_judge_that_refuses_what_favours_the_first_is_reported() -> None:
    """On each item other orders are lost: what cancels over items counts."""
    sheet = lossy("criterion_order", lambda table: place(table) == 1, profile="full",
                  families=losses.NAMES)  # fmt: skip
    assert by_chance(sheet) is False


@pytest.mark.parametrize("axis", IMPUTING)
def test_one_lost_call_is_no_pattern(axis: str) -> None:
    sheet = lossy(axis, lambda table: pd.Series(table.index == 7), profile="smoke",
                  families=bounded(axis) | losses.NAMES)  # fmt: skip
    assert by_chance(sheet) is True
    assert sheet["loss_rate"].given["reasons"] == {"no_verdict": 1}
    assert {one.imputed.calls for one in sheet.estimates.values() if one.imputed} == {1}


@pytest.mark.parametrize("axis", AXES)
def test_stimuli_that_are_refused_whole_are_named_and_judged_apart(axis: str) -> None:
    """They are a condition of any use; no other figure is about them."""

    def of_one(table: pd.DataFrame) -> pd.Series:
        first: pd.Series[bool] = table["stimulus"] == table["stimulus"].iloc[0]
        return first

    sheet = lossy(axis, of_one)
    given = sheet["loss_rate"].given
    assert len(given["refused"]) == 1
    assert given["refused_calls"] == round((sheet["loss_rate"].value or 0) * sheet["loss_rate"].n)
    assert all(one.imputed is None for one in sheet.estimates.values())
    facts = JudgeIdentity(), RunFacts(), Provenance()
    decided = decide(MeasuredSheet("1.3", *facts, (sheet.result,)))
    (read,) = [one for one in decided.axes[0].controls if one.code == READ]
    assert read.passed


def test_a_stimulus_that_is_refused_whole_is_a_condition() -> None:
    def two(table: pd.DataFrame) -> pd.Series:
        return table["stimulus"].isin(table["stimulus"].unique()[:2])

    sheet = lossy("score_order", two, families=PLACES)
    policy = v_at_most(0.3)
    run = RunFacts(complete=True)
    made = decide(MeasuredSheet("1.3", JudgeIdentity(), run, Provenance(), (sheet.result,)), policy)
    assert made.verdicts[0].status == "pass"
    assert made.decision is not None
    names = sheet["loss_rate"].given["refused"]
    assert any(all(name in one.text for name in names) for one in made.decision.conditions)


def asked_again(axis: str, judge: str, seed: int) -> Sheet:
    """The sheet of a judge that gives no verdict on some questions, however often it is asked."""
    questions = planned("quick", axis, 0, False, None)
    numbers = pd.factorize(pd.Series([str(call.messages) for call in questions.calls]))[0]

    def refused(table: pd.DataFrame) -> pd.Series:
        lost = np.random.default_rng(seed).random(numbers.max() + 1) < 0.12
        return pd.Series(lost[numbers], index=table.index)

    def with_question(frame: pd.DataFrame) -> pd.DataFrame:
        table = parse_rows(get_axis(axis), frame)
        text = frame["text"].mask(refused(table).to_numpy(), "no verdict")
        return frame.assign(text=text, question=numbers)

    return simulate(judge, "quick", axis, edit=with_question, families=losses.NAMES)


@pytest.mark.parametrize("axis", ["score_order", "listwise_consensus", "candidate_order"])
def test_questions_that_are_refused_at_random_are_no_pattern(axis: str) -> None:
    """Repeats of a question are lost together: every test counts them as one."""
    sheets = [asked_again(axis, "first-biased", seed) for seed in range(8)]
    assert sum((sheet["loss_rate"].given["order_p"] or 1.0) < 0.05 for sheet in sheets) <= 2


@pytest.mark.parametrize("axis", ["score_order", "candidate_order"])
def test_losses_of_one_order_are_shown(axis: str) -> None:
    def one_first(table: pd.DataFrame) -> pd.Series:
        ranks = table["order"].map(lambda order: sorted(order).index(order[0]))
        return (ranks == 0) & (np.random.default_rng(1).random(len(table)) < 0.4)

    sheet = lossy(axis, one_first, families=losses.NAMES)
    assert by_chance(sheet) is False


def test_a_judge_that_is_always_lost_says_only_that() -> None:
    sheet = simulate("unreadable", "smoke", "score_order")
    assert sheet.value("loss_rate") == 1
    assert sheet["loss_rate"].given["order_p"] is None
    assert all(one.imputed is None for one in sheet.estimates.values())


# -- what lost calls could have said ---------------------------------------------------------------


@pytest.mark.parametrize("axis", IMPUTING)
def test_every_imputed_table_answers_what_was_lost_and_nothing_else(axis: str) -> None:
    room = get_axis(axis)
    plan, frame = parsed(UNDECIDED.get(axis, "fair"), "quick", axis)
    spoiled = frame["value"].mask(pd.Series(range(len(frame)), index=frame.index) % 20 == 0, None)
    unasked = pd.Series(range(len(frame)), index=frame.index) % 40 == 1
    frame = frame.assign(value=spoiled.mask(unasked, None), outcome=frame["outcome"].mask(unasked))
    readings = Readings(frame, plan.labels, 0.0, 0)
    tables = list(room.impute(readings))
    assert len(tables) > 4
    gone, kept = losses.lost(frame), frame["value"].notna().to_numpy()
    for table in tables:
        values = table["value"]
        assert values[gone].notna().all()
        assert values[unasked].isna().all()
        assert (values[kept] == frame["value"][kept]).all()
        for value, call in zip(values[gone], losses.split(frame)[0], strict=True):
            assert get_axis(axis).parse(json.dumps(value), "recorded", call) == value


@pytest.mark.parametrize("axis", IMPUTING)
def test_bounds_hold_what_the_lost_calls_really_said(axis: str) -> None:
    whole = unspoilt(axis)
    part = lossy(axis, first(0.5, 3), families=bounded(axis))
    checked = 0
    for key, read in part.estimates.items():
        truth = whole.estimates.get(key)
        if read.imputed is None or read.bounds is None or truth is None or truth.value is None:
            continue
        slack = 0.02 * (read.bounds.high - read.bounds.low) + 1e-9
        assert read.bounds.low - slack <= truth.value <= read.bounds.high + slack, key
        assert read.least is not None
        assert read.least <= (read.low or 0.0)
        checked += 1
    assert checked > 5


# -- accusing and clearing -------------------------------------------------------------------------


def test_a_fair_judge_that_loses_one_place_is_not_accused() -> None:
    sheets = [
        lossy("score_order", first(0.25, seed), seed=seed, families=PLACES) for seed in range(3)
    ]
    assert not any(map(accused, sheets))


def test_read_alone_it_would_be() -> None:
    sheet = lossy("score_order", first(0.5, 0), profile="standard", families=PLACES)
    first_place = sheet["position_share[position=1]"]
    assert first_place.high is not None
    assert first_place.high < 0.2
    assert not accused(sheet)


def test_a_strong_preference_is_still_found() -> None:
    sheet = lossy("score_order", first(0.05, 1), "first-biased", profile="quick", families=PLACES)
    assert accused(sheet)


def test_a_judge_is_not_cleared_by_losing_what_would_convict_it() -> None:
    """Cramér's V of the calls read is small because the favoured place is lost half of the time."""
    sheet = lossy("score_order", first(0.5, 2), "fair?first=1.5", 0, "standard", PLACES)
    assert sheet.effects["cramers_v"].verdict not in ("negligible", "not_measured")


# -- the gate --------------------------------------------------------------------------------------


def v_at_most(limit: float) -> Policy:
    """A policy of one limit."""
    text = f'[[limit]]\nkey = "score_order.cramers_v"\nmax = {limit}\n'
    return parse(text, "p.toml", dict.fromkeys(AXES))


V_LIMIT = v_at_most(0.15)


def held(sheet: Sheet, policy: Policy = V_LIMIT) -> Verdict:
    """What the gate says of a sheet."""
    (verdict,) = decide(
        MeasuredSheet("1.3", JudgeIdentity(), RunFacts(), Provenance(), (sheet.result,)), policy
    ).verdicts
    return verdict


def rate(imputed: Imputed | None, high: float) -> Estimate:
    return Estimate("score_order.cramers_v", "V", 0.02, 0.0, 0.05, unit="V", n=360, clusters=12,
                    bounds=Bounds(0.0, high), imputed=imputed)  # fmt: skip


def test_the_gate_reads_the_bounds_with_lost_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = lossy("score_order", first(0.1, 1), families=PLACES)
    lost = sheet["cramers_v"].imputed
    assert lost is not None
    monkeypatch.setattr(impute, "_tables", lambda axis, readings: iter(()))
    without = lossy("score_order", first(0.1, 1), families=PLACES)
    estimate, read = sheet["cramers_v"], without["cramers_v"]
    assert (estimate.value, estimate.high, None) == (read.value, read.high, read.imputed)
    assert estimate.bounds is not None
    assert read.bounds is not None
    assert estimate.bounds.high > read.bounds.high
    assert held(sheet).bound == estimate.bounds.high
    assert f"{lost.calls} lost calls counted against the limit" in held(sheet).why


@pytest.mark.parametrize("how", ["many", "by order"])
def test_where_many_calls_are_lost_or_by_the_order_nothing_is_kept(how: str) -> None:
    """A judge of V = 0 that loses 8 % of calls, or 4 % that all list one score first."""

    def where(table: pd.DataFrame) -> pd.Series:
        if how == "many":
            return pd.Series(np.random.default_rng(0).random(len(table)) < 0.08)
        top = table["order"].map(lambda order: order[0] == 1)
        return top & (np.random.default_rng(0).random(len(table)) < 0.15)

    policy = v_at_most(0.9)
    sheet = lossy("score_order", where, families=PLACES)
    assert (sheet["loss_rate"].value or 0) < 0.05 or how == "many"
    found = held(sheet, policy)
    assert found.status == "invalid"
    assert found.needed
    assert held(unspoilt("score_order"), policy).status == "pass"


def test_what_is_broken_whatever_the_lost_calls_would_have_said_is_broken() -> None:
    sheet = lossy("score_order", lambda table: pd.Series(np.arange(len(table)) % 10 == 3),
                  "first-biased", families=PLACES)  # fmt: skip
    policy = v_at_most(0.02)
    assert held(sheet, policy).status == "fail"


def test_without_bounds_the_gate_reads_the_imputed_ends() -> None:
    result = simulate("fair", "smoke").result
    passed = []
    for imputed in (None, Imputed(3, 0.0, 0.2), Imputed(3, None, None)):
        one = replace(rate(imputed, 0.05), bounds=None)
        sheet = MeasuredSheet(
            "1.3", JudgeIdentity(), RunFacts(), Provenance(), (replace(result, estimates=(one,)),)
        )
        passed.append(decide(sheet, V_LIMIT).verdicts[0].status)
    assert passed == ["pass", "inconclusive", "inconclusive"]


ROW = st.tuples(
    st.sampled_from(["a", "b", None]),
    st.sampled_from([1, 1.0, True, "1", None, [1], [1, 2]]),
    st.sampled_from([0.1, float("nan"), 2.0]),
    st.integers(0, 2),
)


@given(st.lists(ROW, min_size=1, max_size=30))
def test_rows_have_one_code_where_they_have_one_json(rows: list[tuple[Any, ...]]) -> None:
    table = pd.DataFrame(rows, columns=["text", "any", "number", "whole"])
    table["any"] = pd.Series([row[1] for row in rows], dtype=object)
    texts = [json.dumps(row, default=str) for row in table.to_numpy(dtype=object).tolist()]
    assert items.codes(table).tolist() == pd.factorize(np.array(texts, dtype=object))[0].tolist()


def test_questions_are_compared_by_as_many_calls_as_the_one_asked_least() -> None:
    """Lists ask the four orders of a prompt four times, twice, once and once."""
    asked, prompts = [4, 2, 1, 1], 12
    order = np.tile(np.repeat(np.arange(4), asked), prompts)
    stimulus = np.repeat(np.arange(prompts), sum(asked)).astype(str)
    frame = pd.DataFrame({
        "stimulus": stimulus, "cluster": stimulus, "item": stimulus,
        "order": [("a", "b", "c", "d")[place:] + ("a", "b", "c", "d")[:place] for place in order],
        "value": [None if place == 2 else "a" for place in order], "outcome": "ok",
    })  # fmt: skip

    def p(table: pd.DataFrame) -> float | None:
        (found,) = losses.measure("toy", Readings(table.reset_index(drop=True), (), 0.0, 0))
        value: float | None = found.given["order_p"]
        return value

    once = ~pd.Series(zip(stimulus, order, strict=True)).duplicated().to_numpy()
    found = p(frame)
    assert found is not None
    assert found == p(frame[once])
    assert found < 0.001  # one of 4^12 ways to lose one order a prompt
