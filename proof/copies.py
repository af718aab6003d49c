"""Copies of stories: a judge's tastes are those for a story, and shared by all its copies."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from judgesheet import axis as kit
from judgesheet import measuring, planning, stats
from judgesheet.axes import get_axis, score_order
from judgesheet.axes.score_order.read import score_probabilities
from judgesheet.axis import Options, Readings
from judgesheet.axis.simulation import Parameters, drawn
from judgesheet.base.clusters import Clusters
from judgesheet.base.keys import Key
from judgesheet.base.records import AxisResult, Call, MeasuredAxis, Plan
from judgesheet.base.resources import data_folder
from judgesheet.decide.effects import judged
from judgesheet.judges.simulated import SimulatedJudge, answer_key
from judgesheet.measuring.measure import COLUMNS, measure_axis, parse_rows
from judgesheet.planning.plan import make_plan
from proof.lines import COVER, Line, Rng, Rows, Tally, Truths
from proof.runner import Result
from proof.tables import grid, missed

DEPENDS_ON = (score_order, kit, stats, planning, measuring)
AXIS, PROFILE, SCALE = "score_order", "quick", 5
TASTES = 1.5
"""Standard deviation of the logit of a place, drawn anew for every story: over stories no place is
favoured, so that V is 0 and every place is chosen equally often."""
TRUTHS = {"cramers_v": 0.0, "position_share": 1 / SCALE}
PROBLEM, ACCUSED, MOST_ACCUSED = "Problem", "accused", 0.05
ON_STORIES = frozenset({"order_dependence_p", "excess_change_rate"})
"""What may be shown of this judge: on single stories the order does matter."""
SETS = {"figures": 80, "sheet": 50}


@dataclass(frozen=True)
class Pool:
    """So many stories, each so many times with another number added to its prompt.

    Not `is_marked`, every copy counts as a stimulus of its own.
    """

    stories: int
    copies: int
    is_marked: bool = True

    @property
    def words(self) -> str:
        """Its name in the table."""
        how = "" if self.is_marked or self.copies == 1 else ", each counted"
        return f"{self.stories} stories × {self.copies}{how}"


POOLS = (Pool(6, 4, is_marked=False), Pool(6, 4), Pool(24, 1))


@cache
def plan_of(stories: int, copies: int) -> Plan:
    """The calls on copies of built-in stimuli, which the plan finds itself."""
    lines = (data_folder("stimuli") / f"{AXIS}.jsonl").read_text(encoding="utf-8").splitlines()
    own = [
        {**story, "id": f"{story['id']}.{number}", "prompt": f"{story['prompt']} {number}"}
        for story in map(json.loads, lines[:stories])
        for number in range(copies)
    ]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "stories.jsonl"
        file.write_text("\n".join(map(json.dumps, own)), encoding="utf-8")
        options = {AXIS: Options(profile=PROFILE, reply="json")}
        return make_plan([get_axis(AXIS)], options, 0, file)


def measured(pool: Pool, seed: int, families: frozenset[str] | None = None) -> MeasuredAxis:
    """What a sheet says of a judge with these tastes, of all figures or of some."""
    plan, axis = plan_of(pool.stories, pool.copies), get_axis(AXIS)
    planted = SimulatedJudge.from_name(f"fair?interaction={TASTES:g}&seed={seed}").parameters
    levels = answer_key(plan.labels)
    rows = (_row(call, planted, levels) for call in plan.calls)
    clusters = Clusters.of(plan.provenance, AXIS) if pool.is_marked else None
    table = parse_rows(axis, pd.DataFrame(rows, columns=list(COLUMNS)), clusters=clusters)
    return measure_axis(axis, Readings(table, plan.labels, 0.0, seed, families))


def _row(call: Call, planted: Parameters, levels: Mapping[str, float]) -> tuple[object, ...]:
    """What the judge says to a call, as the ledger holds it."""
    order, story = [int(score) for score in call.cell["order"]], call.stimulus.partition(".")[0]
    shares = score_probabilities(planted, story, SCALE, order, levels[str(call.cell["item"])])
    score = drawn(planted.rng(call.id), dict(zip(order, shares, strict=True)))
    place = call.id, call.axis, call.stimulus, json.dumps(call.cell), call.repeat, call.reply
    return *place, "ok", json.dumps({"score": score})


def _figures(pool: Pool, sets: int, rng: Rng, _truths: Truths) -> Rows:
    tally = Tally()
    for _ in range(sets):
        tally.next()
        for estimate in measured(pool, int(rng.integers(2**31)), frozenset(TRUTHS)).estimates:
            truth = TRUTHS[Key.parse(estimate.key).name]
            tally.judge(estimate, {estimate.key: truth})
            tally.note("stimuli", clusters=estimate.clusters)
    return tally.rows()


def _sheet(pool: Pool, sets: int, rng: Rng, _truths: Truths) -> Rows:
    tally = Tally()
    for _ in range(sets):
        tally.next()
        said = judged(AxisResult.of(measured(pool, int(rng.integers(2**31)))))
        shown = {Key.parse(one.key).name for one in said if one.verdict == "shown"}
        tally.add(PROBLEM, {ACCUSED: bool(shown - ON_STORIES)})
    return tally.rows()


def lines() -> Iterator[Line]:
    """Every pool: its figures, and what page one says."""
    limits = {ACCUSED: (0.0, MOST_ACCUSED)}
    for pool in POOLS:
        judged = None if pool.is_marked else frozenset[str]()
        for part, run in (("figures", _figures), ("sheet", _sheet)):
            yield Line(
                pool.words, PROFILE, SETS[part], partial(run, pool), part=part, limits=limits,
                judged=judged,
            )  # fmt: skip


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    by_pool: dict[str, dict[str, Result]] = {}
    for one in results:
        by_pool.setdefault(one.line.data, {})[one.line.part] = one
    table = [
        [
            pool,
            f"{parts['figures'].rows['stimuli'].facts['clusters']:.0f}",
            *(_cell(parts["figures"], name, COVER) for name in TRUTHS),
            f"{parts['figures'].rows['cramers_v'].facts['width']:.2f}",
            _cell(parts["sheet"], PROBLEM, ACCUSED),
        ]
        for pool, parts in by_pool.items()
    ]
    head = ["stimuli", "clusters", *(f"`{name}` covers" for name in TRUTHS), "width of V", ACCUSED]
    sets = {f"{part}_sets": f"{number:,}" for part, number in SETS.items()}
    return {"tastes": f"{TASTES:g}", "profile": PROFILE, **sets, "table": grid(head, table)}


def _cell(one: Result, row: str, metric: str) -> str:
    text = f"{one.rows[row].shares[metric]:.3f}"
    return f"**{text}**" if missed(one, row, metric) else text
