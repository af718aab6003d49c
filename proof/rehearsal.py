"""Simulated judges that answer every call of a plan, without a run directory.

Their replies are parsed, measured and gated by the code that does so with all others.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from judgesheet.axes import all_axes
from judgesheet.axis import Readings, Simulating
from judgesheet.base.clusters import Clusters
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.keys import Key
from judgesheet.base.records import AxisResult, Call, Datasheet, MeasuredSheet, Plan
from judgesheet.decide import decide, looks
from judgesheet.decide.policy import Policy
from judgesheet.judges.simulated import SimulatedJudge, answer_key
from judgesheet.measuring.measure import COLUMNS, measure_wanted, parse_rows


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """A rehearsal of a run that stops once a policy is decided: its calls, its judged sheet.

    `stimuli` are the independent ones asked, as a share of the axis's, by axis.
    """

    calls: int
    sheet: Datasheet
    stimuli: Mapping[str, float]


def until_decided(
    plan: Plan, policy: Policy, schedules: looks.Schedules, frame: pd.DataFrame
) -> SimulatedRun:
    """The course of a run in which these replies come (`answered`)."""
    tables = tables_of(plan, frame)

    def seen(levels: Mapping[str, float], ids: Collection[str]) -> MeasuredSheet:
        taken = {
            axis: replace(read, frame=read.frame[read.frame["call_id"].isin(ids)])
            for axis, read in tables.items()
            if axis in levels
        }
        return looks.figures(taken, policy, levels)

    before: looks.Reached = {}
    reached: looks.Reached = dict.fromkeys(schedules, 0)
    while reached != before:
        before = reached
        reached = looks.following(policy, schedules, before, seen)
    ids = looks.asked(schedules, reached)
    levels = {axis: schedules[axis].levels[look] for axis, look in reached.items()}
    stimuli = {a: schedules[a].sizes[k] / len(schedules[a].calls) for a, k in reached.items()}
    return SimulatedRun(len(ids), decide(seen(levels, ids), policy), stimuli)


def tables_of(plan: Plan, frame: pd.DataFrame) -> dict[str, Readings]:
    """The readings of these replies (`answered`), by axis."""
    by_axis = frame.groupby("axis", sort=False)
    return {str(name): _readings(plan, str(name), rows, frozenset()) for name, rows in by_axis}


def rehearse(plan: Plan, judge: str, draw: int, keys: Iterable[str]) -> Datasheet:
    """The figures of these names for a judge `sim/…`, in one of its draws.

    Axes that no simulated judge can answer are left out.
    """
    frame = _drawn(plan, judge, draw)
    wanted = [Key.parse(key) for key in keys]
    results = (
        AxisResult.of(
            measure_wanted(all_axes()[axis], _readings(plan, axis, rows, _families(wanted, axis)))
        )
        for axis, rows in ((str(label), rows) for label, rows in frame.groupby("axis", sort=False))
    )
    return Datasheet("", JudgeIdentity(), RunFacts(), Provenance(), tuple(results))


def _drawn(plan: Plan, judge: str, draw: int) -> pd.DataFrame:
    """What a judge `sim/…` answers in one of its draws."""
    name = judge.partition("/")[2]
    # What the user planted stays as it is; the draw is one parameter more.
    spec = f"{name}{'&' if '?' in name else '?'}seed={draw}"
    return answered(plan, SimulatedJudge.from_name(spec, answer_key(plan.labels)))


def answered(plan: Plan, judge: SimulatedJudge) -> pd.DataFrame:
    """What the ledger would hold of every call that the judge can answer: `measure.COLUMNS`."""
    axes = _axes(plan)
    rows = (_row(call, judge) for call in plan.calls if call.axis in axes)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(call: Call, judge: SimulatedJudge) -> tuple[object, ...]:
    said, cell = judge.planted(call), json.dumps(call.cell)
    return call.id, call.axis, call.stimulus, cell, call.repeat, call.reply, said.outcome, said.text


def _axes(plan: Plan) -> list[str]:
    """The axes of a plan that simulated judges can answer."""
    axes = dict.fromkeys(call.axis for call in plan.calls)
    return [name for name in axes if isinstance(all_axes()[name], Simulating)]


def _families(keys: Iterable[Key], axis: str) -> frozenset[str]:
    return frozenset(key.name for key in keys if key.axis == axis)


def _readings(plan: Plan, name: str, rows: pd.DataFrame, families: frozenset[str]) -> Readings:
    labels = tuple(label for label in plan.labels if label.axis == name)
    table = parse_rows(all_axes()[name], rows, clusters=Clusters.of(plan.provenance, name))
    return Readings(table, labels, None, plan.seed, families)
