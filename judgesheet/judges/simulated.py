"""Simulated judges: biases that are planted, documented and known exactly.

`sim/NAME?key=value&…` answers in the text formats of real judges and goes through the same
parsers, so anyone can check the instrument against the truth, which `score_probabilities` gives.

A judge that grades on a scale of n scores, shown in some order, is a softmax over the shown lines:

    logit(score s on line p) = -quality * (s - mu)**2 / (2 * sd**2) + b_p + e_ip
    mu = 1 + (n - 1) * q,    sd = width * (n - 1) / 4

`q` (0..1) is the item's intended level, or a hash of the item where none is known; `b_p` the
planted preference for line p; `e_ip` an item-by-line logit with mean zero over the lines. With
`quality=0` it does not look at the answer at all.

A judge that compares two responses has a leaning x towards slot 1 and a tie threshold t:

    P(1) = 1 / (1 + exp(t - x)),    P(2) = 1 / (1 + exp(t + x)),    tie otherwise
    x = slot + sensitivity * (better in slot 1: delta, in slot 2: -delta) + surface * e_pair
        + cue * (1 if the prompt lists 1 before 2 else -1) / 2
    t = tie (+ strict under the strict prompt)

`e_pair` is normal, fixed for a pair of responses, and changes sign when they are swapped. Where
there is nothing to prefer it decides in a share `lapse` of calls, for slot 1 with probability
1 / (1 + exp(-slot)). It takes delta and the better response from the cell of the call: that is a
simulated judge's privilege. `policy` replaces all this by a rule.

How it grades several criteria at once stands in `_simulated_criteria`, how it scores a whole list
of answers in `_simulated_listwise`.

Asked for log-probabilities it gives those of the scores, exactly as planted.
"""

import asyncio
import json
import math
import random
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import parse_qsl

from judgesheet.errors import JudgesheetError, UsageError
from judgesheet.judges import _simulated_listwise as listwise
from judgesheet.judges._simulated_criteria import answer_criteria
from judgesheet.judges._simulated_logprobs import completion
from judgesheet.judges._softmax import interpolated, softmax
from judgesheet.records import Call, Label, Outcome, Reply, digest


@dataclass(frozen=True, slots=True)
class Parameters:
    """What is planted; each is a key of `sim/NAME?key=value`.

    - `quality`: weight of the content (0: blind)
    - `width`: spread around the right score, in quarters of the scale
    - `shift`: points added to a criterion at each place in a list of criteria (`a:b:c:…`),
      interpolated to the number of places
    - `weights`: by how much `shift` is multiplied for the first, second, … criterion in
      alphabetical order, recycled
    - `first`, `last`: logits added to the first and the last line
    - `position`: logits of all lines (`a:b:c:…`), interpolated to the number of lines
    - `interaction`: standard deviation of the item-by-line logit; for criteria, of the
      item-by-place shift in points
    - `slot`, `tie`, `strict`, `sensitivity`, `surface`, `cue`, `lapse`: as above, for comparisons
    - `keyed`: share of `slot` that is left where a comparison follows an answer of its own
    - `gap`, `shared`, `perturb`, `unsure`: for lists of answers; see `_simulated_listwise`
    - `policy`: how comparisons and lists are decided: `model` (as above), `hash` (by the letters of
      the prompt), `slot1`, `ties`, `longer` (the response with more words), `coin` (all alike)
    - `level`: the level (0..1) that is given to every item, whatever it deserves
    - `greedy`: 1 takes the likeliest line (the first of equals) instead of drawing one
    - `unreadable`, `refused`: shares of replies (0..1)
    - `calming`: how fast `first` and `last` fade with the temperature that a call asks for: they
      are divided by 1 + calming * temperature
    - `latency_ms`: delay of each reply
    - `seed`: of the draws and of the interaction
    """

    quality: float = 1.0
    width: float = 0.5
    first: float = 0.0
    last: float = 0.0
    position: tuple[float, ...] = ()
    interaction: float = 0.0
    shift: tuple[float, ...] = ()
    weights: tuple[float, ...] = (1.0,)
    slot: float = 0.0
    tie: float = 6.0
    strict: float = 2.0
    sensitivity: float = 12.0
    surface: float = 0.0
    cue: float = 0.0
    lapse: float = 0.0
    keyed: float = 0.0
    gap: float = 20.0
    shared: float = 0.0
    perturb: float = 0.0
    unsure: float = 0.1
    policy: str = "model"
    level: float | None = None
    greedy: int = 0
    unreadable: float = 0.0
    refused: float = 0.0
    calming: float = 0.0
    latency_ms: float = 0.0
    seed: int = 0


