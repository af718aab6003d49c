"""Judges with one planted fault each, and what a sheet must say and decide of them."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd

from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import Datasheet, Decision, MeasuredSheet
from judgesheet.decide import decide
from judgesheet.decide.policy import load
from judgesheet.measuring.slices import with_slices
from tests.simulate import Edit, Sheet, simulate

Said = Callable[[dict[str, Any], Any], Any]
"""The cell of a call and the judge's reply as an object -> what it says instead."""


def saying(said: Said) -> Edit:
    def edit(frame: pd.DataFrame) -> pd.DataFrame:
        rows = zip(frame["cell"], frame["text"], strict=True)
        texts = [json.dumps(said(json.loads(cell), json.loads(text))) for cell, text in rows]
        return frame.assign(text=texts)

    return edit


def decided(policy: str, *sheets: Sheet) -> Datasheet:
    readings = {one.axis.NAME: one.readings for one in sheets}
    results = with_slices([one.result for one in sheets], readings, in_time=True)
    facts = JudgeIdentity(), RunFacts(complete=True), Provenance()
    made = decide(MeasuredSheet("", *facts, tuple(results)), load(policy))
    assert made.decision is not None
    return made


def decision(policy: str, *sheets: Sheet) -> Decision:
    found = decided(policy, *sheets).decision
    assert found is not None
    return found


def test_slot_2_that_wins_where_texts_are_long_is_reported_by_their_length() -> None:
    long = 240

    def second(cell: dict[str, Any], said: Any) -> Any:
        return {"winner": "2"} if cell["words"] > long else said

    sheet = simulate("good", "quick", "candidate_order", edit=saying(second))
    assert 0.1 < float((sheet.readings.frame["words"] > long).mean()) < 0.5
    shown = [one for one in decided("ranking", sheet).axes[0].effects if one.verdict == "shown"]
    slices = {split: one for one in shown for split in one.slice}
    assert slices["length"].slice["length"] in ("long", "longest")
    assert "order" in slices["length"].uses


def test_lists_whose_scores_follow_the_first_are_rejected_and_averaging_helps() -> None:
    def pulled(_: dict[str, Any], said: Any) -> Any:
        first, *others = said["candidates"]
        for one in others:
            one["score"] = round(min(100, max(0, one["score"] + 1.2 * (first["score"] - 50))))
        return said

    sheet = simulate("good", "quick", "listwise_consensus", edit=saying(pulled))
    made = decided("order-only", sheet)
    assert made.decision is not None
    assert made.decision.verdict == "reject"
    assert made.decision.limiting == "listwise_consensus.excess_flip_rate"
    effects = {one.key: one for one in made.axes[0].effects}
    shown = effects["listwise_consensus.excess_flip_rate"]
    assert shown.verdict == "shown"
    (remedy,) = (one for one in made.axes[0].mitigations if one.code == shown.remedy)
    assert remedy.outcome == "helps"


def test_a_coin_that_no_order_moves_is_rejected_by_ranking_and_not_for_its_order() -> None:
    coin = random.Random(3)
    sheet = simulate(
        "good", "quick", "candidate_order", edit=saying(lambda *_: {"winner": coin.choice("12")})
    )
    sheet = replace(sheet, readings=replace(sheet.readings, temperature=1.0))
    assert decision("ranking", sheet).verdict == "reject"
    assert decision("order-only", sheet).verdict != "reject"
    order = ("excess_change_rate", "slot_gap")
    assert not [key for key in sheet.shown() if key.startswith(order)]


def test_a_judge_that_refuses_a_topic_is_adopted_for_the_others_alone() -> None:
    def refusing(frame: pd.DataFrame) -> pd.DataFrame:
        refused = frame["cell"].map(lambda cell: json.loads(cell)["field"] == "health")
        return frame.assign(
            outcome=frame["outcome"].mask(refused, "refused"), text=frame["text"].mask(refused, "")
        )

    sheet = simulate("good", "quick", "score_order", edit=refusing)
    frame = sheet.readings.frame
    lost = set(frame["stimulus"][frame["outcome"] == "refused"])
    assert len(lost) >= 3
    found = decision("scoring", sheet)
    assert found.verdict == "conditions"
    (condition,) = (one for one in found.conditions if one.keys == ("score_order.loss_rate",))
    assert all(name in condition.text for name in lost)


def test_a_criterion_that_moves_by_its_place_is_rejected_at_standard() -> None:
    """By .77 points, with noise of half a point; the limit of the policy is .5."""
    spec = "fair?shift=0.77:0.385:0&weights=1:0:0:0:0"
    sheet = simulate(spec, "standard", "criterion_order")
    found = decision("order-only", sheet)
    assert found.verdict == "reject"
    assert found.limiting.startswith("criterion_order.delta_pos[")
