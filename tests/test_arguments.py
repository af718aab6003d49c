"""Options take what their types say, and one sentence says what they do not take."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judgesheet
from judgesheet.base.errors import JudgesheetError

api: Any = judgesheet
"""Without its types, which forbid what is tried here."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("runs") / "good"
    how: dict[str, Any] = {"axes": "score_order", "profile": "smoke", "pdf": False, "cases": False}
    judgesheet.probe("sim/good", directory, **how)
    return directory


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
        (lambda run: api.consensus(3, "sim/good"), "not int"),
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


def test_a_single_text_stands_for_a_list_of_one() -> None:
    plans = [judgesheet.plan("sim/good", axes=axes, profile="smoke")[0]
             for axes in ("score_order", ["score_order"])]  # fmt: skip
    assert plans[0].digest == plans[1].digest


def test_numbers_of_numpy_and_digits_are_numbers() -> None:
    wanted = judgesheet.Request("sim/good", repeats=2, stimuli=Path("a"))
    for repeats in (np.int64(2), "2", 2.0):
        given: dict[str, Any] = {"repeats": repeats, "stimuli": "a"}
        assert judgesheet.Request("sim/good", **given) == wanted
