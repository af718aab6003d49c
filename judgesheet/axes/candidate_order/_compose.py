"""From a bank of sentences to responses and the pairs in which they are shown.

A response of level k in wording v holds the full sentences of elements 1 to k and the neutral
sentences of the other slots, all in wording v: every level contains what a lower one does, and all
have equally many sentences. A half-step replaces the next neutral sentence by one that states half
of its element.

Each wording of a task has its own order of slots, drawn from the seed and the task's id. So a place
in the text says nothing about the level; two levels in one wording differ only in the sentences
that make the difference; and two wordings of one level differ in words and in arrangement.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator

    from judgesheet.axis.arrays import Floats

VARIANTS = 3
"""Wordings of a level; pairs of equal quality compare two of them."""
VACUUM: Mapping[str, tuple[str, str]] = {"empty": ("", ""), "whitespace": ("   \n  ", " \t\n\n ")}
"""Pairs without any content; `identical` takes the task's own text twice."""
WORDING_PAIRS = tuple(combinations(range(VARIANTS), 2))
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Shown:
    """Two responses and what the design knows about them; `better` is `u`, `v` or None."""

    pair: str
    condition: str
    u: str
    v: str
    delta: float | None = None
    better: str | None = None
    kind: str | None = None


class Composer:
    """The responses of one task under one seed; the same for every profile."""

    def __init__(self, task: Mapping[str, Any], seed: int) -> None:
        self._task = task
        self.levels = len(task["elements"])
        # By the task's id: another task in the pool rearranges no sentence of this one.
        self.rng: Generator = np.random.default_rng([seed, zlib.crc32(task["id"].encode())])
        self._orders = [self.rng.permutation(self.levels) for _ in range(VARIANTS)]

    def response(self, level: float, wording: int) -> str:
        """The response of a level, which may end in a half."""
        whole = int(level)
        return self._text(wording, range(whole), half=whole if level > whole else None)

    def subset(self, slots: Sequence[int], wording: int) -> str:
        """A response that states just these elements, whether or not they begin the chain."""
        return self._text(wording, slots)

    def _text(self, wording: int, stated: Sequence[int], half: int | None = None) -> str:
        return " ".join(
            self._sentence(int(slot), wording, stated, half) for slot in self._orders[wording]
        )

    def _sentence(self, slot: int, wording: int, stated: Sequence[int], half: int | None) -> str:
        element = self._task["elements"][slot]
        if slot in stated:
            return str(element["full"][wording])
        if slot == half:
            return str(element["half"][wording % len(element["half"])])
        return str(self._task["neutral"][slot][wording])

    def vacuum(self) -> Iterator[Shown]:
        """Pairs in which there is nothing to prefer."""
        identical = self._task["identical"]
        for kind, (u, v) in {**VACUUM, "identical": (identical, identical)}.items():
            yield Shown(f"vacuum-{kind}", "vacuum", u, v, delta=0, kind=kind)

    def same_subset(self) -> Iterator[Shown]:
        """Two wordings of one level, all levels before any level comes again."""
        levels = self.rng.permutation(self.levels + 1)
        for turn in range(len(WORDING_PAIRS)):
            for place, level in enumerate(levels):
                one, other = WORDING_PAIRS[(place + turn) % len(WORDING_PAIRS)]
                texts = self.response(int(level), one), self.response(int(level), other)
                yield Shown(f"same-{level}-{one}{other}", "delta0_same", *texts, delta=0)

    def different_subset(self) -> Iterator[Shown]:
        """Equally many, but entirely other elements, in one wording."""
        largest = self.levels // 2
        for turn in range(2 * largest):
            size = largest - turn % largest
            drawn = [int(slot) for slot in self.rng.permutation(self.levels)[: 2 * size]]
            wording = turn % VARIANTS
            texts = self.subset(drawn[:size], wording), self.subset(drawn[size:], wording)
            yield Shown(f"different-{size}-{turn}", "delta0_different", *texts, delta=0)

    def ladder(self, delta: float, count: int | None = None) -> list[Shown]:
        """Pairs of levels that are `delta` apart, in an order of its own; v is the better.

        `count` of them, by default each once; where it asks for more than there are, they come
        again in their other wordings.
        """
        step = HALF if delta < 1 else 1.0
        lows = np.arange(0, self.levels - delta + step / 2, step)
        turns = [int(turn) for turn in self.rng.permutation(len(lows))]
        wanted = len(turns) if count is None else min(count, VARIANTS * len(turns))
        return [self._step(delta, lows, turns, number) for number in range(wanted)]

    def _step(self, delta: float, lows: "Floats", turns: Sequence[int], number: int) -> Shown:
        again, place = divmod(number, len(turns))
        low, wording = float(lows[turns[place]]), (turns[place] + again) % VARIANTS
        texts = self.response(low, wording), self.response(low + delta, wording)
        name = f"step-{low:g}-{low + delta:g}" + (f"-{wording}" if again else "")
        # 2 rather than 2.0: what a cell holds is part of the call's id.
        size = int(delta) if delta == int(delta) else delta
        return Shown(name, "ladder", *texts, delta=size, better="v")

    def filler(self) -> Iterator[Shown]:
        """The same response without (u) and with (v) sentences that say nothing, all levels."""
        extra = self._task["filler"]
        for level in self.rng.permutation(self.levels + 1):
            plain = self.response(int(level), int(level) % VARIANTS)
            padded = " ".join([extra[0], plain, *extra[1:]])
            yield Shown(f"filler-{level}", "filler", plain, padded, delta=0)