PRESETS: Mapping[str, Parameters] = {
    "fair": Parameters(),
    "first-biased": Parameters(first=2.0, slot=3.0, shift=(1.0, 0.0)),
    "last-biased": Parameters(last=2.0, slot=-3.0, shift=(0.0, 1.0)),
    "position-only": Parameters(
        quality=0.0, first=1.0, greedy=1, policy="slot1", shift=(2.0, -2.0)
    ),
    "random": Parameters(quality=0.0, width=1000.0, policy="coin"),
    "constant": Parameters(level=0.5, greedy=1, policy="ties"),
    "unreadable": Parameters(unreadable=1.0),
    "noisy": Parameters(width=2.0, tie=1.0, sensitivity=1.0, lapse=0.3),
    "hash": Parameters(quality=0.0, policy="hash"),
    "always-1": Parameters(level=0.0, greedy=1, policy="slot1"),
    "always-tie": Parameters(level=0.5, greedy=1, policy="ties"),
    "longer": Parameters(policy="longer"),
}
"""`position-only` always takes the first line and scores a criterion by its place; `constant` takes
the middle of the scale; the last four are frauds that a probe must see through when it compares."""


def score_probabilities(
    parameters: Parameters, item: str, scale: int, order: Sequence[int], q: float | None
) -> list[float]:
    """The planted truth: the probability of each line of a rubric, in displayed order.

    Parameters
    ----------
    parameters
        What is planted.
    item
        The item's name; it decides the interaction, and the level where `q` is None.
    scale
        The number of scores, n; scores run from 1 to n.
    order
        The score on each line.
    q
        The item's intended level, 0..1, or None if unknown.
    """
    level = _level(parameters, item, q)
    mu = 1 + (scale - 1) * level
    spread = 2 * (parameters.width * (scale - 1) / 4) ** 2
    content = [-parameters.quality * (score - mu) ** 2 / spread for score in order]
    position = position_logits(parameters, item, len(order))
    logits = [a + b for a, b in zip(content, position, strict=True)]
    if parameters.greedy:
        chosen = logits.index(max(logits))
        return [float(line == chosen) for line in range(len(logits))]
    return softmax(logits)


def position_logits(parameters: Parameters, item: str, n: int) -> list[float]:
    """The planted preference of each of `n` lines for this item."""
    logits = interpolated(parameters.position, n)
    logits[0] += parameters.first
    logits[-1] += parameters.last
    if parameters.interaction:
        rng = random.Random(f"{parameters.seed}:{item}:lines")  # noqa: S311
        noise = [rng.gauss(0.0, parameters.interaction) for _ in range(n)]
        mean = math.fsum(noise) / n
        logits = [logit + one - mean for logit, one in zip(logits, noise, strict=True)]
    return logits


def verdict_probabilities(
    parameters: Parameters, cell: Mapping[str, Any], stimulus: str
) -> dict[str, float]:
    """The planted truth of `policy=model`: the probability of `1`, `2` and `tie` in a cell.

    Parameters
    ----------
    parameters
        What is planted.
    cell
        The cell of a call of candidate_order.
    stimulus
        The call's stimulus; with the pair it decides the reaction to surface.
    """
    if cell["condition"] == "vacuum":
        first = 1 / (1 + math.exp(-parameters.slot))
        lapse = parameters.lapse
        return {"1": lapse * first, "2": lapse * (1 - first), "tie": 1 - lapse}
    leaning, limit = _leaning(parameters, cell, stimulus), parameters.tie
    if cell.get("prompt") == "strict":
        limit += parameters.strict
    one, two = 1 / (1 + math.exp(limit - leaning)), 1 / (1 + math.exp(limit + leaning))
    return {"1": one, "2": two, "tie": max(0.0, 1 - one - two)}


