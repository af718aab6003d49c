"""A run that is looked at while it grows, and stops once a policy is decided.

The design is that of the whole run. A look takes the first stimuli of each axis in the order of the
plan, near copies together, and of the calls on them those that a required limit reads. It has
the level at which all looks together err as one look at the whole run would (`stats.spending`), so
that the run may stop at any of them.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from judgesheet.axes import all_axes
from judgesheet.axis import Readings
from judgesheet.base.clusters import Clusters
from judgesheet.base.errors import RunError
from judgesheet.base.facts import AxisLook, JudgeIdentity, Looks, Provenance, RunFacts
from judgesheet.base.keys import Key
from judgesheet.base.records import LEVEL, Datasheet, MeasuredSheet
from judgesheet.decide.gate import verdicts
from judgesheet.decide.policy import Limit, Policy
from judgesheet.ledger.ledger import Ledger
from judgesheet.planning.anchors import THIRDS
from judgesheet.stats.spending import nominal, obrien_fleming

if TYPE_CHECKING:
    from judgesheet.base.records import Plan

SHARES = (0.7, 0.85, 1.0)
"""Of an axis's independent stimuli, what each look takes; see docs/proof/until_decided.md."""
SPENDING = obrien_fleming
Reached = dict[str, int]
"""The look that each axis has reached, from 0."""


class PlannedCell(NamedTuple):
    """What must be known of a planned call; `cell` has the number of its repeat, too."""

    id: str
    axis: str
    cluster: str
    cell: Mapping[str, Any]


def of_plan(plan: "Plan") -> list[PlannedCell]:
    """The calls of a plan."""
    places = ((one.id, one.axis, one.stimulus, one.cell, one.repeat) for one in plan.calls)
    return _planned(places, plan.provenance)


