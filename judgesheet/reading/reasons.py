"""Why a call gave no verdict: five reasons of a reply, and three of a call without words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Code = Literal["no_verdict", "two_verdicts", "off_scale", "incomplete", "cut_off"]
"""Why a reply has no verdict."""

JSON = "--reply json"
CUT_PROMPT = "cut_prompt"
"""The outcome of a call whose prompt the server cut, which is no answer to the question."""


@dataclass(frozen=True, slots=True)
class Reason:
    """`words` say what came instead of a verdict, `remedies` what would read or avoid it."""

    words: str
    remedies: tuple[str, ...]

    def advice(self, reply: str, *, has_parser: bool) -> str:
        """What helps a run with this reply format, and with or without a parser of its own."""
        # With a parser of one's own, a format that is constrained would need another.
        is_free = reply != "json" and not has_parser
        others = [one for one in self.remedies if one != JSON or is_free]
        own = "another --parser" if has_parser else "a --parser"
        return ", or ".join(one.replace("a --parser", own) for one in others) or "another prompt"


OF_REPLIES: Mapping[Code, Reason] = {
    "no_verdict": Reason("no verdict behind its mark", ("a --parser that reads it", JSON)),
    "two_verdicts": Reason(
        "two different verdicts", ("a --parser that says which of them counts", JSON)
    ),
    "off_scale": Reason(
        "a verdict that is not allowed",
        ("a prompt that names the allowed ones", "a --parser with a map"),
    ),
    "incomplete": Reason("some parts without a verdict", ("a prompt that asks for every part",)),
    "cut_off": Reason("broken off before its end", ("a larger --max-tokens",)),
}
REASONS: Mapping[str, Reason] = {
    "no_answer": Reason("no answer", ("the failed calls asked again: --retry-failed",)),
    "refused": Reason(
        "refused by the endpoint", ("another prompt or other stimuli; a parser does not help",)
    ),
    "too_long": Reason(
        "refused as too long",
        ("a smaller --max-tokens", "a larger context window of the server"),
    ),
    CUT_PROMPT: Reason(
        "answered to a prompt that the server cut",
        ("a larger context window of the server (num_ctx, --ctx-size, --max-model-len)",),
    ),
    "recorded": Reason(
        "recorded without a verdict", ("a --map that says what the words of the log mean",)
    ),
    **{str(code): reason for code, reason in OF_REPLIES.items()},
}
"""Every reason by its code, as `loss_rate` and a row of calls name it."""


def of_outcome(outcome: str) -> str:
    """The reason of a call that has no words to read."""
    return outcome if outcome in {"refused", "too_long", CUT_PROMPT} else "no_answer"
