"""False alarms and power of comparisons."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd

from judgesheet import axis as kit
from judgesheet import collect, decide, forecast, ledger, measuring, planning, stats
from judgesheet.axes import candidate_order, get_axis, score_order
from judgesheet.axis import Options, Readings
from judgesheet.base.records import AxisResult, Datasheet, Plan
from judgesheet.decide.compare import Comparison, compare
from judgesheet.decide.paired import between
from judgesheet.judges.simulated import SimulatedJudge
from judgesheet.measuring.measure import COLUMNS, measure_axis, parse_rows
from judgesheet.planning.plan import make_plan
from proof.lines import Line, Rng, Rows, Tally, Truths
from proof.runner import Result, error
from proof.tables import grid, missed

STAGES = (planning, ledger, collect, measuring, decide, forecast)
MOVED_BY = (candidate_order, score_order, kit, stats, *STAGES)
AXES = ("candidate_order", "score_order")
SAME, OTHER = 32, 8
"""Pairs of runs of the same judge, and of two that differ."""
PAIRED_OF = 4
"""One pair of so many is compared by stimulus too, which takes half a minute."""
CASES = (
    ("the same judge twice", "noisy", "noisy"),
    ("the same biased judge twice", "noisy?slot=1&first=1", "noisy?slot=1&first=1"),
    ("a slot preference is planted", "noisy", "noisy?slot=3"),
    ("a preference for the first line is planted", "noisy", "noisy?first=2"),
    ("it sees less", "noisy?sensitivity=3", "noisy?sensitivity=0.7"),
)
WAYS = ("paired", "independent")
ALARM, COVER, DETECTED = "alarm", "cover of 0", "detected"


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
        results.append(measure_axis(room, readings[axis])[0])
    return Run(readings, _sheet(name, tuple(results)))


def _sheet(name: str, axes: tuple[AxisResult, ...]) -> Datasheet:
    return Datasheet("1.1", {"model": f"sim/{name}"}, {}, {}, axes)


async def _ask(plan: Plan, judge: SimulatedJudge) -> pd.DataFrame:
    rows = []
    for call in plan.calls:
        reply = await judge.ask(call, 1)
        place = (call.id, call.axis, call.stimulus, json.dumps(call.cell), call.repeat, call.reply)
        rows.append((*place, reply.outcome, reply.text))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def compared(old: Run, new: Run, *, paired: bool) -> Comparison:
    """Two runs, paired by stimulus or taken as independent."""
    keys = {row.key for axis in old.sheet.axes for row in axis.characteristics}
    found: dict[str, float] = {}
    if paired:
        for name in AXES:
            found.update(between(get_axis(name), old.readings[name], new.readings[name], keys))
    return compare(old.sheet, new.sheet, found)


def _run(first: str, second: str, sets: int, rng: Rng, _truths: Truths) -> Rows:
    tally = Tally()
    for number in range(sets):
        tally.next()
        seeds = rng.integers(2**31, size=2)
        old, new = (run(spec, int(seed)) for spec, seed in zip((first, second), seeds, strict=True))
        ways = WAYS if number % PAIRED_OF == 0 else WAYS[1:]
        wide = {way: _tell(tally, way, compared(old, new, paired=way == WAYS[0])) for way in ways}
        if len(wide) > 1:
            tally.note(WAYS[0], width=wide[WAYS[0]] / wide[WAYS[1]])
    return tally.rows()


def _tell(tally: Tally, way: str, found: Comparison) -> float:
    """Count what a comparison says; the width of its intervals in sum."""
    rows = [row for row in found.differences if row.verdict]
    ends = [(row.low, row.high) for row in rows if row.low is not None and row.high is not None]
    hits = {
        ALARM: any(row.verdict != "no change proven" for row in rows),
        COVER: sum(low <= 0 <= high for low, high in ends) / len(ends),
        DETECTED: any(row.verdict == "worse" for row in rows),
    }
    tally.add(way, hits)
    return sum(high - low for low, high in ends)


def lines() -> Iterator[Line]:
    """The same judge twice, and judges of which one is worse."""
    for name, first, second in CASES:
        limits = {ALARM: (0.0, 0.05)} if first == second else {}
        sets = SAME if limits else OTHER
        data = f"{name}: `{first}`, `{second}`"
        yield Line(data, "quick", sets, partial(_run, first, second), limits=limits)


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    head = ["judges", *(f"{what}, {way}" for what in (ALARM, COVER, DETECTED) for way in WAYS)]
    rows = [[one.line.data, *_cells(one)] for one in results]
    same, other = (one.rows[WAYS[1]].sets[ALARM] for one in (results[0], results[-1]))
    told = {"same": str(same), "other": str(other), "error": f"{error(0.05, same):.3f}"}
    return {**told, "table": grid([*head, "width"], rows)}


def _cells(one: Result) -> Iterator[str]:
    for what in (ALARM, COVER, DETECTED):
        for way in WAYS:
            told = f"{one.rows[way].shares[what]:.3f}"
            yield f"**{told}**" if missed(one, way, what) else told
    yield f"{one.rows[WAYS[0]].facts['width']:.2f}"
