"""Judges that fail in one place only, and anchors of judges that change while they are measured."""

import json
import random
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Options, Readings, anchors
from judgesheet.base.effects import JudgedEffect
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import MeasuredSheet
from judgesheet.decide import decide
from judgesheet.measuring.measure import parse_rows
from judgesheet.measuring.slices import with_slices
from judgesheet.planning.anchors import with_anchors
from judgesheet.planning.plan import make_plan
from tests.simulate import replies, simulate

Said = Callable[[dict[str, Any], float], Any]
"""The cell of a call and the share of the axis's calls before it -> a score, None as it was."""


def where(said: Said, spec: str = "good", profile: str = "quick") -> Mapping[str, JudgedEffect]:
    """What is shown of where a judge of rubrics fails that scores as `said`, by split."""

    def edit(frame: pd.DataFrame) -> pd.DataFrame:
        texts = []
        for place, (cell, text) in enumerate(zip(frame["cell"], frame["text"], strict=True)):
            score = said(
                {**json.loads(cell), "score": json.loads(text)["score"]}, place / len(frame)
            )
            texts.append(text if score is None else json.dumps({"score": score}))
        return frame.assign(text=texts)

    sheet = simulate(spec, profile, edit=edit)
    readings = {"score_order": sheet.readings}
    results = tuple(with_slices([sheet.result], readings, in_time=True))
    decided = decide(MeasuredSheet("", JudgeIdentity(), RunFacts(), Provenance(), results))
    effects = [one for one in decided.axes[0].effects if one.slice]
    assert all(one.verdict == "shown" for one in effects)
    return {split: one for one in effects for split in one.slice}


def test_scores_that_do_not_look_at_long_responses_are_shown_by_length() -> None:
    shown = where(lambda cell, _: 2 if cell["words"] > 280 else None)
    assert set(shown) == {"length"}
    assert shown["length"].slice["length"] in ("long", "longest")
    assert shown["length"].uses


def test_long_texts_are_asked_neither_early_nor_late() -> None:
    """Else a judge that fails at the end of a run seems to fail on long texts."""
    axis, found = get_axis("listwise_consensus"), []
    for seed in range(12):
        plan = make_plan([axis], {axis.NAME: Options(profile="quick", reply="json")}, seed)
        words: dict[str, int] = {}
        for call in plan.calls:
            words.setdefault(call.stimulus, call.cell["words"])
        found.append(np.corrcoef(list(words.values()), np.arange(len(words)))[0, 1])
    assert abs(np.mean(found)) < 0.2


def test_a_field_of_which_a_judge_knows_nothing_is_named() -> None:
    coin = random.Random(5)
    shown = where(lambda cell, _: coin.randint(1, 5) if cell["field"] == "money" else None)
    assert shown["field"].slice == {"field": "money"}


def test_a_judge_that_goes_wild_at_the_end_is_shown_by_the_run() -> None:
    coin = random.Random(6)
    shown = where(lambda _, asked: coin.randint(1, 5) if asked > 0.72 else None)
    assert shown["run"].slice == {"run": "last"}


def with_the_list(cell: dict[str, Any], _: float) -> int | None:
    """One point towards the top of a rubric that rises, and towards the end of one that falls."""
    order, score = cell["order"], cell["score"]
    if cell["scale"] != 5 or cell["arm"] != "balanced":
        return None
    rises = sum(a < b for a, b in pairwise(order)) > 2
    wanted = order[0] if rises else order[-1]
    return int(score + (wanted > score) - (wanted < score))


def test_the_top_of_rising_and_the_end_of_falling_rubrics_is_a_direction() -> None:
    shown = where(with_the_list, profile="standard")
    assert "direction" in shown


def test_a_figure_that_is_better_where_errors_gather_is_not_printed() -> None:
    """Quality is followed as well where the rubric rises; the errors there have one sign."""
    assert where(with_the_list)["direction"].value is None


@pytest.mark.parametrize("spec", ["good", "noisy"])
def test_a_judge_that_is_the_same_everywhere_fails_nowhere_in_particular(spec: str) -> None:
    assert not where(lambda *_: None, spec)


# -- anchors ---------------------------------------------------------------------------------------


def anchored(profile: str = "quick", *axes: str) -> Any:
    chosen = [get_axis(name) for name in axes or all_axes()]
    options = {axis.NAME: Options(profile=profile, reply="json") for axis in chosen}
    return with_anchors(make_plan(chosen, options, 0), chosen)


def test_twelve_questions_are_asked_once_in_each_third_of_the_run() -> None:
    calls = anchored().calls
    places = [place for place, call in enumerate(calls) if "anchor" in call.cell]
    thirds = [calls[place].cell["anchor"] for place in places]
    assert thirds == sorted(thirds) == [1] * 12 + [2] * 12 + [3] * 12
    assert all((third - 1) / 3 <= place / len(calls) < third / 3
               for third, place in zip(thirds, places, strict=True))  # fmt: skip
    asked = [(calls[place].stimulus, calls[place].cell["item"]) for place in places]
    assert len(set(asked)) == 12
    assert sorted(asked[:12]) == sorted(asked[12:24]) == sorted(asked[24:])
    assert len({call.id for call in calls}) == len(calls)


@pytest.mark.parametrize("lost", [0.3, 1.0])
def test_anchors_without_a_verdict_are_left_out(lost: float) -> None:
    """Of criteria nobody knows the quality of: then verdicts are compared between thirds."""
    axis = get_axis("criterion_order")
    assert axis.FAILING is not None
    rows = parse_rows(axis, replies(anchored("quick", axis.NAME), "perfect"))
    frame = rows[rows["anchor"].notna()].reset_index(drop=True)
    asked = frame.index.to_numpy() / len(frame)
    frame = frame.assign(asked=asked, value=frame["value"].where(asked >= lost, None))
    found = anchors.control(axis.FAILING, Readings(frame, (), 0.0, 0))
    assert [one.passed for one in found] == [True] * (lost < 1)
