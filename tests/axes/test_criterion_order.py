"""The axis recovers what was planted, and says so in words."""

import asyncio
import gzip
import json
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgesheet.axes import get_axis
from judgesheet.axes.criterion_order.read import criterion_probabilities
from judgesheet.axis import Options
from judgesheet.axis.order_test import SIGNIFICANT
from judgesheet.base.errors import StimuliError, TemplateError
from judgesheet.base.keys import Key
from judgesheet.base.records import AxisResult, Estimate, MeasuredAxis, Plan
from judgesheet.collect.ingest import ingest
from judgesheet.decide.effects import TESTS, judged
from judgesheet.judges.simulated import SimulatedJudge
from judgesheet.ledger.ledger import Ledger
from judgesheet.measuring.measure import measure
from judgesheet.planning.plan import make_plan
from judgesheet.planning.stimuli import load
from judgesheet.stats.orders import balanced, williams
from tests.simulate import SHARED, Sheet, planned, simulate

AXIS = get_axis("criterion_order")
NAMES = ["Accuracy", "Coverage", "Organisation", "Practicality", "Courtesy"]


def plan_of(profile: str = "standard", **options: Any) -> Plan:
    if not options:  # shared
        return planned(profile, "criterion_order", 0, False, None)
    chosen = Options(profile=profile, reply=options.pop("reply", "json"), **options)
    return make_plan([AXIS], {"criterion_order": chosen}, 0)


def run(spec: str, profile: str = "quick", **more: Any) -> Sheet:
    return simulate(spec, profile, "criterion_order", **more)


# -- design ------------------------------------------------------------------------------------


def test_every_criterion_stands_equally_often_at_every_position() -> None:
    calls = [c for c in plan_of().calls if c.cell["arm"] == "balanced" and c.repeat == 0]
    at = Counter(place for c in calls for place in enumerate(c.cell["order"]))
    assert len(at) == 25
    assert len(set(at.values())) == 1


def test_arms_have_the_same_budget_in_the_standard_profile() -> None:
    calls = [c for c in plan_of().calls if c.cell["arm"] != "balanced" or c.repeat == 0]
    assert Counter(c.cell["arm"] for c in calls) == {"balanced": 330, "random": 40, "fixed": 40}


def test_the_quick_profile_stays_quick() -> None:
    calls = plan_of("quick").calls
    arms = Counter((c.cell["arm"], c.repeat) for c in calls)
    assert arms == {("balanced", 0): 120, ("balanced", 1): 32}
    assert len(plan_of("smoke").calls) < 80


def test_the_first_profile_asks_of_few_criteria_in_both_orders() -> None:
    shown: dict[str, set[tuple[str, ...]]] = {}
    for call in plan_of("first").calls:
        shown.setdefault(call.stimulus, set()).add(tuple(call.cell["order"]))
    assert [len(orders) for orders in shown.values()] == [2] * 6
    assert all(len(set(names)) == 2 for orders in shown.values() for names in orders)


def test_competing_responses_share_their_orders() -> None:
    shown: dict[str, Counter[tuple[str, ...]]] = {}
    for call in plan_of("quick").calls:
        shown.setdefault(call.cell["item"], Counter())[tuple(call.cell["order"])] += 1
    for item, orders in shown.items():
        assert orders == shown[f"{item[:-1]}a"]


def test_calls_of_an_item_stand_together_with_their_arms_mixed() -> None:
    calls = plan_of().calls
    items = [call.cell["item"] for call in calls]
    assert sum(a != b for a, b in pairwise(items)) == len(set(items)) - 1
    item = next(call.cell["item"] for call in calls if call.cell["arm"] == "fixed")
    assert len({c.cell["arm"] for c in [c for c in calls if c.cell["item"] == item][:8]}) > 1


def test_williams_design_balances_neighbours() -> None:
    calls = plan_of("quick", sequences="williams").calls
    shown = {tuple(c.cell["order"]) for c in calls if c.cell["arm"] == "balanced"}
    assert len(shown) == len(williams(5))
    neighbours = Counter(pair for order in shown for pair in pairwise(order))
    assert len(neighbours) == 20
    assert len(set(neighbours.values())) == 1


