"""In which orders to show n options: permutation designs over the labels 1..n.

An order is a tuple whose entry at index p is the option shown at position p + 1. Every function
raises ValueError where n is below 1.
"""

from collections.abc import Iterator
from itertools import chain, permutations
from math import factorial

import numpy as np

Order = tuple[int, ...]

_ENUMERABLE = 7  # 7! = 5,040 orders fit in memory; of 8! = 40,320 a draw hardly ever repeats

_FROM_RISING_TO_FALLING = (
    (1, 2, 3, 4, 5),
    (2, 1, 4, 5, 3),
    (3, 5, 1, 2, 4),
    (4, 3, 5, 1, 2),
    (5, 4, 2, 3, 1),
)


def _rotations(order: Order) -> list[Order]:
    return [order[start:] + order[:start] for start in range(len(order))]


def balanced(n: int) -> tuple[Order, ...]:
    """The n forward and n reverse cyclic rotations: every option twice in every position.

    Order of return is the paper's: [1..n], [2..n,1], ... then [n..1], [n-1..1,n], ... For n = 2
    forward and reverse coincide and the two distinct orders come once; for n = 1 there is one.

    Xu et al., "Am I More Pointwise or Pairwise?", section 3.1.
    """
    forward = tuple(range(1, _at_least_one(n) + 1))
    # Of two options forward and reverse are the same orders: each once.
    return tuple(dict.fromkeys(_rotations(forward) + _rotations(forward[::-1])))


def half(n: int) -> tuple[Order, ...]:
    """Half as many orders: every option once in every position, and lists that rise and that fall.

    For even n these are every other rotation, forward and reverse. For odd n any forward and any
    reverse rotation show an option in the same position, so the five orders of 5 are no rotations:
    from one to the next a list falls more, by Kendall's tau with [1..n] 1, .4, 0, -.4 and -.8, the
    widest spread that a square with [1..5] allows. Three options have no such orders, and all six
    are returned, as all are of more than five if their number is odd.
    """
    every = balanced(n)
    if n % 2 == 0:
        return every[:n:2] + every[n::2] if n > 2 else every
    return _FROM_RISING_TO_FALLING if n == len(_FROM_RISING_TO_FALLING) else every


def williams(n: int) -> tuple[Order, ...]:
    """A Williams design: balanced for position and for which option precedes which.

    Returns n sequences for even n and 2n for odd n; each ordered pair of neighbours occurs equally
    often (once for even n, twice for odd n).

    References
    ----------
    Williams, E. J. (1949), "Experimental designs balanced for the estimation of residual effects
    of treatments", Australian Journal of Scientific Research A 2, 149-168.
    """
    if _at_least_one(n) == 1:
        return ((1,),)
    zigzag = [(place + 1) // 2 if place % 2 else (n - place // 2) % n for place in range(n)]
    square = [tuple((step + shift) % n + 1 for step in zigzag) for shift in range(n)]
    mirrored = [order[::-1] for order in square] if n % 2 else []
    return tuple(square + mirrored)


def random_orders(n: int, k: int, rng: np.random.Generator) -> tuple[Order, ...]:
    """Random orders, k of them: distinct while there are any left, then drawn with replacement.

    Beyond n! all n! come first, in random sequence.
    """
    fresh = min(k, factorial(_at_least_one(n)))
    chosen = _from_all(n, fresh, rng) if n <= _ENUMERABLE else _by_rejection(n, fresh, rng)
    extra = [_draw(n, rng) for _ in range(k - fresh)]
    return tuple(chosen + extra)


def spread_orders(n: int, k: int, rng: np.random.Generator) -> tuple[Order, ...]:
    """Distinct orders, the canonical one first, balanced as far as their number allows.

    They come in whole cycles: the n forward rotations, the n reverse ones, then the rotations of
    random orders; within a cycle every option is shown once at every position. The remainder of `k`
    is drawn from one more cycle, so that an option's numbers of orders at two positions differ by
    at most one. With `k` a multiple of n the orders are balanced; there are never more than n!.
    """
    left = min(k, factorial(_at_least_one(n)))
    orders: list[Order] = []
    for first in _cycles(n, rng):
        if left <= 0:
            break
        cycle = _rotations(first)
        if left < n:
            canonical, others = ([], cycle) if orders else (cycle[:1], cycle[1:])
            drawn = rng.permutation(len(others))[: left - len(canonical)]
            cycle = [*canonical, *(others[index] for index in drawn)]
        orders += cycle
        left -= n
    return tuple(orders)


def _cycles(n: int, rng: np.random.Generator) -> Iterator[Order]:
    """One order of every cycle: forward, reverse, then the others at random."""
    forward = tuple(range(1, n + 1))
    seen: set[Order] = set()
    candidates = chain([forward, forward[::-1]], iter(lambda: _draw(n, rng), None))
    while len(seen) < factorial(n - 1):
        order = next(candidates)
        cycle = _rotations(order)[order.index(1)]
        if cycle not in seen:
            seen.add(cycle)
            yield order


def _from_all(n: int, k: int, rng: np.random.Generator) -> list[Order]:
    every = list(permutations(range(1, n + 1)))
    return [every[index] for index in rng.permutation(len(every))[:k]]


def _by_rejection(n: int, k: int, rng: np.random.Generator) -> list[Order]:
    seen: dict[Order, None] = {}
    while len(seen) < k:
        seen[_draw(n, rng)] = None
    return list(seen)


def _draw(n: int, rng: np.random.Generator) -> Order:
    return tuple(int(option) for option in rng.permutation(n) + 1)


def _at_least_one(n: int) -> int:
    if n < 1:
        raise ValueError(f"an order needs at least one option, not {n}")
    return n
