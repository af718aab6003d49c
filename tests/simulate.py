"""Runs without files: a plan, a judge that answers it, and what the axis makes of the replies."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Axis, Options, Readings
from judgesheet.axis.order_test import ORDER_TEST
from judgesheet.base.effects import JudgedEffect
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import Estimate, MeasuredAxis, MeasuredSheet, Plan
from judgesheet.decide import decide
from judgesheet.judges import Judge
from judgesheet.judges.simulated import SimulatedJudge, answer_key
from judgesheet.measuring.measure import (
    COLUMNS,
    measure_axis,
    measure_wanted,
    parse_rows,
    with_distributions,
)
from judgesheet.planning.plan import make_plan

SHARED = Path(__file__).parent.parent.parent / "shared"
"""Papers' figures and public data sets, where they lie beside the checkout."""

ORDER_AXES = [name for name, axis in all_axes().items() if ORDER_TEST in axis.ESTIMATES]
"""The axes that ask what the order of things does to a judge."""

Edit = Callable[[pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True, eq=False)  # no slots: what was measured is kept
class Sheet:
    """What comes out of a simulated run, measured when a test asks for it.

    A test that asks for single figures measures these alone; effects rest on all.
    """

    plan: Plan
    axis: Axis
    readings: Readings
    _families: dict[str, Mapping[str, Estimate]] = field(default_factory=dict)

    @cached_property
    def result(self) -> MeasuredAxis:
        return measure_axis(self.axis, self.readings)

    def __getitem__(self, name: str) -> Estimate:
        key, family = f"{self.axis.NAME}.{name}", name.partition("[")[0]
        if self.readings.families or "result" in vars(self):
            return self.estimates[key]
        if family not in self._families:
            alone = replace(self.readings, families=frozenset({family}))
            found = measure_wanted(self.axis, alone).estimates
            self._families[family] = {estimate.key: estimate for estimate in found}
        return self._families[family][key]

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        return {estimate.key: estimate for estimate in self.result.estimates}

    def value(self, name: str) -> float:
        value = self[name].value
        assert value is not None, self[name].note
        return value

    @cached_property
    def effects(self) -> dict[str, JudgedEffect]:
        """The effects of the axis by their keys without its name, failed controls applied."""
        parts = JudgeIdentity(), RunFacts(), Provenance()
        sheet = decide(MeasuredSheet("", *parts, (self.result,)))
        prefix = f"{self.result.name}."
        return {one.key.removeprefix(prefix): one for one in sheet.axes[0].effects}

    def shown(self) -> set[str]:
        """The keys of the effects that are shown."""
        return {key for key, one in self.effects.items() if one.verdict == "shown"}


def simulate(
    spec: str,
    profile: str = "standard",
    axis: str = "score_order",
    seed: int = 0,
    stimuli: Path | None = None,
    edit: Edit | None = None,
    *,
    logprobs: bool = False,
    families: frozenset[str] | None = None,
) -> Sheet:
    """The sheet of `sim/SPEC`; `edit` may spoil the table of replies before it is measured.

    `families` are the figures that are measured together, None for all. Tests share the replies to
    built-in stimuli, and the sheet of replies as they are.
    """
    if edit is None and stimuli is None and families is None:
        return _untouched(spec, profile, axis, seed, logprobs)
    plan, rows = parsed(spec, profile, axis, seed, stimuli, edit, logprobs=logprobs)
    return Sheet(plan, get_axis(axis), Readings(rows, plan.labels, 0.0, seed, families))


def parsed(
    spec: str,
    profile: str,
    axis: str,
    seed: int = 0,
    stimuli: Path | None = None,
    edit: Edit | None = None,
    *,
    logprobs: bool = False,
) -> tuple[Plan, pd.DataFrame]:
    """The plan and the replies as they were read, of which nothing is measured yet."""
    ask = answered.__wrapped__ if stimuli else answered  # a file may change under its name
    plan, frame = ask(spec, profile, axis, seed, logprobs, stimuli)
    return plan, parse_rows(get_axis(axis), edit(frame.copy()) if edit else frame)


@lru_cache(maxsize=64)
def _untouched(spec: str, profile: str, axis: str, seed: int, logprobs: bool) -> Sheet:
    return simulate(spec, profile, axis, seed, edit=lambda frame: frame, logprobs=logprobs)


@lru_cache(maxsize=32)
def answered(
    spec: str, profile: str, axis: str, seed: int, logprobs: bool, stimuli: Path | None
) -> tuple[Plan, pd.DataFrame]:
    make = planned.__wrapped__ if stimuli else planned
    plan = make(profile, axis, seed, logprobs, stimuli)
    return plan, replies(plan, spec)


def replies(plan: Plan, spec: str) -> pd.DataFrame:
    """What `sim/SPEC` answers to a plan, in its order."""
    return asyncio.run(_ask(plan, SimulatedJudge.from_name(spec, answer_key(plan.labels))))


@lru_cache(maxsize=16)
def planned(profile: str, axis: str, seed: int, logprobs: bool, stimuli: Path | None) -> Plan:
    """A plan, which is the same for every judge."""
    options = Options(profile=profile, reply="json", logprobs=logprobs)
    return make_plan([get_axis(axis)], {axis: options}, seed, stimuli)


def a_cell(axis: str) -> Mapping[str, Any]:
    """The cell of the first call that an axis plans."""
    return planned("smoke", axis, 0, False, None).calls[0].cell


async def _ask(plan: Plan, judge: Judge) -> pd.DataFrame:
    rows, bodies = [], []
    for call in plan.calls:
        reply = await judge.ask(call, 1)
        cell = json.dumps(call.cell)
        place = (call.id, call.axis, call.stimulus, cell, call.repeat, call.reply)
        rows.append((*place, reply.outcome, reply.text))
        if call.params.get("logprobs") and reply.outcome == "ok":
            bodies.append((call.id, reply.raw))
    return with_distributions(pd.DataFrame(rows, columns=list(COLUMNS)), bodies)