def test_prompts_list_the_criteria_of_the_cell_last_and_their_levels_in_one_order() -> None:
    every = plan_of("smoke").calls
    calls = [c for c in every if c.cell["item"] == every[0].cell["item"]]
    parts = [c.messages[0]["content"].split("## Criteria and") for c in calls]
    assert len({head for head, _ in parts}) == 1
    for call, (_, tail) in zip(calls, parts, strict=True):
        at = [tail.index(f"### {name}\n") for name in call.cell["order"]]
        assert at == sorted(at)
        blocks = tail.split("### ")[1:]
        assert all(b.count("\nScore ") == 5 and b.index("Score 1") < b.index("Score 5")
                   for b in blocks)  # fmt: skip


def test_the_schema_asks_for_the_scores_in_the_displayed_order() -> None:
    for call in plan_of("smoke").calls:
        schema = call.params["response_format"]["json_schema"]["schema"]
        scores = schema["properties"]["scores"]
        assert list(scores["properties"]) == scores["required"] == call.cell["order"]


def test_the_order_of_the_schema_reaches_the_judge(tmp_path: Path) -> None:
    """Through plan, ledger and back: a sorted schema would make every order the same."""
    plan = plan_of("smoke")
    with Ledger.create_or_open(tmp_path / "ledger.sqlite", plan, {"provider": "x"}) as ledger:
        for call in ledger.calls():
            schema = call.params["response_format"]["json_schema"]["schema"]
            assert list(schema["properties"]["scores"]["properties"]) == call.cell["order"]


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ nothing }}", "nothing"),
        ("grade please", "prompt"),
        ("{{ prompt }} {{ response }}", "criterion"),
        (
            "{{ prompt }}{{ response }}{% for c in criteria %}{{ c.name }}{{ c.name }}{% endfor %}",
            "criterion 1 2 times",
        ),
        (
            "{{ prompt }}{{ response }}{% for c in criteria | sort(attribute='name') %}"
            "{{ c.name }}{% endfor %}",
            "order",
        ),
    ],
)
def test_a_blind_template_is_refused(template: str, words: str) -> None:
    with pytest.raises(TemplateError, match=words):
        plan_of("smoke", template=template)


def test_a_template_without_descriptions_of_levels_is_allowed() -> None:
    plan = plan_of(
        "smoke",
        template="{{ prompt }} {{ response }} {% for c in criteria %}- {{ c.name }}\n{% endfor %}",
    )
    assert plan.calls


# -- what was planted is found -----------------------------------------------------------------


def truths(sheet: Sheet, spec: str) -> dict[str, float]:
    """Position shifts, gaps and change rates by enumeration of the planted probabilities."""
    planted = SimulatedJudge.from_name(spec).parameters
    level = {(label.item, label.criterion): label.score for label in sheet.plan.labels}
    items = sorted({item for item, _ in level})
    shown = [[NAMES[place - 1] for place in order] for order in balanced(5)]
    found, change, same = {}, [], []
    for name in NAMES:
        chances = np.array(
            [
                [criterion_probabilities(planted, item, order, name, 5, level[item, name])
                 for order in shown]
                for item in items
            ]
        )  # fmt: skip
        means = (chances @ np.arange(1, 6)).mean(axis=0)
        place = np.array([order.index(name) for order in shown])
        at = np.array([means[place == position].mean() for position in range(5)])
        for position in range(5):
            found[f"position_shift[criterion={name},position={position + 1}]"] = at[
                position
            ] - float(at.mean())
        found[f"delta_pos[criterion={name}]"] = float(np.ptp(at))
        total, own = chances.sum(axis=1), (chances**2).sum(axis=(1, 2))
        change.append(1 - ((total**2).sum(axis=1) - own) / 90)
        same.append(1 - own / 10)
    found["order_change_rate"] = float(np.mean(change))
    found["repeat_change_rate"] = float(np.mean(same))
    found["excess_change_rate"] = float(np.mean(change) - np.mean(same))
    return found