def _planned(
    calls: Iterable[tuple[str, str, str, Mapping[str, Any], int]], provenance: Mapping[str, Any]
) -> list[PlannedCell]:
    """The calls (id, axis, stimulus, cell, repeat), each with the cluster of its stimulus."""
    clusters = cache(partial(Clusters.of, provenance))
    return [
        PlannedCell(one, axis, clusters(axis)[stimulus], {**cell, "repeat": repeat})
        for one, axis, stimulus, cell, repeat in calls
        if "anchor" not in cell
    ]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The looks at one axis.

    `calls` are the ids of those that a limit reads, by cluster in the order in which looks take
    them; each look takes `sizes` clusters in all, and its intervals have its level.
    """

    calls: Mapping[str, Sequence[str]]
    sizes: Sequence[int]
    levels: Sequence[float]

    @classmethod
    def of(cls, calls: Mapping[str, Sequence[str]]) -> Self:
        """The looks at these calls."""
        # Less a trifle, should rounding lift the product above a whole number.
        sizes = sorted({ceil(share * len(calls) - 1e-9) for share in SHARES})
        if len(sizes) == 1:
            return cls(calls, sizes, [LEVEL])
        tails = nominal([size / sizes[-1] for size in sizes], 1 - LEVEL, SPENDING)
        return cls(calls, sizes, [float(1 - tail) for tail in tails])

    def until(self, look: int) -> list[str]:
        """The ids of the calls of the looks up to this one."""
        taken = list(self.calls.values())[: self.sizes[look]]
        return [one for ids in taken for one in ids]


Schedules = dict[str, Schedule]
"""By axis."""


def schedules(calls: Iterable[PlannedCell], policy: Policy) -> Schedules:
    """The looks at every axis with a limit that reads any of these calls.

    They take stimuli in the order of the plan, which is drawn.
    """
    by_axis: defaultdict[str, list[PlannedCell]] = defaultdict(list)
    for call in calls:
        by_axis[call.axis].append(call)
    found: Schedules = {}
    for axis, mine in by_axis.items():
        ids: defaultdict[str, list[str]] = defaultdict(list)
        for call in needed(axis, _keys(policy, axis), mine):
            ids[call.cluster].append(call.id)
        if ids:
            found[axis] = Schedule.of(ids)
    return found


def _required(policy: Policy) -> list[Limit]:
    """The limits that a run waits for: one that only warns decides nothing."""
    return [one for one in policy.limit if one.not_proven != "warn"]


def _keys(policy: Policy, axis: str) -> list[Key]:
    return [key for one in _required(policy) if (key := Key.parse(one.key)).axis == axis]


def needed(axis: str, keys: Sequence[Key], calls: Sequence[PlannedCell]) -> Iterator[PlannedCell]:
    """The calls of an axis that a figure of these keys reads."""
    cells = [call.cell for call in calls]
    read = [all_axes()[axis].reads(key, cells) for key in keys]
    yield from (call for place, call in enumerate(calls) if any(one[place] for one in read))


# -- one look --------------------------------------------------------------------------------------


def following(policy: Policy, looks: Schedules, reached: Reached, seen: "Seen") -> Reached:
    """What is reached with the next look; as it is where none is needed, or none is left.

    An axis goes on while a limit on it is not proven; once one is broken, nothing does.
    """
    now = max(reached.values())
    current = {axis: look for axis, look in reached.items() if look == now}
    levels = {axis: looks[axis].levels[look] for axis, look in current.items()}
    unproven = _unproven(policy, Datasheet.of(seen(levels, asked(looks, reached))))
    further = {
        axis: look + 1
        for axis, look in current.items()
        if axis in unproven and look + 1 < len(looks[axis].sizes)
    }
    return reached | further


Seen = Callable[[Mapping[str, float], Collection[str]], MeasuredSheet]
"""The level of each axis to be measured, ids of the calls that count -> a sheet of these axes."""


def asked(looks: Schedules, reached: Reached) -> set[str]:
    """The ids of the calls that were taken so far."""
    return {one for axis, look in reached.items() for one in looks[axis].until(look)}


def _unproven(policy: Policy, sheet: Datasheet) -> set[str]:
    """The axes of the sheet with a limit that is not proven; none if one is broken.

    A broken one rejects the judge, whatever becomes of the others.
    """
    known = {axis.name for axis in sheet.axes}
    limits = [one for one in _required(policy) if Key.parse(one.key).axis in known]
    held = list(verdicts(sheet, policy.model_copy(update={"limit": limits})))
    if any(one.status == "fail" for one in held):
        return set()
    return {Key.parse(one.key).axis for one in held if one.status == "inconclusive"}


def figures(
    readings: Mapping[str, Readings], policy: Policy, levels: Mapping[str, float]
) -> MeasuredSheet:
    """A sheet of the figures that the policy limits, on the axes that have a level."""
    from judgesheet.measuring.measure import measure_wanted  # here: a plan measures nothing

    results = []
    for axis in (name for name in levels if name in readings):
        families = frozenset(key.name for key in _keys(policy, axis))
        wanted = replace(readings[axis], families=families, level=levels[axis])
        results.append(measure_wanted(all_axes()[axis], wanted))
    return MeasuredSheet("", JudgeIdentity(), RunFacts(), Provenance(), results)


# -- a run -----------------------------------------------------------------------------------------


class SequentialMonitor:
    """Looks at a ledger while it is filled, and has it ask only what the next look takes."""

    def __init__(self, ledger: Ledger, policy: Policy) -> None:
        """Begin, or continue where the ledger stopped; RunError if no limit reads a call of it."""
        self._ledger, self._policy, record = ledger, policy, ledger.looks
        places = [(*place, json.loads(cell), repeat) for *place, cell, repeat in ledger.cells()]
        calls = _planned(places, ledger.provenance)
        self._ids = [place[0] for place in places]
        self._anchors = {place[0]: place[3]["anchor"] for place in places if "anchor" in place[3]}
        self._looks = schedules(calls, policy)
        if not self._looks:
            raise RunError(
                f"policy {policy.name} limits nothing that is asked: choose other axes, or leave "
                "--until-decided out"
            )
        self._reached = dict.fromkeys(self._looks, 0)
        if record is None:
            self._keep(ended=False)
        else:
            # The record counts from 1, for readers.
            self._reached |= {one.axis: one.look - 1 for one in record.axes}

    def extend(self) -> bool:
        """Look at what was asked; whether the ledger now has more to ask."""
        # A resumed run must not look once more: the levels allow for so many looks and no others.
        if self._ledger.looks and self._ledger.looks.ended:
            return False
        before, waiting = self._reached, not self._is_last
        self._reached = following(self._policy, self._looks, before, self._seen)
        ended = self._reached == before
        self._keep(ended=ended)
        # Before a run stops, it asks its last anchors.
        return not ended or (waiting and bool(self._anchors))

    @property
    def _is_last(self) -> bool:
        """Whether an axis is at its last look."""
        return any(look + 1 == len(self._looks[axis].sizes) for axis, look in self._reached.items())

    def _seen(self, levels: Mapping[str, float], _: Collection[str]) -> MeasuredSheet:
        from judgesheet.measuring.measure import answers, readings_of

        # What is not to be asked yet is no part of what the ledger gives.
        return figures(readings_of(self._ledger, answers(self._ledger)), self._policy, levels)

    def _keep(self, *, ended: bool) -> None:
        """Record how far it is, before anything more is asked."""
        last = ended or self._is_last
        taken = asked(self._looks, self._reached)
        taken |= {one for one, third in self._anchors.items() if last or third < THIRDS}
        every = {*self._anchors} | asked(
            self._looks, {axis: len(one.sizes) - 1 for axis, one in self._looks.items()}
        )
        reached = Looks(
            policy=self._policy.named,
            ended=ended,
            look=max(self._reached.values()) + 1,
            of=max(len(one.sizes) for one in self._looks.values()),
            calls=len(taken),
            needed=len(every),
            planned=len(self._ids),
            axes=tuple(self._axis(axis, look) for axis, look in self._reached.items()),
        )
        self._ledger.look(reached, [one for one in self._ids if one not in taken])

    def _axis(self, axis: str, look: int) -> AxisLook:
        looks = self._looks[axis]
        return AxisLook(
            axis,
            look=look + 1,
            of=len(looks.sizes),
            level=looks.levels[look],
            stimuli=looks.sizes[look],
            stimuli_planned=len(looks.calls),
        )
