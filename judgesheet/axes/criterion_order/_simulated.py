"""How a simulated judge grades a response on several criteria at once.

A criterion at place p of n in the list (from 0) gets the score s of 1..m with probability

    P(s) = softmax over s of -(s - mu)**2 / (2 * sd**2),    sd = width * (m - 1) / 4
    mu = 1 + (m - 1) * (1/2 + quality * (q - 1/2)) + weight * shift_p + interaction * e_p

`q` (0..1) is the response's level on that criterion, of which a part `halo` is replaced by the
level on the criterion that comes first by name, and all but `heed` by something about the response
that has nothing to do with quality; `shift_p` (points) the values of `shift` interpolated to n
places; `weight` and `heed` those of the criterion among all criteria of the prompt in alphabetical
order, recycled: `weights=1:-1` shifts every second one the other way, `weights=1:0` leaves it
alone, `heeds=0:1:1:1:1` looks at the quality of all but the first of five. `e_p` is normal, fixed
for response, criterion and place, with mean zero over the places. `quality` is how strongly quality
affects the score (0: not at all, 1: fully), `width` the noise; a greedy judge takes the likeliest
score, the lower of equals.
"""

import json
import math
import random
from collections.abc import Sequence

from judgesheet.axis.simulation import Known, Parameters, drawn, interpolated
from judgesheet.base.records import Call


def criterion_probabilities(
    parameters: Parameters, item: str, order: Sequence[str], criterion: str, scale: int, q: float
) -> list[float]:
    """The planted truth: the probability of each score 1..scale of one criterion.

    `order` holds the criteria in displayed order, `q` is what the item deserves on this one, 0..1;
    the item's name decides the interaction.
    """
    place, count = list(order).index(criterion), len(order)
    weight = _recycled(parameters.weights, order, criterion)
    mu = 1 + (scale - 1) * (0.5 + parameters.quality * (parameters.deserved(q) - 0.5))
    mu += weight * interpolated(parameters.shift, count)[place]
    if parameters.interaction:
        rng = parameters.rng(item, criterion, "places")
        noise = [rng.gauss(0.0, parameters.interaction) for _ in range(count)]
        mu += noise[place] - math.fsum(noise) / count
    logits = parameters.score_logits(range(1, scale + 1), mu, scale)
    return parameters.probabilities(logits)


def _recycled(factors: Sequence[float], order: Sequence[str], criterion: str) -> float:
    """The factor of a criterion, by its rank in the alphabet; 1 where there are none."""
    return factors[sorted(order).index(criterion) % len(factors)] if factors else 1.0


def perceived(parameters: Parameters, call: Call, known: Known, criterion: str) -> float:
    """The level, 0..1, that the judge takes the response of a call to have on a criterion."""
    order, halo = [str(name) for name in call.cell["order"]], parameters.halo
    level = (1 - halo) * known(criterion) + halo * known(min(order))
    heed = _recycled(parameters.heeds, order, criterion)
    if heed == 1:  # the usual judge, which a draw would only slow down
        return level
    something = parameters.rng(call.cell["item"], criterion, "something").random()
    return heed * level + (1 - heed) * something


def simulate(parameters: Parameters, call: Call, known: Known, rng: random.Random) -> str:
    """The reply of a simulated judge."""
    order, scale = [str(name) for name in call.cell["order"]], int(call.cell["scale"])
    scores = {}
    for name in order:
        level = perceived(parameters, call, known, name)
        shares = criterion_probabilities(
            parameters, str(call.cell["item"]), order, name, scale, level
        )
        scores[name] = drawn(rng, dict(enumerate(shares, start=1)))
    if call.reply == "json":
        return json.dumps({"scores": scores}, ensure_ascii=False)
    lines = "\n".join(f"[{name}] {score}" for name, score in scores.items())
    return f"The response has strengths and weaknesses, which differ by criterion.\n\n{lines}"
