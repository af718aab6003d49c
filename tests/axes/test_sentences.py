"""No sentence with a gap, none of what was not asked, and no control that judges itself."""

import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from judgesheet.axes import all_axes, get_axis
from judgesheet.decide.controls import touches
from tests.simulate import Sheet, simulate

AXES = list(all_axes())
Edit = Callable[[pd.DataFrame], pd.DataFrame]


def two_stimuli(frame: pd.DataFrame) -> pd.DataFrame:
    kept = frame["stimulus"].isin(frame["stimulus"].unique()[:2])
    return frame[kept].reset_index(drop=True)


def unfinished(share: float) -> Edit:
    """Only the first calls were made."""

    def cut(frame: pd.DataFrame) -> pd.DataFrame:
        made = pd.Series(range(len(frame))) < share * len(frame)
        outcome, text = (frame[name].astype(object) for name in ("outcome", "text"))
        return frame.assign(outcome=outcome.where(made, None), text=text.where(made, None))

    return cut


def of_second(frame: pd.DataFrame) -> pd.DataFrame:
    """A tenth of the replies are lost, all of calls that list what comes second in the alphabet."""
    cells = frame["cell"].map(json.loads)
    turned = cells.map(lambda cell: sorted(cell["order"], key=str)[0] != cell["order"][0])
    every = pd.Series(range(len(frame))) % 5 == 0
    return frame.assign(text=frame["text"].mask(turned & every, "no verdict"))


JUDGES: dict[str, tuple[str, Edit | None]] = {
    "perfect": ("perfect", None),
    "constant": ("constant", None),
    "always-1": ("always-1", None),
    "random": ("random", None),
    "halo": ("perfect?halo=1", None),
    "first-biased": ("first-biased", None),
    "two stimuli": ("good", two_stimuli),
    "a sixth was asked": ("good", unfinished(1 / 6)),
    "three calls were made": ("good", unfinished(0.005)),
    "lost in one order": ("fair", of_second),
}


@pytest.fixture(
    scope="module",
    params=[
        (axis, judge)
        for axis in AXES
        for judge in JUDGES
        if judge != "halo" or axis == "criterion_order"  # elsewhere it is the perfect one
    ],
    ids="-".join,
)
def sheet(request: pytest.FixtureRequest) -> Sheet:
    """Measured once for all that is asked of it: pytest runs the tests of a sheet one by one."""
    axis, judge = request.param
    spec, edit = JUDGES[judge]
    return simulate(spec, "quick", axis, edit=edit)


def test_nothing_is_said_of_what_was_not_asked(sheet: Sheet) -> None:
    for estimate in sheet.result.estimates:
        assert estimate.clusters <= sheet.result.made


@pytest.mark.parametrize("axis", AXES)
def test_an_axis_of_which_nothing_was_asked_counts_no_stimuli(axis: str) -> None:
    sheet = simulate("good", "quick", axis, edit=unfinished(0.0))
    assert {one.verdict for one in sheet.effects.values()} <= {"invalid", "not_measured"}
    assert not any("asked;" in caveat for caveat in sheet.result.caveats)


def test_no_sentence_leaves_a_gap(sheet: Sheet) -> None:
    for effect in sheet.effects.values():
        assert effect.text
        assert "{" not in effect.text


def test_a_control_touches_figures_of_its_axis_and_never_its_own_evidence(sheet: Sheet) -> None:
    names = set(get_axis(sheet.result.name).ESTIMATES)
    for control in sheet.result.controls:
        assert control.of == "judge"
        assert control.touches
        assert set(control.touches) <= names
        assert not any(touches(control, key) for key in control.evidence)


# -- one criterion of several --------------------------------------------------------------------


def unrelated(frame: pd.DataFrame) -> pd.DataFrame:
    """The score on Accuracy follows the name of the response instead of its quality."""

    def spoiled(text: str, cell: str) -> str:
        reply: dict[str, Any] = json.loads(text)
        reply["scores"]["Accuracy"] = 1 + sum(map(ord, json.loads(cell)["item"])) % 5
        return json.dumps(reply)

    rows = zip(frame["text"], frame["cell"], strict=True)
    return frame.assign(text=[spoiled(text, cell) for text, cell in rows])


def test_a_mean_over_criteria_hides_no_criterion() -> None:
    sheet = simulate("good", "standard", "criterion_order", edit=unrelated)
    mean, worst = "pearson_r[arm=balanced]", "pearson_r[criterion=Accuracy,arm=balanced]"
    assert sheet.value(mean) > 0.6
    assert sheet.shown() == {worst}


def test_a_judge_of_the_upper_scores_is_said_to_use_no_others() -> None:
    def upper(frame: pd.DataFrame) -> pd.DataFrame:
        scores = frame["text"].map(lambda text: max(3, json.loads(text)["score"]))
        return frame.assign(text=[json.dumps({"score": score}) for score in scores])

    sheet = simulate("good", "quick", "score_order", edit=upper)
    used = sheet["scores_used"]
    assert (used.value, used.unit) == (3, "of 5 scores")
    assert [*used.given["shares"]] == ["3", "4", "5"]
    assert any("set no threshold" in caveat for caveat in sheet.result.caveats)
