"""What frozen runs said once they say for ever, or an exception tells why not."""

import json
from collections import defaultdict
from collections.abc import Mapping
from math import isclose, sqrt

import pytest

from judgesheet.base.keys import Key
from tests.frozen import VALUES, Frozen, is_here, measured, names

EXCEPTIONS: Mapping[str, str] = {
    f"{axis}.order_dependence_p": "stimuli with too few calls for a test of each alone count too"
    for axis in ("candidate_order", "criterion_order", "listwise_consensus")
}
"""Pattern of keys (`axis.name[dim=*]`) -> the defect or the convention behind their new numbers."""
WITHOUT_ENDS: Mapping[str, str] = {
    "score_order.bias_cost[order=*]": "a cost has no interval: limits on the former one broke "
    "in .21 of data sets in which a tenth of the stimuli carries it"
}
"""Pattern of keys -> why their intervals are gone; their values stay."""
SAME = 1e-9
"""How far numbers may differ, relative, or absolute where they are small."""
DRAWS = {"order_dependence_p": 4_999}
"""Families of p-values that are drawn, and how often."""

Pair = tuple[Frozen, Frozen]


@pytest.fixture(scope="module", params=names())
def run(request: pytest.FixtureRequest) -> Pair:
    """The numbers of a run as they were, and those measured now."""
    if not is_here(request.param):
        pytest.skip("the public logs are not here")
    then: Frozen = json.loads((VALUES / f"{request.param}.json").read_text(encoding="utf-8"))
    families = defaultdict(set)
    for key in map(Key.parse, then):
        families[key.axis].add(key.name)
    wanted = {axis: frozenset(found) for axis, found in families.items()}
    return then, measured(request.param, wanted)


def test_values_and_what_they_rest_on(run: Pair) -> None:
    """Value, n and clusters of every key."""
    assert changed(run, (0, 3, 4)) == {}


def test_ends_of_intervals(run: Pair) -> None:
    """Apart from the values: another theory of intervals moves the ends alone."""
    assert {
        key: ends
        for key, ends in changed(run, (1, 2)).items()
        if not is_one_of(key, WITHOUT_ENDS) or run[1][key][1:3] != [None, None]
    } == {}


def changed(run: Pair, places: tuple[int, ...]) -> dict[str, object]:
    """The keys without an exception whose numbers at these places differ: then, and now."""
    then, now = run
    return {
        key: (numbers, now.get(key, "not measured"))
        for key, numbers in then.items()
        if not is_one_of(key, EXCEPTIONS)
        and not (key in now and all(alike(key, numbers[at], now[key][at]) for at in places))
    }


def is_one_of(key: str, patterns: Mapping[str, str]) -> bool:
    return any(Key.parse(key).fits(Key.parse(pattern)) for pattern in patterns)


def alike(key: str, then: float | None, now: float | None) -> bool:
    if then is None or now is None:
        return then is now
    draws = DRAWS.get(Key.parse(key).name)
    if draws is None or not 0 < then <= 1:
        return isclose(then, now, rel_tol=SAME, abs_tol=SAME)
    return abs(then - now) <= 4 * drawing_error(then, draws) + SAME


def drawing_error(p: float, draws: int) -> float:
    """Standard deviation of the difference of two p-values, each drawn so often."""
    near = min(max(p, 1 / draws), 1 - 1 / draws)
    return sqrt(2 * near * (1 - near) / draws)
