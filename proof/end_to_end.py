"""The whole path against the direct one: prompts over HTTP, replies as text, ledger, sheet."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

import judgesheet
from judgesheet import axis as kit
from judgesheet import collect, decide, judges, ledger, measuring, planning, probe, stats
from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Options, Readings
from judgesheet.base.records import MeasuredAxis, Plan
from judgesheet.judges.simulated import SimulatedJudge, answer_key
from judgesheet.measuring.measure import COLUMNS, measure_axis, parse_rows
from judgesheet.planning.anchors import with_anchors
from judgesheet.planning.plan import make_plan
from proof.lines import Line, Rng, Rows, Tally, Truths
from proof.runner import Result
from proof.tables import grid, missed
from tests.judges.loopback import Answer, Request, completion, serving

STAGES = (planning, ledger, collect, measuring, decide)
DEPENDS_ON = (*all_axes().values(), kit, stats, *STAGES, judges, judgesheet)
SETS = 3
PROFILE = "quick"
JUDGE = "noisy?first=1&slot=1&surface=1&perturb=5"
EQUAL, ANSWERED, FIGURES = "equal", "answered", "figures"


def _run(axis: str, sets: int, rng: Rng, _truths: Truths) -> Rows:
    tally = Tally()
    for _ in range(sets):
        tally.next()
        seed = int(rng.integers(2**31))
        options = {axis: Options(profile=PROFILE, reply="text")}
        plan = with_anchors(make_plan([get_axis(axis)], options, seed), [get_axis(axis)])
        texts = asyncio.run(_texts(plan, f"{JUDGE}&seed={seed}"))
        direct, served = _direct(axis, plan, texts, seed), _served(axis, plan, texts, seed)
        # Slices are figures of a sheet; the direct path measures an axis.
        found = {one.key: one for one in served.estimates}
        same = [found.get(one.key) == one for one in direct.estimates]
        read = served.answered / served.planned
        tally.add(axis, {EQUAL: sum(same) / len(same), ANSWERED: read})
        tally.note(axis, figures=len(same))
    return tally.rows()


async def _texts(plan: Plan, name: str) -> dict[str, str]:
    """What the judge says to every call, by its id."""
    judge = SimulatedJudge.from_name(name, answer_key(plan.labels))
    return {call.id: (await judge.ask(call, 1)).text for call in plan.calls}


def _direct(axis: str, plan: Plan, texts: Mapping[str, str], seed: int) -> MeasuredAxis:
    rows = [
        (*(c.id, c.axis, c.stimulus, json.dumps(c.cell), c.repeat, c.reply, "ok"), texts[c.id])
        for c in plan.calls
        if "anchor" not in c.cell
    ]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    readings = Readings(parse_rows(get_axis(axis), frame), plan.labels, 0.0, seed)
    return measure_axis(get_axis(axis), readings)


def _served(axis: str, plan: Plan, texts: Mapping[str, str], seed: int) -> MeasuredAxis:
    """The same through a server; repeats of a prompt are answered in the order of the plan."""
    waiting: defaultdict[str, list[str]] = defaultdict(list)
    for call in plan.calls:
        waiting[str(call.messages[-1]["content"])].append(texts[call.id])

    def answer(request: Request, _: int) -> Answer:
        return completion(waiting[request.words].pop(0))

    with TemporaryDirectory() as folder, serving(answer) as server:
        run = probe(
            "openai-compatible/m",
            Path(folder) / "run",
            pdf=False,
            axes=(axis,),
            profile=PROFILE,
            reply="text",
            seed=seed,
            base_url=server.base_url,
            concurrency=1,
        )
    return run.datasheet.axes[0]


def lines() -> Iterator[Line]:
    """Every axis."""
    limits = {EQUAL: (1.0, 1.0), ANSWERED: (1.0, 1.0)}
    for axis in all_axes():
        yield Line(axis, PROFILE, SETS, partial(_run, axis), limits=limits)


def fields(results: Sequence[Result]) -> dict[str, str]:
    """What the text of the page leaves open."""
    rows = []
    for one in results:
        row = one.rows[one.line.data]
        shares = [_cell(one, metric) for metric in (EQUAL, ANSWERED)]
        rows.append([one.line.data, f"{row.facts[FIGURES]:.0f}", *shares])
    sets = results[0].rows[results[0].line.data].sets[EQUAL]
    table = grid(["axis", FIGURES, EQUAL, ANSWERED], rows)
    return {"judge": JUDGE, "profile": PROFILE, "sets": str(sets), "table": table}


def _cell(one: Result, metric: str) -> str:
    text = f"{one.rows[one.line.data].shares[metric]:.3f}"
    return f"**{text}**" if missed(one, one.line.data, metric) else text
