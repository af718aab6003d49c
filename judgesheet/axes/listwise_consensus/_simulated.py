"""How a simulated judge scores a list of candidate answers.

Candidate c of a prompt, shown at place p of n in some order, gets a score from 0 to 100:

    score = 50 + gap * (1 if c is gold) * min(quality, 1) + slot_p + shared * e_c + perturb * e_co
            + noise * e

`slot_p` is 10 points per logit of the judge's preference for a place (`position`, `first`, `last`),
so that `first-biased` prefers the first answer too; `e_c` is normal and fixed for a prompt's
candidate whatever the order: the errors that all orders share; `e_co` is fixed for a candidate
under an order; `e` is new in each call, with `noise` = 10 points per unit of `width` (none if
`greedy`). Scores are rounded and clipped to 0..100; each candidate is marked uncertain in a share
`unsure` of calls. The identity of the candidates and the gold are taken from the cell of the call.
`policy` replaces the scores by a rule.
"""

import json
import random
import re
from collections.abc import Callable, Mapping
from typing import Any

from judgesheet.axes.listwise_consensus._reply import LABELS
from judgesheet.axis.material import word_count
from judgesheet.axis.simulation import Known, Parameters, hashed
from judgesheet.base.records import Call

POINTS_PER_LOGIT = 10.0
_MIDDLE, _WIN, _LOSE = 50, 90, 10
_CANDIDATE = re.compile(
    r"\[\[(\w+) candidate (\w) begins\]\]\n(.*?)\n\[\[\1 candidate \2 ends\]\]", re.DOTALL
)


def expected_scores(parameters: Parameters, cell: Mapping[str, Any], stimulus: str) -> list[float]:
    """The planted truth: the score of each displayed candidate before noise, rounding and cut.

    The stimulus and the candidate's id decide the shared error.
    """
    order = [str(name) for name in cell["order"]]
    gold = set(cell.get("golds") or [cell.get("gold")])
    gap = parameters.gap * min(parameters.quality, 1.0)
    slots = parameters.position_logits(str(cell["item"]), len(order))
    scores = []
    for name, slot in zip(order, slots, strict=True):
        shared = parameters.normal(parameters.shared, stimulus, name)
        perturbed = parameters.normal(parameters.perturb, stimulus, name, ",".join(order))
        worth = gap if name in gold else 0.0
        scores.append(_MIDDLE + worth + POINTS_PER_LOGIT * slot + shared + perturbed)
    return scores


def simulate(parameters: Parameters, call: Call, known: Known, rng: random.Random) -> str:
    """The reply of a simulated judge."""
    del known  # which answer is right stands in the cell
    scores = _POLICIES[parameters.policy](parameters, call, rng)
    listed = [
        {
            "label": label,
            "score": score,
            "rationale": "As planted.",
            "major_error": False,
            "hallucinated_specificity": False,
            "calibrated_uncertainty": rng.random() < parameters.unsure,
        }
        for label, score in zip(LABELS, scores, strict=False)
    ]
    text = json.dumps({"candidates": listed})
    return text if call.reply == "json" else f"I have compared them all.\n```json\n{text}\n```"


def _by_model(parameters: Parameters, call: Call, rng: random.Random) -> list[int]:
    noise = 0.0 if parameters.greedy else POINTS_PER_LOGIT * parameters.width
    means = expected_scores(parameters, call.cell, call.stimulus)
    return [round(min(100.0, max(0.0, mean + rng.gauss(0, noise)))) for mean in means]


def _by_length(call: Call) -> list[int]:
    shown = _CANDIDATE.findall(call.messages[-1]["content"])
    counts = [word_count(body) for _, _, body in shown]
    return [round(100 * count / max(counts)) for count in counts]


def _by_hash(call: Call) -> list[int]:
    """Scores by a hash of the prompt, which changes with the order."""
    text = call.messages[-1]["content"]
    return [hashed(f"{place}{text}") % 101 for place in range(_n(call))]


def _n(call: Call) -> int:
    return len(call.cell["order"])


# How to score a list.
_POLICIES: Mapping[str, Callable[[Parameters, Call, random.Random], list[int]]] = {
    "model": _by_model,
    "hash": lambda _, call, __: _by_hash(call),
    "slot1": lambda _, call, __: [_WIN, *[_LOSE] * (_n(call) - 1)],
    "ties": lambda _, call, __: [_MIDDLE] * _n(call),
    "longer": lambda _, call, __: _by_length(call),
    "coin": lambda _, call, rng: [rng.randint(0, 100) for _ in range(_n(call))],
}
