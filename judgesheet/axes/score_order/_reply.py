"""How a reply is read: one score, or its distribution where log-probabilities came along."""

from collections.abc import Mapping, Sequence
from typing import Any

from judgesheet.axis.logprobs import Distribution, Unread, score_distribution
from judgesheet.axis.reply import exactly_one_score
from judgesheet.records import ReplyFormat


def parse(text: str, reply: ReplyFormat, cell: Mapping[str, Any]) -> int | None:
    """The score that a reply gives, from 1 to the cell's scale; None if it is not exactly one."""
    return exactly_one_score(text, reply, int(cell["scale"]))


def chosen(score: int, order: Sequence[int]) -> int:  # noqa: ARG001
    """What a verdict favours of the scores that were listed: the one that it gives."""
    return score


def distribution(
    raw: str, text: str, reply: ReplyFormat, cell: Mapping[str, Any]
) -> Distribution | Unread:
    """The probabilities of all scores in a reply with log-probabilities, or why there are none."""
    return score_distribution(raw, text, reply, int(cell["scale"]))
