"""The stimulus on which an effect is plainest, as an example of it: its id, and no text."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from judgesheet.axis import Axis
from judgesheet.axis.slices import AxisCalls
from judgesheet.base.effects import Effect
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_WITH_EXAMPLES

MEASURES = {"error": "error 0", "change": "change"}


def with_examples(axis: Axis, calls: AxisCalls, declared: Iterable[Effect]) -> Iterator[Effect]:
    """The effects with their examples, as far as they have one."""
    cells = [] if len(calls.frame) > MOST_WITH_EXAMPLES else [*_cells(calls.frame)]
    for effect in declared:
        off = calls.measures.get(MEASURES.get(effect.departs, ""))
        if off is None or not cells:
            yield effect
            continue
        known = np.array(axis.reads(Key.parse(effect.key), cells)) & ~np.isnan(off)
        yield replace(effect, example=_furthest(calls.frame["stimulus"][known], off[known]))


def _cells(frame: pd.DataFrame) -> Iterator[dict[str, object]]:
    """What the calls say of themselves; of what a call does not have, nothing."""
    names = [str(name) for name in frame.columns]
    for row in frame.itertuples(index=False, name=None):
        yield {name: value for name, value in zip(names, row, strict=True)
               if value is not None and value == value}  # fmt: skip


def _furthest(stimuli: pd.Series, off: np.ndarray) -> str:
    """The stimulus whose calls are off most on average; "" where none is off."""
    means = pd.Series(off, index=stimuli.to_numpy()).groupby(level=0).mean()
    return str(means.idxmax()) if len(means) and means.max() > 0 else ""
