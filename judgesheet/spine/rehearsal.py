"""For stage one: what a plan would show for known judges, before any call is paid for.

Simulated judges answer every call of the plan, and the usual code parses, measures and gates their
replies. So the prediction agrees with the later sheet, however its intervals are computed.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from statistics import fmean

import pandas as pd

from judgesheet.axes import all_axes
from judgesheet.axis import Readings, Simulating
from judgesheet.estimates import Estimates
from judgesheet.judges.simulated import SimulatedJudge, answer_key
from judgesheet.keys import Key
from judgesheet.plain import one_line
from judgesheet.records import AxisResult, Call, Datasheet, Plan, Verdict
from judgesheet.spine.datasheet import by_key
from judgesheet.spine.gate import EXIT_CODES, PASSED, reach
from judgesheet.spine.gate import judge as hold
from judgesheet.spine.impute import with_imputed
from judgesheet.spine.measure import COLUMNS, parse_rows
from judgesheet.spine.plan import Expectation
from judgesheet.spine.policy import Policy

PERFECT, GOOD, WAVERING = "sim/perfect", "sim/good", "sim/noisy"
"""Judges: one that never errs, one that slips in a call of fifty, one that errs in every third."""
CALLS, LEAST, MOST = 20_000, 4, 12
"""Calls that a judge answers for its expected widths, and limits for how often it is drawn. Widths
of small designs vary most, and their means are then within a tenth of those of many draws."""
TRIALS = 20
"""Rehearsals behind a share of passes; its standard error is .07 at .9."""


@dataclass(frozen=True, slots=True)
class Prospect:
    """The result of rehearsals for one limit of a policy.

    `best` is the bound that comes nearest to proving it over all of them, None where the plan gives
    the figure no bound, and `provable` whether any proves it. `proven` is the share of rehearsals
    of the `Outlook`'s judge that do. `rule` and `warns` are those of a `Verdict`.
    """

    key: str
    rule: str
    best: float | None
    provable: bool
    proven: float
    warns: bool


@dataclass(frozen=True, slots=True)
class Outlook:
    """How often `judge` passes a policy, a share of `trials` rehearsals, and what decides."""

    policy: str
    judge: str
    passes: float
    trials: int
    limits: tuple[Prospect, ...]


def stand_ins(model: str) -> tuple[str, ...]:
    """The simulated judges for which a plan is rehearsed: the judge itself if it is one."""
    return (model,) if model.startswith("sim/") else (GOOD, WAVERING)


def expect(plan: Plan, judges: Sequence[str]) -> Iterator[Expectation]:
    """Mean half-widths, over some draws of each judge, of the figures that a sweep would follow."""
    keys = [key for name in _axes(plan) for key in all_axes()[name].SWEEP_KEYS]
    for judge in judges:
        sheets = [by_key(rehearse(plan, judge, draw, keys)) for draw in range(draws(plan))]
        for key in keys:
            found = [sheet[key] for sheet in sheets if key in sheet]
            widths = [e.high - e.low for e in found if e.low is not None and e.high is not None]
            if found:
                yield Expectation(key, fmean(widths) / 2 if widths else None, judge)


def draws(plan: Plan) -> int:
    """How often a judge is drawn for the widths to expect."""
    return min(MOST, max(LEAST, CALLS // len(plan.calls))) if plan.calls else LEAST


def foresee(plan: Plan, policy: Policy, judge: str, trials: int = TRIALS) -> Outlook:
    """Which limits of a policy a plan can prove, and how often `judge` passes it.

    Limits on axes of the plan that no simulated judge can answer are left out.
    """
    silent = {call.axis for call in plan.calls} - set(_axes(plan))
    limits = [one for one in policy.limit if Key.parse(one.key).axis not in silent]
    asked, keys = policy.model_copy(update={"limit": limits}), [one.key for one in limits]
    tried = [hold(rehearse(plan, judge, draw, keys), asked) for draw in range(trials)]
    perfect = hold(rehearse(plan, PERFECT, 0, keys), asked)
    passes = fmean(_passes(sheet) for sheet in tried)
    return Outlook(policy.name, judge, passes, trials, tuple(_prospects(perfect, tried)))


def as_text(outlook: Outlook) -> str:
    """The outlook for a reader."""
    passed = round(outlook.passes * outlook.trials)
    title = (
        f"policy {outlook.policy}: {outlook.judge} passes in {passed} of {outlook.trials} trials"
    )
    if any(not one.provable and not one.warns for one in outlook.limits):
        title += "; no judge can pass: ask more stimuli, or for less"
    return "\n".join(map(one_line, [title, *(f"  {_told(one)}" for one in outlook.limits)]))


def _told(one: Prospect) -> str:
    limit = f"{one.key} {one.rule}"
    if one.best is None:
        return f"out of reach: {limit}, this plan gives it no bound"
    if not one.provable:
        return f"out of reach: {limit}, the best bound is {one.best:.3f}"
    return f"proven in {one.proven:.0%}: {limit}, the best bound is {one.best:.3f}"


def rehearse(plan: Plan, judge: str, draw: int, keys: Iterable[str]) -> Datasheet:
    """The figures of these names for a judge `sim/…`, in one of its draws.

    Axes that no simulated judge can answer are left out.
    """
    name = judge.partition("/")[2]
    spec = f"{name}{'&' if '?' in name else '?'}seed={draw}"
    frame = answered(plan, SimulatedJudge.from_name(spec, answer_key(plan.labels)))
    wanted = [Key.parse(key) for key in keys]
    results = (
        _measured(plan, axis, rows, frozenset(key.name for key in wanted if key.axis == axis))
        for axis, rows in ((str(label), rows) for label, rows in frame.groupby("axis", sort=False))
    )
    return Datasheet("", {}, {}, {}, tuple(results))


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


def _measured(plan: Plan, name: str, rows: pd.DataFrame, families: frozenset[str]) -> AxisResult:
    axis = all_axes()[name]
    labels = tuple(label for label in plan.labels if label.axis == name)
    readings = Readings(parse_rows(axis, rows), labels, None, plan.seed, families)
    estimates = with_imputed(axis, readings, Estimates(name, axis.measure(readings)))
    calls = len(rows)
    return AxisResult(
        name, axis.TITLE, axis.QUESTION, calls, calls, 0, 0, 0, tuple(estimates.values()), ()
    )


def _passes(sheet: Datasheet) -> bool:
    return sheet.decision is not None and EXIT_CODES[sheet.decision.verdict] == PASSED


def _prospects(perfect: Datasheet, tried: Sequence[Datasheet]) -> Iterator[Prospect]:
    """One per limit and figure, in the order of the policy."""
    sheets = (perfect, *tried)
    passed = [{(one.key, one.rule): one.passed for one in sheet.verdicts} for sheet in sheets]
    verdicts = {(one.key, one.rule): one for sheet in sheets for one in sheet.verdicts}
    for limit, verdict in verdicts.items():
        bounds = [bound for sheet in sheets if isfinite(bound := _bound(sheet, verdict))]
        nearest = min if verdict.kind == "max" else max
        kept = [bool(one.get(limit)) for one in passed]
        yield Prospect(
            *limit, nearest(bounds, default=None), any(kept), fmean(kept[1:]), verdict.warns
        )


def _bound(sheet: Datasheet, verdict: Verdict) -> float:
    """The bound that could prove a limit; infinite where there is none."""
    estimate = by_key(sheet).get(verdict.key)
    bounds = None if estimate is None else reach(estimate)
    if bounds is None:
        return inf
    return bounds.high if verdict.kind == "max" else bounds.low
