"""Arithmetic that simulated judges share."""

import math
from collections.abc import Sequence


def softmax(logits: Sequence[float]) -> list[float]:
    """Probabilities from logits."""
    top = max(logits)
    weights = [math.exp(logit - top) for logit in logits]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def interpolated(knots: Sequence[float], n: int) -> list[float]:
    """`n` values on the straight lines through `knots`, ends kept."""
    if len(knots) < 2 or n < 2:
        return [knots[0] if knots else 0.0] * n
    values = []
    for line in range(n):
        place = line * (len(knots) - 1) / (n - 1)
        left = min(int(place), len(knots) - 2)
        values.append(knots[left] + (place - left) * (knots[left + 1] - knots[left]))
    return values