@pytest.mark.parametrize(
    "spec",
    ["first-biased", "last-biased?weights=1:-1", "noisy?shift=1:0:0:0:0&weights=0:1:1",
     "fair?shift=0.3:-0.3:0.3&quality=0.6", "fair?interaction=0.6", "random"],
)  # fmt: skip
def test_planted_shifts_are_recovered(spec: str) -> None:
    sheet = run(spec, "standard")
    for name, truth in truths(sheet, spec).items():
        found = sheet[name]
        assert found.low is not None, name
        assert found.high is not None
        # One data set may miss its 95 % interval; none may miss twice its width.
        slack = (found.high - found.low) / 2
        assert found.low - slack <= truth <= found.high + slack, (name, truth, found)


def test_a_fair_judge_is_cleared() -> None:
    sheet = run("fair?width=0.2", "standard")
    assert sheet.value("significant_criteria") == 0
    low = sheet["max_delta_pos"].low
    assert low == 0
    verdicts = {key: one.verdict for key, one in sheet.effects.items()}
    assert set(verdicts.values()) == {"negligible"}, verdicts
    assert all(control.passed for control in sheet.result.controls)


def test_an_unbiased_judge_is_seldom_accused() -> None:
    accused = [run("fair", seed=seed).value("significant_criteria") for seed in range(4)]
    assert sum(count > 0 for count in accused) <= 1  # .05 each: two of four once in 70


def test_only_the_criterion_that_moves_is_accused() -> None:
    sheet = run("fair?shift=1:0:0:0:-0.5&weights=1:0:0:0:0", "standard")
    assert sheet.value("friedman_p[criterion=Accuracy]") < 0.001
    assert sheet.value("significant_criteria") == 1
    assert sheet.shown() <= {"delta_pos[criterion=Accuracy]", "excess_change_rate"}
    assert "delta_pos[criterion=Accuracy]" in sheet.shown()


def test_a_judge_that_scores_places_is_convicted() -> None:
    sheet = run("position-only")
    assert sheet.value("mean_delta_pos") == pytest.approx(4)
    assert (sheet["mean_delta_pos"].low or 4) < 4
    assert sheet.value("significant_criteria") == 5
    assert sheet.value("repeat_change_rate") == 0
    assert sheet["pearson_r[arm=balanced]"].value is None
    assert [control.passed for control in sheet.result.controls] == [False]
    assert {"excess_change_rate", "delta_pos[criterion=Accuracy]"} <= sheet.shown()


def test_a_constant_judge_has_no_gap_and_no_use() -> None:
    sheet = run("constant")
    assert sheet.value("mean_delta_pos") == 0
    assert (sheet["mean_delta_pos"].high or 0) > 0
    assert sheet.value("friedman_p[criterion=Coverage]") == 1
    assert "pearson_r[criterion=Coverage,arm=balanced]" in sheet.shown()
    assert sheet.effects["delta_pos[criterion=Coverage]"].verdict == "invalid"


@pytest.mark.parametrize("level", [lambda n: 2, None])
def test_labels_that_tell_nothing_accuse_nobody(tmp_path: Path, level: Any) -> None:
    result = logged(tmp_path, ROTATED, level=level, scale=4)
    assert not any(control.passed is False for control in result.controls)
    of_quality = [one.verdict for one in judged(AxisResult.of(result)) if ".pearson_r[" in one.key]
    assert set(of_quality) == {"not_measured"}


def test_one_labelled_criterion_does_not_convict_the_others(tmp_path: Path) -> None:
    """Scores of b are all equal, its labels are not; those of a and c vary and have no label."""
    result = logged(tmp_path, ROTATED, flat="b", scale=4)
    verdicts = {
        Key.parse(one.key).dims.get("criterion", ""): one.verdict
        for one in judged(AxisResult.of(result))
        if ".pearson_r[" in one.key
    }
    assert verdicts["a"] == verdicts["c"] == "not_measured"


def test_a_random_judge_is_not_accused_of_the_order() -> None:
    sheet = run("random", "standard")
    gap, null = sheet["mean_delta_pos"], sheet.value("mean_delta_pos_null")
    assert gap.low is not None
    assert gap.low < null
    assert sheet.value("excess_change_rate") < 0.1
    assert {one.partition("[")[0] for one in sheet.shown()} == {"pearson_r"}


