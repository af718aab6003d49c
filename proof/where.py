"""Whether a sheet tells where a judge fails, and that it changed while it was asked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pandas as pd

from judgesheet import axis as kit
from judgesheet import measuring, planning, stats
from judgesheet.axes import all_axes
from judgesheet.axis import Axis, Options, Readings, anchors
from judgesheet.axis.failing import is_ranked
from judgesheet.axis.simulation import Parameters
from judgesheet.axis.slices import SPLITS, calls_of, locate
from judgesheet.base.clusters import Clusters
from judgesheet.base.records import Call, Plan
from judgesheet.judges.simulated import PRESETS, SimulatedJudge, answer_key
from judgesheet.measuring.measure import _apart, parse_rows
from judgesheet.planning.anchors import with_anchors
from judgesheet.planning.plan import make_plan
from proof.lines import REJECT, Line, Rng, Rows, Tally, Truths
from proof.rehearsal import answered
from proof.runner import Result
from proof.tables import grid, missed

DEPENDS_ON = (*all_axes().values(), kit, stats, planning, measuring)
PROFILE, SEEDS = "quick", 8
"""Sheets take plans of so many seeds in turn."""
SHARE = 0.0025
"""At which the test of a split accuses."""
WHOLE, ALONE, PLANTED = 160, 200, 60
"""Sheets of a judge without a fault, of each of its axes alone, and of one that fails somewhere."""
SHOWN, ANCHORS, ANY = "shown", "anchors", "any split"
MOST_SHOWN, LEAST_SHOWN = 0.01, 0.9

GOOD = PRESETS["good"]
NOISY = Parameters(width=1.0, tie=3.0, sensitivity=3.0, lapse=0.02)
WEAK = Parameters(width=3.3, tie=1.0, sensitivity=0.25, gap=7.0)
"""Its scores have r = .3 with what is known, those of `GOOD` .97."""
FAIR: Mapping[str, Parameters] = {
    "2 % of calls by chance": GOOD,
    "5 % of calls by chance": replace(GOOD, slip=0.05),
    "noise as at temperature 1": NOISY,
}
ORDERED = tuple(name for name, axis in all_axes().items() if axis.FAILING and axis.FAILING.changes)
"""The axes that have enough to compare alone: of presentation twelve calls tell quality."""
Inside = Callable[[Plan, int], Sequence[bool]]
"""A plan and the number of a sheet -> in which of its calls the judge is another."""


def _in_a_field(plan: Plan, sheet: int) -> Sequence[bool]:
    fields = sorted({call.cell["field"] for call in plan.calls})
    return [call.cell["field"] == fields[sheet % len(fields)] for call in plan.calls]


def _where_long(plan: Plan, _sheet: int) -> Sequence[bool]:
    words: dict[str, list[int]] = {}
    for call in plan.calls:
        words.setdefault(call.axis, []).append(call.cell.get("words", 0))
    long = {axis: np.quantile(some, 2 / 3) for axis, some in words.items()}
    return [call.cell.get("words", 0) >= long[call.axis] for call in plan.calls]


def _from(share: float, plan: Plan, _sheet: int) -> Sequence[bool]:
    return [at >= share * len(plan.calls) for at in range(len(plan.calls))]


def _in_a_direction(plan: Plan, _sheet: int) -> Sequence[bool]:
    return [_falls(call) for call in plan.calls]


def _falls(call: Call) -> bool:
    """Whether a rubric begins with its higher scores, or the better response stands second."""
    order = call.cell["order"]
    if is_ranked(order):
        return bool(np.sign(np.diff(np.array(order, dtype=float))).sum() < 0)
    better = call.cell.get("better")
    return better in order and list(order).index(better) == 1


FAILS: Mapping[str, tuple[str, Parameters, Inside]] = {
    "one field of eight": ("field", WEAK, _in_a_field),
    "the longest third of texts": ("length", WEAK, _where_long),
    "the last fifth of the run": ("run", WEAK, partial(_from, 0.8)),
    "one direction": ("direction", WEAK, _in_a_direction),
    "the last 30 % of the run, by chance alone": ("run", PRESETS["random"], partial(_from, 0.7)),
}
"""Where a judge fails -> the split that is to tell, how it answers there, and in which calls."""


# -- one sheet -------------------------------------------------------------------------------------


@cache
def plan_of(seed: int, names: Sequence[str] = tuple(all_axes())) -> Plan:
    """The plan of some axes, with anchors where all are asked."""
    axes = [all_axes()[name] for name in names]
    options = Options(profile=PROFILE, reply="json")
    plan = make_plan(axes, dict.fromkeys(names, options), seed)
    return with_anchors(plan, axes) if len(axes) > 1 else plan


def replies(plan: Plan, judge: Parameters, seed: int) -> pd.DataFrame:
    """What the ledger would hold of this judge."""
    drawn = replace(judge, seed=seed)
    return answered(plan, SimulatedJudge("drawn", drawn, answer_key(plan.labels)))


def read(plan: Plan, rows: pd.DataFrame) -> Iterator[tuple[Axis, Readings]]:
    """The readings of every axis, anchors apart."""
    for name, some in rows.groupby("axis", sort=False):
        axis = all_axes()[str(name)]
        table = parse_rows(axis, some, clusters=Clusters.of(plan.provenance, axis.NAME))
        labels = tuple(label for label in plan.labels if label.axis == axis.NAME)
        yield axis, _apart(table, some.index.to_numpy() / len(rows), labels, None, plan.seed)


def _judged(plan: Plan, rows: pd.DataFrame, tally: Tally) -> None:
    """Count what a sheet says of where the judge fails."""
    axes, is_shown = {}, False
    for axis, readings in read(plan, rows):
        assert axis.FAILING is not None  # noqa: S101
        if (calls := calls_of(axis.FAILING, readings)) is not None:
            axes[axis.NAME] = calls
        if readings.anchors is not None:
            asked = replace(readings, frame=readings.anchors)
            for control in anchors.control(axis.FAILING, asked):
                tally.add(ANCHORS, {SHOWN: not control.passed})
    for split in SPLITS:
        if (found := locate(axes, split)) is not None:
            p = found[0].p
            row = split if len(axes) > 1 else f"{found[0].axis}.slice_p"
            tally.add(row, {REJECT: p <= 0.05, SHOWN: p < SHARE})
            is_shown |= p < SHARE
    tally.add(ANY, {SHOWN: is_shown})


# -- lines -----------------------------------------------------------------------------------------


def _run(judge: Parameters, names: Sequence[str], sets: int, _rng: Rng, _truths: Truths) -> Rows:
    tally = Tally(names_axes=True)
    for sheet in range(sets):
        tally.next()
        plan = plan_of(sheet % SEEDS, names)
        _judged(plan, replies(plan, judge, sheet), tally)
    return tally.rows()


def _run_planted(judge: Parameters, inside: Inside, sets: int, _rng: Rng, _truths: Truths) -> Rows:
    tally = Tally(names_axes=True)
    for sheet in range(sets):
        tally.next()
        plan = plan_of(sheet % SEEDS)
        usual, there = (replies(plan, one, sheet) for one in (GOOD, judge))
        _judged(plan, usual.mask(pd.Series(inside(plan, sheet)), there), tally)
    return tally.rows()


def lines() -> Iterator[Line]:
    """Judges without a fault, on all axes and on each alone; judges that fail somewhere."""
    most = {SHOWN: (0.0, MOST_SHOWN)}
    for words, judge in FAIR.items():
        run = partial(_run, judge, tuple(all_axes()))
        nulls = frozenset(SPLITS)
        yield Line(words, "whole sheet", WHOLE, run, limits=most, nulls=nulls)
    words, judge = [*FAIR.items()][-1]
    for name in ORDERED:
        nulls = frozenset({f"{name}.slice_p"})
        yield Line(words, name, ALONE, partial(_run, judge, (name,)), limits=most, nulls=nulls)
    for words, (split, judge, inside) in FAILS.items():
        run = partial(_run_planted, judge, inside)
        limits, judged = {SHOWN: (LEAST_SHOWN, 1.0)}, frozenset({split})
        yield Line(words, "whole sheet", PLANTED, run, limits=limits, judged=judged)


# -- the page --------------------------------------------------------------------------------------


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    return {
        "fair": grid(FAIR_HEAD, [_fair(one) for one in results if one.line.data in FAIR]),
        "shown": grid(SHOWN_HEAD, [_row(one) for one in results if one.line.data in FAILS]),
        "share": f"{SHARE}",
    }


FAIR_HEAD = ("judge", "asked", "sheets", "p at most .05", "shown somewhere", "anchors fail")


def _fair(one: Result) -> list[str]:
    tests = [name for name, row in one.rows.items() if REJECT in row.shares]
    rejects = ", ".join(f"{_cell(one, name, REJECT)} {name.partition('.')[0]}" for name in tests)
    fails = _cell(one, ANCHORS, SHOWN) if ANCHORS in one.rows else ""
    about = [one.line.data, str(one.line.size), str(one.line.sets)]
    return [*about, rejects, _cell(one, ANY, SHOWN), fails]


SHOWN_HEAD = ("fails in", "sheets", "shown", *(f"by {split}" for split in SPLITS), "anchors fail")


def _row(one: Result) -> list[str]:
    split, *_ = FAILS[one.line.data]
    by = [_cell(one, name, SHOWN) for name in (*SPLITS, ANCHORS)]
    return [one.line.data, str(one.line.sets), _cell(one, split, SHOWN), *by]


def _cell(one: Result, row: str, metric: str) -> str:
    share = f"{one.rows[row].shares[metric]:.3f}"
    return f"**{share}**" if missed(one, row, metric) else share
