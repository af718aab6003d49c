"""The axis recovers what was planted, and says so in words."""

import json
from collections import Counter
from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import judgesheet
from judgesheet.axes import get_axis
from judgesheet.axes.score_order.read import score_probabilities
from judgesheet.axis import Options, Readings
from judgesheet.axis.undefined import EQUAL_QUALITY
from judgesheet.base.effects import JudgedEffect
from judgesheet.base.errors import StimuliError, TemplateError
from judgesheet.base.missing_reasons import NEARLY_EQUAL_SCORES
from judgesheet.base.records import AxisResult, Label, MeasuredAxis, Plan
from judgesheet.base.resources import data_folder
from judgesheet.decide.effects import judged
from judgesheet.judges.simulated import SimulatedJudge
from judgesheet.measuring.measure import COLUMNS, measure_axis, parse_rows
from judgesheet.planning.plan import make_plan
from judgesheet.planning.stimuli import load
from judgesheet.stats import orders
from tests.simulate import Sheet, parsed, planned, simulate

AXIS = get_axis("score_order")


def plan_of(profile: str = "standard", **options: Any) -> Plan:
    if not options:  # shared
        return planned(profile, "score_order", 0, False, None)
    chosen = Options(profile=profile, reply=options.pop("reply", "json"), **options)
    return make_plan([AXIS], {"score_order": chosen}, 0)


# -- design ------------------------------------------------------------------------------------


def test_every_score_stands_equally_often_at_every_position() -> None:
    calls = [c for c in plan_of().calls if c.cell["arm"] == "balanced" and c.repeat == 0]
    for scale in (2, 3, 5, 9):
        mine = [c.cell["order"] for c in calls if c.cell["scale"] == scale]
        at = Counter((position, score) for order in mine for position, score in enumerate(order))
        assert len(at) == scale**2
        assert len(set(at.values())) == 1


def test_every_order_is_repeated_on_some_prompts() -> None:
    calls = plan_of("quick").calls
    again = Counter(tuple(c.cell["order"]) for c in calls if c.repeat and c.cell["arm"] != "fixed")
    assert set(again) == set(orders.half(5))


def test_arms_have_the_same_budget_in_the_standard_profile() -> None:
    calls = [c for c in plan_of().calls if c.cell["scale"] == 5 and c.cell["item"].endswith("/a")]
    arms = Counter(
        (c.stimulus, c.cell["arm"]) for c in calls if c.cell["arm"] != "balanced" or c.repeat == 0
    )
    assert set(arms.values()) == {10}
    # Every prompt bears on the order; what else the profile asks, some.
    assert Counter(arm for _, arm in arms) == {"balanced": 36, "random": 6, "fixed": 6}


def test_calls_of_an_item_stand_together_with_their_arms_mixed() -> None:
    items = [call.cell["item"] for call in plan_of("quick").calls]
    assert sum(a != b for a, b in pairwise(items)) == len(set(items)) - 1
    calls = plan_of().calls
    item = next(c.cell["item"] for c in calls if c.cell["arm"] == "fixed")
    assert len({c.cell["arm"] for c in [c for c in calls if c.cell["item"] == item][:20]}) > 1


def test_williams_design_balances_neighbours() -> None:
    calls = plan_of("quick", sequences="williams").calls
    shown = {tuple(c.cell["order"]) for c in calls if c.cell["arm"] == "balanced"}
    neighbours = Counter(pair for o in shown for pair in pairwise(o))
    assert len(neighbours) == 20
    assert len(set(neighbours.values())) == 1


def test_the_prompt_lists_the_descriptions_in_the_order_of_the_cell() -> None:
    for call in plan_of("smoke").calls:
        text = call.messages[0]["content"]
        at = [text.index(f"Score {score}: ") for score in call.cell["order"]]
        assert at == sorted(at)