def test_an_order_that_favours_no_place_is_still_seen() -> None:
    sheet = run("fair?interaction=1", "standard")
    low = sheet["excess_change_rate"].low
    assert low is not None
    assert low > 0
    assert "excess_change_rate" in sheet.shown()


def test_an_unreadable_judge_gets_a_sheet_that_says_so() -> None:
    sheet = run("unreadable", "smoke")
    assert sheet.result.unreadable == sheet.result.planned
    assert not sheet.shown()
    assert all(e.value is None and e.note for e in sheet.result.estimates if ".loss_" not in e.key)


def test_too_few_prompts_clear_nothing() -> None:
    sheet = run("fair?width=0.2", "smoke")
    assert not any(one.verdict == "negligible" for one in sheet.effects.values())


def test_both_formats_give_the_same_scores() -> None:
    judge = SimulatedJudge.from_name("fair?greedy=1", {})
    read: dict[str, dict[str, int]] = {}
    for reply in ("text", "json"):
        for call in plan_of("smoke", reply=reply).calls:
            text = asyncio.run(judge.ask(call, 1)).text
            cell = json.dumps([call.cell, call.repeat], sort_keys=True)
            scores = AXIS.parse(text, call.reply, call.cell)
            assert scores is not None
            assert read.setdefault(cell, scores) == scores


# -- incomplete and odd runs -------------------------------------------------------------------


def test_missing_replies_are_counted_and_left_out() -> None:
    def spoil(frame: pd.DataFrame) -> pd.DataFrame:
        frame.loc[frame.index % 7 == 0, "text"] = "no idea"
        frame.loc[frame.index % 11 == 0, "outcome"] = "timeout"
        frame.loc[frame.index % 13 == 0, ["outcome", "text"]] = None
        return frame

    sheet = run("first-biased", edit=spoil, families=frozenset({"position_shift"}))
    result = sheet.result
    assert result.unreadable > 0
    assert result.failed > 0
    assert result.planned > result.answered + result.unreadable + result.refused + result.failed
    assert sheet.value("position_shift[criterion=Accuracy,position=1]") > 0.2
    assert any("gave no readable set" in caveat for caveat in result.caveats)


def test_how_many_orders_are_enough_counts_the_responses_with_every_reading() -> None:
    """One response of each of two prompts loses a reading under one order."""
    lost = set[str]()

    def spoil(frame: pd.DataFrame) -> pd.DataFrame:
        cells = frame["cell"].map(json.loads)
        base = cells.map(lambda cell: cell["arm"] == "balanced") & (frame["repeat"] == 0)
        items = list(dict.fromkeys(cells[base].map(lambda cell: cell["item"])))
        lost.update((items[0], items[-1]))
        for item in lost:
            mine = frame.index[base & cells.map(lambda cell, item=item: cell["item"] == item)]
            frame.loc[mine[0], "text"] = "no idea"
        return frame

    whole, less = run("fair", "standard"), run("fair", "standard", edit=spoil)
    assert len(lost) == 2
    name = "budget_r[k=1,arm=balanced]"
    assert less[name].n == whole[name].n - 2
    assert less[name].clusters == whole[name].clusters


def test_missing_replies_of_poor_responses_do_not_favour_a_position() -> None:
    """The poor response of each prompt loses its readings with Accuracy first."""

    def spoil(frame: pd.DataFrame) -> pd.DataFrame:
        cells = frame["cell"].map(json.loads)
        first = cells.map(lambda cell: cell["order"][0] == "Accuracy")
        low = frame["text"].map(lambda text: json.loads(text)["scores"]["Accuracy"] <= 2)
        frame.loc[first & low, "text"] = "no idea"
        return frame

    sheet = run("fair?width=0.1", edit=spoil)
    assert abs(sheet.value("position_shift[criterion=Accuracy,position=1]")) < 0.05
    assert sheet.value("friedman_p[criterion=Accuracy]") > 0.05


