"""Which limits of a policy a judge without a fault can be proven to keep, before any call is made.

Such a judge leaves an interval no width but the room for stimuli that were not drawn
(`stats.unseen`). So its best bound follows from how many independent stimuli a figure reads. A
limit that this does not settle is not forecast.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from judgesheet.axes import all_axes
from judgesheet.axis.figure import Figure
from judgesheet.base.digits import counted, thousandths
from judgesheet.base.keys import Key
from judgesheet.base.records import LEVEL, Plan
from judgesheet.base.sanitize import one_line
from judgesheet.base.units import FISHER, SHARE, unit
from judgesheet.decide.looks import PlannedCell, needed, of_plan, schedules
from judgesheet.decide.policy import Limit, Policy
from judgesheet.stats.correlation import LEAST_CLUSTERS
from judgesheet.stats.position import cramers_v
from judgesheet.stats.standard_error import ends_of_r, fisher_error
from judgesheet.stats.unseen import clusters_for, unseen_share

GOOD_R = 0.97
"""Correlation of a judge without a fault: that of levels of quality with scores; 1 has no bound."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """Whether a judge without a fault can be proven to keep a limit by the calls of a plan.

    `stimuli` are the independent ones that the figure reads, `bound` the best one that they allow,
    None where none follows from their number. `provable` is None where the forecast does not
    settle it, and `why` says what stands against a limit. `needed` stimuli would be enough.
    `warns` is True where a limit that is not proven only warns.
    """

    key: str
    rule: str
    stimuli: int
    bound: float | None
    provable: bool | None
    why: str = ""
    needed: int | None = None
    warns: bool = False


def forecasts(plan: Plan, policy: Policy, *, looked: bool = False) -> tuple[Forecast, ...]:
    """One forecast per limit that applies; `looked` if the run stops once the policy is decided."""
    calls = of_plan(plan)
    looks = schedules(calls, policy) if looked else {}
    found = []
    for limit in policy.limit:
        axis = Key.parse(limit.key).axis
        mine = [call for call in calls if call.axis == axis]
        if mine or not limit.when_probed:
            # The last look has the lowest level, and takes all stimuli.
            level = looks[axis].levels[-1] if axis in looks else LEVEL
            found.append(_enough(_forecast(limit, mine, plan, level), policy, mine))
    return tuple(found)


def _enough(one: Forecast, policy: Policy, calls: Sequence[PlannedCell]) -> Forecast:
    """The forecast; no axis with fewer independent stimuli than the policy requires proves any."""
    least = policy.min_independent or 0
    if not one.stimuli or len({call.cluster for call in calls}) >= least:
        return one
    why = f"the policy requires {least} independent stimuli"
    return replace(one, provable=False, why=why, needed=max(least, one.needed or 0))


def _forecast(limit: Limit, calls: Sequence[PlannedCell], plan: Plan, level: float) -> Forecast:
    key = Key.parse(limit.key)
    figure = all_axes()[key.axis].ESTIMATES.get(key.name)
    read = [*needed(key.axis, [key], calls)] if figure else []
    stimuli = len({call.cluster for call in read})
    say = partial(
        Forecast, limit.key, f"at {'most' if limit.kind == 'max' else 'least'} {limit.value:g}",
        stimuli, warns=limit.not_proven == "warn",
    )  # fmt: skip
    if figure is None:
        return say(None, False, "there is no such figure: `judgesheet explain` lists them")
    if not read:
        what = f"{key.axis} was not probed" if not calls else "the plan asks nothing about it"
        return say(None, False, what)
    if figure.facts.get("better") == "higher" and not _quality_known(key.axis, read, plan):
        return say(None, None, "the stimuli do not say what is right")
    if figure.reads == "repeats" and not any(call.cell["repeat"] for call in read):
        return say(None, None, "nothing that it reads is asked twice")
    if figure.unit in FISHER and limit.kind == "min":
        if stimuli < LEAST_CLUSTERS:
            return say(None, False, "no correlation has an interval", LEAST_CLUSTERS)
        bound = _bound_of_r(stimuli, level)
        return say(bound, True if bound >= limit.value else None)
    if figure.unit == "V" and limit.kind == "max":
        bound = _even_v(read, level)
        return say(bound, bound <= limit.value, needed=None)
    return _by_room(limit, figure, stimuli, level, say)


def _by_room(
    limit: Limit, figure: Figure[Any], stimuli: int, level: float, say: partial[Forecast]
) -> Forecast:
    """By the room for stimuli that were not drawn, between the best value and the far end."""
    ends = _best_and_far(limit, figure)
    if ends is None:
        return say(None, None, "its bound does not follow from the number of stimuli")
    best, far = ends
    bound = best + unseen_share(stimuli, level) * (far - best)
    share = (limit.value - best) / (far - best)
    enough = clusters_for(share, level) if 0 < share < 1 else None
    if bound <= limit.value if limit.kind == "max" else bound >= limit.value:
        return say(bound, True, needed=enough)
    # A judge may lie on the good side of an even share, and a design may bound an excess.
    better = figure.facts.get("better", "lower")
    surely = better in ("lower", "higher") and unit(figure.unit).ends == SHARE
    return say(bound, False if surely else None, "too few stimuli", enough)


def _best_and_far(limit: Limit, figure: Figure[Any]) -> tuple[float, float] | None:
    """A faultless judge's value, and how far unseen stimuli may lie; None where neither follows."""
    ends, null = unit(figure.unit).ends, figure.facts.get("null")
    if figure.unit not in ("share", "rate", "difference") or ends is None:
        return None
    better, (low, high) = figure.facts.get("better", "lower"), ends
    if better == "nearer" or figure.unit == "difference":
        return None if null is None else (null, high if limit.kind == "max" else low)
    if (better, limit.kind) == ("lower", "max"):
        return low, high
    return (high, low) if (better, limit.kind) == ("higher", "min") else None


