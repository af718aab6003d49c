"""How a datasheet shows itself in a notebook, and its estimates as a data frame."""

from html import escape
from typing import TYPE_CHECKING

from judgesheet.sheet import render
from judgesheet.sheet.csv import FIELDS

if TYPE_CHECKING:
    import pandas as pd

    from judgesheet.base.records import Datasheet

HEIGHT = 600
"""Pixels of the frame; the page scrolls in it."""
OWN = (*FIELDS, "reason")
"""Columns that are fields of an estimate."""


def as_html(sheet: "Datasheet") -> str:
    """The page of the datasheet in a frame of its own, which can reach nothing outside."""
    page = escape(render(sheet, "html").decode())
    return (
        # Without allow-same-origin its scripts reach neither cookies nor the notebook.
        f'<iframe sandbox="allow-scripts" style="width: 100%; height: {HEIGHT}px; border: 0" '
        f'title="datasheet" srcdoc="{page}"></iframe>'
    )


def frame_of(sheet: "Datasheet") -> "pd.DataFrame":
    """One row per estimate, by its key; `lower` and `upper` are the one-sided bounds of gates.

    `status` is what the figure means, `void` of those that must not be used.
    """
    import pandas as pd

    rows = [
        {
            "key": one.key,
            "axis": axis.name,
            **{name: getattr(one, name) for name in OWN},
            "lower": one.bounds and one.bounds.low,
            "upper": one.bounds and one.bounds.high,
            "status": axis.status(one.key),
        }
        for axis in sheet.axes
        for one in axis.estimates
    ]
    columns = ["key", "axis", *OWN, "lower", "upper", "status"]
    # None becomes NaN, so that a column without any value is one of numbers, too.
    numbers = ["value", "low", "high", "lower", "upper"]
    return (
        pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(numbers, float)).set_index("key")
    )
