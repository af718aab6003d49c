"""Repeats that a cache answers look like a judge without noise."""

import pandas as pd
import pytest

from judgesheet.axis import Readings
from judgesheet.axis.repeats import about_repeats
from tests.simulate import ORDER_AXES, parsed


@pytest.mark.parametrize("axis", ORDER_AXES)
@pytest.mark.parametrize(
    ("cached", "temperature", "warns"),
    [(False, 1.0, False), (True, 1.0, True), (False, 0.0, True), (True, None, False)],
)
def test_repeats_that_never_differ_are_told(
    axis: str, cached: bool, temperature: float | None, warns: bool
) -> None:
    def answer_again(frame: pd.DataFrame) -> pd.DataFrame:
        again = frame.groupby(["stimulus", "cell"])["text"]
        return frame.assign(text=again.transform("first"))

    _, rows = parsed("random", "standard", axis, edit=answer_again if cached else None)
    assert any(about_repeats(Readings(rows, (), temperature, 0))) == warns
