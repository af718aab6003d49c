"""Which intervals are wider than the spread of their estimates over data sets asks for."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from math import hypot, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgesheet.axis.figure import Figure
from judgesheet.base.keys import Key
from judgesheet.base.records import Estimate
from judgesheet.base.units import unit
from judgesheet.stats.unseen import unseen_share
from proof.lines import COVER, ROUNDING, Line, Rng, Row, Rows, Truths, estimates, pooled, proves
from proof.runner import Result, committed, error
from proof.tables import grid

Floats = NDArray[np.float64]
JUDGES: Mapping[str, Sequence[str]] = {
    "score_order": ("fair, does not see the order", "V = .2, stimuli differ"),
    "criterion_order": (
        *("fair, prompts differ", "first place +.4, prompts differ"),
        "slope of .8 points",
    ),
    "candidate_order": ("tasks differ in slot and ties", "ties often"),
    "listwise_consensus": ("order-blind, shared errors", "first place favoured"),
    "presentation": ("slots differ between stimuli", "loves length"),
}
"""Judges of each page of an axis whose figures lie, for the most part, inside their range."""
STIMULI, SETS = 48, 40
NO_FIGURES = ("permuted", "tests")
"""Parts of a page that have tests alone."""
MIDDLE = 2.0
"""Standard deviations by which a truth in the middle of the range is away from its ends."""
NEEDED = 2 * 1.96
"""Standard deviations that an interval of a normal estimate without bias is wide."""
CUT = 0.25
"""Share of intervals that end at one value, which is then an end of what is possible."""
SURE, WIDE = 0.985, 1.3
"""An interval that covers more often than that and is so many times as wide is listed."""


def lines() -> Iterator[Line]:
    """The judges of all axes, by the parts that their pages are cut in."""
    for page, names in JUDGES.items():
        every = [line for line in import_module(f"proof.{page}").lines() if line.data in names]
        for line in {(line.data, line.part): line for line in every}.values():
            if line.draw is None or line.part in NO_FIGURES:
                continue
            run = partial(_run, line.figures, partial(line.draw, STIMULI))
            truths = partial(_truths, page, line.data, line.part)
            yield Line(f"{page}: {line.data}", STIMULI, SETS, run, truths, line.part)


def _truths(page: str, data: str, part: str) -> Truths:
    """Those that the page of the axis was held against."""
    truths: Truths = committed(page)[f"truths | {data} | {part}"]["truths"]
    return truths


def _run(
    figures: Sequence[Figure[Any]],
    draw: Callable[[Rng], Any],
    sets: int,
    rng: Rng,
    truths: Truths,
) -> Rows:
    found: defaultdict[str, list[Estimate]] = defaultdict(list)
    for _ in range(sets):
        for estimate in estimates(figures, draw(rng)):
            if estimate.key in truths and proves(estimate):
                found[estimate.key].append(estimate)
    nulls = {figure.name: figure.facts.get("null") for figure in figures}
    rows: defaultdict[str, list[Row]] = defaultdict(list)
    for key, some in found.items():
        named = Key.parse(key)
        row = _row(some, truths[key], nulls[named.name])
        if row is not None and len(some) > sets / 2:
            rows[str(pooled(named))].append(row)
    return {name: _together(members) for name, members in rows.items()}


def _row(some: Sequence[Estimate], truth: float, null: float | None) -> Row | None:
    """How often the intervals hold the truth, and how wide they are; None at an end."""
    values = np.array([one.value for one in some], dtype=float)
    low = np.array([-inf if one.low is None else one.low for one in some])
    high = np.array([inf if one.high is None else one.high for one in some])
    spread, width = float(values.std(ddof=1)), float(np.mean(high - low))
    scale = unit(some[0].unit).ends
    ends = [*(scale or ()), *_cut(low), *_cut(high)]
    # What means no effect is an end where no estimate lies beyond it.
    ends += [] if null is None or values.min() < null - ROUNDING else [null]
    away = min((abs(truth - end) for end in ends), default=inf)
    if away <= MIDDLE * spread or not np.isfinite(width) or spread <= ROUNDING:
        return None
    covers = (low <= truth + ROUNDING) & (high >= truth - ROUNDING)
    facts = {"truth": truth, "sd": spread, "width": width, "times": width / (NEEDED * spread)}
    facts |= {"room": unseen_share(STIMULI) * (scale[1] - scale[0])} if scale else {}
    return Row({COVER: len(some)}, {COVER: float(covers.mean())}, facts)


def _cut(ends: Floats) -> Iterator[float]:
    """Where so many intervals end that it is an end of what is possible."""
    values, times = np.unique(ends.round(9), return_counts=True)
    if times.max() > CUT * ends.size:
        yield float(values[times.argmax()])


def _together(members: Sequence[Row]) -> Row:
    """The mean of a family."""
    facts = {
        name: float(np.mean([one.facts[name] for one in members])) for name in members[0].facts
    }
    cover = float(np.mean([one.shares[COVER] for one in members]))
    return Row({COVER: min(one.sets[COVER] for one in members)}, {COVER: cover}, facts)


def _beyond(row: Row) -> bool:
    """Whether the spread of the estimate and the room for unseen stimuli ask for so much less."""
    asked = hypot(NEEDED * row.facts["sd"], row.facts.get("room", 0.0))
    return row.facts["width"] > WIDE * asked


def fields(results: Sequence[Result]) -> dict[str, str]:
    """The list, and of how many figures it is."""
    every = [(one.line.data, name, row) for one in results for name, row in one.rows.items()]
    listed = [one for one in every if one[2].shares[COVER] > SURE and one[2].facts["times"] > WIDE]
    wide = [
        [f"`{name}`", data.partition(": ")[2], f"{row.facts['truth']:.3f}",
         f"{row.shares[COVER]:.3f}", f"{row.facts['width']:.3f}",
         f"{row.facts['room']:.3f}" if "room" in row.facts else "", f"{row.facts['times']:.2f}"]
        for data, name, row in listed
    ]  # fmt: skip
    head = ["figure", "judge", "truth", "covers", "width", "room alone", "times as wide"]
    return {
        "wide": grid(head, sorted(wide)),
        "wide_count": str(len(wide)),
        "beyond_count": str(sum(map(_beyond, (row for *_, row in listed)))),
        "middle_count": str(len(every)),
        "middle_sets": str(SETS),
        "middle_error": f"{error(0.95, SETS):.3f}",
        "middle_stimuli": str(STIMULI),
        "sure": f"{SURE:.3f}",
        "times": f"{WIDE:.1f}",
    }
