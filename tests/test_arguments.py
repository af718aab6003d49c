"""Every function takes what its signature says, and says in one sentence what it does not take."""

from collections.abc import Callable
from datetime import timedelta
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judgesheet
from judgesheet.base.arguments import checked
from judgesheet.base.errors import JudgesheetError, UsageError

api: Any = judgesheet
"""Without its types, which forbid what is tried here."""
FUNCTIONS = {
    name: function
    for name in judgesheet.__all__
    if callable(function := getattr(judgesheet, name)) and not isinstance(function, type)
}
NOTHING = object()
"""What no parameter takes."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("runs") / "good"
    how: dict[str, Any] = {"axes": "score_order", "profile": "smoke", "pdf": False, "cases": False}
    judgesheet.probe("sim/good", directory, **how)
    return directory


def typed() -> list[tuple[str, str]]:
    """Every parameter of every function whose type is not that of a part that loads later."""
    return [
        (name, parameter.name)
        for name, function in FUNCTIONS.items()
        for parameter in signature(function).parameters.values()
        if not isinstance(parameter.annotation, str) and parameter.kind is not Parameter.VAR_KEYWORD
        if name != "correct"
    ]


@pytest.mark.parametrize(("function", "parameter"), typed())
def test_no_argument_ends_in_a_bare_exception(function: str, parameter: str) -> None:
    places: list[Any] = []
    names: dict[str, Any] = {}
    for name, one in signature(FUNCTIONS[function]).parameters.items():
        value = "x" if one.default is Parameter.empty else one.default
        value = NOTHING if name == parameter else value
        if one.kind is Parameter.KEYWORD_ONLY:
            names[name] = value
        elif one.kind is not Parameter.VAR_KEYWORD:
            places.append(value)
    with pytest.raises(UsageError, match=rf"^{parameter} is .*it should be "):
        FUNCTIONS[function](*places, **names)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda run: api.probe("sim/good", run / "x", profile="quik"),
         "there is no profile 'quik'; the profiles are first, smoke, quick, standard, full"),
        (lambda run: api.probe("sim/good", run / "x", profil="quick"),
         "there is no option 'profil'; did you mean 'profile'?"),
        (lambda run: api.plan("sim/good", repeats=0),
         "repeats is 0; it should be greater than or equal to 1"),
        (lambda run: api.plan("sim/good", rpm=float("nan")),
         "rpm is nan; it should be a finite number"),
        (lambda run: api.plan("sim/good", reply="xml"),
         "reply is 'xml'; it should be 'auto', 'text' or 'json'"),
        (lambda run: api.plan("sim/good", prices=(-1, 2)), "prices is (-1, 2); it should"),
        (lambda run: api.plan("sim/good", prompts="mine.j2"),
         "prompts is 'mine.j2'; it should be"),
        (lambda run: api.gate(run, {"limit": []}),
         "policy is {'limit': []}; it should be str | Path"),
        (lambda run: api.consensus(3, "sim/good"), "not int"),
        (lambda run: api.consensus([], "sim/good", k=0), "k is 0; it should be greater"),
        (lambda run: api.probe("sim/good", run / "x", reuse_for=3),
         "reuse_for is 3; it should be a valid timedelta"),
        (lambda run: api.cases(run, axis=""), "the run has no calls of "),
        (lambda run: api.ingest([], run / "x"), "name a file to read"),
        (lambda run: api.inspect_log("x", colums={}), "did you mean 'columns'?"),
        (lambda run: api.import_stimuli("csv", "x", "y", turns=2), "did you mean 'turn'?"),
        (lambda run: api.doctor(base_ulr="x"), "did you mean 'base_url'?"),
    ],
)  # fmt: skip
def test_what_a_user_would_get_wrong(call: Callable[[Path], object], said: str, run: Path) -> None:
    with pytest.raises(JudgesheetError) as caught:
        call(run)
    assert said in str(caught.value)


def test_a_single_text_stands_for_a_list_of_one(run: Path, tmp_path: Path) -> None:
    plans = [judgesheet.plan("sim/good", axes=axes, profile="smoke")[0]
             for axes in ("score_order", ["score_order"])]  # fmt: skip
    assert plans[0].digest == plans[1].digest
    assert [path.name for path in judgesheet.render(run, "md", tmp_path)] == ["datasheet.md"]


def test_numbers_of_numpy_and_digits_are_numbers() -> None:
    wanted = judgesheet.Request("sim/good", repeats=2, stimuli=Path("a"))
    for repeats in (np.int64(2), "2", 2.0):
        given: dict[str, Any] = {"repeats": repeats, "stimuli": "a"}
        assert judgesheet.Request("sim/good", **given) == wanted


def test_python_itself_speaks_of_a_name_that_a_function_lacks() -> None:
    with pytest.raises(TypeError, match=r"gate\(\) got an unexpected keyword argument 'polcy'"):
        api.gate("run", polcy="x")


def test_what_is_given_reaches_the_function_as_its_type() -> None:
    @checked
    def of(*numbers: int, age: timedelta = timedelta(0), **more: Any) -> object:
        return numbers, age, more

    assert of(1, 2, age=timedelta(1), other=object) == ((1, 2), timedelta(1), {"other": object})
