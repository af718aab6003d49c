"""Simulated judges: biases that are planted, documented and known exactly.

`sim/NAME?key=value&…` answers in the text formats of real judges and goes through the same
parsers, so anyone can check the instrument against the truth. What can be planted is declared in
`axis.simulation`; how it answers stands with each axis, in `axes/<axis>/read.py`. Asked for
log-probabilities it gives those of the scores, exactly as planted.
"""

import asyncio
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from difflib import get_close_matches
from functools import cache
from random import Random
from typing import Any, Self
from urllib.parse import parse_qsl

from judgesheet.axes import all_axes
from judgesheet.axis import SharesSimulating, Simulating
from judgesheet.axis.simulation import Kind, Known, Parameters, declared, drawn, hashed
from judgesheet.base.errors import JudgesheetError, UsageError
from judgesheet.base.records import Call, Label, Outcome
from judgesheet.base.scale import Scale
from judgesheet.judges import Answer, Judge
from judgesheet.judges.check import EXAMINATION, GRADES

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
    "perfect": Parameters(greedy=1),
    "good": Parameters(greedy=1, shared=10.0, slip=0.02),
    "hash": Parameters(quality=0.0, policy="hash"),
    "always-1": Parameters(level=0.0, greedy=1, policy="slot1"),
    "always-tie": Parameters(level=0.5, greedy=1, policy="ties"),
    "longer": Parameters(policy="longer"),
    "loves-length": Parameters(own={"loves_length": 20.0}),
    "loves-markdown": Parameters(own={"loves_format": 20.0}),
    "obeys-instructions": Parameters(own={"obeys": 1.0}),
}
"""`perfect` never errs, and `good` in one call of fifty: what `plan` promises is promised to them.
`position-only` always takes the first line and scores a criterion by its place; `constant` takes
the middle of the scale; `hash` to `longer` are frauds that a probe must see through when it
compares; the last three follow how a response is presented."""