def own_stimuli(tmp_path: Path, count: int = 8, **changes: Any) -> Path:
    levels = ["bad", "middling", "good"]
    record = {
        "id": "mine",
        "prompt": "Name a prime number.",
        "criteria": [{"name": name, "levels": levels} for name in ("C++", "Größe", "Ton")],
        "candidates": [
            {"id": "a", "text": "Seven.", "human": {"C++": [3, None, 2], "Ton": 3}},
            {"id": "b", "text": "Nine.", "human": {"C++": 1, "Ton": 2}},
        ],
    }
    path = tmp_path / "mine.jsonl"
    rows = [{**record, "id": f"mine-{number}", **changes} for number in range(count)]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_own_criteria_with_three_levels_and_partial_human_scores(tmp_path: Path) -> None:
    sheet = run("fair", "standard", stimuli=own_stimuli(tmp_path))
    assert "3 criteria, 3-point scale, 6 balanced orders" in sheet["mean_delta_pos"].conditions
    assert "human" in sheet["pearson_r[arm=balanced]"].conditions
    assert sheet["pearson_r[criterion=Größe,arm=balanced]"].value is None
    label = next(x for x in sheet.plan.labels if x.criterion == "C++" and x.item.endswith("/a"))
    assert (label.score, label.ratings) == (2.5, (3, None, 2))


def test_one_candidate_per_prompt_has_no_ranking(tmp_path: Path) -> None:
    path = own_stimuli(tmp_path, candidates=[{"id": "a", "text": "Seven."}])
    sheet = run("fair", "quick", stimuli=path)
    assert "several candidates" in sheet["excess_flip_rate"].note
    assert "neither human" in sheet["pearson_r[arm=balanced]"].note
    assert sheet["mean_delta_pos"].low is not None


def test_one_stimulus_has_values_and_no_interval(tmp_path: Path) -> None:
    sheet = run("noisy", "standard", stimuli=own_stimuli(tmp_path, 1))
    assert sheet["mean_delta_pos"].value is not None
    assert sheet["mean_delta_pos"].low is None
    assert sheet["friedman_p[criterion=Ton]"].value is None


def test_criteria_are_matched_by_name_where_prompts_have_different_ones(tmp_path: Path) -> None:
    path = own_stimuli(tmp_path, 12)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for row in rows[9:]:
        row["criteria"][1]["name"] = "Rare"
        row["criteria"].reverse()
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    sheet = run("first-biased", "standard", stimuli=path)
    assert sheet["delta_pos[criterion=Ton]"].clusters == 12
    assert sheet["delta_pos[criterion=Rare]"].clusters == 3
    assert "read in 3 of 12 prompts" in sheet["delta_pos[criterion=Rare]"].note
    assert sheet.value("position_shift[criterion=Ton,position=1]") > 0


