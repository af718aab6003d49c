"""How a simulated judge grades on a rubric of n scores, shown in some order.

It is a softmax over the shown lines:

    logit(score s on line p) = -quality * (s - mu)**2 / (2 * sd**2) + b_p + e_ip
    mu = 1 + (n - 1) * q,    sd = width * (n - 1) / 4

`q` (0..1) is the item's level; `b_p` the planted preference for line p (`position`, `first`,
`last`); `e_ip` an item-by-line logit (`interaction`) with mean zero over the lines. A greedy judge
takes the likeliest score, the lower of two that are equally right, wherever they stand.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import replace

from judgesheet.axis.simulation import Known, Parameters, drawn
from judgesheet.base.records import Call

# Points that decide for the lower of two scores that are equally right.
_LOWER = 1e-6


def score_probabilities(
    parameters: Parameters, item: str, scale: int, order: Sequence[int], q: float
) -> list[float]:
    """The planted truth: the probability of each line of a rubric, in displayed order.

    `order` holds the score (1..scale) on each line, `q` what the item deserves, 0..1; the item's
    name decides the interaction.
    """
    mu = 1 + (scale - 1) * parameters.deserved(q) - (_LOWER if parameters.greedy else 0.0)
    content = parameters.score_logits(order, mu, scale, parameters.quality)
    position = parameters.position_logits(item, len(order))
    logits = [a + b for a, b in zip(content, position, strict=True)]
    return parameters.probabilities(logits)


def simulated_shares(parameters: Parameters, call: Call, known: Known) -> dict[int, float]:
    """The planted probability of every score in a call, in displayed order."""
    order = [int(score) for score in call.cell["order"]]
    if parameters.calming:
        fading = 1 + parameters.calming * float(call.params.get("temperature", 0.0))
        first, last = parameters.first / fading, parameters.last / fading
        parameters = replace(parameters, first=first, last=last)
    item, scale = str(call.cell["item"]), int(call.cell["scale"])
    shares = score_probabilities(parameters, item, scale, order, known())
    return dict(zip(order, shares, strict=True))


def simulate(parameters: Parameters, call: Call, known: Known, rng: random.Random) -> str:
    """The reply of a simulated judge."""
    score = drawn(rng, simulated_shares(parameters, call, known))
    if call.reply == "json":
        return json.dumps({"score": score})
    return f"Of the descriptions, that of score {score} fits the response best.\n[RESULT] {score}"
