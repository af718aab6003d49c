"""What simulated judges do when they grade a response on several criteria at once.

A criterion at place p of n in the list (from 0) gets the score s of 1..m with probability

    P(s) = softmax over s of -(s - mu)**2 / (2 * sd**2),    sd = width * (m - 1) / 4
    mu = 1 + (m - 1) * (1/2 + quality * (q - 1/2)) + weight * shift_p + interaction * e_p

`q` (0..1) is the response's intended level on that criterion; `shift_p` (points) the values of
`shift` interpolated to n places; `weight` that of the criterion among all criteria of the prompt in
alphabetical order, recycled: `weights=1:-1` shifts every second one the other way, `weights=1:0`
leaves it alone. `e_p` is normal, fixed for response, criterion and place, with mean zero over the
places. `quality` is how far a difference of quality shows (0: not at all, 1: fully), `width` the
noise; a greedy judge takes the likeliest score, the lower of equals.
"""

import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from judgesheet.judges._softmax import interpolated, softmax
from judgesheet.records import Call


class Planted(Protocol):
    """The parameters of a simulated judge that matter here."""

    @property
    def quality(self) -> float: ...
    @property
    def width(self) -> float: ...
    @property
    def interaction(self) -> float: ...
    @property
    def shift(self) -> tuple[float, ...]: ...
    @property
    def weights(self) -> tuple[float, ...]: ...
    @property
    def greedy(self) -> int: ...
    @property
    def seed(self) -> int: ...


def criterion_probabilities(
    planted: Planted, item: str, order: Sequence[str], criterion: str, scale: int, level: float
) -> list[float]:
    """The planted truth: the probability of each score 1..scale of one criterion.

    Parameters
    ----------
    planted
        What is planted.
    item
        The item's name; it decides the interaction.
    order
        The criteria in displayed order.
    criterion
        One of them.
    scale
        Number of scores, m.
    level
        What the item deserves on the criterion, 0..1.
    """
    place, count = list(order).index(criterion), len(order)
    weights = planted.weights or (1.0,)
    weight = weights[sorted(order).index(criterion) % len(weights)]
    mu = 1 + (scale - 1) * (0.5 + planted.quality * (level - 0.5))
    mu += weight * interpolated(planted.shift, count)[place]
    if planted.interaction:
        mu += _interaction(planted, item, criterion, count)[place]
    spread = 2 * (planted.width * (scale - 1) / 4) ** 2
    logits = [-((score - mu) ** 2) / spread for score in range(1, scale + 1)]
    if planted.greedy:
        chosen = logits.index(max(logits))
        return [float(index == chosen) for index in range(scale)]
    return softmax(logits)


def _interaction(planted: Planted, item: str, criterion: str, count: int) -> list[float]:
    rng = random.Random(f"{planted.seed}:{item}:{criterion}:places")  # noqa: S311
    noise = [rng.gauss(0.0, planted.interaction) for _ in range(count)]
    mean = math.fsum(noise) / count
    return [one - mean for one in noise]


def answer_criteria(
    planted: Planted, call: Call, level_of: Callable[[str], float], rng: random.Random
) -> str:
    """A reply to a call of criterion_order; `level_of` gives the item's level on a criterion."""
    order, scale = [str(name) for name in call.cell["order"]], int(call.cell["scale"])
    scores: Mapping[str, int] = {
        name: rng.choices(
            range(1, scale + 1),
            criterion_probabilities(
                planted, str(call.cell["item"]), order, name, scale, level_of(name)
            ),
        )[0]
        for name in order
    }
    if call.reply == "json":
        return json.dumps({"scores": scores}, ensure_ascii=False)
    lines = "\n".join(f"[{name}] {score}" for name, score in scores.items())
    return f"The response has strengths and weaknesses, which differ by criterion.\n\n{lines}"