def test_prompts_differ_only_where_the_rubric_stands() -> None:
    every = plan_of("smoke").calls
    calls = [c for c in every if c.cell["item"] == every[0].cell["item"]]
    heads = {c.messages[0]["content"].split("## Possible scores")[0] for c in calls}
    assert len(heads) == 1


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{% if %}", "line 1"),
        ("{{ nothing }}", "nothing"),
        ("{{ prompt.x.y }}", "attribute"),
        ("grade please", "prompt"),
        ("{{ prompt }} {{ response }} {{ response }}", "response 2 times"),
        (
            "{{ prompt }}{{ response }}{% for o in options | sort(attribute='score') %}"
            "{{ o.description }}{% endfor %}",
            "order",
        ),
        (
            "{{ prompt }}{{ response }}{% for o in options %}{{ loop.index }} {{ o.description }}"
            "{% endfor %}",
            "options",
        ),
        ("{{ prompt }}{{ response }}{{ options[0].description }}", "option"),
    ],
)
def test_a_broken_template_is_named(template: str, words: str) -> None:
    with pytest.raises(TemplateError, match=words):
        plan_of("smoke", template=template)


# -- what was planted is found -----------------------------------------------------------------


def truths(sheet: Sheet, spec: str) -> dict[str, float]:
    """Position shares, V and change rates by enumeration of the planted probabilities."""
    planted = SimulatedJudge.from_name(spec).parameters
    level = {label.item: label.score for label in sheet.plan.labels}
    shown = orders.balanced(5)
    shares, change, same = [], [], []
    for item in sorted({call.cell["item"] for call in sheet.plan.calls}):
        lines = [score_probabilities(planted, item, 5, order, level[item]) for order in shown]
        shares.append(np.mean(lines, axis=0))
        by_score = [[p for _, p in sorted(zip(o, line, strict=True))] for o, line in
                    zip(shown, lines, strict=True)]  # fmt: skip
        agree = [float(np.dot(a, b)) for a, b in combinations(by_score, 2)]
        change.append(1 - np.mean(agree))
        same.append(1 - np.mean([np.dot(p, p) for p in by_score]))
    share = np.mean(shares, axis=0)
    return {
        "position_share[position=1]": float(share[0]),
        "position_share[position=5]": float(share[4]),
        "cramers_v": float(np.sqrt(5 * np.sum((share - 0.2) ** 2) / 4)),
        "order_change_rate": float(np.mean(change)),
        "repeat_change_rate": float(np.mean(same)),
    }


PLANTED = frozenset({"position_share", "cramers_v", "order_change_rate", "repeat_change_rate"})


@pytest.mark.parametrize(
    "spec",
    ["first-biased", "last-biased?last=1", "noisy?first=0.5", "fair?position=1:0:0:0:1",
     "fair?interaction=1", "random?position=0.6:0:0"],
)  # fmt: skip
def test_planted_bias_is_recovered(spec: str) -> None:
    sheet = simulate(spec, families=PLANTED)
    for name, truth in truths(sheet, spec).items():
        found = sheet[name]
        assert found.low is not None
        assert found.high is not None
        # One data set may miss its 95 % interval; none may miss twice its width.
        slack = (found.high - found.low) / 2
        assert found.low - slack <= truth <= found.high + slack, (name, truth, found)


def test_a_fair_judge_is_cleared() -> None:
    sheet = simulate("fair?width=0.2")
    assert sheet.value("order_dependence_p") > 0.05
    assert sheet.value("cramers_v_debiased") < 0.05
    low = sheet["excess_flip_rate"].low
    assert low is not None
    assert low <= 0
    verdicts = {key: one.verdict for key, one in sheet.effects.items()}
    assert set(verdicts.values()) == {"negligible"}, verdicts


def test_a_judge_that_takes_the_first_line_is_convicted() -> None:
    sheet = simulate("position-only", profile="quick")
    assert sheet.value("position_share[position=1]") == 1
    assert sheet.value("cramers_v") == 1
    assert (sheet["cramers_v"].low or 0) < 1
    assert sheet.value("order_dependence_p") < 0.001
    assert sheet.value("repeat_change_rate") == 0
    assert sheet["pearson_r[arm=balanced]"].value is None
    assert sheet.shown() >= {"cramers_v", "excess_change_rate", "pearson_r[arm=balanced]"}


