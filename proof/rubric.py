"""A simulated judge of a rubric, with its truths by enumeration of finitely many kinds of stimuli.

A stimulus has a level and a preferred place, each of a few kinds and equally likely; its four items
have fixed offsets from the level and each a preferred place of its own. Shown order o, the judge
chooses the position p of score s = o[p] with probability proportional to

    exp(-(s - quality)^2 / width + bias_p + cluster_place_p + item_place_p)

where the places are the n rotations of one vector: on average over stimuli no position gains. In a
share `slips` of calls it takes any position, and on a share `always` of stimuli the first one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from judgesheet.axes.score_order import ScoreOrder
from judgesheet.axes.score_order.scores import Grid, Scores
from judgesheet.axis.labels import Reference
from judgesheet.stats.flips import pick
from judgesheet.stats.orders import balanced
from judgesheet.stats.selection import bias_cost

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Rng = np.random.Generator

N = 5
ORDERS = np.array(balanced(N))
LEVELS = np.array([2.4, 3.0, 3.6])
OFFSETS = np.array([-0.8, -0.3, 0.3, 0.8])
SLOPE = np.linspace(1.0, -1.0, N)
PEAK = np.array([1.0, 0.0, -0.5, -0.5, 0.0])
ROTATIONS = np.stack([np.roll(PEAK, shift) for shift in range(N)])
RATERS = 3
LABEL_NOISE = {"cluster": 0.4, "item": 0.6}
"""Standard deviations of each simulated rating about the quality; that of a cluster is shared."""
AGAIN = 4
"""Orders that are read twice."""
UNREADABLE = 0.05
"""Share of calls whose log-probabilities cannot be read."""


@dataclass(frozen=True)
class Judge:
    """Parameters of the simulated judge; `bias` multiplies a slope from the first position down.

    `cluster_place` and `item_place` are the strengths of the mean-zero interactions; with `level`
    every item deserves the same.
    """

    width: float = 1.5
    bias: float = 0.0
    cluster_place: float = 0.0
    item_place: float = 0.0
    slips: float = 0.0
    always: float = 0.0
    level: float | None = None

    @cached_property
    def chances(self) -> Floats:
        """P(position) -> (levels, kinds of stimuli, offsets, item places, orders, positions)."""
        quality = LEVELS[:, None] + OFFSETS if self.level is None else np.full((3, 4), self.level)
        fit = -((ORDERS - quality[..., None, None]) ** 2) / self.width
        logits = fit[:, None, :, None] + self.bias * SLOPE
        logits = logits + self.cluster_place * ROTATIONS[None, :, None, None, None, :]
        logits = logits + self.item_place * ROTATIONS[None, None, None, :, None, :]
        weights: Floats = np.exp(logits - logits.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        first = np.broadcast_to(np.eye(N)[0], weights[:, :1].shape)
        weights = np.concatenate([weights, first], axis=1)
        chances: Floats = (1 - self.slips) * weights + self.slips / N
        return chances

    @cached_property
    def kinds(self) -> Floats:
        """How likely each kind of stimulus is; the last takes the first position."""
        return np.array([*[(1 - self.always) / N] * N, self.always])

    @cached_property
    def score_chances(self) -> Floats:
        """P(score) with the shape of `chances`, scores in the last axis."""
        places = np.broadcast_to(np.argsort(ORDERS, axis=1), self.chances.shape)
        return np.take_along_axis(self.chances, places, axis=-1)

    def _mean(self, table: Floats) -> Floats:
        """The mean over kinds of stimuli of what has the first axes of `chances`."""
        over_kinds: Floats = np.tensordot(self.kinds, np.moveaxis(table, 1, 0), axes=1)
        mean: Floats = over_kinds.mean(axis=0)
        return mean

    def cramers_v(self) -> float:
        """True V."""
        shares = self._mean(self.chances).mean(axis=(0, 1, 2))
        return float(np.sqrt(N * np.sum((shares - 1 / N) ** 2) / (N - 1)))

    def selection(self) -> Floats:
        """True P(position | score)."""
        mean = self._mean(self.chances).mean(axis=(0, 1))  # (orders, positions)
        joint = np.zeros((N, N))
        for order, chance in zip(ORDERS, mean, strict=True):
            joint[order - 1, np.arange(N)] += chance
        selection: Floats = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
        return selection

    def truths(self) -> dict[str, float]:
        """Every figure that can be enumerated, by key."""
        shares = self._mean(self.chances).mean(axis=(0, 1, 2))
        change, repeat = self._disagreement(self.score_chances)
        known = {
            "cramers_v": self.cramers_v(),
            "cramers_v_debiased": self.cramers_v(),
            "order_change_rate": change,
            "repeat_change_rate": repeat,
            "excess_change_rate": change - repeat,
            **{f"position_share[position={p}]": share for p, share in enumerate(shares, 1)},
        }
        if self.level is None and not self.item_place:
            flips, again = self._disagreement(self._winners())
            known |= {
                "order_flip_rate": flips,
                "repeat_flip_rate": again,
                "excess_flip_rate": flips - again,
            }
        if self.level is None:
            every = list(range(len(ORDERS)))
            r_balanced, r_fixed = self.correlation(every), self.correlation([0] * len(ORDERS))
            known |= {
                "pearson_r[arm=balanced]": r_balanced,
                "pearson_r[arm=fixed]": r_fixed,
                "delta_r[arms=balanced-fixed]": r_balanced - r_fixed,
            }
            cost = {"".join(map(str, o)): bias_cost(self.selection(), o) for o in balanced(N)}
            known |= {f"bias_cost[order={order}]": value for order, value in cost.items()}
        return {f"{ScoreOrder.NAME}.{name}": float(value) for name, value in known.items()}

    def _winners(self) -> Floats:
        """P(best of the four items), items in the last axis; needs `item_place` = 0."""
        vectors = np.array(list(product(range(N), repeat=OFFSETS.size)))
        per_item = np.moveaxis(self.score_chances[:, :, :, 0], 2, 0)  # (items, ..., orders, n)
        together = np.prod([per_item[i][..., vectors[:, i]] for i in range(OFFSETS.size)], axis=0)
        winners: Floats = together @ pick(vectors)
        return winners

    def _disagreement(self, chances: Floats) -> tuple[float, float]:
        """Mean P(two calls differ): across orders, and within one."""
        orders = chances.shape[-2]
        total = np.sum(chances.sum(axis=-2) ** 2, axis=-1)
        own = np.sum(chances**2, axis=(-2, -1))
        across, within = (total - own) / (orders * (orders - 1)), own / orders
        return 1 - float(self._mean(across).mean()), 1 - float(self._mean(within).mean())

    def correlation(self, orders: list[int]) -> float:
        """True Pearson r of the mean rating with the mean of one call under each order."""
        scores = np.arange(1, N + 1)
        means = self.score_chances[..., orders, :] @ scores
        squares = self.score_chances[..., orders, :] @ scores**2
        read = means.mean(axis=-1)
        quality = np.broadcast_to((LEVELS[:, None] + OFFSETS)[:, None, :, None], read.shape)
        noise = self._moment((squares - means**2).mean(axis=-1)) / len(orders)

        def covariance(a: Floats, b: Floats) -> float:
            return self._moment(a * b) - self._moment(a) * self._moment(b)

        labels = covariance(quality, quality) + LABEL_NOISE["cluster"] ** 2
        labels += LABEL_NOISE["item"] ** 2 / RATERS
        spread = covariance(read, read) + noise
        return covariance(read, quality) / float(np.sqrt(spread * labels))

    def _moment(self, table: Floats) -> float:
        return float(self._mean(table).mean())

    def draw(self, stimuli: int, rng: Rng) -> "Answers":
        """Stimuli, and what is answered about them."""
        shape = (stimuli, OFFSETS.size)
        drawn = (
            rng.integers(LEVELS.size, size=(stimuli, 1)),
            rng.choice(N + 1, p=self.kinds, size=(stimuli, 1)),
            np.arange(OFFSETS.size),
            rng.integers(N, size=shape),
        )
        noise = rng.normal(0, LABEL_NOISE["cluster"], (stimuli, 1, 1))
        noise = noise + rng.normal(0, LABEL_NOISE["item"], (*shape, RATERS))
        ratings = (LEVELS[drawn[0]] + OFFSETS)[..., None] + noise
        chances = self.chances[drawn].reshape(-1, len(ORDERS), N)
        return Answers(chances, ratings.reshape(-1, RATERS), rng)


def with_v(target: float, **parameters: float) -> Judge:
    """A judge whose true V is `target`."""

    def excess(bias: float) -> float:
        return Judge(bias=bias, **parameters).cramers_v() - target

    return Judge(bias=float(optimize.brentq(excess, 0.0, 5.0)), **parameters)


@dataclass(frozen=True)
class Answers:
    """Chances (items, orders, positions) and ratings (items, raters) of a drawn set of stimuli."""

    chances: Floats
    ratings: Floats
    rng: Rng

    def read(self, columns: Integers, repeats: int = 1) -> Floats:
        """Scores (items, columns, repeats) under the orders of these numbers, (items, columns)."""
        chances = np.take_along_axis(self.chances, columns[..., None], axis=1)
        steps = np.cumsum(chances, axis=-1)[..., None, :-1]
        places = (self.rng.random((*chances.shape[:2], repeats, 1)) > steps).sum(axis=-1)
        return np.take_along_axis(ORDERS[columns], places, axis=-1).astype(np.float64)

    def scores(self) -> Scores:
        """As the axis arranges them: every order once, some twice, a fixed and a random arm."""
        items, orders = len(self.chances), len(ORDERS)
        every = np.broadcast_to(np.arange(orders), (items, orders))
        reads = self.read(every, repeats=2)
        reads[:, AGAIN:, 1] = np.nan
        other = {
            "random": self.read(self.rng.integers(orders, size=(items, orders)))[..., 0],
            "fixed": self.read(np.zeros_like(every))[..., 0],
        }
        return self._arranged(reads, other)

    def _arranged(self, reads: Floats, other: Mapping[str, Floats]) -> Scores:
        cluster = np.repeat(np.arange(len(reads) // OFFSETS.size), OFFSETS.size)
        orders = tuple(tuple(int(score) for score in order) for order in ORDERS)
        return Scores(
            grids={N: Grid(N, orders, reads, cluster, 1, complete=True)},
            scale=N,
            arms={"balanced": reads[:, :, 0], **other},
            items=tuple(map(str, range(len(reads)))),
            prompt=cluster,
            reference=Reference("human", self.ratings.mean(axis=1), self.ratings),
            temperature=1.0,
            seed=int(self.rng.integers(2**31)),
        )

    def expected(self) -> Scores:
        """As the axis arranges the scores of log-probabilities, of which some cannot be read."""
        lost = self.rng.random(self.chances.shape[:2]) < UNREADABLE
        places = np.argsort(ORDERS, axis=1)
        shares = np.take_along_axis(self.chances, places[None], axis=-1)  # by score
        means = np.where(lost, np.nan, shares @ np.arange(1, N + 1))[..., None]
        return self._arranged(means, {})
