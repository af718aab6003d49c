"""False alarms and power of comparisons."""

import asyncio
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from judgesheet import axis as kit
from judgesheet import collect, decide, ledger, measuring, planning, stats
from judgesheet.axes import candidate_order, get_axis, score_order
from judgesheet.axis import Options, Readings
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import AxisResult, Datasheet, Plan
from judgesheet.decide.bounded_value import Z95
from judgesheet.decide.compare import Comparison, Difference, compare
from judgesheet.decide.paired import pairings
from judgesheet.judges.simulated import SimulatedJudge
from judgesheet.measuring.measure import COLUMNS, measure_axis, parse_rows
from judgesheet.planning.plan import make_plan
from proof.lines import ROUNDING, Line, Rng, Rows, Tally, Truths
from proof.runner import Result, error
from proof.tables import grid, missed

STAGES = (planning, ledger, collect, measuring, decide)
DEPENDS_ON = (candidate_order, score_order, kit, stats, *STAGES)
AXES = ("candidate_order", "score_order")
SAME, OTHER, EQUAL = 10, 1, 1
"""Pairs of runs of the same judge, of two that differ, and of one run with itself."""
TWICE = "the same replies twice"
CASES = (
    (TWICE, "noisy", "noisy"),
    ("the same judge twice, fresh noise", "noisy", "noisy"),
    ("the same biased judge twice, fresh noise", "noisy?slot=1&first=1", "noisy?slot=1&first=1"),
    ("a slot preference is planted", "noisy", "noisy?slot=3"),
    ("a preference for the first line is planted", "noisy", "noisy?first=2"),
    ("it sees less", "noisy?sensitivity=3", "noisy?sensitivity=0.7"),
)
WAYS = ("paired", "independent")
ALARM, COVER, DETECTED, WIDTH = "alarm", "cover of 0", "detected", "width"
LEAST_COVER = 0.93


@dataclass(frozen=True)
class Run:
    """What one judge answered, read and measured."""

    readings: dict[str, Readings]
    sheet: Datasheet


def run(spec: str, seed: int) -> Run:
    """Probe a simulated judge without files."""
    name = f"{spec}{'&' if '?' in spec else '?'}seed={seed}"
    readings, results = {}, []
    for axis in AXES:
        room = get_axis(axis)
        plan = make_plan([room], {axis: Options(profile="quick", reply="json")}, 0)
        key = {label.item: label.score for label in plan.labels if label.kind == "intended"}
        frame = asyncio.run(_ask(plan, SimulatedJudge.from_name(name, key)))
        readings[axis] = Readings(parse_rows(room, frame), plan.labels, 0.0, 0)
        results.append(AxisResult.of(measure_axis(room, readings[axis])))
    return Run(readings, _sheet(name, tuple(results)))


def _sheet(name: str, axes: tuple[AxisResult, ...]) -> Datasheet:
    return Datasheet("1.1", JudgeIdentity(f"sim/{name}"), RunFacts(), Provenance(), axes)


async def _ask(plan: Plan, judge: SimulatedJudge) -> pd.DataFrame:
    rows = []
    for call in plan.calls:
        reply = await judge.ask(call, 1)
        place = (call.id, call.axis, call.stimulus, json.dumps(call.cell), call.repeat, call.reply)
        rows.append((*place, reply.outcome, reply.text))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def compared(old: Run, new: Run, *, paired: bool) -> Comparison:
    """Two runs, paired by stimulus and call or taken as independent."""
    alone = compare(old.sheet, new.sheet)
    keys = {row.key for row in alone.differences if row.low is not None}
    return (
        compare(old.sheet, new.sheet, pairings(old.readings, new.readings, keys))
        if paired
        else alone
    )


def _run(name: str, first: str, second: str, sets: int, rng: Rng, _truths: Truths) -> Rows:
    tally, differences = Tally(), {way: defaultdict[str, list[Difference]](list) for way in WAYS}
    for _ in range(sets):
        tally.next()
        seeds = rng.integers(2**31, size=1).repeat(2) if name == TWICE else rng.integers(
            2**31, size=2
        )  # fmt: skip
        old, new = (run(spec, int(seed)) for spec, seed in zip((first, second), seeds, strict=True))
        for way in WAYS:
            found = compared(old, new, paired=way == WAYS[0])
            _tell(tally, way, found)
            # Widths are told of the same pairs of runs.
            for row in found.differences:
                if row.low is not None:
                    differences[way][row.key].append(row)
    return {
        way: replace(row, facts=_widths(differences[way], same=first == second))
        for way, row in tally.rows().items()
    }


def _tell(tally: Tally, way: str, found: Comparison) -> None:
    """Count what a comparison says."""
    verdicts = [row.verdict for row in found.differences if row.verdict]
    ends = [(row.low, row.high) for row in found.differences
            if row.low is not None and row.high is not None]  # fmt: skip
    tally.add(way, {
        ALARM: any(one != "no_change_proven" for one in verdicts),
        COVER: sum(low <= ROUNDING and high >= -ROUNDING for low, high in ends) / len(ends),
        DETECTED: "worse" in verdicts,
    })  # fmt: skip


def _widths(figures: Mapping[str, Sequence[Difference]], *, same: bool) -> dict[str, float]:
    """The widest interval; of one judge, too, how wide they are, over 2 * 1.96 standard deviations.

    Over all figures whose differences waver and all pairs of runs: the root of the mean square.
    """
    rows = [row for some in figures.values() if any(row.value for row in some) for row in some]
    facts = {"widest": max(_width(row) for some in figures.values() for row in some)}
    if not same or not rows:
        return facts
    errors = [(row.value or 0.0) / (_width(row) / (2 * Z95)) for row in rows if _width(row)]
    return {**facts, WIDTH: 1 / math.sqrt(np.mean(np.square(errors)))}


def _width(row: Difference) -> float:
    return 0.0 if row.low is None or row.high is None else row.high - row.low


def lines() -> Iterator[Line]:
    """One run twice, the same judge twice, and judges of which one is worse."""
    for name, first, second in CASES:
        limits = {ALARM: (0.0, 0.05), COVER: (LEAST_COVER, 1.0)} if first == second else {}
        sets = EQUAL if name == TWICE else SAME if limits else OTHER
        data = f"{name}: `{first}`, `{second}`"
        yield Line(data, "quick", sets, partial(_run, name, first, second), limits=limits)


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    columns = (ALARM, COVER, DETECTED, WIDTH)
    head = ["judges", "pairs", *(f"{what}, {way}" for what in columns for way in WAYS)]
    rows = [[one.line.data, *_cells(one)] for one in results]
    same = next(one for one in results if one.line.sets == SAME)
    sets = same.rows[WAYS[1]].sets[ALARM]
    return {"error": f"{error(0.05, sets):.3f}", "sets": str(sets), "table": grid(head, rows)}


def _cells(one: Result) -> Iterator[str]:
    yield " / ".join(str(one.rows[way].sets[ALARM]) for way in WAYS)
    for what in (ALARM, COVER, DETECTED):
        for way in WAYS:
            text = f"{one.rows[way].shares[what]:.3f}"
            yield f"**{text}**" if missed(one, way, what) else text
    for way in WAYS:
        facts = one.rows[way].facts
        yield f"{facts[WIDTH]:.2f}" if WIDTH in facts else "–" if facts["widest"] else "0"
