"""The replies of criterion_order: read, taken for lost ones, and given by a simulated judge.

The extremes show how far a lost call can move a figure: each place in turn scores all points or
none, scores that cancel the effect of places in the calls read, scores that change with the order
and not with repeats, or the reverse, the scores that a response usually gets, those furthest from
them, and those that follow its known quality.

How a simulated judge grades a response on several criteria at once.

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
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from judgesheet.axis import Imputation, Readings
from judgesheet.axis.labels import NAMES
from judgesheet.axis.losses import Row, answered, split
from judgesheet.axis.lost_by_order import choices_by_order, tops_by_order
from judgesheet.axis.simulation import Known, Parameters, drawn, interpolated
from judgesheet.base.records import Call, Label, ReplyFormat
from judgesheet.reading import INCOMPLETE, NO_VERDICT, Reading
from judgesheet.reading.marks import marks, plain
from judgesheet.reading.reasoning import answer
from judgesheet.reading.verdicts import (
    agreed,
    displayed,
    recorded,
    score_in,
    under_key,
    whole_number,
)

# -- reading: a score for every criterion, each exactly once ---------------------------------------


HIGHEST_RECORDED = 100
"""The highest score of a recorded verdict whose cell does not name its scale."""


def reading(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Reading:
    """The score of every criterion, each in exactly one way.

    Scores are from 1 to the cell's `scale`, which only a recorded verdict may lack.
    """
    order, scale = cell["order"], cell.get("scale")
    # Recorded scales may begin at 0; ours, which a prompt prints, never do.
    low, high = (0, HIGHEST_RECORDED) if scale is None else (1, int(scale))
    if reply == "text":
        return _from_lines(unicodedata.normalize("NFC", answer(text)), order, low, high)

    def scores(given: object) -> dict[str, int] | None:
        read = score_in if reply == "json" else _recorded
        return _from_mapping(_by_name(given), order, lambda value: read(value, low, high))

    if reply == "json":
        return under_key(text, "scores", scores, INCOMPLETE)
    return agreed([scores(recorded(text))], INCOMPLETE)


def points_by_place(scores: Mapping[str, int], order: Sequence[str]) -> list[float]:
    """The scores of the criteria, in displayed order."""
    return [float(scores[name]) for name in order]


def parts(cell: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    """Per criterion, in displayed order, what a pattern of the user's own may call it."""
    return displayed(cell["order"])


def _from_lines(words: str, order: Sequence[str], low: int, high: int) -> Reading:
    """A line per criterion, `[Name] N`, wherever they stand."""
    wanted = {plain(name): name for name in order}
    given = marks(words, [unicodedata.normalize("NFC", name) for name in order], low, high)
    scores = {name: agreed([m.value for m in given if m.name == name]) for name in wanted}
    lost = [one.reason for one in scores.values() if one.reason is not None]
    if not lost:
        return Reading({wanted[name]: one.verdict for name, one in scores.items()})
    if not given:
        return NO_VERDICT
    return INCOMPLETE if "no_verdict" in lost else Reading.lost(lost[0])


def _recorded(value: object, low: int, high: int) -> int | None:
    score = whole_number(value)
    return score if score is not None and low <= score <= high else None


def _by_name(given: object) -> object:
    """The scores that a list of objects gives, `{"name": "Depth", "score": 4}`, by their names."""
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        return given
    by_name = {str(one.get("name", one.get("criterion"))): one for one in given}
    # A criterion that is named twice has two scores.
    return by_name if len(by_name) == len(given) else None


def _from_mapping(
    given: object, order: Sequence[str], read: Callable[[Any], int | None]
) -> dict[str, int] | None:
    """A mapping that names every criterion once and nothing else, each with a score."""
    if not isinstance(given, Mapping):
        return None
    wanted = {plain(name): name for name in order}
    scores: dict[str, int] = {}
    for key, value in given.items():
        name, score = wanted.get(plain(str(key))), read(value)
        # One wrong entry makes the whole reply unreadable: which were lost would depend on the
        # scores.
        if name is None or name in scores or score is None:
            return None
        scores[name] = score
    return scores if len(scores) == len(wanted) else None


# -- lost calls: for each place, and for and against quality ---------------------------------------


Seen = defaultdict[tuple[str, str], Counter[int]]
Scored = Callable[[Row, str, int], int]
"""The score of a lost call on the criterion of that name at that place."""
Ends = Callable[[Row], tuple[int, int]]
"""The lowest and the highest score that a lost call could give."""


