"""Obvious questions that are asked once in each third of a run: does the judge stay the same?

They are questions of the plan, asked again under three orders (where there are two, one of them
twice). Which order comes in which third is drawn for each question, so that a judge that an order
moves is the same in all thirds. Their cells say `anchor`, and no other figure reads them.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, cycle, islice

from judgesheet.axis import Axis
from judgesheet.axis.streams import drawn_for
from judgesheet.base.records import Call, Label, Plan

QUESTIONS = 12
THIRDS = 3
WITHOUT = ("first", "smoke")
"""Profiles that are too short for them."""


def with_anchors(plan: Plan, axes: Iterable[Axis]) -> Plan:
    """The plan with anchors between its calls, of the axis on which guesses look least right.

    The plan as it is where no axis has enough stimuli.
    """
    able = [(one.FAILING.answers, one.NAME) for one in axes if one.FAILING is not None]
    name = max(able, default=(0, ""), key=lambda one: one[0])[1]
    mine = [call for call in plan.calls if call.axis == name]
    questions = _obvious(mine, [label for label in plan.labels if label.axis == name])
    if len(questions) < QUESTIONS:
        return plan
    rng = drawn_for(plan.seed, "anchors")
    asked = [[calls[at] for at in rng.permutation(THIRDS)] for calls in questions]
    anchors = [
        replace(asked[at][third], cell={**asked[at][third].cell, "anchor": third + 1}, repeat=0)
        for third in range(THIRDS)
        for at in rng.permutation(QUESTIONS)
    ]
    ends = [len(plan.calls) * (2 * at + 1) // (2 * len(anchors)) for at in range(len(anchors))]
    parts = (
        (*plan.calls[begin:end], anchor)
        for begin, end, anchor in zip([0, *ends], ends, anchors, strict=False)
    )
    return replace(plan, calls=(*chain.from_iterable(parts), *plan.calls[ends[-1] :]))


def _obvious(calls: Sequence[Call], labels: Sequence[Label]) -> list[list[Call]]:
    """The twelve most obvious questions on different stimuli, each with three calls."""
    scores = [label.score for label in labels] or [0.0]
    middle = (max(scores) + min(scores)) / 2
    worth: defaultdict[str, list[float]] = defaultdict(list)
    for label in labels:
        worth[label.item].append(abs(label.score - middle))
    items: defaultdict[str, dict[str, dict[str, Call]]] = defaultdict(dict)
    for call in calls:
        item = {name: value for name, value in call.cell.items() if name not in ("order", "arm")}
        orders = items[call.stimulus].setdefault(json.dumps(item, sort_keys=True), {})
        orders.setdefault(json.dumps(call.cell["order"]), call)

    def obviousness(orders: dict[str, Call]) -> float:
        cell = next(iter(orders.values())).cell
        known = worth.get(str(cell.get("item")), [float(cell.get("delta") or 0)])
        return sum(known) / len(known)

    best = [max(mine.values(), key=obviousness) for mine in items.values()]
    ranked = sorted(best, key=obviousness, reverse=True)[:QUESTIONS]
    return [[*islice(cycle(orders.values()), THIRDS)] for orders in ranked]
