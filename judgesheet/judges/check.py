"""Finds out with a few tiny questions what an endpoint supports, and whether it can be believed."""

import asyncio
import json
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from secrets import token_hex
from typing import Any

from judgesheet.axis.prompt import object_schema, response_format
from judgesheet.base.finish_reasons import is_whole
from judgesheet.base.records import ANOTHERS, LOGPROBS, Call, Reply
from judgesheet.base.scale import Scale
from judgesheet.judges import Judge, Refused
from judgesheet.judges.providers import BEHIND_HTTP
from judgesheet.reading.verdicts import score_reading

EXAMINATION = "examination"
"""The axis of the question here, which is none: simulated judges answer it by themselves."""
GRADES = (1, 2, 3, 4, 5)

ASKED = 3
"""How often one question is asked, to see whether its answers are alike."""

ANSWERS = ("4", "5", "an even number")
"""What the text form is tried on: a judge may keep to it for a right answer alone."""
TEXT_TOKENS = 256

_QUESTION = "Grade the answer “{}” to the question “What is 2 + 2?” from 1 (wrong) to 5 (right)."
_JSON_FORM = 'Answer with a JSON object and nothing else: {"score": N}'
# As the built-in prompts ask.
_TEXT_FORM = (
    "First write one or two sentences about the answer. Then finish with a line that holds only: "
    "[RESULT] N, where N is the score you choose."
)
LONG = 20_000
"""Characters of a long prompt, some 5,000 tokens: more than the usual window of a local server."""
_REMEMBER = "The word to remember is {}."
_RECALL = "Write the word to remember, from the first sentence above, and nothing else."
ECHO = "Repeat this word and nothing else: {}"
_GRADE = object_schema({"score": {"type": "integer", "enum": [*GRADES]}})
_IN_JSON = {"response_format": response_format("grade", _GRADE)}


@dataclass(frozen=True, slots=True)
class Examined:
    """What an endpoint can do. Features are False where it did not answer the first question.

    `is_reached` says whether anything came back at all, `problem` in a few words why no answer did,
    "" if one did. `json_schema` means that a schema was kept which the words did not ask for,
    `seed` that a request with one was answered, whether or not it is used; `alike` that the `ASKED`
    answers to one question are the same, as short ones of chance may be, too. `refused` are
    parameters that the endpoint does not take, so that they are not sent, or under another
    name. `mixes_up` says that a question got the answer to another, `finds_beginning` that a prompt
    of `LONG` characters was answered from its beginning (None: it was not answered). `latency_s` is
    the median of all answers, in seconds.
    """

    problem: str = ""
    is_reached: bool = True
    json_schema: bool = False
    logprobs: bool = False
    seed: bool = False
    alike: bool = False
    mixes_up: bool = False
    finds_beginning: bool | None = None
    refused: Refused = field(default_factory=dict)
    latency_s: float = math.nan


async def examine(judge: Judge, **given: Any) -> Examined:
    """Enter the judge, ask it, leave it; JudgesheetError if it cannot be opened.

    `given` are parameters of the requests (`temperature`, `max_tokens`) in place of those here.
    """
    async with judge:
        first = await _ask(judge, given)
        if first.outcome != "ok":
            return Examined(problem=_problem(judge, first), is_reached=_is_from_there(first))
        repeats = [await _ask(judge, given, repeat) for repeat in range(1, ASKED)]
        # The words ask for another form: JSON comes only from an endpoint that enforces the schema.
        schema = await _ask(judge, {**given, **_IN_JSON}, form=_TEXT_FORM)
        logprobs = await _ask(judge, {**given, **LOGPROBS})
        seed = await _ask(judge, {**given, "seed": 1})
        mixes_up = await mixes_up_answers(judge, **given)
        finds_beginning = await _finds_beginning(judge, given)
        refused = judge.refused
    same = [first, *repeats]
    answered = [reply for reply in (*same, schema, logprobs, seed) if reply.outcome == "ok"]
    return Examined(
        json_schema=_keeps_to_schema(schema),
        logprobs=_has_logprobs(logprobs),
        seed=seed.outcome == "ok",
        alike=len({(reply.outcome, reply.text) for reply in same}) == 1,
        mixes_up=mixes_up,
        finds_beginning=finds_beginning,
        refused=refused,
        latency_s=statistics.median(reply.latency_s for reply in answered),
    )


