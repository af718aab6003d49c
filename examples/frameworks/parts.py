"""The parts of a question that `score_order.jinja` and `candidate_order.jinja` hand over."""

import re
from collections.abc import Mapping, Sequence

Messages = Sequence[Mapping[str, str]]
UNREAD = "no verdict"
"""The reply where a framework could not read its model: counted as unreadable, not asked again."""


def parts(messages: Messages, expected: str = "request,first,second") -> dict[str, str]:
    """The parts by name; ValueError if they are others: a text may imitate a name."""
    _, *pieces = re.split(r"^=== (.+)\n", messages[-1]["content"], flags=re.MULTILINE)
    names, texts = pieces[::2], [text.strip() for text in pieces[1::2]]
    if not re.fullmatch(expected, ",".join(names)) or len(set(names)) < len(names):
        raise ValueError("this question is not in parts: give --prompt AXIS=AXIS.jinja")
    return dict(zip(names, texts, strict=True))


def grading(messages: Messages) -> tuple[dict[str, str], dict[int, str], str]:
    """The parts of a question about one response, its scale, and the scale as text."""
    named = parts(messages, r"request,response,reference,criterion(,score \d)+")
    scale = {
        int(name.removeprefix("score ")): text
        for name, text in named.items()
        if name.startswith("score ")
    }
    return named, scale, "\n".join(f"Score {score}: {text}" for score, text in scale.items())
