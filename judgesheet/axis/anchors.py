"""The control of a run by its anchors: the same obvious questions in each of its thirds."""

from collections.abc import Iterator

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.arrays import Floats
from judgesheet.axis.failing import Content, Failing
from judgesheet.axis.items import items
from judgesheet.axis.streams import stream
from judgesheet.base.digits import counted, percent
from judgesheet.base.records import Control
from judgesheet.stats.exchange import first_p

ERROR = 0.001
"""Probability that a judge that stays the same fails the control."""
DRAWS = 19_999


def control(failing: Failing, anchors: Readings) -> Iterator[Control]:
    """Whether the judge answers the anchors alike in all thirds of the run.

    The column `asked` says at which share of the run each was asked. Wrong answers throughout are
    no fault of the run.
    """
    frame, errors = anchors.frame, failing.errors(anchors)[0]
    question = items(frame.drop(columns=["anchor", "asked"]), across_arms=True)
    read = frame["value"].notna().to_numpy()
    if np.isnan(errors).all() and failing.points_by_place is not None and read.any():
        errors = np.full(len(frame), np.nan)
        codes = np.unique(question[read], return_inverse=True)[1]
        errors[read] = Content.of(frame[read], failing.points_by_place).changes(codes)
    table = np.full((int(question.max(initial=-1)) + 1, 3), np.nan)
    table[question, frame["anchor"].to_numpy(dtype=int) - 1] = errors
    table = table[~np.isnan(table).any(axis=1)]
    if not len(table):
        return
    sums = np.broadcast_to(table, (DRAWS, *table.shape))
    drawn = np.concatenate([table[None], stream(anchors.seed, "anchors").permuted(sums, axis=2)])
    thirds = drawn.sum(axis=1)
    p = first_p(np.abs(thirds - thirds.mean(axis=1, keepdims=True)).max(axis=1).round(9))
    asked = counted(3 * len(table), "anchor")
    text = f"{asked} are answered alike in all thirds of the run (p = {p:.2g})"
    if p < ERROR:
        before, after = _change(frame["asked"].to_numpy(dtype=float), errors)
        text = (
            f"the judge changed while it was measured, between {percent(before)} and "
            f"{percent(after)} of the run (p = {p:.2g} by {asked})"
        )
    yield Control(
        "the judge stays the same",
        not p < ERROR,
        text,
        code="anchors",
        of="run",
        mend="find out what changed, and measure again with --fresh",
    )


def _change(asked: Floats, errors: Floats) -> tuple[float, float]:
    """The two anchors between which errors change most, as shares of the run."""
    known = ~np.isnan(errors)
    order = np.argsort(asked[known])
    at, e = asked[known][order], errors[known][order] - errors[known].mean()
    n, before = len(e), np.arange(1, len(e))
    # The sum before a split, in its standard deviations over all orders of the anchors.
    split = int(np.argmax(np.abs(np.cumsum(e)[:-1]) / np.sqrt(before * (n - before)))) + 1
    return float(at[split - 1]), float(at[split])
