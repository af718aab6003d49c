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
from judgesheet.axis import Readings, items, losses
from judgesheet.base.records import Bounds, Datasheet, Estimate, Imputed
from judgesheet.decide import decide
from judgesheet.decide.policy import parse
from judgesheet.measuring.measure import measure_axis, parse_rows
from tests.simulate import Sheet, parsed, planned, simulate

AXES = list(all_axes())
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
    axis: Any = get_axis(table["axis"].iloc[0])
    found = [
        0 if (favourite := axis.chosen(value, order)) is None else order.index(favourite) + 1
        for value, order in zip(table["value"], table["order"], strict=True)
    ]
    return pd.Series(found, index=table.index)


def first(share: float, seed: int) -> Losing:
    """A share of the calls that favour place 1."""
    return lambda table: (
        (place(table) == 1) & (np.random.default_rng(seed).random(len(table)) < share)
    )


def accused(sheet: Sheet) -> bool:
    names = ("position_share", "win_share", "friedman_p")
    places = {f"{sheet.result.name}.{name}" for name in names}
    return any(
        finding.tone == "bad" and any(key.partition("[")[0] in places for key in finding.evidence)
        for finding in sheet.result.findings
    )


def by_chance(sheet: Sheet) -> bool | None:
    """What page one says of lost calls; None where it says nothing."""
    said = [f for f in sheet.result.findings if any("loss_rate" in key for key in f.evidence)]
    return None if not said else "not at random" not in said[0].text


# -- the finding -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", AXES)
def test_where_nothing_is_lost_nothing_is_said_and_nothing_moves(axis: str) -> None:
    sheet = unspoilt(axis)
    assert sheet.value("loss_rate") == 0
    assert by_chance(sheet) is None
    assert not any(key.startswith(f"{axis}.loss_") for key in sheet.estimates
                   if key != f"{axis}.loss_rate")  # fmt: skip
    assert all(one.imputed is None for one in sheet.estimates.values())


# A quick run of candidate_order sees it in every second sample only.
@pytest.mark.parametrize(
    ("axis", "profile"),
    [("score_order", "quick"), ("candidate_order", "standard"), ("criterion_order", "quick")],
)
def test_a_judge_that_refuses_what_favours_the_second_is_reported(axis: str, profile: str) -> None:
    sheet = lossy(axis, lambda table: place(table) == 2, profile=profile, families=losses.NAMES)
    assert by_chance(sheet) is False
    p = sheet.value("loss_position_p")
    assert p < 0.01
    assert sheet.value("loss_rate[place=2]") > (sheet["loss_rate[place=1]"].value or 0.0)


@pytest.mark.parametrize("axis", AXES)
def test_one_lost_call_is_no_pattern(axis: str) -> None:
    sheet = lossy(axis, lambda table: pd.Series(table.index == 7), profile="smoke",
                  families=bounded(axis) | losses.NAMES)  # fmt: skip
    assert by_chance(sheet) is True
    assert {one.imputed.calls for one in sheet.estimates.values() if one.imputed} == {1}


@pytest.mark.parametrize("axis", AXES)
def test_a_stimulus_that_loses_all_its_calls_is_named(axis: str) -> None:
    def of_one(table: pd.DataFrame) -> pd.Series:
        first: pd.Series[bool] = table["stimulus"] == table["stimulus"].iloc[0]
        return first

    sheet = lossy(axis, of_one, families=losses.NAMES | {"accuracy"})
    assert by_chance(sheet) is False
    given = sheet["loss_stimulus_p"].given
    assert given["lost"] == given["calls"]
    assert sheet.says(f"calls on {', '.join(given['stimuli'])}")


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
    for name in ("loss_stimulus_p", "loss_order_p", "loss_position_p"):
        assert sum((sheet[name].value or 1.0) < 0.05 for sheet in sheets) <= 2, name
    assert sum(by_chance(sheet) is False for sheet in sheets) <= 1