def test_lists_of_another_length_are_left_out_and_said_so(tmp_path: Path) -> None:
    path = own_stimuli(tmp_path, 8)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    del rows[0]["criteria"][1]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    sheet = run("fair", "standard", stimuli=path)
    assert "1 prompt with other lists" in sheet["mean_delta_pos"].conditions
    assert sheet["mean_delta_pos"].clusters == 7
    assert any("were left out" in caveat for caveat in sheet.result.caveats)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"criteria": [{"name": "A", "levels": ["x", "y"]}]}, "criteria"),
        ({"criteria": [{"name": n, "levels": ["x", "y"]} for n in ("A", " a")]}, "name of a"),
        ({"criteria": [{"name": n, "levels": ["x", "y"]} for n in ("A", "a")]}, "same name"),
        ({"criteria": [{"name": n, "levels": ["x", "y"]} for n in ("A", "b]")]}, "name of a"),
        ({"criteria": [{"name": n, "levels": ["x", "y"]} for n in ("A", "b\nc")]}, "name of a"),
        ({"criteria": [{"name": n, "levels": ["x", "y"]} for n in ("A", "**")]}, "name of a"),
        ({"criteria": [{"name": "A", "levels": ["x", "x"]}, {"name": "B", "levels": ["x", "y"]}]},
         "same description"),
        ({"criteria": [{"name": "A", "levels": ["x", "y"]}, {"name": "B", "levels": ["x"] * 3}]},
         "criteria"),
        ({"criteria": [{"name": "A", "levels": ["x", "y"]},
                       {"name": "B", "levels": ["x", "y", "z"]}]}, "same number of levels"),
        ({"candidates": [{"id": "a", "text": "x", "human": {"Tone": 1}}]}, "names no criterion"),
        ({"candidates": [{"id": "a", "text": "x", "human": {"Ton": [None]}}]}, "human.Ton"),
        ({"candidates": [{"id": "a", "text": "x", "level": {"Ton": 1}}]}, "level lacks"),
        ({"candidates": [{"id": "a", "text": "x", "level": {"Ton": 9, "C++": 1, "Größe": 1}}]},
         "beyond the last, 3"),
        ({"candidates": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]}, "same id"),
    ],
)  # fmt: skip
def test_broken_stimuli_are_named_with_their_line(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(StimuliError, match=words) as caught:
        load(AXIS, own_stimuli(tmp_path, **changes))
    assert "mine.jsonl:" in str(caught.value)


# -- recorded judgments ------------------------------------------------------------------------


ROTATED = [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]


def recorded(
    tmp_path: Path, orders: list[list[str]], arm: str = "balanced", **cell: Any
) -> dict[str, Estimate]:
    """Estimates of a log in which what stands first gets a point more."""
    result = logged(tmp_path, orders, arm, **cell)
    return {e.key.partition(".")[2]: e for e in result.estimates}


def logged(
    tmp_path: Path,
    orders: list[list[str]],
    arm: str = "balanced",
    level: Callable[[int], int] | None = lambda number: number % 3,
    flat: str = "",
    **cell: Any,
) -> MeasuredAxis:
    """The result of that log; `level` labels criterion b, criterion `flat` always scores 2."""
    rows = [
        {
            "axis": "criterion_order",
            "stimulus": f"s{number}",
            "cell": {"item": f"s{number}/a", "arm": arm, "order": order, **cell},
            "repeat": repeat,
            "verdict": {
                name: 2 if name == flat else 1 + number % 3 + (place == 0)
                for place, name in enumerate(order)
            },
        }
        for number in range(9)
        for repeat, order in enumerate(orders)
    ]
    rows += [
        {
            "human": {
                "axis": "criterion_order",
                "item": f"s{n}/a",
                "criterion": "b",
                "score": level(n),
            }
        }
        for n in range(9)
        if level is not None
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    ingest([path], tmp_path / "ledger.sqlite")
    with Ledger.open(tmp_path / "ledger.sqlite") as ledger:
        [result] = measure(ledger).results
    return result


def test_recorded_balanced_orders(tmp_path: Path) -> None:
    found = recorded(tmp_path, ROTATED, scale=4)
    assert found["delta_pos[criterion=a]"].value == pytest.approx(1)
    assert "3 balanced orders" in found["delta_pos[criterion=a]"].conditions
    assert found["pearson_r[criterion=b,arm=balanced]"].value == pytest.approx(1)
    assert found["pearson_r[criterion=a,arm=balanced]"].value is None


def test_recorded_unbalanced_orders_are_compared_within_responses_and_flagged(
    tmp_path: Path,
) -> None:
    found = recorded(tmp_path, [["a", "b", "c"], ["b", "a", "c"], ["a", "c", "b"]], "random")
    gap = found["delta_pos[criterion=a]"]
    assert gap.value == pytest.approx(1)
    assert "UNBALANCED" in gap.conditions
    assert "scale not recorded" in gap.conditions
    assert found["position_shift[criterion=a,position=3]"].value is None
    assert "never stood there" in found["position_shift[criterion=a,position=3]"].note
    assert "every position" in found["friedman_p[criterion=a]"].note


def test_a_log_in_one_order_says_that_nothing_can_be_said(tmp_path: Path) -> None:
    found = recorded(tmp_path, [["a", "b"]], "fixed")
    assert found.pop("loss_rate").value == 0
    assert all(estimate.value is None for estimate in found.values())
    assert "change places" in found["mean_delta_pos"].note
    assert "several places" in found["max_delta_pos"].note


def test_a_balanced_arm_of_one_order_shows_nothing_of_the_order(tmp_path: Path) -> None:
    result = logged(tmp_path, [["a", "b"]])
    assert {one.verdict for one in judged(AxisResult.of(result)) if "r[" not in one.key} == {
        "not_measured"
    }


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ({}, "cell.item"),
        ({"item": "x", "arm": "other"}, "cell.arm"),
        ({"item": "x", "arm": "fixed", "order": ["a"]}, "cell.order must list"),
        ({"item": "x", "arm": "fixed", "order": "ab"}, "cell.order must list"),
        ({"item": "x", "arm": "fixed", "order": ["a", "A"]}, "same name"),
        ({"item": "x", "arm": "fixed", "order": ["a", 2]}, "name of a criterion"),
        ({"item": "x", "arm": "fixed", "order": ["a", "b=c"]}, "name of a criterion"),
        ({"item": "x", "arm": "fixed", "order": ["a", "b"], "scale": 1}, "cell.scale"),
    ],
)
def test_a_broken_cell_is_named(cell: dict[str, Any], words: str) -> None:
    assert words in (AXIS.fault(cell) or "")


