"""The replies of score_order: read, taken for lost ones, and given by a simulated judge.

The extremes show how far a lost call can move a figure: every place in turn, the places that make
all places equally frequent, scores that change with the order and not with repeats, or the reverse,
the score that the response usually gets, the one it gets least often, and the scores and the ends
of the scale that follow its known quality or the opposite of it.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judgesheet.axis import Imputation, Readings
from judgesheet.axis.labels import reference
from judgesheet.axis.logprobs import Distribution, Unread, score_distribution
from judgesheet.axis.losses import Row, answered, even_places, split
from judgesheet.axis.lost_by_order import choices_by_order, tops_by_order
from judgesheet.axis.simulation import Known, Parameters, drawn
from judgesheet.base.records import Call, ReplyFormat
from judgesheet.reading import Reading
from judgesheet.reading.verdicts import score_reading

# -- reading: one score, or its distribution if the reply has log-probabilities --------------------


def reading(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Reading:
    """The score that a reply gives, from 1 to the cell's scale."""
    return score_reading(text, reply, int(cell["scale"]))


def chosen(score: int, order: Sequence[int]) -> int:  # noqa: ARG001
    """Which of the listed scores a verdict favours: the one that it gives."""
    return score


def points_by_place(score: int, order: Sequence[int]) -> list[float]:
    """What a verdict gives to each of the scores that were listed: all to the one that it gives."""
    return [float(listed == score) for listed in order]


def distribution(
    raw: str, text: str, reply: ReplyFormat, cell: Mapping[str, Any]
) -> Distribution | Unread:
    """The probabilities of all scores in a reply with log-probabilities, or why there are none."""
    return score_distribution(raw, text, reply, int(cell["scale"]))


# -- lost calls: for each place, and for and against quality ---------------------------------------


def impute(readings: Readings) -> Iterator[Imputation]:
    """The extremes, those of places first."""
    frame = readings.frame
    calls, read = split(frame)
    for place in range(max(len(call["order"]) for call in calls)):
        values = [call["order"][min(place, len(call["order"]) - 1)] for call in calls]
        yield Imputation(answered(frame, values), of_places=True)
    yield Imputation(answered(frame, _even(calls, read)), of_places=True)
    for values in _by_order(calls, read):
        yield Imputation(answered(frame, values), of_places=True)
    usual, seldom = _usual(calls, read, most=True), _usual(calls, read, most=False)
    yield Imputation(answered(frame, usual))
    yield Imputation(answered(frame, seldom))
    for worth in _worths(readings):
        for turned in (False, True):
            values = [
                _deserved(worth.get(call["item"]), call["order"], other, turned=turned)
                for call, other in zip(calls, usual, strict=True)
            ]
            yield Imputation(answered(frame, values))


def _even(calls: Sequence[Row], read: Sequence[Row]) -> list[int]:
    """Scores at the places that make all places equally frequent; the usual score if possible."""
    counts: defaultdict[Any, Counter[int]] = defaultdict(Counter)
    own: defaultdict[Any, Counter[int]] = defaultdict(Counter)
    for call in read:
        counts[_pass(call)][call["order"].index(call["value"])] += 1
        own[call["item"], call["scale"]][call["value"]] += 1
    likely = [
        [own[call["item"], call["scale"]][score] for score in call["order"]] for call in calls
    ]
    # Even places are what speaks most against any preference.
    places = even_places([_pass(call) for call in calls], counts, likely)
    return [call["order"][place] for call, place in zip(calls, places, strict=True)]


def _by_order(calls: Sequence[Row], read: Sequence[Row]) -> Iterator[list[int]]:
    """Scores, and best responses, that change with the order as often as they can, or as seldom."""
    lost = [(_asked(call), tuple(call["order"]), call["order"]) for call in calls]
    seen = [(_asked(call), tuple(call["order"]), call["value"]) for call in read]
    for decisive in (True, False):
        yield choices_by_order(lost, seen, decisive=decisive)
        tops = tops_by_order(calls, read, _value, _ends, decisive=decisive)
        yield [_ends(call)[top] for call, top in zip(calls, tops, strict=True)]


def _value(call: Row) -> int:
    return int(call["value"])


def _ends(call: Row) -> tuple[int, int]:
    return min(call["order"]), max(call["order"])


def _asked(call: Row) -> tuple[str, str, int]:
    """What was scored, under which conditions."""
    return call["item"], call["arm"], int(call["scale"])


def _pass(call: Row) -> tuple[str, int, int]:
    """Calls that are counted together: every response once under every order."""
    return call["arm"], int(call["scale"]), int(call["repeat"])


def _usual(calls: Sequence[Row], read: Sequence[Row], *, most: bool) -> list[int]:
    """The score that a response gets most often, or least often, counting those imputed."""
    own: defaultdict[Any, Counter[int]] = defaultdict(Counter)
    for call in read:
        own[call["item"], call["scale"]][call["value"]] += 1
    pick: Callable[..., int] = max if most else min
    values = []
    for call in calls:
        scores, seen = sorted(call["order"]), own[call["item"], call["scale"]]
        middle = scores[len(scores) // 2]
        # Of equally common ones the middle of the scale, of equally rare ones its ends.
        value = pick(scores, key=lambda s, seen=seen, mid=middle: (seen[s], -abs(s - mid)))
        # Rare answers count as given, so that several lost calls on a response spread out.
        seen[value] += not most
        values.append(value)
    return values


def _worths(readings: Readings) -> Iterator[Mapping[str, float]]:
    """What items deserve, 0 to 1: by their quality; by the mean of all; by that of their prompt.

    The ends of the scale move correlations, and the order of a prompt's responses, furthest.
    """
    items = readings.frame[["stimulus", "item"]].drop_duplicates("item")
    known = items.assign(quality=reference(readings.labels, items["item"].tolist()).values).dropna()
    quality, name = known["quality"], known["item"]
    if not quality.min() < quality.max():
        return
    among = quality - quality.groupby(known["stimulus"]).transform("mean")
    for worth in (
        (quality - quality.min()) / (quality.max() - quality.min()),
        (np.sign(quality - quality.mean()) + 1) / 2,
        (np.sign(among) + 1) / 2,
    ):
        yield dict(zip(name, np.asarray(worth, dtype=np.float64).tolist(), strict=True))


def _deserved(worth: float | None, order: Sequence[int], other: int, *, turned: bool) -> int:
    """The score for an item's quality, or for its opposite; `other` if it is not known."""
    if worth is None:
        return other
    return sorted(order)[round((1 - worth if turned else worth) * (len(order) - 1))]


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
    score = drawn(rng, simulated_shares(parameters, call, known))
    if call.reply == "json":
        return json.dumps({"score": score})
    return f"Of the descriptions, that of score {score} fits the response best.\n[RESULT] {score}"
