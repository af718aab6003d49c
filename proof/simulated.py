"""A simulated judge of a rubric, with every truth by enumeration of its finitely many stimuli.

A stimulus has a level and a preferred place, each of a few kinds and equally likely; its four items
have fixed offsets from the level and each a preferred place of its own. Shown order o, the judge
chooses the position p of score s = o[p] with probability proportional to

    exp(-(s - quality)^2 / width + bias_p + cluster_place_p + item_place_p)

where the places are the n rotations of one vector: on average over stimuli no position gains.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from judgesheet.stats.flips import one_hot, pick
from judgesheet.stats.orders import balanced

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

N = 5
ORDERS = np.array(balanced(N))
LEVELS = np.array([2.4, 3.0, 3.6])
OFFSETS = np.array([-0.8, -0.3, 0.3, 0.8])
SLOPE = np.linspace(1.0, -1.0, N)
PEAK = np.array([1.0, 0.0, -0.5, -0.5, 0.0])
ROTATIONS = np.stack([np.roll(PEAK, shift) for shift in range(N)])
LABEL_NOISE = {"cluster": 0.4, "item": 0.6}
"""Standard deviations of the simulated human scores about the quality."""


@dataclass(frozen=True)
class Judge:
    """Parameters of the simulated judge; `bias` multiplies a slope from the first position down.

    `cluster_place` and `item_place` are the strengths of the mean-zero interactions.
    """

    width: float = 1.5
    bias: float = 0.0
    cluster_place: float = 0.0
    item_place: float = 0.0

    @cached_property
    def chances(self) -> Floats:
        """P(position) -> (levels, cluster places, offsets, item places, orders, positions)."""
        quality = LEVELS[:, None] + OFFSETS  # (levels, offsets)
        fit = -((ORDERS - quality[..., None, None]) ** 2) / self.width
        logits = fit[:, None, :, None] + self.bias * SLOPE
        logits = logits + self.cluster_place * ROTATIONS[None, :, None, None, None, :]
        logits = logits + self.item_place * ROTATIONS[None, None, None, :, None, :]
        weights: Floats = np.exp(logits - logits.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return weights

    @cached_property
    def score_chances(self) -> Floats:
        """P(score) with the shape of `chances`, scores in the last axis."""
        places = np.broadcast_to(np.argsort(ORDERS, axis=1), self.chances.shape)
        return np.take_along_axis(self.chances, places, axis=-1)

    def shares(self) -> Floats:
        """True share of each position."""
        shares: Floats = self.chances.mean(axis=(0, 1, 2, 3, 4))
        return shares

    def cramers_v(self) -> float:
        """True V."""
        return float(np.sqrt(N * np.sum((self.shares() - 1 / N) ** 2) / (N - 1)))

    def selection(self) -> Floats:
        """True P(position | score)."""
        mean = self.chances.mean(axis=(0, 1, 2, 3))  # (orders, positions)
        joint = np.zeros((N, N))
        for order, chance in zip(ORDERS, mean, strict=True):
            joint[order - 1, np.arange(N)] += chance
        selection: Floats = joint / joint.sum(axis=1, keepdims=True)
        return selection

    def change_rates(self) -> tuple[float, float]:
        """True probability that the score changes under another order, and under the same one."""
        return _disagreement(self.score_chances.reshape(-1, len(ORDERS), N))

    def top_flips(self) -> tuple[float, float]:
        """The same for the best of the four items; needs `item_place` = 0."""
        vectors = np.array(list(product(range(N), repeat=OFFSETS.size)))
        winners = pick(vectors)
        per_item = np.moveaxis(self.score_chances[:, :, :, 0], 2, 0)  # (items, ..., orders, n)
        together = np.prod([per_item[i][..., vectors[:, i]] for i in range(OFFSETS.size)], axis=0)
        return _disagreement((together @ winners).reshape(-1, len(ORDERS), OFFSETS.size))

    def correlation(self, orders: list[int]) -> float:
        """True Pearson r of the simulated labels with the mean of one call under each order."""
        scores = np.arange(1, N + 1)
        means = self.score_chances[..., orders, :] @ scores
        squares = self.score_chances[..., orders, :] @ scores**2
        noise = (squares - means**2).mean() / len(orders)
        truth = means.mean(axis=-1)
        quality = np.broadcast_to((LEVELS[:, None] + OFFSETS)[:, None, :, None], truth.shape)
        covariance = float(np.mean((truth - truth.mean()) * (quality - quality.mean())))
        labels = float(quality.var()) + sum(sd**2 for sd in LABEL_NOISE.values())
        return float(covariance / np.sqrt((truth.var() + noise) * labels))


def _disagreement(chances: Floats) -> tuple[float, float]:
    """Means over kinds (first axis) of P(two calls differ): across orders, and within one."""
    orders = chances.shape[1]
    total = np.sum(chances.sum(axis=1) ** 2, axis=-1)
    own = np.sum(chances**2, axis=(1, 2))
    across = (total - own) / (orders * (orders - 1))
    return float(1 - across.mean()), float(1 - own.mean() / orders)


def with_v(target: float, **parameters: float) -> Judge:
    """A judge whose true V is `target`."""
    if target == 0:
        return Judge(bias=0.0, **parameters)

    def excess(bias: float) -> float:
        return Judge(bias=bias, **parameters).cramers_v() - target

    return Judge(bias=float(optimize.brentq(excess, 0.0, 5.0)), **parameters)


@dataclass(frozen=True)
class Data:
    """One simulated data set.

    `positions` and `scores` have shape (G, items, orders, repeats), positions 0..n-1 and scores
    1..n; `labels` is (G, items).
    """

    positions: Integers
    scores: Integers
    labels: Floats

    @property
    def clusters(self) -> Integers:
        """Cluster of each item, shape (G * items,)."""
        return np.repeat(np.arange(len(self.labels)), self.labels.shape[1])

    def position_counts(self) -> Integers:
        """Shape (G, n)."""
        flat = self.positions.reshape(len(self.positions), -1)
        return np.stack([(flat == p).sum(axis=1) for p in range(N)], axis=1)

    def selection_counts(self) -> Integers:
        """Shape (G, n, n): scores, positions."""
        groups = len(self.positions)
        cell = (self.scores - 1) * N + self.positions
        flat = (cell.reshape(groups, -1) + np.arange(groups)[:, None] * N * N).ravel()
        return np.bincount(flat, minlength=groups * N * N).reshape(groups, N, N)

    def picks(self) -> Floats:
        """Top pick of each single read, shape (G, orders, repeats, items)."""
        return pick(np.moveaxis(self.scores, 1, -1))

    def one_hot(self) -> Floats:
        """Shape (G * items, orders, repeats, n)."""
        return one_hot(self.scores.reshape(-1, *self.scores.shape[2:]), N)


def simulate(
    judge: Judge,
    clusters: int,
    rng: np.random.Generator,
    repeats: int = 1,
    orders: list[int] | None = None,
) -> Data:
    """Draw stimuli, then `repeats` calls under each of the orders (all ten by default)."""
    return Stimuli.draw(clusters, rng).ask(judge, rng, repeats, orders)


@dataclass(frozen=True)
class Stimuli:
    """The kinds of the drawn stimuli and items, and the labels."""

    levels: Integers
    places: Integers
    item_places: Integers
    labels: Floats

    @classmethod
    def draw(cls, clusters: int, rng: np.random.Generator) -> "Stimuli":
        """Independent stimuli; labels are the quality with noise per stimulus and per item."""
        shape = (clusters, OFFSETS.size)
        levels = rng.integers(LEVELS.size, size=clusters)
        noise = rng.normal(0, LABEL_NOISE["cluster"], (clusters, 1))
        noise = noise + rng.normal(0, LABEL_NOISE["item"], shape)
        labels = LEVELS[levels][:, None] + OFFSETS + noise
        places = rng.integers(N, size=clusters)
        return cls(levels, places, rng.integers(N, size=shape), labels)

    def ask(
        self,
        judge: Judge,
        rng: np.random.Generator,
        repeats: int = 1,
        orders: list[int] | None = None,
    ) -> Data:
        """What the judge answers; `orders` are indices into `ORDERS` and may repeat."""
        shown = list(range(len(ORDERS))) if orders is None else orders
        items = np.arange(OFFSETS.size)
        kinds = (self.levels[:, None], self.places[:, None], items, self.item_places)
        chances = judge.chances[kinds][:, :, shown]  # (G, items, orders, n)
        steps = np.cumsum(chances, axis=-1)[..., None, :-1]
        positions = (rng.random((*chances.shape[:3], repeats, 1)) > steps).sum(axis=-1)
        scores = np.take_along_axis(
            np.broadcast_to(ORDERS[shown], chances.shape), positions, axis=-1
        )
        return Data(positions, scores, self.labels)
