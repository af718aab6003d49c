"""Lost calls may have changed with the order, or not: bounds of changes hold either."""

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgesheet.axes import get_axis
from judgesheet.axis import Readings, losses
from judgesheet.axis.lost_by_order import Pick, Vote, by_order
from judgesheet.base.estimates import Estimates
from judgesheet.measuring.impute import with_imputed
from judgesheet.stats.flips import call_flips, one_hot
from tests.simulate import parsed

OPTIONS = 3
tables = st.lists(st.lists(st.integers(1, OPTIONS), min_size=2, max_size=2), min_size=2, max_size=4)


def excess(choices: Any) -> float:
    """What the order changes beyond repeats, of choices by order and repeat."""
    return float(call_flips(one_hot(choices, OPTIONS)[np.newaxis]).excess[0])


@settings(max_examples=60, deadline=None)
@given(tables, st.data())
def test_no_other_answers_change_more_or_less_with_the_order(
    table: list[list[int]], data: st.DataObject
) -> None:
    choices = np.array(table, dtype=float)
    cells = [(order, repeat) for order in range(len(table)) for repeat in range(2)]
    lost = data.draw(st.lists(st.sampled_from(cells), min_size=1, max_size=2, unique=True))
    any_option: list[Pick] = [{option: 1.0} for option in range(1, OPTIONS + 1)]
    read: dict[Any, list[Pick]] = {cell: [{int(choices[cell]): 1.0}] for cell in cells}
    votes = [
        Vote("one prompt", cell[0], any_option if cell in lost else read[cell]) for cell in cells
    ]

    def answered(options: Any) -> float:
        filled = choices.copy()
        for cell, option in zip(lost, options, strict=True):
            filled[cell] = option
        return excess(filled)

    possible = [answered(options) for options in product(range(1, OPTIONS + 1), repeat=len(lost))]
    most, least = (
        answered([1 + by_order(votes, decisive=decisive)[cells.index(cell)] for cell in lost])
        for decisive in (True, False)
    )
    # Each is decided given the others: as good as the best of all but for a pair at most.
    slack = (max(possible) - min(possible)) / 4 + 1e-9
    assert most >= max(possible) - slack
    assert least <= min(possible) + slack


def told_by_order(frame: pd.DataFrame, rated: bool) -> list[Any]:
    """What a judge says that repeats itself and contradicts every other order.

    A lost call says what was read under the same order; else what the item never got, or seldom.
    """
    lost, read = losses.split(frame)
    twins: dict[Any, Any] = {}
    seen: Counter[Any] = Counter()
    for call in read:
        for part, choice in parts(call, call["value"], rated):
            twins[call["item"], tuple(call["order"]), part] = choice
            seen[call["item"], part, choice] += 1
    answers = []
    for call in lost:
        answer = {}
        for part, options in options_of(call, rated):
            at = call["item"], tuple(call["order"]), part
            times = {option: seen[call["item"], part, option] for option in options}
            answer[part] = twins.setdefault(at, min(times, key=times.__getitem__))
        answers.append(answer if rated else answer[None])
    return answers


def parts(call: Any, value: Any, rated: bool) -> list[tuple[Any, Any]]:
    return list(value.items()) if rated else [(None, value)]


def options_of(call: Any, rated: bool) -> list[tuple[Any, Any]]:
    return [(name, range(1, 6)) for name in call["order"]] if rated else [(None, call["order"])]


@pytest.mark.parametrize("axis", ["score_order", "criterion_order"])
def test_changes_with_the_order_are_bounded_whatever_was_lost(axis: str) -> None:
    wanted = frozenset({"excess_change_rate", "repeat_change_rate"})
    lost = np.random.default_rng(5).random(616) < 0.15
    plan, rows = parsed(
        "noisy", "quick", axis,
        edit=lambda frame: frame.assign(text=frame["text"].mask(lost[: len(frame)], "no verdict")),
    )  # fmt: skip
    room, readings = get_axis(axis), Readings(rows, plan.labels, 0.0, 0, wanted)
    bounded = with_imputed(room, readings, Estimates(axis, room.measure(readings)))
    told = losses.answered(rows, told_by_order(rows, rated=axis == "criterion_order"))
    found = Estimates(axis, room.measure(Readings(told, plan.labels, 0.0, 0, wanted)))
    read, filled = (one[f"{axis}.excess_change_rate"] for one in (bounded, found))
    assert read.value is not None
    assert filled.value is not None
    assert read.bounds is not None
    assert filled.bounds is not None
    # What was lost says more than all that was read.
    assert filled.value > read.value + 0.02
    assert read.bounds.high >= filled.bounds.high - 1e-9
    noise = bounded[f"{axis}.repeat_change_rate"].imputed
    assert noise is not None
    assert noise.low is not None
    assert noise.low <= (found[f"{axis}.repeat_change_rate"].low or 0.0) + 1e-9


@pytest.mark.parametrize("turned", [False, True])
def test_the_order_of_a_prompts_responses_is_bounded_whatever_was_lost(turned: bool) -> None:
    lost = np.random.default_rng(5).random(616) < 0.12
    plan, rows = parsed(
        "noisy", "quick", "score_order",
        edit=lambda frame: frame.assign(text=frame["text"].mask(lost, "no verdict")),
    )  # fmt: skip
    wanted = frozenset({"pair_accuracy"})
    room, readings = get_axis("score_order"), Readings(rows, plan.labels, 0.0, 0, wanted)
    read = with_imputed(room, readings, Estimates("score_order", room.measure(readings)))
    quality = {label.item: label.score for label in plan.labels}
    best: dict[str, float] = {}
    for item in rows["item"].unique():
        prompt = item.partition("/")[0]
        best[prompt] = max(best.get(prompt, 0.0), quality[item])
    scores = [
        max(call["order"])
        if (quality[call["item"]] == best[call["stimulus"]]) != turned
        else min(call["order"])
        for call in losses.split(rows)[0]
    ]
    readings = Readings(losses.answered(rows, scores), plan.labels, 0.0, 0, wanted)
    told = Estimates("score_order", room.measure(readings))["score_order.pair_accuracy"].bounds
    ends = read["score_order.pair_accuracy"].bounds
    assert ends is not None
    assert told is not None
    assert ends.low <= told.low + 1e-9
    assert ends.high >= told.high - 1e-9
