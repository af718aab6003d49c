"""What holds for every axis, ours or a stranger's; the message names the axis that breaks it."""

import importlib
import inspect
import re

import pytest

from judgesheet.axes import all_axes, prompt
from judgesheet.axis import PROFILES, Axis, Options, headline
from judgesheet.axis.prompt import compile_prompt
from judgesheet.estimates import Estimates
from judgesheet.keys import Key
from judgesheet.spine.plan import generator, make_plan
from judgesheet.spine.stimuli import load

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


@pytest.mark.parametrize("profile", PROFILES)
def test_its_design_is_pure_and_has_no_call_twice(axis: Axis, profile: str) -> None:
    pool = load(axis)
    chosen = options(profile=profile)
    first = list(axis.design(pool, chosen, generator(3, axis.NAME)))
    again = list(axis.design(pool, chosen, generator(3, axis.NAME)))
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
    for plot in axis.plots(Estimates(axis.NAME, ())):
        assert {*plot.families, *plot.shows} <= set(axis.ESTIMATES), plot.title
        assert bool(plot.shows) == bool(plot.brief), plot.title


def test_built_in_stimuli_pass_their_own_check(axis: Axis) -> None:
    assert [problem for problem in axis.check(load(axis)) if problem.grave] == []
