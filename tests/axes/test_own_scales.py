"""Stimuli with scores of the user's own: 0 to 10, 0 to 100, steps, and criteria without levels."""

import json
from pathlib import Path
from typing import Any

import pytest

import judgesheet
from judgesheet.axes import get_axis
from judgesheet.axis import Options
from judgesheet.axis.prompt import built_in
from judgesheet.base.datasheet import from_json
from judgesheet.base.errors import StimuliError
from judgesheet.base.records import Call
from judgesheet.base.scale import Scale
from judgesheet.planning.plan import make_plan
from tests.command import run

ELEVEN = [f"as good as {number}" for number in range(11)]
CRITERIA = [
    {"name": name, "description": f"How {name.lower()} it is.", "range": [0, 100]}
    for name in ("Clear", "Complete", "Polite")
]


def scored(ends: list[float] | None, levels: list[str], count: int = 8) -> list[dict[str, Any]]:
    rubric = {"criterion": "Truth", "levels": levels, "range": ends}
    return [
        {
            "id": f"q{n}",
            "prompt": f"What is the capital of country number {n}?",
            "rubric": rubric if ends else {**rubric, "range": None},
            "candidates": [
                {"id": "a", "text": f"Town {n}.", "human": levels_of(ends, n)},
                {"id": "b", "text": f"City {n * 7}.", "human": levels_of(ends, n + 2)},
            ],
        }
        for n in range(count)
    ]


def levels_of(ends: list[float] | None, n: int) -> float:
    numbers = Scale.between(*(ends or [1, 5])).numbers
    return numbers[n % len(numbers)]


def graded(criteria: list[dict[str, Any]], count: int = 8) -> list[dict[str, Any]]:
    return [
        {
            "id": f"q{n}",
            "prompt": f"What is the capital of country number {n}?",
            "criteria": criteria,
            "candidates": [{"id": "a", "text": f"Town {n}.", "human": {"Clear": 10 * n}}],
        }
        for n in range(count)
    ]


def written(folder: Path, stimuli: list[dict[str, Any]]) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in stimuli))
    return path


def calls_of(axis: str, path: Path, reply: str = "text", template: str | None = None) -> list[Call]:
    options = Options(profile="smoke", reply=reply, template=template)  # type: ignore[arg-type]
    return list(make_plan([get_axis(axis)], {axis: options}, 0, path).calls)


def figures(judge: str, axis: str, stimuli: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """The value of every figure of a run, by its key without the axis."""
    folder.mkdir()
    path = written(folder, stimuli)
    done = judgesheet.probe(
        judge, folder, axes=[axis], profile="quick", stimuli=path, pdf=False, cases=False
    )
    (result,) = done.datasheet.axes
    return {one.key.removeprefix(f"{axis}."): one.value for one in result.estimates}


# -- scales ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ends", "numbers"),
    [
        ((0, 10), [*range(11)]),
        ((1, 5), [1, 2, 3, 4, 5]),
        ((0, 1, 0.25), [0, 0.25, 0.5, 0.75, 1]),
        ((0, 100, 25), [0, 25, 50, 75, 100]),
    ],
)
def test_a_point_is_the_number_that_it_has(ends: tuple[float, ...], numbers: list[float]) -> None:
    scale = Scale.between(*ends)
    assert scale.numbers == numbers
    assert [scale.point(number) for number in numbers] == [*range(1, scale.count + 1)]


@pytest.mark.parametrize(
    "number", [-1, 11, 3.5, True, "3", None, float("nan"), float("inf"), 10**400]
)
def test_what_is_no_number_of_the_scale_has_no_point(number: object) -> None:
    assert Scale.between(0, 10).point(number) is None


# -- a rubric with numbers of its own --------------------------------------------------------------