def test_a_constant_judge_has_no_position_bias_and_no_use() -> None:
    sheet = simulate("constant", profile="quick")
    assert sheet.value("cramers_v") == 0
    assert sheet.value("order_change_rate") == 0
    assert sheet["bias_cost[order=12345]"].value is None
    assert "never" in sheet["selection[score=1,position=1]"].note
    assert sheet.shown() == {"pearson_r[arm=balanced]", "top_tie_rate"}
    # Scores that never change are no merit of a judge that reads nothing.
    assert sheet.effects["cramers_v"].verdict == "invalid"


def test_an_unreadable_judge_gets_a_sheet_that_says_so() -> None:
    sheet = simulate("unreadable", profile="smoke")
    assert sheet.result.unreadable == sheet.result.planned
    assert sheet.result.answered == 0
    assert not sheet.shown()
    assert all(e.value is None and e.note for e in sheet.result.estimates if ".loss_" not in e.key)


def test_noise_is_not_taken_for_an_effect_of_the_order() -> None:
    sheet = simulate("noisy")
    assert sheet.value("order_flip_rate") > 0.2
    excess = sheet["excess_flip_rate"]
    assert excess.low is not None
    assert excess.low <= 0 <= (excess.high or 0)


def test_too_few_prompts_clear_nothing() -> None:
    sheet = simulate("fair?width=0.2", profile="smoke")
    assert not {one.verdict for one in sheet.effects.values()} & {"negligible", "shown"}
    v = sheet["cramers_v"]
    assert v.high is not None
    assert v.high > (v.value or 0)


def test_one_odd_reply_does_not_make_a_useless_judge_usable() -> None:
    def slip(frame: pd.DataFrame) -> pd.DataFrame:
        balanced = frame["cell"].str.contains("balanced") & (frame["repeat"] == 0)
        slipped = balanced & (frame["text"] == '{"score": 1}')
        frame.loc[frame.index[slipped][0], "text"] = '{"score": 5}'
        return frame

    sheet = simulate("position-only", profile="quick", edit=slip)
    assert sheet["pearson_r[arm=balanced]"].reason == NEARLY_EQUAL_SCORES.code
    assert "pearson_r[arm=balanced]" in sheet.shown()


def test_a_noisy_judge_is_told_how_many_readings_to_average() -> None:
    sheet = simulate("noisy", profile="quick")
    assert sheet.value("single_read_r") < sheet.value("pearson_r[arm=balanced]") - 0.1
    (remedy,) = sheet.result.mitigations
    assert 3 <= remedy.calls <= 10
    assert remedy.after == f"score_order.budget_r[k={remedy.calls},arm=balanced]"


def test_arms_of_unequal_budget_are_not_compared() -> None:
    gain = simulate("fair", profile="smoke")["delta_r[arms=balanced-fixed]"]
    assert gain.value is None
    assert "not comparable" in gain.note


# -- people's scores, and what averaging buys ---------------------------------------------------


