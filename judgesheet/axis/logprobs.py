"""Score distributions: what a judge would have said, in the log-probabilities of what it said.

The mean of this distribution, the expected score, is a second reading of the same call. It is never
mixed with the sampled score. What cannot be read in exactly one way is not read: every function
here answers with a `Distribution` or with one of the reasons in `Unread`.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from judgesheet.base.scale import Scale
from judgesheet.reading.verdicts import score_places, score_reading

Unread = Literal[
    "the reply came without log-probabilities",
    "its log-probabilities are damaged",
    "the reply gives no score",
    "its tokens spell another reply",
    "its score stands there more than once",
    "a score spans several tokens",
    "the scores hold less than half of the probability",
    "scores that were not listed could move it",
]
"""Why a reply has no distribution."""

LEAST_MASS = 0.5
"""Probability that the allowed scores must hold together. Log-probabilities are usually taken
before a grammar is applied: where the scores hold little, what is renormalised is not its view."""

SLACK = 0.1
"""Points by which scores that the server did not list may move the expected score."""

# What may stand around a score within its token. No dot, comma or sign: another number.
_MARKS = " \t\r\n\"'`*_()[]{}"
_ROUNDING = 0.01


class Token(NamedTuple):
    """A token of a reply, and the entry that it has in `logprobs.content`."""

    text: str
    entry: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Distribution:
    """The probabilities of the scores 1..n in one reply, shape (n,), summing to 1.

    `mass` is what they held together before that. A score that is missing from the server's list of
    alternatives counts as 0; `slack` is how far all of those could move the expected score, in
    points: each holds no more than the least probable token of the list.
    """

    probabilities: tuple[float, ...]
    mass: float
    slack: float

    @property
    def expected(self) -> float:
        """The mean score."""
        return math.fsum(score * p for score, p in enumerate(self.probabilities, start=1))


def score_distribution(raw: str, text: str, reply: str, scale: Scale) -> Distribution | Unread:
    """The distribution of the one score, by points of its scale, that a reply gives.

    `raw` is the body as received, an OpenAI chat completion; `text` are the judge's words in it,
    and `reply` is the format that it was asked for.
    """
    found = score_reading(text, reply, scale).verdict
    if found is None:
        return "the reply gives no score"
    tokens = reply_tokens(raw)
    if isinstance(tokens, str):
        return tokens
    # The tokens may hold more than the words, such as a fence that the server took off.
    spelled = "".join(token.text for token in tokens)
    if score_reading(spelled, reply, scale).verdict != found:
        return "its tokens spell another reply"
    places = score_places(spelled, reply, scale)
    if not places:  # in a string that is JSON itself, say
        return "its tokens spell another reply"
    if len(places) > 1:
        return "its score stands there more than once"
    return distribution_at(tokens, places[0], scale)


def reply_tokens(raw: str) -> "list[Token] | Unread":
    """The tokens of a chat completion, in the order they were written."""
    try:
        entries = json.loads(raw)["choices"][0]["logprobs"]["content"]
    # Bodies are foreign: they may be of any form, and nested until the stack ends.
    except (ValueError, RecursionError, LookupError, TypeError):
        return "the reply came without log-probabilities"
    if not isinstance(entries, list) or not entries:
        return "the reply came without log-probabilities"
    if not all(isinstance(e, dict) and isinstance(e.get("token"), str) for e in entries):
        return "its log-probabilities are damaged"
    return [Token(entry["token"], entry) for entry in entries]


def distribution_at(
    tokens: Sequence[Token], place: tuple[int, int], scale: Scale
) -> Distribution | Unread:
    """The distribution of the score whose digits stand at `place` in the joined tokens."""
    token = _holder(tokens, place)
    if token is None:
        return "a score spans several tokens"
    try:
        alternatives = _alternatives(token)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError):
        return "its log-probabilities are damaged"
    scores = [f"{number}" for number in scale.numbers]
    held = dict.fromkeys(scores, 0.0)
    listed = set()
    for text, probability in alternatives:
        label = text.strip(_MARKS)
        if label in held:
            held[label] += probability
            listed.add(label)
    # "1" may begin "10": its probability is then not that of the score 1.
    if any(_begins_an_unlisted(label, scores, listed) for label in listed):
        return "a score spans several tokens"
    mass = math.fsum(held.values())
    if mass < LEAST_MASS:
        return "the scores hold less than half of the probability"
    shares = tuple(probability / mass for probability in held.values())
    missing = [point for point, score in enumerate(scores, start=1) if score not in listed]
    slack = _slack(alternatives, shares, mass, missing)
    if slack > SLACK:
        return "scores that were not listed could move it"
    return Distribution(shares, min(mass, 1.0), slack)


def _alternatives(token: Token) -> list[tuple[str, float]]:
    """(text, probability) of what might have stood there; the token itself may not be listed."""
    others = token.entry.get("top_logprobs") or []
    listed = [(other["token"], _probability(other["logprob"])) for other in others]
    if all(alternative != token.text for alternative, _ in listed):
        listed.append((token.text, _probability(token.entry["logprob"])))
    if not all(isinstance(alternative, str) for alternative, _ in listed):
        raise TypeError("a token is not text")
    if math.fsum(probability for _, probability in listed) > 1 + _ROUNDING:
        raise ValueError("more than all of the probability")
    return listed


def _probability(logprob: Any) -> float:
    """The probability behind a logarithm; NaN and what exceeds 1 raise ValueError."""
    if isinstance(logprob, bool) or not isinstance(logprob, int | float):
        raise TypeError("a log-probability is not a number")
    if not logprob <= _ROUNDING:
        raise ValueError("a probability is not between 0 and 1")
    return math.exp(logprob)


def _holder(tokens: Sequence[Token], place: tuple[int, int]) -> Token | None:
    """The token in which all of a place lies, found by content; None where it is split."""
    start, end = place
    at = 0
    for token in tokens:
        if at <= start < at + len(token.text):
            return token if end <= at + len(token.text) else None
        at += len(token.text)
    return None


def _begins_an_unlisted(label: str, scores: Sequence[str], listed: set[str]) -> bool:
    """Whether a token may be the first digit of a score that is not a token of its own."""
    return any(s != label and s.startswith(label) and s not in listed for s in scores)


def _slack(
    alternatives: Sequence[tuple[str, float]],
    shares: Sequence[float],
    mass: float,
    missing: Sequence[int],
) -> float:
    """How far the missing scores could move the expected score, all of them on its farther side."""
    least = min(probability for _, probability in alternatives)
    # An unlisted token holds no more than the last one listed, and all of them no more than the
    # rest.
    rest = max(0.0, 1.0 - math.fsum(probability for _, probability in alternatives))
    mean = math.fsum(score * share for score, share in enumerate(shares, start=1))
    farthest = max((abs(score - mean) for score in missing), default=0.0)
    unseen = min(rest, least * len(missing))
    return unseen * farthest / (mass + unseen)