# -- figures of the paper ----------------------------------------------------------------------


def golden(prefix: str) -> list[dict[str, Any]]:
    path = SHARED / "golden.json"
    if not path.is_file():
        pytest.skip("the papers' figures do not lie beside the checkout")
    entries = json.loads(path.read_text(encoding="utf-8"))
    return [entry for entry in entries if entry["id"].startswith(prefix)]


def test_the_gap_is_the_papers_largest_shift_less_its_smallest() -> None:
    """Figure 10: Engagement +.52 at the first and -.25 at the fourth place, so .77 in table 5."""
    [entry] = golden("000.fig10")
    from judgesheet.stats.criteria import position_effects

    shift = np.array([0.52, -0.05, -0.10, -0.25, -0.06, -0.06])
    place = np.argsort(np.array(balanced(6)), axis=1)[:, 2]
    scores = np.tile(3 + shift[place], (96, 1))
    found = position_effects(scores, np.tile(place, (96, 1)), np.arange(96), 6, 96)
    assert found.spread == pytest.approx(entry["paper"], abs=entry["tol"])


def test_public_stories_with_three_raters_a_criterion(tmp_path: Path) -> None:
    """HANNA's six criteria as stimuli of one's own: a judge that knows nothing of them."""
    source = SHARED / "data" / "hanna.jsonl.gz"
    if not source.is_file():
        pytest.skip("the public data sets do not lie beside the checkout")
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        stories = [json.loads(line) for line in lines][:8]
    path = tmp_path / "hanna.jsonl"
    levels = ["very poor", "poor", "fair", "good", "very good"]
    rows = [
        {
            "id": story["id"],
            "prompt": story["prompt"],
            "criteria": [{"name": name, "levels": levels} for name in story["criteria"]],
            "candidates": [{"id": "a", "text": story["response"], "human": story["criteria"]}],
        }
        for story in stories
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    sheet = run("first-biased", "quick", stimuli=path)
    assert "6 criteria, 5-point scale, 6 balanced orders" in sheet["mean_delta_pos"].conditions
    assert sheet.value("position_shift[criterion=Empathy,position=1]") > 0
    assert "human" in sheet["pearson_r[arm=balanced]"].conditions
    assert sheet.plan.labels[0].ratings == tuple(stories[0]["criteria"]["Relevance"])


def test_what_all_criteria_share_is_found_where_none_shows_it_alone() -> None:
    """A first place that is worth a quarter of a point on every criterion, with noise of one."""
    sheet = simulate("fair?width=1&shift=0.26:0:0:0:0", "standard", "criterion_order")
    assert sheet.value("order_dependence_p") < TESTS["order_dependence_p"]
    alone = [
        sheet.value(f"friedman_p[criterion={name}]")
        for name in ("Accuracy", "Courtesy", "Coverage", "Organisation", "Practicality")
    ]
    assert min(alone) > TESTS["order_dependence_p"] / len(alone)
    fair = simulate("fair?width=1", "standard", "criterion_order")
    assert fair.value("order_dependence_p") > SIGNIFICANT
    assert fair.effects["excess_change_rate"].verdict != "shown"