def rated_stimuli(tmp_path: Path, **changes: Any) -> Path:
    """As in public story sets: prompts with responses that three raters scored from 1 to 5."""
    draw = np.random.default_rng(6)
    lines = []
    for number in range(24):
        candidates = []
        for place, level in enumerate(draw.integers(1, 6, size=4)):
            ratings = np.clip(level + np.round(draw.normal(0, 1, 3)), 1, 5).tolist()
            known = {"human": ratings, "model": float(ratings[0]), **changes}
            text = "word " * (int(level) + place)
            fields = {"id": f"c{place}", "text": text, "level": int(level), **known}
            candidates.append({name: value for name, value in fields.items() if value is not None})
        rubric = {"criterion": "Coherence", "levels": ["worst", "poor", "fair", "good", "best"]}
        stimulus = {"id": f"story-{number}", "prompt": "Tell.", "rubric": rubric}
        lines.append(json.dumps({**stimulus, "candidates": candidates}))
    path = tmp_path / "rated.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_correlations_with_people_are_those_of_the_means_with_stimuli_as_clusters(
    tmp_path: Path,
) -> None:
    kept: list[pd.DataFrame] = []

    def keep(frame: pd.DataFrame) -> pd.DataFrame:
        kept.append(frame)
        return frame

    sheet = simulate("noisy?first=1", stimuli=rated_stimuli(tmp_path), edit=keep)
    frame = kept[0]
    cells = pd.DataFrame([json.loads(cell) for cell in frame["cell"]])
    frame = frame.assign(score=[json.loads(text)["score"] for text in frame["text"]], **cells)
    frame = frame[frame["scale"] == 5]
    people = {one.item: one.score for one in sheet.plan.labels if one.kind == "human"}
    means: dict[str, pd.Series] = {}
    for arm, reads in (("balanced", 14), ("random", 10), ("fixed", 10)):
        mine = frame[frame["arm"] == arm]
        # the balanced arm repeats some orders for the noise; only whole passes are averaged
        mine = mine[mine["repeat"] == 0] if arm == "balanced" else mine
        means[arm] = mean = mine.groupby("item")["score"].mean()
        found = sheet[f"pearson_r[arm={arm}]"]
        assert found.value == pytest.approx(np.corrcoef(mean, mean.index.map(people))[0, 1])
        assert (found.n, found.clusters) == (len(mean), len(mean) // 2)
        assert "mean human score" in found.conditions
        rho = mean.rank().corr(pd.Series(mean.index.map(people), mean.index).rank())
        assert sheet.value(f"spearman_r[arm={arm}]") == pytest.approx(rho)
        assert reads >= len(mine) / len(mean)
    for other in ("fixed", "random"):
        gain, common = sheet[f"delta_r[arms=balanced-{other}]"], means[other].index
        of = [np.corrcoef(means[arm][common], common.map(people))[0, 1] for arm in
              ("balanced", other)]  # fmt: skip
        assert gain.value == pytest.approx(of[0] - of[1])
        assert gain.clusters == 6
    assert any("scores that people gave" in caveat for caveat in sheet.result.caveats)


def test_raters_set_a_ceiling_that_a_perfect_judge_reaches(tmp_path: Path) -> None:
    sheet = simulate("fair?greedy=1", profile="quick", stimuli=rated_stimuli(tmp_path))
    ceiling = sheet["rater_ceiling_r"]
    assert "3 ratings per response" in ceiling.conditions
    r = sheet["pearson_r[arm=balanced]"]
    assert (ceiling.low or 0) < (r.value or 0) < (ceiling.high or 0)


def test_one_score_per_item_has_no_ceiling(tmp_path: Path) -> None:
    sheet = simulate("fair", profile="smoke", stimuli=rated_stimuli(tmp_path, human=3.5))
    assert sheet["rater_ceiling_r"].value is None
    assert "single ratings" in sheet["rater_ceiling_r"].note


@pytest.mark.parametrize(
    ("changes", "name", "caveat"),
    [
        ({}, "mean human score", "people gave"),
        ({"human": None}, "another model", "another model gave"),
        ({"human": None, "model": None}, "intended", "not a human rating"),
    ],
)
def test_people_come_before_models_and_models_before_intentions(
    tmp_path: Path, changes: dict[str, Any], name: str, caveat: str
) -> None:
    sheet = simulate("fair", profile="smoke", stimuli=rated_stimuli(tmp_path, **changes))
    for key in ("pearson_r[arm=balanced]", "budget_r[k=1,arm=balanced]"):
        assert name in sheet[key].conditions
    assert any(caveat in one for one in sheet.result.caveats)


def test_unlabelled_items_are_counted(tmp_path: Path) -> None:
    path = rated_stimuli(tmp_path)
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    record = json.loads(first)
    for candidate in record["candidates"]:
        del candidate["human"]
    path.write_text("\n".join([json.dumps(record), *rest]), encoding="utf-8")
    sheet = simulate("fair", profile="standard", stimuli=path)
    assert sheet["pearson_r[arm=balanced]"].n == 46
    for key in ("budget_r[k=1,arm=balanced]", "default_order_rank"):
        assert (sheet[key].n, sheet[key].clusters) == (46, 23)
    assert any("2 of 48 items have none" in one for one in sheet.result.caveats)


@pytest.mark.parametrize("human", [[], [None], "4", [1, float("inf")], float("nan")])
def test_broken_ratings_are_named(tmp_path: Path, human: Any) -> None:
    with pytest.raises(StimuliError, match=r"candidates\.1\.human"):
        load(AXIS, own_stimuli(tmp_path, candidates=[{"id": "a", "text": "x", "human": human}]))


# -- incomplete and odd runs -------------------------------------------------------------------


def test_missing_replies_are_counted_and_left_out() -> None:
    def spoil(frame: pd.DataFrame) -> pd.DataFrame:
        frame.loc[frame.index % 7 == 0, "text"] = "no idea"
        frame.loc[frame.index % 11 == 0, "outcome"] = "timeout"
        frame.loc[frame.index % 13 == 0, ["outcome", "text"]] = None
        return frame

    sheet = simulate("first-biased", "quick", edit=spoil, families=frozenset({"position_share"}))
    result = sheet.result
    assert result.unreadable > 0
    assert result.failed > 0
    assert result.planned > result.answered + result.unreadable + result.refused + result.failed
    assert sheet.value("position_share[position=1]") > 0.3
    assert sheet["position_share[position=1]"].n < result.answered
    assert any("gave no score" in caveat for caveat in result.caveats)


def own_stimuli(tmp_path: Path, **changes: Any) -> Path:
    record = {
        "id": "mine",
        "prompt": "Name a prime number.",
        "rubric": {"criterion": "Truth", "levels": ["wrong", "vague", "right"]},
        "candidates": [
            {"id": "a", "text": "Seven.", "human": [3, 3]},
            {"id": "b", "text": "Nine.", "human": 1},
        ],
    }
    path = tmp_path / "mine.jsonl"
    path.write_text(
        "\n".join(json.dumps({**record, "id": f"mine-{number}", **changes}) for number in range(4)),
        encoding="utf-8",
    )
    return path


def test_own_stimuli_with_three_levels_and_human_scores(tmp_path: Path) -> None:
    sheet = simulate("fair", profile="standard", stimuli=own_stimuli(tmp_path))
    assert "3-point" in sheet["cramers_v"].conditions
    assert "human" in sheet["pearson_r[arm=balanced]"].conditions
    assert "score_order.cramers_v[scale=2]" in sheet.estimates
    assert "score_order.cramers_v[scale=5]" not in sheet.estimates


def test_one_candidate_per_prompt_has_no_ranking(tmp_path: Path) -> None:
    path = own_stimuli(tmp_path, candidates=[{"id": "a", "text": "Seven."}])
    sheet = simulate("fair", profile="quick", stimuli=path)
    assert sheet["excess_flip_rate"].value is None
    assert sheet["rater_ceiling_r"].value is None
    assert "several candidates" in sheet["excess_flip_rate"].note
    assert "neither human" in sheet["pearson_r[arm=balanced]"].note


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rubric": {"criterion": "Truth", "levels": ["only"]}}, "rubric.levels"),
        ({"rubric": {"criterion": "Truth", "levels": ["same", "same"]}}, "same description"),
        ({"rubric": {"criterion": "Truth", "levels": [*"abcdefghijkl"]}}, "12 .*11"),
        ({"candidates": []}, "candidates"),
        ({"candidates": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]}, "same id"),
        ({"candidates": [{"id": "../x", "text": "x"}]}, r"candidates.1.id"),
        ({"candidates": [{"id": "a", "text": "x", "level": 9}]}, "3"),
        ({"prompt": ""}, "prompt"),
        ({"extra": 1}, "extra"),
        ({"id": "same"}, r"mine\.jsonl:1\b"),
    ],
)
def test_broken_stimuli_are_named_with_their_line(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(StimuliError, match=words) as caught:
        load(AXIS, own_stimuli(tmp_path, **changes))
    assert "mine.jsonl:" in str(caught.value)


# -- recorded judgments --------------------------------------------------------------------------


def recorded(
    arm: str, verdict: Callable[[int, int], int], level: Callable[[int], int]
) -> MeasuredAxis:
    """The result of 12 responses that were read under two orders (one in a fixed arm)."""
    orders = [[1, 2], [2, 1]] if arm == "balanced" else [[1, 2]]
    rows = [
        (f"{n}/{order}", "score_order", f"s{n}",
         json.dumps({"item": f"s{n}/a", "arm": arm, "order": order, "scale": 2}),
         0, "recorded", "ok", str(verdict(n, order[0])))
        for n in range(12) for order in orders
    ]  # fmt: skip
    labels = tuple(Label("score_order", f"s{n}/a", "human", level(n)) for n in range(12))
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    axis = get_axis("score_order")
    return measure_axis(axis, Readings(parse_rows(axis, frame), labels, None, 0))


def quality_in(result: MeasuredAxis) -> JudgedEffect:
    return next(one for one in judged(AxisResult.of(result)) if ".pearson_r[" in one.key)


def test_equal_labels_do_not_accuse_a_judge_of_equal_scores() -> None:
    of_quality = quality_in(recorded("balanced", lambda n, _: 1 + n % 2, lambda _: 2))
    assert of_quality.verdict == "not_measured"
    assert of_quality.why == EQUAL_QUALITY.sentence


def test_equal_scores_are_said_to_be_the_judges() -> None:
    result = recorded("balanced", lambda _, first: first, lambda n: n % 3)
    assert quality_in(result).verdict == "shown"


def test_a_judge_that_tells_prompts_apart_but_not_responses_is_not_enough_to_choose_with() -> None:
    plan, rows = parsed("good", "quick", "score_order")
    scores = rows.groupby("stimulus")["value"].transform(
        lambda score: sorted(score)[len(score) // 2]
    )
    readings = Readings(rows.assign(value=scores), plan.labels, 0.0, 0, None)
    assert "top_tie_rate" in Sheet(plan, AXIS, readings).shown()


def test_no_interval_reaches_what_the_orders_do_not_allow() -> None:
    change = simulate("position-only", "smoke")["order_change_rate"]
    assert change.ceiling is not None
    assert change.bounds is not None
    assert change.high == pytest.approx(change.ceiling)
    assert change.bounds.high == pytest.approx(change.ceiling)


def test_two_scores_say_beforehand_what_they_cannot_show(tmp_path: Path) -> None:
    pool = (data_folder("stimuli") / "score_order.jsonl").read_text(encoding="utf-8")
    stimuli = [json.loads(line) for line in pool.splitlines()]
    for one in stimuli:
        one["rubric"]["levels"] = one["rubric"]["levels"][::8]
        for candidate in one["candidates"]:
            candidate["level"] = 1 + (candidate["level"] > 4)
    own = tmp_path / "two.jsonl"
    own.write_text("".join(f"{json.dumps(one)}\n" for one in stimuli))
    asked: dict[str, Any] = {"axes": ["score_order"], "stimuli": own, "profile": "quick"}
    _, (budget,) = judgesheet.plan("sim/good", **asked)
    (sentence,) = budget.cannot_show
    assert "two scores" in sentence
    run = judgesheet.probe("sim/good", tmp_path / "run", pdf=False, cases=False, **asked)
    assert sentence in run.datasheet.axes[0].caveats
    _, (usual,) = judgesheet.plan("sim/good", axes=["score_order"], profile="quick")
    assert not usual.cannot_show


ON_PLACES = frozenset({"cramers_v", "order_dependence_p", "position_share", "chi2"})