def test_stimuli_that_share_a_group_are_named_together() -> None:
    """The calls that are counted are those on all of them."""
    plan, table = parsed("fair", "quick", "score_order")
    names = table["stimulus"].unique()[:2]
    gone = table["stimulus"].isin(names)
    frame = table.assign(
        value=table["value"].mask(gone, None), shape=gone.map({True: "no_verdict", False: None}),
        cluster=table["stimulus"].replace(names[1], names[0]),
    )  # fmt: skip
    readings = Readings(frame, plan.labels, 0.0, 0, losses.NAMES)
    result, _ = measure_axis(get_axis("score_order"), readings)
    text = f"{gone.sum()} of {gone.sum()} calls on {', '.join(sorted(names))} (a group of 2)"
    assert any(text in finding.text for finding in result.findings)


def test_a_kind_of_dress_that_loses_its_calls_is_named() -> None:
    def of_one_kind(table: pd.DataFrame) -> pd.Series:
        refused: pd.Series[bool] = table["kind"] == "instruction"
        return refused

    sheet = lossy("presentation", of_one_kind, families=losses.NAMES)
    assert by_chance(sheet) is False
    given = sheet["loss_kind_p"].given
    assert (given["kind"], given["lost"]) == ("instruction", given["calls"])
    assert sheet["loss_kind_rate[kind=instruction]"].value == 1
    assert sheet["loss_kind_rate[kind=length]"].value == 0
    assert sheet.says("calls of the kind instruction")


def test_kinds_that_lose_alike_are_no_pattern() -> None:
    sheet = lossy("presentation", lambda table: pd.Series(np.arange(len(table)) % 20 == 3),
                  families=losses.NAMES)  # fmt: skip
    assert sheet.value("loss_kind_p") > 0.05
    assert by_chance(sheet) is True


@pytest.mark.parametrize("axis", ["score_order", "candidate_order"])
def test_losses_of_one_order_are_told_from_those_of_a_favourite(axis: str) -> None:
    def one_first(table: pd.DataFrame) -> pd.Series:
        ranks = table["order"].map(lambda order: sorted(order).index(order[0]))
        return (ranks == 0) & (np.random.default_rng(1).random(len(table)) < 0.4)

    sheet = lossy(axis, one_first, families=losses.NAMES)
    assert sheet.value("loss_order_p") < 0.01


def test_four_stimuli_are_enough_to_test_orders() -> None:
    def few(table: pd.DataFrame) -> pd.Series:
        return ~table["stimulus"].isin(table["stimulus"].unique()[:4]) | (place(table) == 1)

    sheet = lossy("score_order", few, families=PLACES)
    assert sheet.value("loss_position_p") < 0.05
    assert not any(finding.tone == "good" for finding in sheet.result.findings)


def test_a_judge_that_is_always_lost_says_only_that() -> None:
    sheet = simulate("unreadable", "smoke", "score_order")
    assert sheet.value("loss_rate") == 1
    assert sheet["loss_order_p"].reason == "no_comparison"
    assert sheet["loss_stimulus_p"].reason == "one_stimulus"
    assert all(one.imputed is None for one in sheet.estimates.values())


# -- what lost calls could have said ---------------------------------------------------------------


@pytest.mark.parametrize("axis", AXES)
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
        values = table.frame["value"]
        assert values[gone].notna().all()
        assert values[unasked].isna().all()
        assert (values[kept] == frame["value"][kept]).all()
        for value, call in zip(values[gone], losses.split(frame)[0], strict=True):
            assert get_axis(axis).parse(json.dumps(value), "recorded", call) == value


@pytest.mark.parametrize("axis", AXES)
def test_bounds_hold_what_the_lost_calls_really_said(axis: str) -> None:
    whole = unspoilt(axis)
    part = lossy(axis, first(0.3, 3), families=bounded(axis))
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
    assert all(by_chance(sheet) is False for sheet in sheets)


def test_read_alone_it_would_be() -> None:
    sheet = lossy("score_order", first(0.5, 0), profile="standard", families=PLACES)
    first_place = sheet["position_share[position=1]"]
    assert first_place.high is not None
    assert first_place.high < 0.2
    assert not accused(sheet)


