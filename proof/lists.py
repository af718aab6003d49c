"""A simulated judge of lists: that of `axes/listwise_consensus/read.py`, over arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgesheet.axes.listwise_consensus.ask import sequences
from judgesheet.axes.listwise_consensus.lists import Lists, Runs, Table

Floats = NDArray[np.float64]
Rng = np.random.Generator

N, REPEATS, AGAIN = 4, 7, 2
"""Candidates, reads of the canonical order, and how many of the other orders are read twice."""


@dataclass(frozen=True)
class Judge:
    """Points added to the right answer, per place, and the standard deviations of the errors.

    `wander` is the sd of a preference for places that each prompt has of its own; in a share
    `slips` of runs, and on a share `always` of prompts, what stands first wins.
    """

    gap: float = 15.0
    slots: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    shared: float = 10.0
    perturb: float = 0.0
    wander: float = 0.0
    noise: float = 8.0
    unsure: float = 0.1
    slips: float = 0.0
    always: float = 0.0

    def lists(self, prompts: int, rng: Rng) -> Lists:
        """As the axis arranges the answers on so many prompts."""
        orders = np.array(sequences(N))
        place = np.broadcast_to(np.argsort(orders, axis=1), (prompts, len(orders), N))
        gold = np.eye(N, dtype=bool)[rng.integers(N, size=prompts)]
        worth = self.gap * gold + rng.normal(0, self.shared, (prompts, N))
        own = rng.normal(0, self.wander, (prompts, N))
        own -= own.mean(axis=1, keepdims=True)
        own += 1000 * np.eye(N)[0] * (rng.random((prompts, 1)) < self.always)
        liking = np.array(self.slots) + own
        means = 50 + worth[:, None] + np.take_along_axis(liking[:, None], place, axis=2)
        means = means + rng.normal(0, self.perturb, means.shape)
        repeated = self._runs(means[:, :1], place[:, :1], REPEATS, rng)[:, 0]
        permuted = self._runs(means, place, 2, rng)
        permuted.scores[:, 0], permuted.marks[:, 0] = repeated.scores[:, :2], repeated.marks[:, :2]
        rows, others = np.arange(prompts)[:, None], np.arange(len(orders) - 1)
        often = (others - rows * AGAIN) % len(others) < AGAIN
        permuted.scores[:, 1:, 1][~often] = np.nan
        table = Table(permuted, repeated, repeated[:, 0], place, gold, rows[:, 0], executions=1)
        return Lists((table,), int(rng.integers(2**31)))

    def _runs(self, means: Floats, place: NDArray[np.int64], reads: int, rng: Rng) -> Runs:
        """Scores and marks (prompts, orders, reads, n)."""
        shape = (*means.shape[:2], reads, N)
        first = 1000 * (place == 0)[:, :, None] * (rng.random((*shape[:3], 1)) < self.slips)
        noisy = means[:, :, None] + first + rng.normal(0, self.noise, shape)
        scores = np.clip(np.rint(noisy), 0, 100)
        return Runs(scores, rng.random(shape) < self.unsure)