def impute(readings: Readings) -> Iterator[Imputation]:
    """The extremes, those of places first."""
    frame = readings.frame
    calls, read = split(frame)
    given = [score for call in read for score in call["value"].values()]
    seen: Seen = defaultdict(Counter)
    for call in read:
        for name, score in call["value"].items():
            seen[call["item"], name][score] += 1

    def ends(call: Row) -> tuple[int, int]:
        scale = call.get("scale")
        # A recorded run may not say its scale: NaN is not equal to itself.
        return (1, int(scale)) if scale and scale == scale else (min(given), max(given))

    def usual(call: Row, name: str, _place: int) -> int:
        scores = seen[call["item"], name]
        return max(sorted(scores), key=scores.__getitem__) if scores else round(sum(ends(call)) / 2)

    def furthest(call: Row, name: str, place: int) -> int:
        return max(ends(call), key=lambda end: abs(end - usual(call, name, place)))

    for values in (*_by_place(calls, ends), _cancelling(calls, read, seen, ends)):
        yield Imputation(answered(frame, values), of_places=True)
    for values in _by_order(calls, read, ends):
        yield Imputation(answered(frame, values), of_places=True)
    yield Imputation(answered(frame, _values(calls, usual)))
    yield Imputation(answered(frame, _values(calls, furthest)))
    worth = _worth(readings)
    for turned in (False, True) if worth else ():
        deserved = _deserved(worth, ends, usual, turned=turned)
        yield Imputation(answered(frame, _values(calls, deserved)))


def _by_place(calls: Sequence[Row], ends: Ends) -> Iterator[list[dict[str, int]]]:
    """All points at each place in turn, and none elsewhere; then the reverse."""
    for place in range(max(len(call["order"]) for call in calls)):
        for here in (True, False):
            yield _values(calls, _only(place, ends, here=here))


def _by_order(
    calls: Sequence[Row], read: Sequence[Row], ends: Ends
) -> Iterator[list[dict[str, int]]]:
    """Scores, and best responses, that change with the order as often as they can, or as seldom."""
    lost = [
        (*_scored(call, name), range(ends(call)[0], ends(call)[1] + 1))
        for call in calls
        for name in call["order"]
    ]
    seen = [(*_scored(call, name), score) for call in read for name, score in call["value"].items()]
    for decisive in (True, False):
        scores = iter(choices_by_order(lost, seen, decisive=decisive))
        yield [{name: next(scores) for name in call["order"]} for call in calls]
        tops = tops_by_order(calls, read, _mean, ends, decisive=decisive)
        yield [
            dict.fromkeys(call["order"], ends(call)[top])
            for call, top in zip(calls, tops, strict=True)
        ]


def _scored(call: Row, name: str) -> tuple[tuple[str, str, str], tuple[str, ...]]:
    """What was scored on which criterion, under which conditions; and the order."""
    return (call["item"], call["arm"], name), tuple(call["order"])


def _mean(call: Row) -> float:
    return float(np.mean(list(call["value"].values())))


def _values(calls: Sequence[Row], score: Scored) -> list[dict[str, int]]:
    return [
        {name: score(call, name, place) for place, name in enumerate(call["order"])}
        for call in calls
    ]


def _only(place: int, ends: Ends, *, here: bool) -> Scored:
    """All points at one place and none elsewhere, or the reverse."""
    return lambda call, _name, at: ends(call)[(at == place) == here]


def _cancelling(
    calls: Sequence[Row], read: Sequence[Row], seen: Seen, ends: Ends
) -> list[dict[str, int]]:
    """The usual scores, moved so that a criterion's places come out even with the calls read.

    A place's surplus is the sum by which the scores read there exceed the response's mean; the lost
    calls at that place compensate for it, as far as the scale allows.
    """
    mean = {key: sum(s * n for s, n in one.items()) / one.total() for key, one in seen.items()}
    surplus: defaultdict[tuple[str, int], float] = defaultdict(float)
    for call in read:
        for place, name in enumerate(call["order"]):
            surplus[name, place] += call["value"][name] - mean[call["item"], name]
    left = Counter((name, place) for call in calls for place, name in enumerate(call["order"]))
    values = []
    for call in calls:
        low, high = ends(call)
        scores = {}
        for place, name in enumerate(call["order"]):
            usual = mean.get((call["item"], name), (low + high) / 2)
            wanted = usual - surplus[name, place] / left[name, place]
            scores[name] = round(min(high, max(low, wanted)))
            surplus[name, place] += scores[name] - usual
            left[name, place] -= 1
        values.append(scores)
    return values


def _worth(readings: Readings) -> dict[tuple[str, str], float]:
    """The known quality of items on criteria, 0 to 1, by the best kind of label there is."""
    for kind in NAMES:
        mine: list[Label] = [one for one in readings.labels if one.kind == kind and one.criterion]
        if mine:
            scores = np.array([one.score for one in mine])
            span = float(np.ptp(scores)) or 1.0
            return {
                (one.item, one.criterion): (one.score - float(scores.min())) / span for one in mine
            }
    return {}


def _deserved(
    worth: Mapping[tuple[str, str], float],
    ends: Ends,
    usual: Scored,
    *,
    turned: bool,
) -> Scored:
    """The score for an item's quality, or for its opposite; the usual one if unknown."""

    def score(call: Row, name: str, place: int) -> int:
        known = worth.get((call["item"], name))
        if known is None:
            return usual(call, name, place)
        low, high = ends(call)
        return round(low + (1 - known if turned else known) * (high - low))

    return score


# -- a simulated judge -----------------------------------------------------------------------------


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
