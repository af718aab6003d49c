"""Orders exchanged within items, all stimuli together."""

from itertools import permutations

import numpy as np
import pytest

from judgesheet.base.limits import MOST_ONE_BY_ONE
from judgesheet.stats import exchange
from judgesheet.stats.exchange import Exchanged, Items, exchanged
from judgesheet.stats.orders import balanced

PLACES = 5
ORDERS = np.array(balanced(PLACES)) - 1
WHERE = np.argsort(ORDERS, axis=1)
"""Where each order lists each thing."""


def chosen(things: np.ndarray) -> np.ndarray:
    given: np.ndarray = np.eye(PLACES)[things]
    return given


def always_first() -> np.ndarray:
    return chosen(ORDERS[:, 0])


def noise(rng: np.random.Generator) -> np.ndarray:
    """Choices that no order enters."""
    return chosen(rng.choice(PLACES, len(ORDERS), p=rng.dirichlet(np.ones(PLACES))))


def stimuli(rng: np.random.Generator, *listed: list[np.ndarray], draws: int = 199) -> Exchanged:
    """What the places of some stimuli get, each with these items."""
    of = np.repeat(np.arange(len(listed)), [len(items) for items in listed])
    given = np.array([item for items in listed for item in items])
    return exchanged([Items(np.arange(len(of)), given, WHERE)], of, PLACES, rng, draws)


def test_moments_and_p_are_those_of_all_exchanges() -> None:
    rng = np.random.default_rng(1)
    where = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1]], dtype=float)
    given = rng.random((4, 3))
    sums = [
        np.array([given[where[list(order)] == place].sum() for place in range(3)])
        for order in permutations(range(4))
    ]
    one = np.zeros(1, dtype=int)
    found = exchanged([Items(one, given[None], where)], one, 3, rng, 9_999)
    only = np.zeros(1, dtype=int)
    assert found.drawn(only)[0, :, 0] == pytest.approx(sums[0])
    assert found.mean[0] == pytest.approx(np.mean(sums, axis=0))
    assert found.covariance[0] == pytest.approx(np.cov(np.transpose(sums), bias=True))
    assert found.log_ways[0] == pytest.approx(np.log(24))
    basis = np.linalg.pinv(np.cov(np.transpose(sums), bias=True))
    forms = [(one - found.mean[0]) @ basis @ (one - found.mean[0]) for one in sums]
    exact = np.mean(np.array(forms) >= forms[0] - 1e-9)
    # Of one stimulus the sum is its own square, and two that are one cost nothing.
    assert found.p(only) == pytest.approx(exact, abs=0.02)


def test_the_same_choice_under_every_order_is_no_effect() -> None:
    steady = stimuli(np.random.default_rng(0), [chosen(np.full(len(ORDERS), 2))])
    assert steady.p(np.arange(1)) == 1
    assert steady.log_ways[0] > 0


@pytest.mark.parametrize("most_fresh", [MOST_ONE_BY_ONE, 0], ids=["fresh", "stored"])
def test_a_place_that_is_always_chosen_is_found(
    most_fresh: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "MOST_ONE_BY_ONE", most_fresh)
    found = stimuli(np.random.default_rng(0), *([always_first()] for _ in range(4)))
    assert found.p(np.arange(4)) <= 1 / 200


def test_effects_that_cancel_are_found_by_their_squares() -> None:
    parts = [[chosen(ORDERS[:, at % PLACES])] for at in range(2 * PLACES)]
    p = stimuli(np.random.default_rng(3), *parts, draws=1_999).p(np.arange(10))
    # Some draw has the largest sum: its least p is as small.
    assert p == pytest.approx(2 / 2_000)


def test_both_ways_of_looking_at_all_stimuli_together_keep_the_size_of_one() -> None:
    rng = np.random.default_rng(4)
    every = np.arange(6)
    p = [stimuli(rng, *([noise(rng)] for _ in every), draws=199).p(every) for _ in range(400)]
    # Four standard errors.
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.044)


@pytest.mark.parametrize("given", ["whole", "parts"])
def test_sums_of_exchanges_are_those_of_calls_one_by_one(given: str) -> None:
    rng = np.random.default_rng(5)
    items = np.array([noise(rng), always_first()])
    items = items if given == "whole" else items * 0.37
    found = exchanged([Items(np.arange(2), items, WHERE)], np.zeros(2, int), PLACES, rng, 7)
    again = np.random.default_rng(5)
    noise(again)
    orders = again.permuted(np.broadcast_to(np.arange(10), (14, 10)), axis=1).reshape(2, 7, 10)
    for draw in range(7):
        sums = np.zeros(PLACES)
        for item in range(2):
            for call, order in enumerate(orders[item, draw]):
                np.add.at(sums, WHERE[order], items[item, call])
        assert found.drawn(np.zeros(1, int))[0, :, 1 + draw] == pytest.approx(sums)


@pytest.mark.parametrize("given", ["whole", "parts"])
def test_many_stimuli_are_exchanged_together_as_each_alone(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "MOST_ONE_BY_ONE", 0)
    rng = np.random.default_rng(6)
    part = 1.0 if given == "whole" else 0.37
    # Calls were lost: the items of a stimulus belong to groups of their own.
    groups = [
        Items(np.arange(at, 9, 3), np.array([noise(rng)[at:] * part for _ in range(3)]), WHERE[at:])
        for at in range(3)
    ]
    stimulus = np.array([2, 0, 1, 1, 0, 3, 2, 0, 0])
    found = exchanged(groups, stimulus, PLACES, rng, 50)
    alone = [found.drawn(np.array([at]))[0] for at in (3, 0, 2, 1)]
    assert found.drawn(np.array([3, 0, 2, 1])) == pytest.approx(np.array(alone))
    monkeypatch.setattr(exchange, "AT_ONCE", 1)
    assert found.drawn(np.array([3, 0, 2, 1])) == pytest.approx(np.array(alone))


def test_a_store_exchanges_no_two_items_alike_in_one_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "MOST_ONE_BY_ONE", 0)
    found = stimuli(np.random.default_rng(1), *([always_first()] for _ in range(50)), draws=300)
    drawn = found.drawn(np.arange(50))[:, :, 1:].transpose(0, 2, 1)
    assert drawn.mean(axis=(0, 1)) == pytest.approx(found.mean[0], abs=0.25)
    # Sums over independent items spread by the root of their number.
    spread = drawn.sum(axis=0).std(axis=0) / drawn.std(axis=(0, 1))
    assert spread == pytest.approx(np.full(PLACES, np.sqrt(50)), rel=0.25)