async def needs_json(judge: Judge) -> bool:
    """Whether an entered judge fails the text form and keeps to a JSON schema; by four questions.

    That the endpoint fails, or cuts a reply off, says nothing about the form.
    """
    for answer in ANSWERS:
        content = f"{_QUESTION.format(answer)} {_TEXT_FORM}"
        reply = await _ask(judge, {"max_tokens": TEXT_TOKENS}, content=content)
        if _fails_text_form(reply):
            return _keeps_to_schema(await _ask(judge, _IN_JSON))
    return False


async def gives_logprobs(judge: Judge) -> bool:
    """Whether an entered judge returns log-probabilities, by one question."""
    return _has_logprobs(await _ask(judge, LOGPROBS))


async def mixes_up_answers(judge: Judge, **given: Any) -> bool:
    """Whether an entered judge gives the answer to another question, of two that are asked at once.

    A model that repeats neither word, or a request that fails, says nothing about that.
    """
    words = token_hex(4), token_hex(4)
    asked = (_ask(judge, given, content=ECHO.format(word)) for word in words)
    replies = await asyncio.gather(*asked)
    return any(
        reply.finish_reason == ANOTHERS or (other in reply.text and own not in reply.text)
        for reply, own, other in zip(replies, words, reversed(words), strict=True)
    )


async def _finds_beginning(judge: Judge, given: Mapping[str, Any]) -> bool | None:
    """Whether an entered judge behind HTTP repeats the first word of a long prompt.

    A server with a smaller context window drops that word, and answers.
    """
    if judge.identity["provider"] not in BEHIND_HTTP:
        return None
    word, filler = token_hex(4), "This sentence only fills the room. "
    content = f"{_REMEMBER.format(word)} {filler * (LONG // len(filler))}{_RECALL}"
    reply = await _ask(judge, given, content=content)
    return word in reply.text if reply.outcome == "ok" else None


async def question(judge: Judge) -> Reply:
    """The reply of an entered judge to one tiny question."""
    return await _ask(judge, {})


async def _ask(
    judge: Judge,
    params: Mapping[str, Any],
    repeat: int = 0,
    *,
    form: str = _JSON_FORM,
    content: str = "",
) -> Reply:
    call = Call(
        axis=EXAMINATION,
        stimulus=EXAMINATION,
        cell={},
        repeat=repeat,
        messages=({"role": "user", "content": content or f"{_QUESTION.format('4')} {form}"},),
        # Enough for the object that is asked for, and little to pay for.
        params={"temperature": 0.0, "max_tokens": 64, **params},
        reply="text" if content else "json",
    )
    attempts = count(1)
    while (reply := await judge.ask(call, next(attempts))).outcome == "unsupported":
        continue  # each time with one parameter less
    return reply


def _problem(judge: Judge, reply: Reply) -> str:
    advice = judge.advise(reply)
    said = " ".join(reply.raw.split())[:120]
    return f"{reply.outcome} ({said})" + (f": {advice}" if advice else "")


def _is_from_there(reply: Reply) -> bool:
    """Whether a reply came over the network, whatever it says."""
    is_lost = reply.outcome in {"timeout", "unavailable", "unreachable"}
    return not is_lost or (reply.finish_reason or "").startswith("HTTP")


def _keeps_to_schema(reply: Reply) -> bool:
    try:
        body = json.loads(reply.text)
    except (ValueError, RecursionError):
        return False
    grade = isinstance(body, dict) and set(body) == {"score"} and body["score"] in GRADES
    return reply.outcome == "ok" and grade


def _fails_text_form(reply: Reply) -> bool:
    """Whether a whole reply gives no grade in the form that it was asked for."""
    is_whole_reply = reply.outcome == "ok" and is_whole(reply.finish_reason)
    return is_whole_reply and score_reading(reply.text, "text", Scale(max(GRADES))).verdict is None


def _has_logprobs(reply: Reply) -> bool:
    try:
        content = json.loads(reply.raw)["choices"][0]["logprobs"]["content"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return False
    return reply.outcome == "ok" and bool(content)
