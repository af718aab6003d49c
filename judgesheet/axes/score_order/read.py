"""The replies of score_order: read, taken for lost ones, and given by a simulated judge.

How far a lost call can move a figure is shown by every place in turn, by the score that the
response usually gets, and by its known quality or the opposite of it.

How a simulated judge grades on a rubric of n scores, shown in some order.

It is a softmax over the shown lines:

    logit(score s on line p) = -quality * (s - mu)**2 / (2 * sd**2) + b_p + e_ip
    mu = 1 + (n - 1) * q,    sd = width * (n - 1) / 4

`q` (0..1) is the item's level; `b_p` the planted preference for line p (`position`, `first`,
`last`); `e_ip` an item-by-line logit (`interaction`) with mean zero over the lines. A greedy judge
takes the likeliest score, the lower of two that are equally right, wherever they stand.
"""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judgesheet.axis import Readings
from judgesheet.axis.labels import reference
from judgesheet.axis.logprobs import Distribution, Unread, score_distribution
from judgesheet.axis.losses import answered, split
from judgesheet.axis.simulation import Known, Parameters, drawn
from judgesheet.base.records import Call, ReplyFormat
from judgesheet.base.scale import Scale
from judgesheet.reading import Reading
from judgesheet.reading.verdicts import score_reading

if TYPE_CHECKING:
    import pandas as pd

# -- reading: one score, or its distribution if the reply has log-probabilities --------------------


def reading(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Reading:
    """The point of the cell's scale that a reply gives."""
    return score_reading(text, reply, Scale.of(cell))


def points_by_place(score: int, order: Sequence[int]) -> list[float]:
    """What a verdict gives to each of the scores that were listed: all to the one that it gives."""
    return [float(listed == score) for listed in order]


def distribution(
    raw: str, text: str, reply: ReplyFormat, cell: Mapping[str, Any]
) -> Distribution | Unread:
    """The probabilities of all scores in a reply with log-probabilities, or why there are none."""
    return score_distribution(raw, text, reply, Scale.of(cell))


# -- lost calls: for each place, and for and against quality ---------------------------------------


def impute(readings: Readings) -> "Iterator[pd.DataFrame]":
    """Each place in turn, the score that a response usually gets, and what its quality deserves."""
    frame = readings.frame
    calls, read = split(frame)
    for place in range(max(len(call["order"]) for call in calls)):
        yield answered(frame, [call["order"][min(place, len(call["order"]) - 1)] for call in calls])
    seen: defaultdict[Any, Counter[int]] = defaultdict(Counter)
    for call in read:
        seen[call["item"], call["scale"]][call["value"]] += 1
    usual = [_usual(seen[call["item"], call["scale"]], sorted(call["order"])) for call in calls]
    yield answered(frame, usual)
    worth = _worth(readings)
    for turned in (False, True) if worth else ():
        deserved = [
            _deserved(worth.get(call["item"]), sorted(call["order"]), other, turned=turned)
            for call, other in zip(calls, usual, strict=True)
        ]
        yield answered(frame, deserved)


def _usual(seen: Counter[int], scores: Sequence[int]) -> int:
    """The score that a response gets most often; of equally common ones the nearest the middle."""
    middle = scores[len(scores) // 2]
    return max(scores, key=lambda score: (seen[score], -abs(score - middle)))


def _worth(readings: Readings) -> Mapping[str, float]:
    """What items deserve, 0 to 1, where their quality is known."""
    names = readings.frame["item"].unique().tolist()
    known = dict(zip(names, reference(readings.labels, names).values, strict=True))
    quality = {name: float(value) for name, value in known.items() if value == value}
    low, high = min(quality.values(), default=0.0), max(quality.values(), default=0.0)
    return {name: (q - low) / (high - low) for name, q in quality.items()} if low < high else {}


def _deserved(worth: float | None, scores: Sequence[int], other: int, *, turned: bool) -> int:
    """The score for an item's quality, or for its opposite; `other` if it is not known."""
    if worth is None:
        return other
    return scores[round((1 - worth if turned else worth) * (len(scores) - 1))]


# -- a simulated judge -----------------------------------------------------------------------------


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
    score = Scale.of(call.cell).number(drawn(rng, simulated_shares(parameters, call, known)))
    if call.reply == "json":
        return json.dumps({"score": score})
    return f"Of the descriptions, that of score {score} fits the response best.\n[RESULT] {score}"
