"""How a simulated judge compares two responses.

It has a leaning x towards slot 1 and a tie threshold t:

    P(1) = 1 / (1 + exp(t - x)),    P(2) = 1 / (1 + exp(t + x)),    tie otherwise
    x = slot + sensitivity * (better in slot 1: delta, in slot 2: -delta) + surface * e_pair
        + filler * (padded copy in slot 1: 1, in slot 2: -1)
        + cue * (1 if the prompt lists 1 before 2 else -1) / 2
    t = tie (+ strict under the strict prompt)

`e_pair` is normal, fixed for a pair of responses, and changes sign when they are swapped. Where
there is nothing to prefer it decides in a share `lapse` of calls, for slot 1 with probability 1 /
(1 + exp(-slot)). It takes delta and the better response from the cell of the call, which a real
judge never sees. `policy` replaces all this by a rule.
"""

import json
import math
import random
import re
from collections.abc import Callable, Mapping
from typing import Any

from judgesheet.axis.material import word_count
from judgesheet.axis.simulation import Known, Parameters, drawn, hashed
from judgesheet.base.records import Call

_RESPONSE = re.compile(r"<(response\w*_[12])>\n(.*?)\n</\1>", re.DOTALL)


def verdict_probabilities(
    parameters: Parameters, cell: Mapping[str, Any], stimulus: str
) -> dict[str, float]:
    """The planted truth of `policy=model`: the probability of `1`, `2` and `tie` in a cell.

    The stimulus and the cell's pair decide the reaction to surface.
    """
    if cell["condition"] == "vacuum":
        first, lapse = _logistic(parameters.slot), parameters.lapse
        return {"1": lapse * first, "2": lapse * (1 - first), "tie": 1 - lapse}
    leaning, limit = _leaning(parameters, cell, stimulus), parameters.tie
    if cell.get("prompt") == "strict":
        limit += parameters.strict
    one, two = _logistic(leaning - limit), _logistic(-leaning - limit)
    return {"1": one, "2": two, "tie": max(0.0, 1 - one - two)}


def _logistic(logit: float) -> float:
    # 1e-304 is as good as 0, and exp overflows beyond 709 where a user plants a slot of 1000.
    return 1 / (1 + math.exp(min(-logit, 700.0)))


def _leaning(parameters: Parameters, cell: Mapping[str, Any], stimulus: str) -> float:
    """Logits towards slot 1."""
    shown_first = cell["order"][0]
    surface = parameters.normal(parameters.surface, stimulus, cell["pair"])
    left = parameters.keyed if cell.get("keyed") else 1.0
    leaning = left * parameters.slot + (surface if shown_first == "u" else -surface)
    if cell.get("better"):
        delta = 1.0 if cell.get("delta") is None else float(cell["delta"])
        side = 1 if cell["better"] == shown_first else -1
        leaning += parameters.sensitivity * delta * side
    if cell["condition"] == "filler":  # v is the padded copy
        leaning += parameters.filler * (1 if shown_first == "v" else -1)
    listed_first = str(cell.get("listing") or "1").startswith("1")
    return leaning + parameters.cue * (0.5 if listed_first else -0.5)


def simulate(parameters: Parameters, call: Call, known: Known, rng: random.Random) -> str:
    """The reply of a simulated judge."""
    del known  # what a comparison may know stands in its cell
    if call.cell.get("keyed") == "solve":
        return f"My own answer to {call.stimulus}, as planted."
    winner = _POLICIES[parameters.policy](parameters, call, rng)
    if call.reply == "json":
        return json.dumps({"winner": winner})
    return f'Having compared the two, I conclude: {{"winner": "{winner}"}}'


def _by_model(parameters: Parameters, call: Call, rng: random.Random) -> str:
    chances = verdict_probabilities(parameters, call.cell, call.stimulus)
    if parameters.greedy:
        return max(chances, key=lambda verdict: chances[verdict])
    return drawn(rng, chances)


def _by_length(call: Call) -> str:
    shown = _RESPONSE.findall(call.messages[-1]["content"])
    first, second = (word_count(text) for _, text in shown)
    return "tie" if first == second else "1" if first > second else "2"


# How to decide a comparison.
_POLICIES: Mapping[str, Callable[[Parameters, Call, random.Random], str]] = {
    "model": _by_model,
    "hash": lambda _, call, __: ("1", "2")[hashed(call.messages[-1]["content"]) % 2],
    "slot1": lambda *_: "1",
    "ties": lambda *_: "tie",
    "longer": lambda _, call, __: _by_length(call),
    "coin": lambda _, __, rng: rng.choice(("1", "2", "tie")),
}
