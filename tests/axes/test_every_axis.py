"""What holds for every axis, ours or a stranger's; the message names the axis that breaks it."""

import importlib
import inspect
import re
from dataclasses import replace
from itertools import product
from typing import Any, get_args

import numpy as np
import pytest

from judgesheet.axes import all_axes, folder, prompt
from judgesheet.axis import Axis, Options, headline
from judgesheet.axis.material import clusters
from judgesheet.axis.prompt import compile_prompt
from judgesheet.base.keys import Key
from judgesheet.base.records import ReplyFormat, Stimulus
from judgesheet.measuring.parsing import reading
from judgesheet.planning.plan import generator, make_plan
from judgesheet.planning.stimuli import load, pool_digest, validated
from tests.generated import FILES

AXES = all_axes()


@pytest.fixture(params=list(AXES))
def axis(request: pytest.FixtureRequest) -> Axis:
    return AXES[request.param]


def options(reply: str = "json", profile: str = "smoke") -> Options:
    return Options(profile=profile, reply="json" if reply == "json" else "text")


def test_it_asks_one_question_in_plain_words(axis: Axis) -> None:
    assert axis.QUESTION.endswith("?")
    assert axis.TITLE
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", axis.NAME)


def test_its_prompt_compiles(axis: Axis) -> None:
    compile_prompt(prompt(axis), axis.NAME)


@pytest.mark.parametrize("profile", ["quick", "full"])
def test_its_design_is_pure_and_has_no_call_twice(axis: Axis, profile: str) -> None:
    pool = load(axis)
    chosen = options(profile=profile)
    first = list(axis.design(pool, chosen, generator(3, axis.NAME)))
    if profile != "full":  # by far the longest, made of the same parts
        again = axis.design(pool, chosen, generator(3, axis.NAME))
        assert [call.id for call in first] == [call.id for call in again]
    assert len({call.id for call in first}) == len(first)
    assert {call.axis for call in first} == {axis.NAME}


def test_neither_prompt_nor_cell_tells_what_the_author_intended(axis: Axis) -> None:
    plan = make_plan([axis], {axis.NAME: options()}, 0)
    for call in plan.calls:
        assert not {"level", "intended", "quality"} & set(call.cell)
        assert call.stimulus not in call.messages[0]["content"]
        assert "intended" not in call.messages[0]["content"].lower()


def test_every_estimate_is_explained_by_its_function(axis: Axis) -> None:
    assert axis.ESTIMATES
    for name, function in axis.ESTIMATES.items():
        assert inspect.unwrap(function).__name__ == name
        declared = getattr(importlib.import_module(function.__module__), name)
        assert inspect.unwrap(declared) is inspect.unwrap(function)
        assert inspect.getdoc(function), f"{axis.NAME}.{name} has no docstring"


def test_headline_and_figures_name_estimates_that_exist(axis: Axis) -> None:
    for row in headline(axis):
        assert Key.parse(row.key).name in axis.ESTIMATES, row
    for facts in ("headline", "sweep"):
        ranks = [rank for one in axis.ESTIMATES.values() for rank in getattr(one, facts).values()]
        assert ranks, "a reader wants a first figure"
        assert len(ranks) == len(set(ranks)), f"two {facts} figures of {axis.NAME} have one rank"


def test_built_in_stimuli_pass_their_own_check(axis: Axis) -> None:
    assert [problem for problem in axis.check(load(axis)) if problem.grave] == []


class Watched(dict[str, Any]):
    """A cell that remembers which of its keys were looked at."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.seen: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.seen.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.seen.add(key)
        return super().get(key, default)


def test_replies_are_read_by_no_more_of_the_cell_than_the_axis_says(axis: Axis) -> None:
    if axis.READ_BY is None:
        pytest.skip("all of the cell may count")
    texts = ("", "[RESULT] 2", '{"score": 2}', '{"scores": {"a": 1}}', '{"winner": "1"}', "2")
    for call in make_plan([axis], {axis.NAME: options()}, 0).calls:
        cell = Watched(call.cell)
        for text, reply in product(texts, get_args(ReplyFormat)):
            reading(axis, text, reply, cell)
        list(axis.parts(cell))
        assert cell.seen <= axis.READ_BY


@pytest.mark.parametrize("name", all_axes())
def test_stories_told_over_and_over_are_as_many_as_there_are(name: str) -> None:
    pool = load(all_axes()[name])
    assert clusters(pool) == {}
    copies = [
        replace(one, id=f"{one.id}-{number}", fields=_numbered(one.fields, number))
        for one in pool[:2]
        for number in range(12)
    ]
    assert clusters(copies) == {
        f"{one.id}-{number}": f"{one.id}-0" for one in pool[:2] for number in range(1, 12)
    }
    named = [replace(one, fields={**one.fields, "group": "one customer"}) for one in pool[:6]]
    assert clusters([*named, *pool[6:]]) == {one.id: pool[0].id for one in pool[1:6]}


@pytest.mark.parametrize("name", all_axes())
def test_own_stimuli_may_name_their_group(name: str) -> None:
    axis = all_axes()[name]
    one = load(axis)[0]
    named = validated(axis, {**one.fields, "group": "one customer"}, "mine.jsonl:1")
    assert named.fields["group"] == "one customer"
    assert pool_digest([validated(axis, {**one.fields, "group": None}, "")]) == pool_digest([one])


def _numbered(value: Any, number: int) -> Any:
    """The same with a number behind every text."""
    if isinstance(value, dict):
        return {name: _numbered(part, number) for name, part in value.items()}
    if isinstance(value, list):
        return [_numbered(part, number) for part in value]
    return f"{value} {number}" if isinstance(value, str) else value


def test_an_axis_has_at_most_six_files_and_the_guide_says_what_each_holds(axis: Axis) -> None:
    files = {file.stem for file in folder(axis).glob("*.py")}
    named = set().union(*FILES.values())
    assert files <= named
    assert len(files) <= 6


@pytest.mark.parametrize("axis", all_axes().values(), ids=lambda axis: axis.NAME)
def test_a_stimulus_at_the_top_of_a_file_changes_no_other_stimulus(axis: Axis) -> None:
    first, *rest = load(axis)[:6]

    def calls(stimuli: list[Stimulus]) -> set[str]:
        rng = np.random.default_rng(7)
        made = axis.design(stimuli, Options(profile="quick", reply="json"), rng)
        return {call.id for call in made if call.stimulus != first.id}

    assert calls([first, *rest]) == calls(rest)


@pytest.mark.parametrize("axis", all_axes().values(), ids=lambda axis: axis.NAME)
@pytest.mark.parametrize("seed", [0, 1])
def test_no_field_is_asked_at_a_time_of_its_own(axis: Axis, seed: int) -> None:
    plan = make_plan([axis], {axis.NAME: Options(profile="quick", reply="json")}, seed)
    field = {one.id: one.fields["field"] for one in load(axis)}
    asked = [field[name] for name in dict.fromkeys(call.stimulus for call in plan.calls)]
    for half in (asked[: len(asked) // 2], asked[len(asked) // 2 :]):
        assert set(half) == set(field.values())
