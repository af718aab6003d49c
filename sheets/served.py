"""Endpoints of simulated judges: a real HTTP server on loopback that does what a script says."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, groupby
from typing import Any

from judgesheet.axis.simulation import hashed
from judgesheet.base.records import Call
from judgesheet.collect.options import Request
from judgesheet.collect.request import make_plan, settle
from judgesheet.judges import Answer
from judgesheet.judges.simulated import SimulatedJudge, answer_key
from tests.judges import loopback

MODEL = "openai-compatible/judge"
Script = Callable[[Call, float, Answer], loopback.Answer]
"""From a call, the share of the plan that was asked by then, and a good answer to what is sent."""


def renamed_at_half(_: Call, asked: float, answer: Answer) -> loopback.Answer:
    """Another model's name stands on the second half of all replies."""
    return _completion(answer, "judge-2026-01" if asked <= 0.5 else "judge-2026-02")


def refused_in_one_order(call: Call, _: float, answer: Answer) -> loopback.Answer:
    """Three of ten comparisons are refused where the second response stands in slot 1."""
    # Two equal texts are the same question in both orders.
    is_swapped = call.cell["order"] == ["v", "u"] and call.cell["condition"] != "vacuum"
    is_refused = is_swapped and hashed(call.id) % 10 < 3
    return _completion(answer, **{"finish_reason": "content_filter"} if is_refused else {})


def random_from_70_percent(call: Call, asked: float, answer: Answer) -> loopback.Answer:
    """The last three tenths of the run are answered at random."""
    return _completion(answer if asked <= 0.7 else _GUESSING.planted(call))


_GUESSING = SimulatedJudge.from_name("random")


def _completion(answer: Answer, model: str = "judge", **choice: Any) -> loopback.Answer:
    body = {
        "model": model,
        "choices": [{"message": {"role": "assistant", "content": answer.text}, **choice}],
        "usage": {"prompt_tokens": answer.tokens_in, "completion_tokens": answer.tokens_out},
    }
    return loopback.Answer(json.dumps(body).encode())


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What answers for a judge that slips in one call of fifty, and which axes it is asked."""

    script: Script
    axes: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The arguments of `judgesheet` that probe it at the address `{url}`."""
        axes = [word for axis in self.axes for word in ("--axis", axis)]
        return ("probe", "--model", MODEL, "--base-url", "{url}", "--reply", "text", *axes)

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Answer until the block ends; its address."""
        request = Request(MODEL, axes=self.axes, reply="text")
        plan = make_plan(request, settle(request))
        judge = SimulatedJudge.from_name("good", answer_key(plan.labels))
        # Repeats of a call are sent with the same words: they are answered in turn.
        by_words = groupby(sorted(plan.calls, key=_words), key=_words)
        calls = {words: cycle([*same]) for words, same in by_words}

        def answer(asked: loopback.Request, number: int) -> loopback.Answer:
            call = next(calls[asked.words])
            return self.script(call, number / len(plan.calls), judge.planted(call))

        with loopback.serving(answer) as server:
            yield server.base_url


def _words(call: Call) -> str:
    return call.messages[-1]["content"]
