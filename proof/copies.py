"""Copies of stories: what is true of a judge's tastes is shared by all copies of a story."""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

import judgesheet
from judgesheet import axis as kit
from judgesheet import measuring, planning, stats
from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Options, Readings
from judgesheet.axis.simulation import Parameters
from judgesheet.base.clusters import Clusters
from judgesheet.base.keys import Key
from judgesheet.base.records import AxisResult, Call, Plan
from judgesheet.base.resources import data_folder
from judgesheet.judges.simulated import SimulatedJudge, answer_key
from judgesheet.measuring.measure import COLUMNS, measure_axis, parse_rows
from judgesheet.planning.plan import make_plan
from proof.lines import Line, Rng, Rows, Tally, Truths
from proof.runner import Result
from proof.tables import grid, missed

MOVED_BY = (*all_axes().values(), kit, stats, planning, measuring, judgesheet)
AXIS, PROFILE = "score_order", "quick"
SCALE = 5
TASTES = 1.0
"""Standard deviation of the logits of a place, drawn anew for each story: no place is favoured on
average over stories, so that V is 0 and every place is chosen equally often."""
NULL = {"cramers_v": 0.0, "position_share": 1 / SCALE}
"""Figures and their truths."""
PROBLEM, ACCUSED = "a Problem about averages", "accused"
OF_STIMULI = frozenset({"unequal_stimuli", "excess_change_rate", "order_dependence_p"})
"""What a Problem may rest on that is true: on single stories the order does matter."""
SETS = 300


@dataclass(frozen=True)
class Pool:
    """So many stories, each so many times with another number added to its prompt.

    Not `told`, every copy counts as a stimulus, as if nobody had looked.
    """

    stories: int
    copies: int
    told: bool = True

    def plan(self) -> Plan:
        """The calls on these stimuli; a plan finds the copies itself."""
        lines = (data_folder("stimuli") / f"{AXIS}.jsonl").read_text(encoding="utf-8").splitlines()
        with TemporaryDirectory() as folder:
            file = Path(folder) / "stories.jsonl"
            own = (
                json.dumps(_copy(json.loads(line), number))
                for line in lines[: self.stories]
                for number in range(self.copies)
            )
            file.write_text("\n".join(own), encoding="utf-8")
            return make_plan([get_axis(AXIS)], {AXIS: Options(profile=PROFILE)}, 0, file)


def _copy(stimulus: dict[str, object], number: int) -> dict[str, object]:
    return {**stimulus, "id": f"{stimulus['id']}.{number}", "prompt": f"{stimulus['prompt']} {number}"}


@cache
def _plan(pool: Pool) -> Plan:
    return pool.plan()


def sheet(pool: Pool, seed: int, families: frozenset[str] | None = None) -> AxisResult:
    """What is measured of a judge whose tastes for places are those of the story, not the copy."""
    plan, axis = _plan(pool), get_axis(AXIS)
    known = {_original(item): level for item, level in answer_key(plan.labels).items()}
    judge = SimulatedJudge.from_name(f"fair?interaction={TASTES:g}&seed={seed}", known)
    frame = pd.DataFrame((_row(call, judge) for call in plan.calls), columns=list(COLUMNS))
    clusters = Clusters.of(plan.provenance, AXIS) if pool.told else None
    table = parse_rows(axis, frame, clusters=clusters)
    return measure_axis(axis, Readings(table, plan.labels, 0.0, seed, families))[0]


def _row(call: Call, judge: SimulatedJudge) -> tuple[object, ...]:
    """What the judge says to a call: its tastes are those for the response that was copied."""
    taken = replace(call, cell={**call.cell, "item": _original(str(call.cell["item"]))})
    said, cell = judge.planted(taken), json.dumps(call.cell)
    return call.id, call.axis, call.stimulus, cell, call.repeat, call.reply, said.outcome, said.text


def _original(item: str) -> str:
    """`story/a` of `story.3/a`."""
    story, response = item.split("/")
    return f"{story.partition('.')[0]}/{response}"


def _run(pool: Pool, sets: int, rng: Rng, truths: Truths) -> Rows:
    tally, wanted = Tally(), frozenset(NULL)
    for _ in range(sets):
        tally.next()
        for estimate in sheet(pool, int(rng.integers(2**31)), wanted).estimates:
            tally.judge(estimate, truths)
    return tally.rows()


def _accused(pool: Pool, sets: int, rng: Rng, _truths: Truths) -> Rows:
    """How often a sheet has a Problem about averages, which this judge does not have."""
    tally = Tally()
    for _ in range(sets):
        tally.next()
        found = sheet(pool, int(rng.integers(2**31))).findings
        told = [{Key.parse(key).name for key in one.evidence} for one in found if one.tone == "bad"]
        tally.add(PROBLEM, {ACCUSED: any(not names & OF_STIMULI for names in told)})
        tally.note(PROBLEM, **{name: any(name in names for names in told) for name in sorted(set().union(*told))})
    return tally.rows()
