"""Reading a reply: one score, or its distribution if the reply has log-probabilities."""

from collections.abc import Mapping, Sequence
from typing import Any

from judgesheet.axis.logprobs import Distribution, Unread, score_distribution
from judgesheet.axis.reply import Reading, score_reading
from judgesheet.base.records import ReplyFormat


def reading(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> Reading | None:
    """The score that a reply gives, from 1 to the cell's scale; None if it is not exactly one."""
    return score_reading(text, reply, int(cell["scale"]))


def parse(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> int | None:
    """What `reading` finds, without where it stands."""
    found = reading(text, reply, cell)
    return found.value if found else None


def chosen(score: int, order: Sequence[int]) -> int:  # noqa: ARG001
    """Which of the listed scores a verdict favours: the one that it gives."""
    return score


def gives(score: int, order: Sequence[int]) -> list[float]:
    """What a verdict gives to each of the scores that were listed: all to the one that it gives."""
    return [float(listed == score) for listed in order]


def distribution(
    raw: str, text: str, reply: ReplyFormat, cell: Mapping[str, Any]
) -> Distribution | Unread:
    """The probabilities of all scores in a reply with log-probabilities, or why there are none."""
    return score_distribution(raw, text, reply, int(cell["scale"]))
