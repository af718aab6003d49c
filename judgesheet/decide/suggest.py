"""A policy made from a finished run, each limit with the reason for its number.

The figures are those that the shipped policies limit. A limit is the strictest shipped one where
the run's bound keeps it, else the nearest that the bound keeps. Whoever is judged by limits made
from their own run passes by construction: the policy is for later runs, and says so.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from judgesheet.base.datasheet import by_key
from judgesheet.base.digits import counted, significant
from judgesheet.base.errors import RunError
from judgesheet.base.keys import Key
from judgesheet.base.records import AxisResult, Datasheet, Estimate
from judgesheet.base.sanitize import one_line
from judgesheet.base.units import unit
from judgesheet.decide.bounded_value import BoundedValue, reach
from judgesheet.decide.controls import touched_by
from judgesheet.decide.gate import members
from judgesheet.decide.policy import Limit, Policy, load, shipped

PROVES_NOTHING = (
    "A policy suggested from a run proves nothing about that run, which meets it by "
    "construction. Use it for later runs."
)
STEP = 100
"""Limits are rounded to a hundredth, away from the bound."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A limit to put into the policy; None for a figure that has to be left out, and then why."""

    key: str
    limit: Limit | None
    why: str


def suggest(sheet: Datasheet) -> str:
    """The text of a policy file; RunError if there is nothing in the sheet to make it from."""
    # Its bounds are wider than those of the whole run: limits made of them would ask too little.
    if sheet.run.complete is False:
        raise RunError("the run is not complete: finish it first, the same command resumes it")
    found, axes = by_key(sheet), {axis.name: axis for axis in sheet.axes}
    suggestions = [one for rule in _strictest() for one in _suggested(*rule, found, axes)]
    if not any(one.limit for one in suggestions):
        raise RunError("no figure of this sheet meets any useful limit")
    return "\n".join(_lines(sheet, suggestions))


def _strictest() -> Iterator[tuple[Policy, Limit]]:
    """Every figure and side that a shipped policy limits, by the strictest of them.

    A limit that only warns counts where there is no other.
    """
    strictest: dict[tuple[str, str], tuple[Policy, Limit]] = {}
    for policy in map(load, shipped()):
        for limit in policy.limit:
            side = limit.key, limit.kind
            known = strictest.get(side)
            if known is None or _is_stricter(limit, known[1]):
                strictest[side] = policy, limit
    yield from strictest.values()


def _is_stricter(limit: Limit, known: Limit) -> bool:
    warns, warned = (one.not_proven == "warn" for one in (limit, known))
    if warns != warned:
        return warned
    return _slack(limit.kind, known.value, limit.value) > 0


def _slack(kind: str, limit: float, bound: float) -> float:
    """How far a bound stays within a limit; below 0 where it does not."""
    return limit - bound if kind == "max" else bound - limit


def _suggested(
    policy: Policy, limit: Limit, found: Mapping[str, Estimate], axes: Mapping[str, AxisResult]
) -> Iterator[Suggestion]:
    """What to say of one limit; nothing where the sheet has no such figure."""
    held = [found[key] for key in members(limit.key, found) if key in found]
    bounds = [reach(estimate) for estimate in held]
    if not held:
        return
    # The members of a family keep a limit together, so one without bounds leaves it out.
    if None in bounds:
        lacking = held[bounds.index(None)]
        why = lacking.note if lacking.value is None else "it has no confidence interval"
        yield Suggestion(limit.key, None, why)
        return
    # The gate would call such a limit void: its own run would not pass.
    if why := _unusable(axes[Key.parse(limit.key).axis], held):
        yield Suggestion(limit.key, None, f"not usable ({why})")
        return
    bound = _worst(limit.kind, [one for one in bounds if one is not None])
    stimuli = counted(min(one.clusters for one in held), "stimulus", "stimuli")
    shown = f"bound of {significant(bound)}, from {stimuli},"
    asked = f"at {'most' if limit.kind == 'max' else 'least'} {limit.value:g}"
    if _slack(limit.kind, limit.value, bound) >= 0:
        why = f"{limit.why} (The limit of {policy.name}; the run's {shown} meets it.)"
        yield Suggestion(limit.key, limit.model_copy(update={"why": why}), why)
        return
    near = _outward(limit.kind, bound)
    if not math.isfinite(bound) or _says_nothing(limit.kind, near, held[0]):
        yield Suggestion(limit.key, None, f"{asked} is not met, nor is any useful limit")
        return
    why = (
        f"The nearest limit that the run's {shown} meets. It is not a recommendation: the policy "
        f"{policy.name} asks for {asked}. {limit.why}"
    )
    update = {limit.kind: near, "why": why}
    yield Suggestion(limit.key, limit.model_copy(update=update), why)


def _unusable(axis: AxisResult, held: Sequence[Estimate]) -> str:
    """Why a limit on these figures could not be proven, however good they are; "" where it may."""
    unearned = dict(touched_by(axis, "judge"))
    reasons = (axis.silent_reason(one.key) or unearned.get(one.key, "") for one in held)
    return next(filter(None, reasons), "")


def _worst(kind: str, bounds: list[BoundedValue]) -> float:
    return max(one.high for one in bounds) if kind == "max" else min(one.low for one in bounds)


def _outward(kind: str, bound: float) -> float:
    if not math.isfinite(bound):
        return bound
    return (math.ceil if kind == "max" else math.floor)(bound * STEP) / STEP


def _says_nothing(kind: str, limit: float, estimate: Estimate) -> bool:
    """Whether every value of the unit keeps the limit."""
    ends = unit(estimate.unit).ends
    return ends is not None and (limit >= ends[1] if kind == "max" else limit <= ends[0])


def _lines(sheet: Datasheet, suggestions: list[Suggestion]) -> Iterator[str]:
    model, ended = sheet.judge.model or "unnamed", sheet.run.ended_at or "unknown"
    yield f"# Suggested from a run of {one_line(model)} that ended {one_line(ended)}."
    yield f"# {PROVES_NOTHING}"
    yield 'name = "suggested"'
    yield "review_days = 90"
    for suggestion in dict.fromkeys(suggestions):  # two sides of a figure are left out alike
        yield ""
        if suggestion.limit is None:
            yield f"# Left out: {suggestion.key}: {one_line(suggestion.why)}"
            continue
        yield "[[limit]]"
        yield f"key = {_text(suggestion.key)}"
        yield f"{suggestion.limit.kind} = {suggestion.limit.value:g}"
        if suggestion.limit.not_proven == "warn":
            yield 'not_proven = "warn"'
        yield f"why = {_text(suggestion.why)}"
    yield ""


def _text(text: str) -> str:
    """A string of TOML: those of JSON are."""
    return json.dumps(text, ensure_ascii=False)
