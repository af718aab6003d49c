"""What a plan would show for known judges, before any call is paid for.

Simulated judges answer every call of the plan, and the usual code parses, measures and gates their
replies. So the prediction agrees with the later sheet, however its intervals are computed.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from statistics import fmean, median

import pandas as pd

from judgesheet.axes import all_axes
from judgesheet.axis import Readings, Simulating, sweep_keys
from judgesheet.base.clusters import Clusters
from judgesheet.base.datasheet import by_key
from judgesheet.base.digits import count, percent, thousandths
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_DRAWS
from judgesheet.base.records import Call, Datasheet, Plan, Verdict
from judgesheet.base.sanitize import one_line
from judgesheet.decide import EXIT_CODES, PASSED, decide, looks
from judgesheet.decide.gate import reach
from judgesheet.decide.policy import Policy
from judgesheet.judges.simulated import SimulatedJudge, answer_key
from judgesheet.measuring.measure import COLUMNS, measure_wanted, parse_rows
from judgesheet.planning.plan import Expectation

PERFECT, GOOD, WAVERING = "sim/perfect", "sim/good", "sim/noisy"
"""Judges: one that never errs, one that slips in a call of fifty, one that errs in every third."""
CALLS, LEAST = 20_000, 4
"""Calls that a judge answers for its expected widths, and limits for how often it is drawn. Widths
of small designs vary most, and their means are then within a tenth of those of many draws."""
TRIALS = 20
"""Rehearsals behind a share of passes; its standard error is .07 at .9."""
COURSES = 5
"""Rehearsals of a run that stops once it is decided; each takes as long as several others."""


@dataclass(frozen=True, slots=True)
class LimitForecast:
    """The result of rehearsals for one limit of a policy.

    `best` is the bound that comes nearest to proving it over all of them, None where the plan gives
    the figure no bound, and `provable` whether any proves it. `proven` is the share of rehearsals
    of the `PolicyForecast`'s judge that do. `rule`, `warns` and `needed` are those of a `Verdict`,
    the last of a perfect judge.
    """

    key: str
    rule: str
    best: float | None
    provable: bool
    proven: float
    warns: bool
    needed: str = ""


@dataclass(frozen=True, slots=True)
class PolicyForecast:
    """How often `judge` passes a policy, a share of `trials` rehearsals, and what decides.

    Of the plan's `calls`, `courses` are those that runs of some judges make if they stop once the
    policy is decided: one number a rehearsal, by judge.
    """

    policy: str
    judge: str
    passes: float
    trials: int
    limits: tuple[LimitForecast, ...]
    calls: int
    courses: Mapping[str, tuple[int, ...]]


def stand_ins(model: str) -> tuple[str, ...]:
    """The simulated judges for which a plan is rehearsed: the judge itself if it is one."""
    return (model,) if model.startswith("sim/") else (GOOD, WAVERING)


def expect(plan: Plan, judges: Sequence[str]) -> Iterator[Expectation]:
    """Mean half-widths, over some draws of each judge, of the figures that a sweep would follow."""
    keys = [key for name in _axes(plan) for key in sweep_keys(all_axes()[name])]
    for judge in judges:
        for key, width in half_widths(plan, judge, keys):
            yield Expectation(key, width, judge)


def half_widths(plan: Plan, judge: str, keys: Sequence[str]) -> Iterator[tuple[str, float | None]]:
    """The mean half-width of each figure over some draws of the judge; None without interval."""
    sheets = [by_key(rehearse(plan, judge, draw, keys)) for draw in range(draws(plan))]
    for key in keys:
        found = [sheet[key] for sheet in sheets if key in sheet]
        widths = [e.high - e.low for e in found if e.low is not None and e.high is not None]
        if found:
            yield key, fmean(widths) / 2 if widths else None


def draws(plan: Plan) -> int:
    """How often a judge is drawn for the widths to expect."""
    return min(MOST_DRAWS, max(LEAST, CALLS // len(plan.calls))) if plan.calls else LEAST


def foresee(
    plan: Plan, policy: Policy, judge: str, trials: int = TRIALS, courses: int = COURSES
) -> PolicyForecast:
    """Which limits of a policy a plan can prove, how often `judge` passes it, at how many calls.

    A good judge has a wavering one beside it. Limits on axes of the plan that no simulated judge
    can answer are left out.
    """
    # Limits on these would fail for want of a simulation, which says nothing of any judge.
    silent = {call.axis for call in plan.calls} - set(_axes(plan))
    limits = [one for one in policy.limit if Key.parse(one.key).axis not in silent]
    asked, keys = policy.model_copy(update={"limit": limits}), [one.key for one in limits]
    tried = [decide(rehearse(plan, judge, draw, keys), asked) for draw in range(trials)]
    # What this one does not prove, the plan proves of no judge.
    perfect = decide(rehearse(plan, PERFECT, 0, keys), asked)
    passes = fmean(_passes(sheet) for sheet in tried)
    told = tuple(_prospects(perfect, tried))
    taken = _courses(plan, asked, stand_ins(judge if judge != GOOD else ""), courses)
    return PolicyForecast(policy.name, judge, passes, trials, told, len(plan.calls), taken)


def _courses(
    plan: Plan, policy: Policy, judges: Sequence[str], courses: int
) -> dict[str, tuple[int, ...]]:
    """Calls that so many runs of each judge make until the policy is decided."""
    schedules = looks.schedules(looks.of_plan(plan), policy, plan.seed)
    if not schedules or not courses:
        return {}
    return {
        judge: tuple(
            until_decided(plan, policy, schedules, _drawn(plan, judge, draw)).calls
            for draw in range(courses)
        )
        for judge in judges
    }


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

    def seen(levels: Mapping[str, float], ids: Collection[str]) -> Datasheet:
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


def as_text(outlook: PolicyForecast) -> str:
    """The outlook for a reader."""
    passed = f"{count(outlook.passes * outlook.trials)} of {outlook.trials} trials"
    title = f"policy {outlook.policy}: {outlook.judge} passes in {passed}"
    if any(not one.provable and not one.warns for one in outlook.limits):
        is_asked = all(one.best is not None for one in outlook.limits if not one.warns)
        title += "; no judge can pass: use more stimuli or weaker limits"
        title += "" if is_asked else ", and what each limit reads"
    told = [title, *(f"  {_told(one)}" for one in outlook.limits), *_decides(outlook)]
    return "\n".join(map(one_line, told))


def _decides(outlook: PolicyForecast) -> Iterator[str]:
    for judge, calls in outlook.courses.items():
        yield (
            f"  with --until-decided {judge} likely takes {count(median(calls))} of "
            f"{outlook.calls:,} calls ({min(calls):,} to {max(calls):,} in {len(calls)} trials)"
        )


def _told(one: LimitForecast) -> str:
    limit = f"{one.key} {one.rule}"
    if one.best is None:
        said = f"out of reach: {limit}, this plan asks too little, or nothing, about it"
        return f"{said}; what would decide: {one.needed}" if one.needed else said
    if not one.provable:
        return f"out of reach: {limit}, the best bound is {thousandths(one.best)}"
    return f"proven in {percent(one.proven)}: {limit}, the best bound is {thousandths(one.best)}"


def rehearse(plan: Plan, judge: str, draw: int, keys: Iterable[str]) -> Datasheet:
    """The figures of these names for a judge `sim/…`, in one of its draws.

    Axes that no simulated judge can answer are left out.
    """
    frame = _drawn(plan, judge, draw)
    wanted = [Key.parse(key) for key in keys]
    results = (
        measure_wanted(all_axes()[axis], _readings(plan, axis, rows, _families(wanted, axis)))
        for axis, rows in ((str(label), rows) for label, rows in frame.groupby("axis", sort=False))
    )
    return Datasheet("", {}, {}, {}, tuple(results))


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


def _passes(sheet: Datasheet) -> bool:
    return sheet.decision is not None and EXIT_CODES[sheet.decision.verdict] == PASSED


def _prospects(perfect: Datasheet, tried: Sequence[Datasheet]) -> Iterator[LimitForecast]:
    """One per limit and figure, in the order of the policy."""
    sheets = (perfect, *tried)
    passed = [
        {(one.key, one.rule): one.status == "proven" for one in sheet.verdicts} for sheet in sheets
    ]
    needed = {(one.key, one.rule): one.needed for one in perfect.verdicts}
    verdicts = {(one.key, one.rule): one for sheet in sheets for one in sheet.verdicts}
    for limit, verdict in verdicts.items():
        bounds = [bound for sheet in sheets if isfinite(bound := _bound(sheet, verdict))]
        nearest = min if verdict.kind == "max" else max
        kept = [bool(one.get(limit)) for one in passed]
        best = nearest(bounds, default=None)
        yield LimitForecast(
            *limit, best, any(kept), fmean(kept[1:]), verdict.warns, needed.get(limit, "")
        )


def _bound(sheet: Datasheet, verdict: Verdict) -> float:
    """The bound that could prove a limit; infinite where there is none."""
    estimate = by_key(sheet).get(verdict.key)
    bounds = None if estimate is None else reach(estimate)
    if bounds is None:
        return inf
    return bounds.high if verdict.kind == "max" else bounds.low
