"""The replies of criterion_order: read, taken for lost ones, and given by a simulated judge.

How far a lost call can move a figure is shown by all points at each place in turn, by the scores
that a response usually gets, and by those that follow its known quality or the opposite.

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
from typing import TYPE_CHECKING, Any

import numpy as np

from judgesheet.axis import Readings
from judgesheet.axis.labels import NAMES
from judgesheet.axis.losses import Row, answered, split
from judgesheet.axis.simulation import Known, Parameters, drawn, interpolated
from judgesheet.base.records import Call, Label, ReplyFormat
from judgesheet.base.scale import Scale
from judgesheet.reading import INCOMPLETE, NO_VERDICT, Reading
from judgesheet.reading.marks import marks, plain
from judgesheet.reading.reasoning import answer
from judgesheet.reading.verdicts import agreed, displayed, recorded, score_in, under_key

if TYPE_CHECKING:
    import pandas as pd

# -- reading: a score for every criterion, each exactly once ---------------------------------------


RECORDED = Scale.between(0, 100)
"""The scale of a recorded verdict whose cell does not name it."""


def reading(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Reading:
    """The score of every criterion, each in exactly one way.

    They are points of the cell's scale, which only a recorded verdict may lack.
    """
    order, scale = cell["order"], RECORDED if cell.get("scale") is None else Scale.of(cell)
    if reply == "text":
        return _from_lines(unicodedata.normalize("NFC", answer(text)), order, scale)

    def recorded_point(value: object) -> int | None:
        point = scale.point(value)
        # What is on no scale stays the number that it is.
        return None if point is None else point - (scale is RECORDED)

    def scores(given: object) -> dict[str, int] | None:
        read = (lambda value: score_in(value, scale)) if reply == "json" else recorded_point
        return _from_mapping(_by_name(given), order, read)

    if reply == "json":
        return under_key(text, "scores", scores, INCOMPLETE)
    return agreed([scores(recorded(text))], INCOMPLETE)


def points_by_place(scores: Mapping[str, int], order: Sequence[str]) -> list[float]:
    """The scores of the criteria, in displayed order."""
    return [float(scores[name]) for name in order]


def parts(cell: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    """Per criterion, in displayed order, what a pattern of the user's own may call it."""
    return displayed(cell["order"])


def _from_lines(words: str, order: Sequence[str], scale: Scale) -> Reading:
    """A line per criterion, `[Name] N`, wherever they stand."""
    wanted = {plain(name): name for name in order}
    given = marks(words, [unicodedata.normalize("NFC", name) for name in order], scale)
    scores = {name: agreed([m.value for m in given if m.name == name]) for name in wanted}
    lost = [one.reason for one in scores.values() if one.reason is not None]
    if not lost:
        return Reading({wanted[name]: one.verdict for name, one in scores.items()})
    if not given:
        return NO_VERDICT
    return INCOMPLETE if "no_verdict" in lost else Reading.lost(lost[0])


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


Scored = Callable[[Row, str, int], int]
"""The score of a lost call on the criterion of that name at that place."""
Ends = Callable[[Row], tuple[int, int]]
"""The lowest and the highest score that a lost call could give."""


def impute(readings: Readings) -> "Iterator[pd.DataFrame]":
    """Each place in turn, the scores that are usual, and what quality deserves."""
    frame = readings.frame
    calls, read = split(frame)
    given = [score for call in read for score in call["value"].values()]
    seen: defaultdict[tuple[str, str], Counter[int]] = defaultdict(Counter)
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

    ways = [
        *(_only(place, ends) for place in range(max(len(call["order"]) for call in calls))),
        usual,
        *(_deserved(_worth(readings), ends, usual, turned=turned) for turned in (False, True)),
    ]
    for score in ways:
        yield answered(frame, _values(calls, score))


def _values(calls: Sequence[Row], score: Scored) -> list[dict[str, int]]:
    return [
        {name: score(call, name, place) for place, name in enumerate(call["order"])}
        for call in calls
    ]


def _only(place: int, ends: Ends) -> Scored:
    """All points at one place and none elsewhere."""
    return lambda call, _name, at: ends(call)[at == place]


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
    order, scale = [str(name) for name in call.cell["order"]], Scale.of(call.cell)
    scores = {}
    for name in order:
        level = perceived(parameters, call, known, name)
        shares = criterion_probabilities(
            parameters, str(call.cell["item"]), order, name, scale.count, level
        )
        scores[name] = scale.number(drawn(rng, dict(enumerate(shares, start=1))))
    if call.reply == "json":
        return json.dumps({"scores": scores}, ensure_ascii=False)
    lines = "\n".join(f"[{name}] {score}" for name, score in scores.items())
    return f"The response has strengths and weaknesses, which differ by criterion.\n\n{lines}"
