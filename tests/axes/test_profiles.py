"""What each profile asks, beside what the papers asked, and which figures follow from it."""

from collections import Counter, defaultdict
from typing import Any

import pytest

from judgesheet.axes import all_axes
from judgesheet.axes.listwise_consensus.ask import PAPER_K
from judgesheet.base.records import Call
from judgesheet.planning.stimuli import load
from judgesheet.stats.orders import balanced
from tests.generated import OF_OTHER_MATERIAL, figures_of
from tests.simulate import planned

LADDER = {1: 50, 2: 40, 3: 30, 4: 20, 5: 10}
"""Pairs of each step on ten tasks of five elements (Usami, section 4); so many of equal quality:"""
EQUAL = 60


def calls_of(axis: str) -> tuple[Call, ...]:
    """What the profile `full` asks on an axis."""
    return planned("full", axis, 0, False, None).calls


@pytest.mark.parametrize("prompt", ["baseline", "strict"])
def test_full_asks_the_pairs_of_the_paper_under_both_prompts(prompt: str) -> None:
    elements = {one.id: len(one.fields["elements"]) for one in load(all_axes()["candidate_order"])}
    pairs, orders = defaultdict(set), defaultdict(set)
    for call in calls_of("candidate_order"):
        cell = call.cell
        if cell["prompt"] == prompt and elements[call.stimulus] == len(LADDER):
            kind = cell["delta"] if cell["condition"] == "ladder" else cell["condition"]
            pairs[call.stimulus, kind].add((cell["kind"], cell["pair"]))
            orders[call.stimulus, cell["pair"]].add(tuple(cell["order"]))
    tasks = {task for task, _ in pairs}
    assert len(tasks) >= 10
    for task in tasks:
        assert {step: 10 * len(pairs[task, step]) for step in LADDER} == LADDER
        assert 10 * len(pairs[task, "delta0_same"]) == EQUAL
        assert {kind for kind, _ in pairs[task, "vacuum"]} == {"empty", "whitespace", "identical"}
    assert all(len(both) == 2 for both in orders.values())


def test_full_reads_every_response_ten_times_in_three_arms_and_on_four_scales() -> None:
    """Xu et al., section 4.3: K = 10 in each arm; balanced orders also at n = 2, 3 and 9."""
    reads: defaultdict[str, Counter[tuple[Any, ...]]] = defaultdict(Counter)
    for call in calls_of("score_order"):
        cell = call.cell
        if cell["arm"] != "balanced" or call.repeat == 0:
            reads[cell["item"]][cell["arm"], cell["scale"]] += 1
            reads[cell["item"]][cell["arm"], cell["scale"], tuple(cell["order"])] += 1
    expected: dict[object, int] = {(arm, 5): 10 for arm in ("balanced", "random", "fixed")}
    expected |= {("balanced", n): len(balanced(n)) for n in (2, 3, 9)}
    expected |= {("balanced", n, order): 1 for n in (2, 3, 5, 9) for order in balanced(n)}
    expected["fixed", 5, (1, 2, 3, 4, 5)] = 10
    stimuli = load(all_axes()["score_order"])
    assert len(reads) == sum(len(one.fields["candidates"]) for one in stimuli)
    for counts in reads.values():
        assert {key: n for key, n in counts.items() if key[0] != "random" or len(key) == 2} == (
            expected
        )


def test_full_reads_every_response_under_two_orders_a_criterion_in_three_arms() -> None:
    """Xu et al., section 4.3: 2 n_c reads in each arm."""
    criteria = {one.id: len(one.fields["criteria"]) for one in load(all_axes()["criterion_order"])}
    reads: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for call in calls_of("criterion_order"):
        if call.cell["arm"] != "balanced" or call.repeat == 0:
            reads[call.stimulus, call.cell["item"]][call.cell["arm"]] += 1
    for (stimulus, _), counts in reads.items():
        assert counts == dict.fromkeys(("balanced", "random", "fixed"), 2 * criteria[stimulus])


def test_full_reads_every_list_three_times_under_seven_orders() -> None:
    """Huang et al., section 4.3: three executions of K = 7, and one order asked seven times."""
    reads: defaultdict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    canonical = {}
    for call in calls_of("listwise_consensus"):
        order = tuple(call.cell["order"])
        reads[call.stimulus][order] += 1
        if call.cell["arm"] == "direct":
            canonical[call.stimulus] = order
    for stimulus, counts in reads.items():
        assert counts[canonical[stimulus]] == PAPER_K
        assert len(counts) >= PAPER_K
        assert min(counts.values()) == 3


@pytest.mark.parametrize("axis", [*all_axes()])
def test_full_has_every_figure_that_built_in_stimuli_allow(axis: str) -> None:
    of_all_axes = {"slice", "slice_p"}
    lacking = all_axes()[axis].ESTIMATES.keys() - of_all_axes - figures_of("full", axis)
    assert lacking == OF_OTHER_MATERIAL.get(axis, set())