class SimulatedJudge(Judge):
    """A judge with planted parameters; the same call and attempt always get the same reply."""

    is_simulated = True

    def __init__(
        self, name: str, parameters: Parameters, answer_key: Mapping[str, float] | None = None
    ) -> None:
        self._name = name
        self._parameters = parameters
        self._answer_key = answer_key or {}

    @classmethod
    def from_name(cls, name: str, answer_key: Mapping[str, float] | None = None) -> Self:
        """The judge that `NAME?key=value&…` describes; a UsageError lists what can stand there."""
        preset, _, query = name.partition("?")
        if preset not in PRESETS:
            raise UsageError(f"there is no sim/{preset}; the presets are {', '.join(PRESETS)}")
        return cls(name, _overridden(PRESETS[preset], query), answer_key)

    @property
    def parameters(self) -> Parameters:
        """What is planted in this judge."""
        return self._parameters

    @property
    def identity(self) -> Mapping[str, Any]:
        """The name as it was given, and every parameter."""
        parameters = asdict(self._parameters)
        parameters |= parameters.pop("own")
        return {"provider": "sim", "model": self._name, "parameters": parameters}

    async def answer(self, call: Call, attempt: int, /) -> Answer:
        """Answer as planted, after the planted delay."""
        if self._parameters.latency_ms:
            await asyncio.sleep(self._parameters.latency_ms / 1000)
        return self.planted(call, attempt)

    def planted(self, call: Call, attempt: int = 1) -> Answer:
        """The answer, at once; JudgesheetError if the call's axis does not say how.

        Its body is a completion where log-probabilities are asked for.
        """
        planted = self._parameters.on(call.stimulus)
        axis, known = _answering(call.axis), self._known(call)
        rng = planted.rng(call.id, attempt)
        # One draw for both: the shares of refused and unreadable replies add up.
        draw = rng.random()
        outcome: Outcome = "ok"
        if draw < planted.refused:
            outcome, text = "refused", ""
        elif draw < planted.refused + planted.unreadable:
            text = "I would rather not put a number on this."
        else:
            guesses = draw >= 1 - planted.slip
            text = axis.simulate(PRESETS["random"] if guesses else planted, call, known, rng)
        raw = text
        if call.params.get("logprobs") and isinstance(axis, SharesSimulating):
            guesses_at = axis.simulated_shares(PRESETS["random"], call, known)
            number = Scale.of({"scale": len(guesses_at), **call.cell}).number
            shares = {
                number(score): (1 - planted.slip) * share + planted.slip * guesses_at[score]
                for score, share in axis.simulated_shares(planted, call, known).items()
            }
            raw = _completion(text, shares, int(call.params.get("top_logprobs", 0)))
        characters = sum(len(message["content"]) for message in call.messages)
        return Answer(outcome, text, raw, characters // 4, len(text) // 4, f"sim/{self._name}")

    def _known(self, call: Call) -> Known:
        def level(criterion: str = "") -> float:
            name = _name(str(call.cell.get("item")), criterion)
            known = self._answer_key.get(name)
            # An item of no known level has one by its name: the same in every run.
            return hashed(name) / 0xFFFFFFFF if known is None else known

        return level


def answer_key(labels: Iterable[Label]) -> dict[str, float]:
    """The intended levels (0..1) that a simulated judge may know, by item and criterion."""
    return {
        _name(label.item, label.criterion): label.score
        for label in labels
        if label.kind == "intended"
    }


def _name(item: str, criterion: str) -> str:
    return f"{item}\n{criterion}" if criterion else item


# -- who answers -----------------------------------------------------------------------------------


class _Examination:
    """Answers the question of `check`, which belongs to no axis: the best grade is right."""

    def simulated_shares(
        self, parameters: Parameters, call: Call, known: Known
    ) -> dict[int, float]:
        del call, known
        logits = parameters.score_logits(GRADES, max(GRADES), len(GRADES), parameters.quality)
        return dict(zip(GRADES, parameters.probabilities(logits), strict=True))

    def simulate(self, parameters: Parameters, call: Call, known: Known, rng: Random) -> str:
        grade = drawn(rng, self.simulated_shares(parameters, call, known))
        return json.dumps({"score": grade}) if call.reply == "json" else f"[RESULT] {grade}"


@cache  # what a protocol asks of an axis is looked up anew each time, and this for every call
def _answering(name: str) -> Simulating:
    """The axis, or `check`, that answers the calls of this axis."""
    if name == EXAMINATION:
        return _Examination()
    axes: Mapping[str, object] = all_axes()
    axis = axes.get(name)
    if isinstance(axis, Simulating):
        return axis
    known = ", ".join(name for name, axis in axes.items() if isinstance(axis, Simulating))
    raise JudgesheetError(
        f"simulated judges know {known}, not the axis {name}: "
        "leave it out with --axis or use another judge"
    )


# -- log-probabilities -----------------------------------------------------------------------------

_NEVER = -9999.0
"""How endpoints write the logarithm of 0, for which JSON has no number."""


def _completion(text: str, shares: Mapping[float, float], most: int) -> str:
    """The body of an OpenAI response that says `text`, whose last number is the score.

    The score is a token of its own with its `most` likeliest alternatives, as planted in `shares`;
    the tokens around it were certain.
    """
    parts = re.fullmatch(r"(?s)(.*\D)(\d+)(\D*)", text)
    if parts is None:
        tokens = [_certain(text)]
    else:
        head, score, tail = parts.groups()
        likeliest = sorted(shares.items(), key=lambda share: -share[1])[:most]
        top = [_token(str(score), share) for score, share in likeliest]
        middle = {**_token(score, shares[int(score)]), "top_logprobs": top}
        tokens = [_certain(head), middle, *([_certain(tail)] if tail else [])]
    choice = {"message": {"role": "assistant", "content": text}, "logprobs": {"content": tokens}}
    return json.dumps({"choices": [choice]})


def _certain(text: str) -> dict[str, Any]:
    return {**_token(text, 1.0), "top_logprobs": [_token(text, 1.0)]}


def _token(text: str, share: float) -> dict[str, Any]:
    return {"token": text, "logprob": math.log(share) if share else _NEVER}


# -- reading `key=value&…` -------------------------------------------------------------------------


def _overridden(preset: Parameters, query: str) -> Parameters:
    given = parse_qsl(query, keep_blank_values=True)
    shared = known = declared(Parameters)
    if any(key not in shared for key, _ in given):
        # Only now: loading the axes takes a second, and few queries name a parameter of one.
        for axis in all_axes().values():
            known = known | declared(getattr(axis, "SIMULATED", object)) | shared
    values = {key: _value(key, text, known) for key, text in given}
    own = {key: values.pop(key) for key in [*values] if key not in shared}
    parameters = replace(preset, **values, own={**preset.own, **own})
    if parameters.unreadable + parameters.refused + parameters.slip > 1:
        raise UsageError(
            "unreadable, refused and slip are shares of the same replies: at most 1 in sum"
        )
    return parameters


def _value(key: str, text: str, known: Mapping[str, tuple[Kind, str]]) -> Any:
    if key not in known:
        near = get_close_matches(key, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        raise UsageError(f"simulated judges have no parameter {key!r}; {hint}")
    kind, _ = known[key]
    try:
        return kind.read(text)
    except (ValueError, KeyError):
        raise UsageError(f"{key}={text!r} is not valid: {key} is {kind.words}") from None
