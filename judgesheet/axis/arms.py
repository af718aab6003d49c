"""The arms in which an axis reads an item: balanced, random and fixed orders of what it lists."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judgesheet.axis import Options
from judgesheet.axis.material import Asked, in_turn, part
from judgesheet.base.records import Stimulus
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
    fall, see `orders.half`), and `repeats` times in all under `repeated` of them (None: under half
    of them, so that the arm keeps one complete pass), which of them is drawn for each prompt.
    `random` and `fixed` are reads per item in those arms (None: as many as the balanced arm has
    orders); `scales` are the further rubric lengths, one balanced pass each. `repeated_on`,
    `arms_on` and `scales_on` prompts are asked these three (None: all are). `listed` is how many
    criteria are shown at most (None: all): one less spares two orders.
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
    repeated_on: int | None = None
    arms_on: int | None = None
    scales_on: int | None = None

    def chosen(self, options: Options) -> "Settings":
        """These settings with the user's own number of repeats."""
        return self if options.repeats is None else replace(self, repeats=options.repeats)

    def of(
        self, stimuli: Iterable[Stimulus], rng: "np.random.Generator"
    ) -> Iterator[tuple[Asked, "Settings"]]:
        """The prompts to ask, in turn, each with what it is asked."""
        asked = in_turn(stimuli, rng, self.stimuli)
        repeated, armed, scaled = (
            part((one.rng for one in asked), count)
            for count in (self.repeated_on, self.arms_on, self.scales_on)
        )
        for place, one in enumerate(asked):
            mine = self if place in repeated else replace(self, repeated=0)
            mine = mine if place in armed else replace(mine, random=0, fixed=0)
            yield one, mine if place in scaled else replace(mine, scales=())


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


def reads(n: int, kind: str, settings: Settings, rng: "np.random.Generator") -> Iterator[Read]:
    """Every reading of the items of a prompt, the same for all so that they can be ranked."""
    # Only all orders of a Williams design balance neighbours.
    every = orders.half(n) if settings.half and kind == "cyclic" else sequences(n, kind)
    balanced = every[:n] if settings.forward else every
    repeated = _repeated(settings.repeated, len(balanced), rng)
    for place, order in enumerate(balanced):
        times = settings.repeats if place in repeated else 1
        for repeat in range(times):
            yield Read("balanced", order, repeat)
    canonical = tuple(range(1, n + 1))
    # As many reads as the balanced arm has: averaging alone raises r (see `delta_r`).
    for repeat in range(len(balanced) if settings.fixed is None else settings.fixed):
        yield Read("fixed", canonical, repeat)
    draws = len(balanced) if settings.random is None else settings.random
    for repeat, order in enumerate(orders.random_orders(n, draws, rng)):
        yield Read("random", order, repeat)


def _repeated(count: int | None, total: int, rng: "np.random.Generator") -> set[int]:
    """Which of the orders are repeated: evenly over them, from a drawn one on."""
    count, start = total // 2 if count is None else min(count, total), int(rng.integers(total))
    return {(start + k * (total // count)) % total for k in range(count)}


def balanced(cells: Sequence[Mapping[str, Any]], *, repeats: bool) -> list[bool]:
    """The calls of the balanced arm; without `repeats` only the passes that all its orders have."""
    times = Counter(cell["repeat"] for cell in cells if cell["arm"] == "balanced")
    # Only passes that every order has keep the arm balanced.
    whole = {repeat for repeat, count in times.items() if repeats or count == max(times.values())}
    return [cell["arm"] == "balanced" and cell["repeat"] in whole for cell in cells]
