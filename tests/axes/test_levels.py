"""Whether the mean score is the same under every order, on the axes that score."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgesheet.axis.statements import ORDER_ERROR
from tests.axes.test_unequal import CRITERIA
from tests.simulate import simulate

AXES = ("score_order", "criterion_order")
ONE: Mapping[str, list[Any]] = {"score_order": [5, 4, 2, 3, 1], "criterion_order": CRITERIA}
"""An order that every item is shown in."""
FAMILIES = frozenset({
    *("level_p", "wavering_p", "anywhere_p", "chi2", "mean_delta_pos", "order_change_rate"),
})  # fmt: skip


def _descends(cell: Mapping[str, Any]) -> bool:
    """Whether most of the list stands the other way round."""
    rank = [CRITERIA.index(one) if one in CRITERIA else -one for one in cell["order"]]
    return sum(np.diff(rank) > 0) > len(rank) / 2


def _more_lenient(text: str) -> str:
    """The reply with a point more on everything that it scores."""
    reply = json.loads(text)
    if "score" in reply:
        return json.dumps({"score": min(5, reply["score"] + 1)})
    return json.dumps({"scores": {name: min(5, s + 1) for name, s in reply["scores"].items()}})


def lenient_where(shown: Callable[[Mapping[str, Any]], bool]) -> Callable[[Any], Any]:
    def edit(frame: pd.DataFrame) -> pd.DataFrame:
        cells = frame["cell"].map(json.loads)
        shifted = cells.map(lambda cell: cell.get("scale", 5) == 5 and shown(cell))
        return frame.assign(text=frame["text"].where(~shifted, frame["text"].map(_more_lenient)))

    return edit


@pytest.mark.parametrize("axis", AXES)
def test_a_judge_that_is_more_lenient_under_some_orders_is_told(axis: str) -> None:
    edit = lenient_where(_descends)
    sheet = simulate("fair?width=1", "quick", axis, edit=edit, families=FAMILIES)
    assert sheet.value("level_p") < ORDER_ERROR
    given = sheet["level_p"].given
    highest, lowest = (
        [int(one) if one.isdigit() else one for one in given[which]]
        for which in ("highest", "lowest")
    )
    assert _descends({"order": highest})
    assert not _descends({"order": lowest})
    # A point less what the end of the scale takes, give or take the noise of two orders.
    assert 0.4 < given["gap"] < 1.5
    assert sheet.tones("level_p") == {"bad"}


@pytest.mark.parametrize("axis", AXES)
def test_a_shift_of_one_order_is_no_wavering(axis: str) -> None:
    """Calls that lie far from their item's mean for their level are not called unsteady."""
    order = ONE[axis]
    edit = lenient_where(lambda cell: cell["order"] == order)
    sheet = simulate("constant", "quick", axis, edit=edit, families=FAMILIES)
    assert sheet["level_p"].given["highest"] == [*map(str, order)]
    assert sheet.tones("level_p") == {"bad"}
    assert sheet.value("wavering_p") < 0.05
    assert not sheet.about("wavering_p")


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("spec", ["noisy", "constant"])
def test_one_level_under_every_order_is_no_problem(axis: str, spec: str) -> None:
    sheet = simulate(spec, "quick", axis, families=FAMILIES)
    assert not sheet.about("level_p")
    if spec == "constant":
        assert sheet["level_p"].reason == "never_wavers"