def _leaning(parameters: Parameters, cell: Mapping[str, Any], stimulus: str) -> float:
    """Logits towards slot 1."""
    shown_first = cell["order"][0]
    surface = random.Random(f"{parameters.seed}:{stimulus}:{cell['pair']}").gauss(0, 1)  # noqa: S311
    left = parameters.keyed if cell.get("keyed") else 1.0
    leaning = left * parameters.slot + parameters.surface * (
        surface if shown_first == "u" else -surface
    )
    if cell.get("better"):
        delta = 1.0 if cell.get("delta") is None else float(cell["delta"])
        side = 1 if cell["better"] == shown_first else -1
        leaning += parameters.sensitivity * delta * side
    listed_first = str(cell.get("listing") or "1").startswith("1")
    return leaning + parameters.cue * (0.5 if listed_first else -0.5)


class SimulatedJudge:
    """A judge with planted parameters; the same call and attempt always get the same reply."""

    max_concurrency: int | None = None

    def __init__(
        self,
        name: str,
        parameters: Parameters,
        answer_key: Mapping[str, float] | None = None,
    ) -> None:
        self._name = name
        self._parameters = parameters
        self._answer_key = answer_key or {}

    @classmethod
    def from_name(cls, name: str, answer_key: Mapping[str, float] | None = None) -> Self:
        """The judge that `NAME?key=value&…` describes.

        Raises
        ------
        UsageError
            if a name, key or value is not one of those that exist; the sentence lists them.
        """
        preset, _, query = name.partition("?")
        if preset not in PRESETS:
            raise UsageError(f"there is no sim/{preset}; the presets are {', '.join(PRESETS)}")
        return cls(preset, _overridden(PRESETS[preset], query), answer_key)

    @property
    def parameters(self) -> Parameters:
        """What is planted in this judge."""
        return self._parameters

    @property
    def identity(self) -> Mapping[str, Any]:
        """Preset and every parameter."""
        return {"provider": "sim", "model": self._name, "parameters": asdict(self._parameters)}

    async def ask(self, call: Call, attempt: int) -> Reply:
        """Answer as planted.

        Raises
        ------
        JudgesheetError
            if nothing is planted for the call's axis.
        """
        answer = _ANSWERS.get(call.axis)
        if answer is None:
            raise JudgesheetError(
                f"simulated judges know {', '.join(_ANSWERS)}, not the axis {call.axis}: "
                "leave it out with --axis or use another judge"
            )
        started = time.perf_counter()
        rng = random.Random(f"{self._parameters.seed}:{call.id}:{attempt}")  # noqa: S311
        outcome, text = self._reply(
            rng, lambda: answer(self._parameters, call, self._key(call), rng)
        )
        if self._parameters.latency_ms:
            await asyncio.sleep(self._parameters.latency_ms / 1000)
        return Reply(
            call_id=call.id,
            attempt=attempt,
            outcome=outcome,
            text=text,
            raw=self._body(call, text),
            latency_s=time.perf_counter() - started,
            tokens_in=sum(len(message["content"]) for message in call.messages) // 4,
            tokens_out=len(text) // 4,
            served_model=f"sim/{self._name}",
            at=time.time(),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def _reply(self, rng: random.Random, answer: Callable[[], str]) -> tuple[Outcome, str]:
        draw = rng.random()
        if draw < self._parameters.refused:
            return "refused", ""
        if draw < self._parameters.refused + self._parameters.unreadable:
            return "ok", "I would rather not put a number on this."
        return "ok", answer()

    def _body(self, call: Call, text: str) -> str:
        """The text itself, or a completion around it where log-probabilities are asked for."""
        if not call.params.get("logprobs") or call.axis != "score_order":
            return text
        shares = _score_shares(self._parameters, call, self._key(call))
        return completion(text, shares, int(call.params.get("top_logprobs", 0)))

    def _key(self, call: Call) -> "Known":
        """What is known about the call's item: its level, or that on a criterion."""
        return lambda criterion="": self._answer_key.get(
            _name(str(call.cell.get("item")), criterion)
        )


def answer_key(labels: Iterable[Label]) -> dict[str, float]:
    """The intended levels (0..1) that a simulated judge may know, by item and criterion."""
    return {
        _name(label.item, label.criterion): label.score
        for label in labels
        if label.kind == "intended"
    }


def _name(item: str, criterion: str) -> str:
    return f"{item}\n{criterion}" if criterion else item


class Known(Protocol):
    """The level of a call's item, overall or on a criterion; None where it is not known."""

    def __call__(self, criterion: str = "") -> float | None:
        """The level, 0..1."""


def _score_shares(parameters: Parameters, call: Call, known: Known) -> dict[int, float]:
    """The planted probability of every score in a call, in displayed order."""
    order = [int(score) for score in call.cell["order"]]
    fading = 1 + parameters.calming * float(call.params.get("temperature", 0.0))
    parameters = replace(parameters, first=parameters.first / fading, last=parameters.last / fading)
    shares = score_probabilities(
        parameters, str(call.cell["item"]), int(call.cell["scale"]), order, known()
    )
    return dict(zip(order, shares, strict=True))


def _answer_score(parameters: Parameters, call: Call, known: Known, rng: random.Random) -> str:
    shares = _score_shares(parameters, call, known)
    score = rng.choices(list(shares), list(shares.values()))[0]
    if call.reply == "json":
        return json.dumps({"score": score})
    return f"Of the descriptions, that of score {score} fits the response best.\n[RESULT] {score}"


def _answer_criteria(parameters: Parameters, call: Call, known: Known, rng: random.Random) -> str:
    item = str(call.cell["item"])

    def level_of(criterion: str) -> float:
        return _level(parameters, _name(item, criterion), known(criterion))

    return answer_criteria(parameters, call, level_of, rng)


def _answer_comparison(parameters: Parameters, call: Call, known: Known, rng: random.Random) -> str:
    del known  # what a comparison may know stands in its cell
    if call.cell.get("keyed") == "solve":
        return f"My own answer to {call.stimulus}, as planted."
    winner = _POLICIES[parameters.policy](parameters, call, rng)
    if call.reply == "json":
        return json.dumps({"winner": winner})
    return f'Having compared the two, I conclude: {{"winner": "{winner}"}}'


def _answer_list(parameters: Parameters, call: Call, known: Known, rng: random.Random) -> str:
    del known  # which answer is right stands in the cell
    slots = position_logits(parameters, str(call.cell["item"]), len(call.cell["order"]))
    return listwise.answer(parameters, call, slots, rng)


def _by_model(parameters: Parameters, call: Call, rng: random.Random) -> str:
    chances = verdict_probabilities(parameters, call.cell, call.stimulus)
    if parameters.greedy:
        return max(chances, key=lambda verdict: chances[verdict])
    return rng.choices(list(chances), list(chances.values()))[0]


def _by_hash(parameters: Parameters, call: Call, rng: random.Random) -> str:
    del parameters, rng
    return ("1", "2")[int(digest(call.messages[-1]["content"])[:8], 16) % 2]


def _by_length(parameters: Parameters, call: Call, rng: random.Random) -> str:
    del parameters, rng
    first, second = (
        len(re.findall(r"\w+", text))
        for _, text in re.findall(
            r"<(response\w*_[12])>\n(.*?)\n</\1>", call.messages[-1]["content"], re.DOTALL
        )
    )
    return "tie" if first == second else "1" if first > second else "2"


_POLICIES: Mapping[str, Callable[[Parameters, Call, random.Random], str]] = {
    "model": _by_model,
    "hash": _by_hash,
    "slot1": lambda *_: "1",
    "ties": lambda *_: "tie",
    "longer": _by_length,
    "coin": lambda _parameters, _call, rng: rng.choice(("1", "2", "tie")),
}
"""How to decide a comparison."""

_Answer = Callable[[Parameters, Call, Known, random.Random], str]
_ANSWERS: Mapping[str, _Answer] = {
    "score_order": _answer_score,
    "criterion_order": _answer_criteria,
    "candidate_order": _answer_comparison,
    "listwise_consensus": _answer_list,
}
"""How to answer each axis."""


def _level(parameters: Parameters, item: str, q: float | None) -> float:
    if parameters.level is not None:
        return parameters.level
    return int(digest(item)[:8], 16) / 0xFFFFFFFF if q is None else q


# -- reading `key=value&…` -------------------------------------------------------------------


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _between(low: float, high: float) -> Callable[[str], float]:
    def convert(text: str) -> float:
        value = _number(text)
        if not low <= value <= high:
            raise ValueError(text)
        return value

    return convert


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(_number(part) for part in text.split(":"))


def _policy(text: str) -> str:
    if text not in _POLICIES:
        raise ValueError(text)
    return text


def _switch(text: str) -> int:
    return {"0": 0, "1": 1}[text]


_VALUES: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "quality": (_between(0, 1e6), "a number from 0"),
    "width": (_between(1e-3, 1e3), "a number from 0.001 to 1000"),
    "first": (_number, "a logit"),
    "last": (_number, "a logit"),
    "position": (_numbers, "logits such as 1:0:0:0:1"),
    "interaction": (_between(0, 1e3), "a number from 0 to 1000"),
    "shift": (_numbers, "points such as 1:0:0:0:-1"),
    "weights": (_numbers, "factors such as 1:-1"),
    "slot": (_number, "a logit"),
    "tie": (_between(0, 1e3), "a logit from 0"),
    "strict": (_between(0, 1e3), "a logit from 0"),
    "sensitivity": (_number, "logits per step"),
    "surface": (_between(0, 1e3), "a number from 0 to 1000"),
    "cue": (_number, "a logit"),
    "lapse": (_between(0, 1), "a share from 0 to 1"),
    "keyed": (_between(0, 1), "a share from 0 to 1"),
    "gap": (_number, "points from 0 to 100"),
    "shared": (_between(0, 1e3), "points from 0"),
    "perturb": (_between(0, 1e3), "points from 0"),
    "unsure": (_between(0, 1), "a share from 0 to 1"),
    "policy": (_policy, "model, hash, slot1, ties, longer or coin"),
    "level": (_between(0, 1), "a number from 0 to 1"),
    "greedy": (_switch, "0 or 1"),
    "unreadable": (_between(0, 1), "a share from 0 to 1"),
    "refused": (_between(0, 1), "a share from 0 to 1"),
    "calming": (_between(0, 1e3), "a number from 0 to 1000"),
    "latency_ms": (_between(0, 1e6), "milliseconds from 0"),
    "seed": (int, "a whole number"),
}


def _overridden(preset: Parameters, query: str) -> Parameters:
    given: dict[str, Any] = {}
    for key, text in parse_qsl(query, keep_blank_values=True):
        if key not in _VALUES:
            known = ", ".join(field.name for field in fields(Parameters))
            raise UsageError(f"simulated judges have no parameter {key!r}; there are {known}")
        convert, valid = _VALUES[key]
        try:
            given[key] = convert(text)
        except (ValueError, KeyError):
            raise UsageError(f"{key}={text!r} is not valid: {key} is {valid}") from None
    parameters = replace(preset, **given)
    if parameters.unreadable + parameters.refused > 1:
        raise UsageError("unreadable and refused are shares of the same replies: at most 1 in sum")
    return parameters
