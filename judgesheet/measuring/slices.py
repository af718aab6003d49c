"""Where the judge fails, as figures and effects of the axis that has the largest part in it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from judgesheet.axes import all_axes
from judgesheet.axis import Axis, Readings
from judgesheet.axis.arrays import Flags
from judgesheet.axis.slices import SPLITS, AxisCalls, Located, Slice, calls_of, locate
from judgesheet.base.digits import percent, two_digits
from judgesheet.base.effects import EVERY_USE, Effect
from judgesheet.base.keys import Key
from judgesheet.base.records import LEVEL, Estimate, MeasuredAxis
from judgesheet.base.units import unit
from judgesheet.measuring.examples import with_examples

if TYPE_CHECKING:
    import pandas as pd

SAYS: Mapping[str, str] = {
    "error": "verdicts follow quality less",
    "change": "the order changes verdicts more often",
    "lean": "the place in the list decides otherwise",
}
"""What is said of the slice that is shown, by what was compared."""
FIGURES: Mapping[str, str] = {"lean": "verdicts {here} further down than right, elsewhere {rest}"}
"""The figure that tells of it, where it is not one of the axis."""
AVOIDABLE = ("field", "length")
"""Splits of which a user may leave a slice to another judge."""


def with_slices(
    results: Iterable[MeasuredAxis], readings: Mapping[str, Readings], *, in_time: bool
) -> Iterator[MeasuredAxis]:
    """The axes with what the calls of all of them say about slices.

    `in_time` says whether calls were made in the order of the plan.
    """
    axes = {name: calls for name, one in readings.items() if (calls := _calls(name, one))}
    splits = [split for split in SPLITS if in_time or split != "run"]
    found = [one for split in splits if (one := located(axes, split))]
    for result in results:
        mine = [one for one in found if one.axis == result.name]
        yield replace(
            result,
            estimates=(*result.estimates, *(e for one in mine for e in _estimates(one))),
            declared=(*_exemplified(result, axes), *map(_effect, mine)),
        )


def _exemplified(result: MeasuredAxis, axes: Mapping[str, AxisCalls]) -> Iterable[Effect]:
    """The effects of an axis, with the stimulus on which each is plainest."""
    if result.name not in axes:
        return result.declared
    return with_examples(all_axes()[result.name], axes[result.name], result.declared)


def located(axes: Mapping[str, AxisCalls], split: str) -> Located | None:
    """Where errors gather most under a split, with the figure of that slice and of the rest."""
    found = locate(axes, split)
    if found is None:
        return None
    worst, inside = found
    axis, calls = all_axes()[worst.axis], axes[worst.axis]
    if split == "length":
        worst = replace(worst, where=_with_words(worst.where, calls.frame["words"][inside]))
    if worst.measure == "lean":
        lean = calls.measures["lean"]
        here, there = (float(np.nanmean(lean[part])) for part in (inside, ~inside))
        return replace(worst, values=(here, there), unit="places", label="Place of the verdict")
    family = calls.failing.quality if worst.measure == "error" else calls.failing.changes
    elsewhere = {one.key: one.value for one in _figures(axis, calls, family, ~inside)}
    # A figure over other stimuli may be better where errors gather: it would deny what is said.
    worse = -1 if worst.measure == "error" else 1
    both = [
        (inf if one.value is None else worse * (one.value - rest), one, rest)
        for one in _figures(axis, calls, family, inside)
        if (rest := elsewhere.get(one.key)) is not None
    ]
    if not (both := [one for one in both if one[0] > 0]):
        return replace(worst, label="No figure", why="no figure tells of it")
    _, one, rest = max(both, key=itemgetter(0))
    return replace(worst, values=(one.value, rest), unit=one.unit, label=one.label, why=one.note)


def _with_words(where: Slice, words: "pd.Series[float]") -> Slice:
    """The slice with the length that its texts have at least, or at most."""
    bound = f"up to {words.max():.0f}" if where.value == "short" else f"from {words.min():.0f}"
    return where._replace(words=f"{where.words} ({bound} words)")


def _calls(name: str, readings: Readings) -> AxisCalls | None:
    axis = all_axes()[name]
    if axis.FAILING is None or not {"slice", "slice_p"} <= set(axis.ESTIMATES):
        return None
    return calls_of(axis.FAILING, readings)


def _figures(axis: Axis, calls: AxisCalls, family: str, part: Flags) -> Iterator[Estimate]:
    """The members of a family, by some of the calls."""
    frame = calls.frame[part].reset_index(drop=True)
    some = replace(calls.readings, frame=frame, families=frozenset({family}))
    yield from (one for one in axis.measure(some) if Key.parse(one.key).name == family)


def _estimates(found: Located) -> Iterator[Estimate]:
    figures = all_axes()[found.axis].ESTIMATES
    for name in ("slice_p", "slice"):
        yield from figures[name](found, LEVEL)


def _effect(found: Located) -> Effect:
    """What is said where the test finds a slice; of one that it does not find nothing is said."""
    here, rest = (_printed(one, found) for one in found.values)
    fault, words = SAYS[found.measure], found.where.words
    text = f"{fault.capitalize()} {words}"
    if found.split in AVOIDABLE:
        text = f"Do not rely on it {words}: {fault} there"
    figures = FIGURES.get(found.measure, "{here}, elsewhere {rest}").format(here=here, rest=rest)
    # The figure may not show what the test finds: equal numbers would deny what is said.
    shown = f"{text}." if here == rest else f"{text} ({figures})."
    return Effect(
        key=f"{found.axis}.slice[split={found.split}]",
        null=0.0,
        small=0.0,
        harm="up",
        says={"shown": shown},
        uses=EVERY_USE if found.measure != "error" else ("ranking", "scoring", "regression"),
        test=f"{found.axis}.slice_p[split={found.split}]",
        slice={found.split: found.where.value},
    )


def _printed(value: float | None, found: Located) -> str:
    if value is None:
        return "no correlation" if found.unit == "r" else "unknown"
    if found.unit == "r":
        return f"correlation {two_digits(value)}"
    return percent(value) if unit(found.unit).percent else two_digits(value)
