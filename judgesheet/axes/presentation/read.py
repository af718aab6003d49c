"""The replies of presentation: read, taken for lost ones, and given by a simulated judge.

How a simulated judge compares two copies of a response. It leans x towards slot 1 and has a tie
threshold t, as in candidate_order:

    x = slot + side * (style - sensitivity * missing),   side = 1 if the altered copy is in slot 1
    t = tie

`style` is the planted preference for the kind: `loves_length` for every doubling of the words, the
others once. On a share `mixed` of the stimuli it has the other sign. A note to the judge is obeyed
on a share `obeys` of the stimuli, whatever else it thinks. Scores of an altered copy are higher by
style / sensitivity points.
"""

import json
import math
import random
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from judgesheet.axes.candidate_order import CandidateOrder
from judgesheet.axes.candidate_order import chosen as chosen_slot
from judgesheet.axis import Readings
from judgesheet.axis.comparison import Imputer, chances, imputations, simulated
from judgesheet.axis.losses import Row
from judgesheet.axis.simulation import Known, Logit, Parameters, Share, drawn
from judgesheet.base.records import Call, ReplyFormat
from judgesheet.base.scale import Scale
from judgesheet.reading import Reading
from judgesheet.reading.verdicts import score_reading

from . import rules
from .ask import NATURAL, PAIR, SCALE, SCORE

if TYPE_CHECKING:
    import pandas as pd

# -- reading ---------------------------------------------------------------------------------------


def reading(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Reading:
    """`1`, `2`, `tie` or `abstain` of a comparison, or a score."""
    if cell.get("ask", PAIR) == SCORE:
        return score_reading(text, reply, Scale(SCALE))
    return CandidateOrder.reading(text, reply, cell)


def chosen(verdict: Any, order: Sequence[Any]) -> Any:
    """Which of the things listed a verdict favours; None for a tie."""
    return verdict if isinstance(verdict, int) else chosen_slot(verdict, order)


# -- lost calls: for a slot, for and against style, ties -------------------------------------------


def _always(verdict: str) -> Imputer:
    return lambda call, _other: SCALE // 2 if _scores(call) else verdict


def _for(altered: bool) -> Imputer:
    """The altered copy (of own pairs, b), or the plain one."""

    def answer(call: Row, _other: str | None) -> str | int:
        if _scores(call):
            return SCALE if altered == (call["kind"] in rules.RULES) else 1
        name = call["order"].index("b" if call["kind"] == NATURAL else "dressed")
        return str(1 + (name if altered else 1 - name))

    return answer


def _scores(call: Row) -> bool:
    return bool(call.get("ask", PAIR) == SCORE)


ANSWERS: tuple[Imputer, ...] = (
    *map(_always, ("1", "2", "tie")),
    *(_for(altered=True), _for(altered=False)),
)
_ITEM = ("stimulus", "pair", "prompt")


def impute(readings: Readings) -> "Iterator[pd.DataFrame]":
    """The table with its lost calls answered in each way of `ANSWERS`."""
    return imputations(readings, ANSWERS, _item)


def _item(call: Row) -> tuple[Hashable, ...]:
    return (*(str(call.get(name)) for name in _ITEM), _scores(call))


def complete(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The table with a lost call for the other order of each pair that a log has in one only."""
    import pandas as pd

    if "ask" not in frame:
        return CandidateOrder.complete(frame)
    scored = frame["ask"] == SCORE
    whole = CandidateOrder.complete(frame[~scored])
    return pd.concat([whole, frame[scored]], ignore_index=True) if scored.any() else whole


# -- a simulated judge -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Simulated:
    """What is planted for style: logits towards the altered copy, unless said otherwise."""

    loves_length: Annotated[Logit, "preference for a response with twice as many words"] = 0.0
    loves_format: Annotated[Logit, "preference for headings, lists, tables and fences"] = 0.0
    loves_certain: Annotated[Logit, "preference for sure wording, against hedged wording"] = 0.0
    loves_authority: Annotated[Logit, "preference for named sources"] = 0.0
    obeys: Annotated[Share, "of stimuli on which a note to the judge is obeyed"] = 0.0
    mixed: Annotated[Share, "of stimuli on which these preferences have the other sign"] = 0.0

    def style(self, cell: Mapping[str, Any], stimulus: str, parameters: Parameters) -> float:
        """The planted preference for the altered copy of a cell."""
        by_kind = {
            rules.LENGTH: self.loves_length * math.log2(float(cell.get("dose") or 1.0)),
            rules.FORMAT: self.loves_format,
            rules.CERTAIN: self.loves_certain,
            rules.HEDGED: -self.loves_certain,
            rules.AUTHORITY: self.loves_authority,
        }
        turned = bool(self.mixed) and parameters.rng(stimulus, "mixed").random() < self.mixed
        return (-1 if turned else 1) * by_kind.get(cell["kind"], 0.0)

    def obeyed(self, cell: Mapping[str, Any], stimulus: str, parameters: Parameters) -> bool:
        """Whether a note to the judge decides this call."""
        here = parameters.rng(stimulus, "obeys").random() < self.obeys
        return bool(here and cell["kind"] == rules.INSTRUCTION)


SIMULATED = Simulated


def verdict_probabilities(
    parameters: Parameters, cell: Mapping[str, Any], stimulus: str
) -> dict[str, float]:
    """The planted truth of `policy=model`: the probability of `1`, `2` and `tie` in a cell."""
    first = cell["order"][0]
    side = 1 if first in ("dressed", "b") else -1
    planted = parameters.of(Simulated)
    if planted.obeyed(cell, stimulus, parameters):
        return {"1": float(side > 0), "2": float(side < 0), "tie": 0.0}
    leaning = parameters.slot + side * (
        _own_pair(parameters, planted, cell)
        if cell["kind"] == NATURAL
        else planted.style(cell, stimulus, parameters)
        - parameters.sensitivity * float(cell.get("missing") or 0)
    )
    return chances(leaning, parameters.tie)


def _own_pair(parameters: Parameters, planted: Simulated, cell: Mapping[str, Any]) -> float:
    """Logits towards b of the user's own pair: its words, and what people say."""
    better = {"a": -1.0, "b": 1.0}.get(str(cell.get("better")), 0.0)
    longer = float(cell.get("longer") or 0.0)
    return parameters.sensitivity * better - planted.loves_length * longer


def simulate(parameters: Parameters, call: Call, known: Known, rng: random.Random) -> str:
    """The reply of a simulated judge."""
    if call.cell["ask"] == SCORE:
        score = drawn(rng, score_probabilities(parameters, call.cell, call.stimulus, known()))
        if call.reply == "json":
            return json.dumps({"score": score})
        return f"It says most of what is needed.\n[RESULT] {score}"
    return simulated(parameters, call, rng, verdict_probabilities)


def score_probabilities(
    parameters: Parameters, cell: Mapping[str, Any], stimulus: str, q: float
) -> dict[int, float]:
    """The planted truth of a score: a softmax around the level `q` (0..1), shifted by the style."""
    planted, scores = parameters.of(Simulated), range(1, SCALE + 1)
    shift = planted.style(cell, stimulus, parameters) / (parameters.sensitivity or 1.0)
    # In the middle of the scale, where there is room on both sides.
    mu = 1 + (SCALE - 1) * (1 + parameters.deserved(q)) / 3 + shift
    if planted.obeyed(cell, stimulus, parameters):
        mu = SCALE
    logits = parameters.score_logits(scores, mu, SCALE, parameters.quality)
    return dict(zip(scores, parameters.probabilities(logits), strict=True))
