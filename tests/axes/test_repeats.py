"""Repeats that a cache answers look like a judge without noise."""

import pandas as pd
import pytest

from judgesheet.axes import all_axes
from judgesheet.axis import Readings
from judgesheet.axis.repeats import about_repeats
from judgesheet.spine.measure import parse_rows
from tests.simulate import simulate


@pytest.mark.parametrize("axis", list(all_axes()))
@pytest.mark.parametrize(
    ("cached", "temperature", "warns"),
    [(False, 1.0, False), (True, 1.0, True), (False, 0.0, True), (True, None, False)],
)
def test_repeats_that_never_differ_are_told(
    axis: str, cached: bool, temperature: float | None, warns: bool
) -> None:
    tables = []

    def look(frame: pd.DataFrame) -> pd.DataFrame:
        if cached:
            again = frame.groupby(["stimulus", "cell"])["text"]
            frame = frame.assign(text=again.transform("first"))
        tables.append(parse_rows(all_axes()[axis], frame))
        return frame

    simulate("random", "standard", axis, edit=look)
    assert any(about_repeats(Readings(tables[0], (), temperature, 0))) == warns
