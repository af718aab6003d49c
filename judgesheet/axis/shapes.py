"""What came instead of a verdict: a small grammar of the replies that could not be read.

It knows no form of reply. It reads parts of a reply with the same function that could not read the
whole, so that every axis (and every parser of the user's own) has it without saying anything.
"""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from judgesheet.axis.answer import answer
from judgesheet.axis.documents import documents
from judgesheet.base.finish_reasons import is_token_limit, is_whole
from judgesheet.base.limits import LONGEST_LOOK, MOST_PARTS_OF_A_REPLY

Reads = Callable[[str], Any | None]
"""The verdict of a text, None if it has none."""

# Characters of a reply that is a word or two and nothing else, at most.
_BARE = 24
# Characters in which a refusal says so; further on "I cannot" may be part of the reasons.
_BEGINNING = 200


JSON = "--reply json"


@dataclass(frozen=True, slots=True)
class Shape:
    """`code` is for programs, `words` say what came, `remedies` what would read it or avoid it.

    A parser of the user's own may read what is `parsed`.
    """

    code: str
    words: str
    remedies: tuple[str, ...]
    parsed: bool = False

    def advice(self, reply: str, *, has_parser: bool) -> str:
        """What helps a run with this reply format, and with or without a parser of its own."""
        # With a parser of one's own, a format that is constrained would need another.
        is_free = reply != "json" and not has_parser
        others = [one for one in self.remedies if one != JSON or is_free]
        own = "another --parser" if has_parser else "a --parser"
        return ", or ".join(one.replace("a --parser", own) for one in others) or "another prompt"


SHAPES = {
    shape.code: shape
    for shape in (
        Shape("no_answer", "no answer", ("the failed calls asked again: --retry-failed",)),
        Shape(
            "refused",
            "refused by the endpoint",
            ("another prompt or other stimuli; a parser does not help",),
        ),
        Shape(
            "recorded",
            "recorded without a verdict",
            ("a --map that says what the words of the log mean",),
        ),
        Shape("cut_off", "cut off at the token limit", ("a larger --max-tokens",)),
        Shape(
            "stopped",
            "ended by the endpoint, for another reason than tokens",
            ("another prompt or other stimuli, since the reason is the endpoint's",),
        ),
        Shape("thought", "reasoning without an answer", ("a larger --max-tokens",)),
        Shape("empty", "no words", (JSON, "a larger --max-tokens")),
        Shape(
            "two_verdicts", "two different verdicts", ("a --parser that says which of them counts",)
        ),
        Shape(
            "doubted",
            "a verdict that other words cast doubt on",
            ("a --parser that takes the verdict",),
            parsed=True,
        ),
        Shape(
            "out_of_range",
            "a verdict that is not allowed",
            ("a prompt that names the allowed ones", "a --parser with a map"),
            parsed=True,
        ),
        Shape("incomplete", "some parts without a verdict", ("a prompt that asks for every part",)),
        Shape(
            "other_json",
            "JSON of another form",
            ("a --parser with a path", JSON),
            parsed=True,
        ),
        Shape("broken_json", "JSON that does not end", (JSON, "a larger --max-tokens")),
        Shape(
            "bare",
            "one word or number, unmarked",
            ("a --parser with a regex", JSON),
            parsed=True,
        ),
        Shape(
            "refusal",
            "a refusal in words",
            ("another prompt or other stimuli; a parser does not help",),
        ),
        Shape(
            "prose",
            "prose without a verdict",
            ("a --parser with a regex where the words hold a verdict", JSON, "another prompt"),
            parsed=True,
        ),
    )
}
"""Every shape by its code, in the order in which they are looked for."""

_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")
_REFUSAL = re.compile(
    r"""\b(?:
    I(?:['’]m|\ am)?\ (?:sorry|unable|not\ (?:able|comfortable)|(?:would|['’]d)\ rather\ not)
    | I\ (?:can(?:not|['’]t|\ not)|won['’]t|will\ not|must\ decline)\ (?:\w+\ ){0,3}?
      (?:grade|score|rate|judge|evaluate|assess|compare|choose|pick|help|assist|comply|provide|answer)
    | as\ an\ AI\b | I\ apologi[sz]e | (?:es\ )?tut\ mir\ leid | désolé | lo\ siento
    )""",
    re.IGNORECASE | re.VERBOSE,
)


def shape(
    text: str,
    outcome: str,
    finish_reason: str | None,
    reads: Reads,
    names: Collection[str] = (),
) -> str:
    """The code of the shape of a reply without a verdict.

    `names` are those of the parts that each need a verdict, none where a reply is read as a whole.
    """
    if outcome != "ok":
        return "refused" if outcome == "refused" else "no_answer"
    # Before the words: however complete they look, the endpoint says that they are not.
    if not is_whole(finish_reason):
        return "cut_off" if is_token_limit(finish_reason) else "stopped"
    words = answer(text[-LONGEST_LOOK:]).strip()
    if not words:
        return "thought" if text.strip() else "empty"
    given = [verdict for verdict in map(reads, _parts(words)) if verdict is not None]
    if given:
        return "doubted" if all(one == given[0] for one in given) else "two_verdicts"
    # 1 is on every scale: if the reply reads with it, only its number was wrong.
    if reads(_NUMBER.sub("1", words)) is not None:
        return "out_of_range"
    return _without_verdict(words, names)


def _parts(words: str) -> Iterator[str]:
    """The objects and lines of a reply, the last ones if there are too many."""
    found = documents(words) or []
    lines = [line for line in words.split("\n") if line.strip()]
    parts = [words[one.start : one.end] for one in found] + re.split(r"\n\s*\n", words) + lines
    yield from (part for part in parts[-MOST_PARTS_OF_A_REPLY:] if part != words)


def _without_verdict(words: str, names: Collection[str]) -> str:
    if 0 < sum(_names(words, name) for name in names) < len(names):
        return "incomplete"
    if "{" in words:
        return "other_json" if documents(words) else "broken_json"
    if _REFUSAL.search(words, 0, _BEGINNING):
        return "refusal"
    return "bare" if len(words) <= _BARE and len(words.split()) <= 2 else "prose"


def _names(words: str, name: str) -> bool:
    """Whether the words name a part; a letter alone names none."""
    return len(name) > 1 and bool(re.search(rf"\b{re.escape(name)}\b", words, re.IGNORECASE))