def test_eleven_points_are_asked_for_and_read_as_they_are_written(tmp_path: Path) -> None:
    call = calls_of("score_order", written(tmp_path, scored([0, 10], ELEVEN)))[0]
    axis = get_axis("score_order")
    assert (call.cell["scale"], call.cell["low"], call.cell["step"]) == (11, 0, 1)
    assert all(f"Score {n}: as good as {n}\n" in call.messages[0]["content"] for n in range(11))
    for reply, point in (("0", 1), ("10", 11), ("10/10", 11), ("8/11", None), ("11", None)):
        assert axis.parse(f"[RESULT] {reply}", "text", call.cell) == point
    assert axis.parse('{"score": 0}', "json", call.cell) == 1
    assert axis.parse("0", "recorded", call.cell) == 1  # what a parser of the user's own found


def test_cases_show_what_the_judge_wrote(tmp_path: Path) -> None:
    figures("sim/fair", "score_order", scored([0, 10], ELEVEN), tmp_path / "run")
    for shown in judgesheet.cases(tmp_path / "run"):
        assert json.loads(shown.text) == {"score": shown.verdict}


def test_steps_are_read(tmp_path: Path) -> None:
    quarters = ["none", "some", "half", "most", "all"]
    call = calls_of("score_order", written(tmp_path, scored([0, 1, 0.25], quarters)), "json")[0]
    schema = call.params["response_format"]["json_schema"]["schema"]["properties"]["score"]
    assert schema == {"type": "number", "enum": [0, 0.25, 0.5, 0.75, 1]}
    axis = get_axis("score_order")
    for text, point in (("0.25", 2), ("0,5", 3), ("1.0", 5), ("0.75/1", 4), ("0.3", None)):
        assert axis.parse(f"[RESULT] {text}", "text", call.cell) == point


def test_a_rubric_without_a_range_is_asked_as_before(tmp_path: Path) -> None:
    call = calls_of("score_order", written(tmp_path, scored(None, ELEVEN)))[0]
    assert (call.cell["scale"], "low" in call.cell) == (5, False)


def test_ranges_that_differ_are_distinguished(tmp_path: Path) -> None:
    other = [{**one, "id": f"other-{one['id']}"} for one in scored([1, 11], ELEVEN)]
    with pytest.raises(StimuliError, match="1 to 11"):
        calls_of("score_order", written(tmp_path, [*scored([0, 10], ELEVEN), *other]))


@pytest.mark.parametrize(
    "ends",
    [[0, 9], [5, 1], [0, 10, 0], [-5, 5], [0], [0, 10.0, 0.3], [0, 100_000, 10_000], ["a", 1]],
)
def test_a_range_that_cannot_be_is_refused(tmp_path: Path, ends: list[Any]) -> None:
    stimuli = [{**one, "rubric": {**one["rubric"], "range": ends}} for one in scored(None, ELEVEN)]
    with pytest.raises(StimuliError, match=r"mine\.jsonl:1"):
        calls_of("score_order", written(tmp_path, stimuli))


def test_figures_are_those_of_the_same_judge_on_the_usual_scale(tmp_path: Path) -> None:
    """A scale that is shifted and stretched changes points alone, and those by its step."""
    levels = ["none", "some", "half", "most", "all"]
    judge = "sim/fair?greedy=1&interaction=2"
    usual, stretched = (
        figures(judge, "score_order", scored(ends, levels, 12), tmp_path / str(ends[1]))
        for ends in ([1.0, 5.0], [0.0, 100.0, 25.0])
    )
    kappas = [key for key in usual if "kappa" in key]
    assert kappas
    for key in ("cramers_v", "pearson_r[arm=balanced]", "excess_change_rate", *kappas):
        assert stretched[key] == pytest.approx(usual[key])
    spread = "within_item_sd[arm=balanced]"
    assert stretched[spread] == pytest.approx(25 * usual[spread])


# -- criteria without described levels -------------------------------------------------------------


def test_criteria_with_a_description_and_a_range_are_asked(tmp_path: Path) -> None:
    calls = calls_of("criterion_order", written(tmp_path, graded(CRITERIA)))
    text, cell = str(calls[0].messages[0]["content"]), calls[0].cell
    assert "from 0 (worst) to 100 (best)" in text
    assert all(str(one["description"]) in text for one in CRITERIA)
    names = cell["order"]
    reply = "\n".join(f"[{name}] {score}" for name, score in zip(names, (0, 55, 100), strict=True))
    read = get_axis("criterion_order").parse(reply, "text", cell)
    assert read == dict(zip(names, (1, 56, 101), strict=True))


