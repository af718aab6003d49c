"""How a simulated judge scores a list of candidate answers.

Candidate c of a prompt, shown at place p of n in some order, gets a score from 0 to 100:

    score = 50 + gap * (1 if c is gold) * min(quality, 1) + slot_p + shared * e_c + perturb * e_co
            + noise * e

`slot_p` is 10 points per logit of the judge's line preference (`position`, `first`, `last`), so
that `first-biased` prefers the first answer too; `e_c` is normal and fixed for a prompt's candidate
whatever the order: the errors that all orders share; `e_co` is fixed for a candidate under an
order; `e` is new in each call, with `noise` = 10 points per unit of `width` (none if `greedy`).
Scores are rounded and cut to 0..100; each candidate is marked uncertain in a share `unsure` of
calls. Who a candidate is, and who is gold, it takes from the cell of the call alone.
"""

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgesheet.records import Call, digest

if TYPE_CHECKING:
    from judgesheet.judges.simulated import Parameters

_LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
POINTS_PER_LOGIT = 10.0
_MIDDLE, _WIN, _LOSE = 50, 90, 10
_CANDIDATE = re.compile(
    r"\[\[(\w+) candidate (\w) begins\]\]\n(.*?)\n\[\[\1 candidate \2 ends\]\]", re.DOTALL
)


def expected_scores(
    parameters: "Parameters",
    cell: Mapping[str, Any],
    stimulus: str,
    slots: Sequence[float],
) -> list[float]:
    """The planted truth: the score of each displayed candidate before noise, rounding and cut.

    Parameters
    ----------
    parameters
        What is planted.
    cell
        The cell of a call of listwise_consensus.
    stimulus
        The call's stimulus; with the candidate it decides the shared error.
    slots
        Logits of the places, in displayed order.
    """
    order = [str(name) for name in cell["order"]]
    gold = set(cell.get("golds") or [cell.get("gold")])
    gap = parameters.gap * min(parameters.quality, 1.0)
    scores = []
    for name, slot in zip(order, slots, strict=True):
        seed = f"{parameters.seed}:{stimulus}:{name}"
        shared = parameters.shared * random.Random(seed).gauss(0, 1)  # noqa: S311
        under = f"{seed}:{','.join(order)}"
        perturbed = parameters.perturb * random.Random(under).gauss(0, 1)  # noqa: S311
        worth = gap if name in gold else 0.0
        scores.append(_MIDDLE + worth + POINTS_PER_LOGIT * slot + shared + perturbed)
    return scores


def answer(parameters: "Parameters", call: Call, slots: Sequence[float], rng: random.Random) -> str:
    """The reply of a simulated judge to a call of listwise_consensus."""
    rule = _RULES.get(parameters.policy)
    noise = 0.0 if parameters.greedy else POINTS_PER_LOGIT * parameters.width
    if rule is not None:
        scores = rule(call, rng)
    else:
        means = expected_scores(parameters, call.cell, call.stimulus, slots)
        scores = [round(min(100.0, max(0.0, mean + rng.gauss(0, noise)))) for mean in means]
    listed = [
        {
            "label": label,
            "score": score,
            "rationale": "As planted.",
            "major_error": False,
            "hallucinated_specificity": False,
            "calibrated_uncertainty": rng.random() < parameters.unsure,
        }
        for label, score in zip(_LABELS, scores, strict=False)
    ]
    text = json.dumps({"candidates": listed})
    return text if call.reply == "json" else f"I have compared them all.\n```json\n{text}\n```"


def _n(call: Call) -> int:
    return len(call.cell["order"])


def _by_length(call: Call, rng: random.Random) -> list[int]:
    """More words, more points."""
    del rng
    text = call.messages[-1]["content"]
    shown = _CANDIDATE.findall(text)
    counts = [len(re.findall(r"\w+", body)) for _, _, body in shown]
    return [round(100 * count / max(counts)) for count in counts]


def _by_hash(call: Call, rng: random.Random) -> list[int]:
    """By the letters of the prompt, which change with the order."""
    del rng
    text = call.messages[-1]["content"]
    return [int(digest(f"{place}{text}")[:8], 16) % 101 for place in range(_n(call))]


_RULES: Mapping[str, Callable[[Call, random.Random], list[int]]] = {
    "slot1": lambda call, _rng: [_WIN, *[_LOSE] * (_n(call) - 1)],
    "ties": lambda call, _rng: [_MIDDLE] * _n(call),
    "coin": lambda call, rng: [rng.randint(0, 100) for _ in range(_n(call))],
    "hash": _by_hash,
    "longer": _by_length,
}
"""Policies that score without the model above."""
