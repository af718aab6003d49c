"""The arms in which an axis reads an item: balanced, random and fixed orders of what it lists."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judgesheet.axis import Options
from judgesheet.stats import orders
from judgesheet.stats.orders import Order

if TYPE_CHECKING:
    import numpy as np

WORDS = {"balanced": "balanced orders", "random": "random orders", "fixed": "one fixed order"}
"""What labels call the arms."""
ARMS = tuple(WORDS)


@dataclass(frozen=True, slots=True)
class Settings:
    """How much of the design a profile runs.

    `stimuli` prompts with `candidates` responses each (None: all); every item is read once under
    each balanced order (`forward`: each forward rotation; `half`: half as many orders that rise and
    fall, see `orders.half`), and `repeats` times in all under `repeated` of them (None: under every
    one), rotating over the prompts so that each order is repeated equally often. `random` and
    `fixed` are reads per item in those arms (None: as many as the balanced arm has orders);
    `scales` are the further rubric lengths, one balanced pass each. `listed` is how many criteria
    are shown at most (None: all): one less spares two orders.
    """

    stimuli: int | None
    candidates: int | None
    repeated: int | None
    random: int | None
    fixed: int | None
    scales: tuple[int, ...] = ()
    repeats: int = 2
    listed: int | None = None
    forward: bool = False
    half: bool = False

    def chosen(self, options: Options) -> "Settings":
        """These settings with the user's own number of repeats."""
        return self if options.repeats is None else replace(self, repeats=options.repeats)


@dataclass(frozen=True, slots=True)
class Read:
    """One reading of an item: its arm, the order of 1..n shown, and its number among repeats."""

    arm: str
    order: Order
    repeat: int


def item_fault(cell: Mapping[str, Any], what: str, arms: Sequence[str] = ARMS) -> str | None:
    """What is wrong with the item (`what` it names) or the arm of a recorded cell, or None."""
    if not isinstance(cell.get("item"), str):
        return f"cell.item must name {what}"
    return None if cell.get("arm") in arms else f"cell.arm must be one of {', '.join(arms)}"


def sequences(n: int, kind: str) -> tuple[Order, ...]:
    """The balanced orders: 2n cyclic rotations (Xu et al., section 3.1), or a Williams design."""
    return orders.williams(n) if kind == "williams" else orders.balanced(n)


def reads(
    n: int, kind: str, index: int, settings: Settings, rng: "np.random.Generator"
) -> Iterator[Read]:
    """Every reading of the items of prompt `index`, the same for all so that they can be ranked."""
    every = orders.half(n) if settings.half else sequences(n, kind)
    balanced = every[:n] if settings.forward else every
    for place, order in enumerate(balanced):
        times = settings.repeats if _is_repeated(place, index, settings, len(balanced)) else 1
        for repeat in range(times):
            yield Read("balanced", order, repeat)
    canonical = tuple(range(1, n + 1))
    # As many reads as the balanced arm has: averaging alone raises r (see `delta_r`).
    for repeat in range(len(balanced) if settings.fixed is None else settings.fixed):
        yield Read("fixed", canonical, repeat)
    draws = len(balanced) if settings.random is None else settings.random
    for repeat, order in enumerate(orders.random_orders(n, draws, rng)):
        yield Read("random", order, repeat)


def _is_repeated(place: int, index: int, settings: Settings, total: int) -> bool:
    if settings.repeated is None or settings.repeated >= total:
        return True
    # Evenly over the orders, and one order on from prompt to prompt.
    step = total // max(settings.repeated, 1)
    return any((index + k * step) % total == place for k in range(settings.repeated))


def balanced(cells: Sequence[Mapping[str, Any]], *, repeats: bool) -> list[bool]:
    """The calls of the balanced arm; without `repeats` only the passes that all its orders have."""
    times = Counter(cell["repeat"] for cell in cells if cell["arm"] == "balanced")
    # Only passes that every order has keep the arm balanced.
    whole = {repeat for repeat, count in times.items() if repeats or count == max(times.values())}
    return [cell["arm"] == "balanced" and cell["repeat"] in whole for cell in cells]
