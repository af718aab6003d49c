"""A simulated judge of several criteria, with its truths by enumeration.

A criterion's score is the deserved one, plus the planted shift of its place, plus normal noise,
rounded and cut to 1..5; in a share `slips` of scores any score. A prompt may have a taste for
places, which cancels on average over prompts.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judgesheet.axes.criterion_order import CriterionOrder
from judgesheet.axes.criterion_order.scores import CriterionLists, Scores
from judgesheet.axis.labels import Reference
from judgesheet.stats.orders import balanced

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Rng = np.random.Generator

N, SCALE, ITEMS = 5, 5, 2
NAMES = tuple("abcde")
PLACE: Integers = np.argsort(np.array(balanced(N)), axis=1)  # (orders, criteria)
LEVELS = np.linspace(1.6, 4.4, 8)
"""Deserved scores, equally likely for each prompt and criterion."""
OFFSETS = np.array([-0.3, 0.3])
"""How the two responses to a prompt depart from it."""
TASTE = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
LABEL_NOISE, RATERS = 0.5, 3
AGAIN = 4
"""Orders that are read twice."""


@dataclass(frozen=True)
class Judge:
    """`shift` points at each place, `taste` of prompts for places, `rare` share of tastes kept.

    With `level` every response deserves the same; on a share `always` of prompts a criterion that
    stands first gains two points.
    """

    shift: tuple[float, ...] = (0.0,) * N
    taste: float = 0.0
    noise: float = 0.5
    rare: float = 1.0
    slips: float = 0.0
    level: float | None = None
    always: float = 0.0

    def chances(self, level: Floats, shifts: Floats) -> Floats:
        """P(score 1..5) of deserved scores and shifts that broadcast."""
        edges = np.arange(1.5, SCALE)
        below = special.ndtr((edges - (level + shifts)[..., None]) / self.noise)
        zero, one = np.zeros_like(below[..., :1]), np.ones_like(below[..., :1])
        chances = np.diff(np.concatenate([zero, below, one], axis=-1), axis=-1)
        return (1 - self.slips) * chances + self.slips / SCALE

    @cached_property
    def deserved(self) -> Floats:
        """Deserved scores (levels, offsets)."""
        levels: Floats = LEVELS[:, None] + OFFSETS
        return levels if self.level is None else np.full_like(levels, self.level)

    @cached_property
    def kinds(self) -> Floats:
        """What a prompt's taste adds at each place: the equally likely kinds, (kinds, places)."""
        tastes = np.stack([np.roll(TASTE, turn) for turn in range(N)]) * self.taste
        return tastes if self.taste else np.zeros((1, N))

    @cached_property
    def table(self) -> Floats:
        """P(score), shape (levels, offsets, kinds, places, scores)."""
        level = self.deserved[:, :, None, None]
        shifts = np.array(self.shift) + np.concatenate(
            [self.kinds, np.zeros((1, N)), 2 * np.eye(N)[:1]]
        )
        return self.chances(level, np.broadcast_to(shifts, (1, 1, *shifts.shape)))

    @cached_property
    def shares(self) -> Floats:
        """How likely each kind is; the last two have no taste, and a strong one for the first."""
        tasteful = len(self.kinds)
        usual = [self.rare / tasteful] * tasteful + [1 - self.rare]
        return np.array([*((1 - self.always) * np.array(usual)), self.always])

    def position_means(self) -> Floats:
        """True mean score at every place."""
        means = self.table @ np.arange(1, SCALE + 1)
        result: Floats = means.mean(axis=(0, 1)).T @ self.shares
        return result

    def correlation(self, places: list[int]) -> float:
        """True r of the mean over reads at these places with labels (quality plus noise)."""
        points = np.arange(1, SCALE + 1)
        means = self.table @ points
        spread = self.table @ points**2 - means**2
        read = means[..., places].mean(axis=-1)  # (levels, offsets, kinds)
        noise = spread[..., places].mean(axis=-1) / len(places)
        weight = np.broadcast_to(self.shares / read[..., 0].size, read.shape)
        quality = np.broadcast_to((LEVELS[:, None] + OFFSETS)[..., None], read.shape)

        def moment(a: Floats, b: Floats) -> float:
            return float((weight * a * b).sum() - (weight * a).sum() * (weight * b).sum())

        own = moment(read, read) + float((weight * noise).sum())
        return moment(read, quality) / float(
            np.sqrt(own * (moment(quality, quality) + LABEL_NOISE**2 / RATERS))
        )

    def truths(self) -> dict[str, float]:
        """Every figure that can be enumerated, by key."""
        means = self.position_means()
        gap = float(np.ptp(means))
        known = {"mean_delta_pos": gap, "max_delta_pos": gap}
        for name in NAMES:
            known[f"delta_pos[criterion={name}]"] = gap
            for place, mean in enumerate(means, start=1):
                at = f"[criterion={name},position={place}]"
                known |= {f"position_mean{at}": mean, f"position_shift{at}": mean - means.mean()}
        if self.level is None:
            known["pearson_r[arm=balanced]"] = self.correlation(list(range(N)) * 2)
        return {f"{CriterionOrder.NAME}.{name}": float(value) for name, value in known.items()}

    def scores(self, groups: int, rng: Rng) -> Scores:
        """As the axis arranges them: every order once, some twice, a fixed and a random arm."""
        prompts = Prompts(
            rng.integers(LEVELS.size, size=(groups, N)),
            rng.choice(len(self.shares), p=self.shares, size=(groups, N)),
        )
        reads = np.stack([self.ask(prompts, PLACE, rng) for _ in range(2)], axis=2)
        reads[:, AGAIN:, 1] = np.nan
        orders, items = len(PLACE), len(reads)
        shuffled = np.argsort(rng.random((orders, N)), axis=1)
        ratings = prompts.ratings(rng)
        references = {
            name: Reference("human", ratings[:, at].mean(axis=1), ratings[:, at])
            for at, name in enumerate(NAMES)
        }
        return Scores(
            reads=reads,
            place=np.broadcast_to(PLACE, (items, orders, N)),
            criterion=np.broadcast_to(np.arange(N), (items, N)),
            prompt=np.repeat(np.arange(groups), ITEMS),
            cluster=np.repeat(np.arange(groups), ITEMS),
            base="balanced",
            arms={
                "balanced": reads[:, :, 0],
                "random": self.ask(prompts, shuffled, rng),
                "fixed": self.ask(prompts, np.tile(np.arange(N), (orders, 1)), rng),
            },
            references=references,
            lists=CriterionLists(N, SCALE, orders, balanced=True, passes=1, left_out=0),
            temperature=1.0,
            seed=int(rng.integers(2**31)),
        )

    def ask(self, prompts: "Prompts", place: Integers, rng: Rng) -> Floats:
        """Scores of both responses to each prompt at places (orders, criteria)."""
        level = prompts.level[:, None, None, :]
        kind = prompts.kind[:, None, None, :]
        offset = np.arange(ITEMS)[None, :, None, None]
        chances = self.table[level, offset, kind, place]  # (G, items, orders, criteria, scores)
        steps = np.cumsum(chances, axis=-1)[..., :-1]
        scores = 1 + (rng.random((*chances.shape[:-1], 1)) > steps).sum(axis=-1)
        result: Floats = scores.reshape(-1, *scores.shape[2:]).astype(np.float64)
        return result


@dataclass(frozen=True)
class Prompts:
    """Level and kind of taste, as indices, of each prompt and criterion."""

    level: Integers
    kind: Integers

    def ratings(self, rng: Rng) -> Floats:
        """What people say of each response, (groups x items, criteria, raters)."""
        quality = (LEVELS[self.level][:, None, :] + OFFSETS[:, None]).reshape(-1, N)
        noise = rng.normal(0, LABEL_NOISE, (*quality.shape, RATERS))
        ratings: Floats = quality[..., None] + noise
        return ratings
