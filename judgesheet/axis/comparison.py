"""Two responses side by side: what axes share that ask which of them is better.

A simulated judge that leans x towards slot 1 and has a tie threshold t answers

    P(1) = 1 / (1 + exp(t - x)),    P(2) = 1 / (1 + exp(t + x)),    tie otherwise

Where there is nothing to prefer it decides in a share `lapse` of calls, for slot 1 with probability
1 / (1 + exp(-slot)). `policy` replaces all this by a rule.
"""

import json
import math
import random
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgesheet.axis import Readings
from judgesheet.axis.losses import Row, answered, split
from judgesheet.axis.material import word_count
from judgesheet.axis.prompt import boundary
from judgesheet.axis.simulation import Parameters, drawn, hashed
from judgesheet.base.records import Call

if TYPE_CHECKING:
    import pandas as pd

# -- the prompt ------------------------------------------------------------------------------------

_MARK = re.compile(r"</?\s*response", re.IGNORECASE)


def tag(request: str, texts: Sequence[str]) -> str:
    """What marks the responses off: a plain word unless a text tries to look like such a mark."""
    if any(_MARK.search(text) for text in (request, *texts)):
        return f"response_{boundary([request], texts)}"
    return "response"


def variables_used(
    render: Callable[..., str],
    filled: Callable[..., Mapping[str, Any]],
    arms: Mapping[str, Mapping[str, Any]],
) -> frozenset[str]:
    """Which of the arms' variables a template makes use of.

    `filled` gives the variables of an ordinary comparison, with the changes of an arm (`arms`, by
    the variable in which it departs). An arm whose variable is left out would ask the ordinary
    comparison again and find that nothing changes; another mark around the responses alone is no
    other question.
    """

    def text(**changes: Any) -> str:
        return render(**{**filled(**changes), "tag": "response"})

    plain = text()
    return frozenset(name for name, by in arms.items() if text(**by) != plain)


# -- lost calls ------------------------------------------------------------------------------------

Imputer = Callable[[Row, str | None], str | int]
"""What a lost call says, from its cell and the verdict on the pair in the other order."""


def imputations(
    readings: Readings, answers: Sequence[Imputer], pair: Callable[[Row], tuple[Hashable, ...]]
) -> "Iterator[pd.DataFrame]":
    """A table for each of `answers`; `pair` says which calls are about one pair in the same way."""

    def place(call: Row, shown_first: Any) -> tuple[Hashable, ...]:
        return (*pair(call), call["repeat"], shown_first)

    calls, read = split(readings.frame)
    verdicts = {place(call, call["order"][0]): str(call["value"]) for call in read}
    others = [verdicts.get(place(call, call["order"][1])) for call in calls]
    for answer in answers:
        values = [answer(call, other) for call, other in zip(calls, others, strict=True)]
        yield answered(readings.frame, values)


# -- a simulated judge -----------------------------------------------------------------------------

Chances = Callable[[Parameters, Mapping[str, Any], str], Mapping[str, float]]
"""The planted probability of `1`, `2` and `tie`, from the cell of a call and its stimulus."""
_RESPONSE = re.compile(r"<(response\w*_[12])>\n(.*?)\n</\1>", re.DOTALL)


def chances(leaning: float, limit: float) -> dict[str, float]:
    """The probability of `1`, `2` and `tie` of a judge that leans so far towards slot 1."""
    one, two = _logistic(leaning - limit), _logistic(-leaning - limit)
    return {"1": one, "2": two, "tie": max(0.0, 1 - one - two)}


def lapses(parameters: Parameters) -> dict[str, float]:
    """The same where there is nothing to prefer."""
    first, lapse = _logistic(parameters.slot), parameters.lapse
    return {"1": lapse * first, "2": lapse * (1 - first), "tie": 1 - lapse}


def _logistic(logit: float) -> float:
    # 1e-304 is as good as 0, and exp overflows beyond 709 where a user plants a logit of 1000.
    return 1 / (1 + math.exp(min(-logit, 700.0)))


def simulated(parameters: Parameters, call: Call, rng: random.Random, planted: Chances) -> str:
    """The reply of a simulated judge to a comparison."""
    winner = _POLICIES[parameters.policy](parameters, call, rng, planted)
    if call.reply == "json":
        return json.dumps({"winner": winner})
    return f'Having compared the two, I conclude: {{"winner": "{winner}"}}'


def _by_model(parameters: Parameters, call: Call, rng: random.Random, planted: Chances) -> str:
    shares = planted(parameters, call.cell, call.stimulus)
    if parameters.greedy:
        return max(shares, key=lambda verdict: shares[verdict])
    return drawn(rng, shares)


def _by_length(call: Call) -> str:
    shown = _RESPONSE.findall(call.messages[-1]["content"])
    first, second = (word_count(text) for _, text in shown)
    return "tie" if first == second else "1" if first > second else "2"


_POLICIES: Mapping[str, Callable[[Parameters, Call, random.Random, Chances], str]] = {
    "model": _by_model,
    "hash": lambda _, call, *__: ("1", "2")[hashed(call.messages[-1]["content"]) % 2],
    "slot1": lambda *_: "1",
    "ties": lambda *_: "tie",
    "longer": lambda _, call, *__: _by_length(call),
    "coin": lambda _, __, rng, ___: rng.choice(("1", "2", "tie")),
}
"""How to decide a comparison."""