def test_their_figures_are_in_points_of_the_range(tmp_path: Path) -> None:
    found = figures("sim/fair", "criterion_order", graded(CRITERIA, 12), tmp_path / "run")
    means = [value for key, value in found.items() if key.startswith("position_mean[")]
    assert all(0 <= value <= 100 for value in means)
    assert max(means) > 11
    sheet = json.loads((tmp_path / "run" / "datasheet.json").read_text())
    (used,) = [one for one in sheet["axes"][0]["estimates"] if one["key"].endswith("scores_used")]
    reported = {float(score) for score in used["given"]["shares"]}
    assert min(reported) >= 0
    assert 50 < max(reported) <= 100
    scale = {"low": 0, "step": 1, "count": 101}
    assert [pool["scale"] for pool in sheet["provenance"]["stimuli"]] == [scale]
    assert "from 1, the lowest (0), to 101" in "".join(sheet["axes"][0]["caveats"])


def test_the_same_judge_on_a_wider_range_is_called_the_same(tmp_path: Path) -> None:
    reported, gaps, small = [], [], set()
    for ends in ([1.0, 5.0], [0.0, 100.0, 25.0]):
        folder = tmp_path / str(ends[1])
        stimuli = graded([{**one, "range": ends} for one in CRITERIA], 24)
        found = figures("sim/fair?greedy=1&shift=0:.3:.1", "criterion_order", stimuli, folder)
        (axis,) = from_json(folder / "datasheet.json").axes
        reported.append([(one.verdict, one.key) for one in axis.effects])
        gaps.append(found["max_delta_pos"])
        small.update({one.small for one in axis.declared if "delta_pos" in one.key})
    assert reported[0] == reported[1]
    assert gaps[1] == pytest.approx(25 * gaps[0])
    assert small == {0.5, 12.5}


def test_a_criterion_without_both_is_refused(tmp_path: Path) -> None:
    bare = [{"name": name, "description": "x"} for name in ("Clear", "Polite")]
    with pytest.raises(StimuliError, match="levels, or a description and a range"):
        calls_of("criterion_order", written(tmp_path, graded(bare)))


# -- the papers' prompts ---------------------------------------------------------------------------


@pytest.mark.parametrize("ends", [None, [0, 10]])
def test_the_prompt_of_the_first_setting_can_be_used(
    tmp_path: Path, ends: list[float] | None
) -> None:
    path = written(tmp_path, scored(ends, ELEVEN))
    calls = calls_of("score_order", path, template=built_in("prometheus-rubric.j2"))
    assert "[RESULT]" in calls[0].messages[0]["content"]


@pytest.mark.parametrize("levels", [True, False])
def test_the_prompt_of_the_second_setting_can_be_used(tmp_path: Path, levels: bool) -> None:
    described = [{"name": name, "levels": ["bad", "good"]} for name in ("Clear", "Polite")]
    path = written(tmp_path, graded(described if levels else CRITERIA))
    if levels:
        path.write_text(path.read_text().replace(', "human"', ', "model"'))
    calls = calls_of("criterion_order", path, template=built_in("prometheus-criteria.j2"))
    assert f"Write {len(calls[0].cell['order'])} lines" in calls[0].messages[0]["content"]


def test_a_shipped_prompt_is_found_by_its_name(tmp_path: Path) -> None:
    done = run(
        *("plan", "--model", "sim/fair", "--axis", "score_order", "--profile", "smoke"),
        *("--prompt", "score_order=prometheus-rubric.j2", "--out", tmp_path / "plan.jsonl"),
    )
    assert done.returncode == 0, done.stderr
    assert "###Score rubric" in (tmp_path / "plan.jsonl").read_text()
    prompts = {"criterion_order": "prometheus-criteria.j2"}
    plan, _ = judgesheet.plan("sim/fair", axes=["criterion_order"], prompts=prompts)
    assert "###Criteria" in plan.calls[0].messages[0]["content"]