@pytest.mark.parametrize(
    ("axis", "profile"), [("score_order", "quick"), ("listwise_consensus", "standard")]
)
def test_a_strong_preference_is_still_found(axis: str, profile: str) -> None:
    sheet = lossy(axis, first(0.05, 1), "first-biased", profile=profile, families=PLACES)
    assert accused(sheet)


def test_a_judge_is_not_cleared_by_losing_what_would_convict_it() -> None:
    """Cramér's V of the calls read is small because the favoured place is lost half of the time."""
    sheet = lossy("score_order", first(0.5, 2), "fair?first=1.5", 0, "standard", PLACES)
    assert not any(
        finding.tone == "good" and "score_order.cramers_v" in finding.evidence
        for finding in sheet.result.findings
    )


# -- the gate --------------------------------------------------------------------------------------


def rate(imputed: Imputed | None, high: float) -> Estimate:
    return Estimate("score_order.cramers_v", "V", 0.02, 0.0, 0.05, unit="V", n=360, clusters=12,
                    bounds=Bounds(0.0, high), imputed=imputed)  # fmt: skip


def test_the_gate_reads_the_bounds_with_lost_calls_and_says_so() -> None:
    sheet = lossy("score_order", first(0.3, 1), families=PLACES)
    policy = parse(
        '[[limit]]\nkey = "score_order.cramers_v"\nmax = 0.15\n', "p.toml", dict.fromkeys(AXES)
    )
    (verdict,) = decide(Datasheet("1.3", {}, {}, {}, (sheet.result,)), policy).verdicts
    estimate = sheet["cramers_v"]
    assert estimate.bounds is not None
    assert estimate.imputed is not None
    assert verdict.bound == estimate.bounds.high
    assert estimate.bounds.high > (estimate.high or 0.0)
    # Many are lost, and what they could have said is all that leaves the limit open.
    assert verdict.status == "void"


def test_without_bounds_the_gate_reads_the_imputed_ends() -> None:
    policy = parse(
        '[[limit]]\nkey = "score_order.cramers_v"\nmax = 0.15\n', "p.toml", dict.fromkeys(AXES)
    )
    result = simulate("fair", "smoke").result
    passed = []
    for imputed in (None, Imputed(3, 0.0, 0.2), Imputed(3, None, None)):
        one = replace(rate(imputed, 0.05), bounds=None)
        sheet = Datasheet("1.3", {}, {}, {}, (replace(result, estimates=(one,)),))
        passed.append(decide(sheet, policy).verdicts[0].status)
    assert passed == ["proven", "not proven", "not proven"]


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
    """Quick lists ask the four orders of a prompt four times, twice, once and once."""
    asked, prompts = [4, 2, 1, 1], 8
    order = np.tile(np.repeat(np.arange(4), asked), prompts)
    stimulus = np.repeat(np.arange(prompts), sum(asked)).astype(str)
    lost_order = order == stimulus.astype(int) % 4
    frame = pd.DataFrame({
        "stimulus": stimulus, "cluster": stimulus, "item": stimulus,
        "order": [("a", "b", "c", "d")[place:] + ("a", "b", "c", "d")[:place] for place in order],
        "value": [None if gone else "a" for gone in lost_order], "outcome": "ok",
    })  # fmt: skip

    def p(table: pd.DataFrame, order: np.ndarray) -> float | None:
        calls = losses.Calls(table.reset_index(drop=True), lambda value, _: value, 0)
        at = (order == table["stimulus"].astype(int).to_numpy() % 4).astype(float)
        return calls.permutation_p(at[:, None], table[["stimulus"]].reset_index(drop=True))

    first = ~pd.Series(zip(stimulus, order, strict=True)).duplicated().to_numpy()
    found = p(frame, order)
    assert found is not None
    assert found == p(frame[first], order[first])
    assert found < 0.001  # one of 4^8 ways to lose one order a prompt