def _quality_known(axis: str, calls: Sequence[PlannedCell], plan: Plan) -> bool:
    """Whether labels of the stimuli or the cells of calls say what a judge should find."""
    in_calls = any(call.cell.get("gold") or call.cell.get("better") for call in calls)
    return in_calls or any(label.axis == axis for label in plan.labels)


def _bound_of_r(stimuli: int, level: float) -> float:
    """The lower bound of a correlation of `GOOD_R` over stimuli of one response each."""
    left_out = np.full(stimuli, GOOD_R)
    bounds = ends_of_r(GOOD_R, left_out, stimuli, fisher_error(stimuli))(level).bounds
    return -1.0 if bounds is None else bounds[0]


def _even_v(calls: Sequence[PlannedCell], level: float) -> float:
    """The upper bound of V where every place was chosen equally often."""
    places = max(len(call.cell.get("order", ())) for call in calls)
    sizes = np.array([*Counter(call.cluster for call in calls).values()], dtype=float)
    bounds = cramers_v(np.repeat(sizes[:, None] / places, places, axis=1)).at(level).bounds
    return 1.0 if bounds is None else bounds[1]


def as_text(policy: Policy, found: Sequence[Forecast]) -> str:
    """The forecasts for a reader."""
    title = f"policy {policy.name}: can a judge without a fault be proven at these counts?"
    return "\n".join(map(one_line, (title, *(f"  {_line(one)}" for one in found))))


_WORDS: Mapping[bool | None, str] = {True: "yes", False: "no", None: "not forecast"}


def _line(one: Forecast) -> str:
    return "; ".join((f"{_WORDS[one.provable]}: {one.key} {one.rule}", *reasons(one)))


def reasons(one: Forecast) -> Iterator[str]:
    """What a forecast rests on, and what would change it."""
    if one.stimuli and one.bound is not None:
        of = f"of {counted(one.stimuli, 'stimulus', 'stimuli')}"
        yield f"the best bound {of} is {thousandths(one.bound)}"
    if one.why:
        yield one.why
    if one.provable is not True and one.needed:
        yield f"{counted(one.needed, 'independent stimulus', 'independent stimuli')} would do"
