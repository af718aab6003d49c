"""While a run begins: tells at once where many replies of an axis cannot be read."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping

from judgesheet.axes import all_axes
from judgesheet.base.finish_reasons import is_whole
from judgesheet.base.records import Call, Reply
from judgesheet.base.sanitize import brief
from judgesheet.measuring.parsing import Parser, from_records, readable_by, reason_of
from judgesheet.reading.reasons import REASONS

FIRST = 25
"""Replies of an axis that are looked at."""
LOST = 5
"""Of these, the unreadable ones that are told of: a fifth."""


class EarlyWarning:
    """`parsing.readable_by`, which also tells, once an axis, that many first replies are lost.

    `records` are the parsers of the run; `tell` receives one sentence with one of the replies and
    what would read them.
    """

    def __init__(self, records: Iterable[Mapping[str, str]], tell: Callable[[str], None]) -> None:
        records = [*records]
        self._parsers = from_records(records)
        self._is_readable = readable_by(records)
        self._tell = tell
        self._seen: Counter[str] = Counter()
        self._lost: defaultdict[str, list[tuple[Call, Reply]]] = defaultdict(list)

    def __call__(self, call: Call, reply: Reply) -> bool:
        """Whether a reply can be read."""
        is_readable, lost = self._is_readable(call, reply), self._lost[call.axis]
        self._seen[call.axis] += 1
        if self._seen[call.axis] <= FIRST and len(lost) < LOST and not is_readable:
            lost.append((call, reply))
            if len(lost) == LOST:
                self._tell(
                    about_unreadable(lost, self._seen[call.axis], self._parsers.get(call.axis))
                )
        return is_readable


def about_unreadable(lost: list[tuple[Call, Reply]], seen: int, parser: Parser | None) -> str:
    """What to know of replies of one axis that cannot be read, of so many that were seen."""
    axis = all_axes()[lost[0][0].axis]
    reasons = [reason_of(axis, call, reply, parser) for call, reply in lost]
    commonest = Counter(reasons).most_common(1)[0][0]
    example = lost[reasons.index(commonest)][1]
    why = "" if is_whole(example.finish_reason) else f", {brief(example.finish_reason or '')}"
    reason = REASONS[commonest]
    advice = reason.advice(lost[0][0].reply, has_parser=parser is not None)
    return (
        f"{len(lost)} of the first {seen} replies of {axis.NAME} cannot be read, such as "
        f"“{brief(example.text)}” ({reason.words}{why}). What helps: {advice}"
    )
