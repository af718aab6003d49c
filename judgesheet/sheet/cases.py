"""Cases for a terminal, and as JSON: two calls side by side, with what differed in the prompt."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_COMPARED_LINES
from judgesheet.base.records import Case, Casebook, ShownCall
from judgesheet.base.sanitize import one_line

Part = tuple[str, bool]
"""A text, and whether it is marked: it is where two prompts differ."""
Line = tuple[Part, ...]
"""A line of a terminal, part by part."""

REPLY_LINES, PROMPT_LINES, ROWS = 12, 30, 8
"""The most lines of a reply and of a prompt, and calls of a case, that a terminal is shown."""
MARK, INDENT, BETWEEN = "> ", "   ", " │ "


def limited(book: Casebook, limit: int) -> Casebook:
    """The worst cases of each figure, so many of each group."""
    kept = {
        key: tuple(case for _, cases in _by_group(cases) for case in cases[:limit])
        for key, cases in book.cases.items()
    }
    return replace(book, cases=kept)


def _by_group(cases: Sequence[Case]) -> list[tuple[str, list[Case]]]:
    """The cases by group, in the order in which the groups come first."""
    groups = list(dict.fromkeys(case.group for case in cases))
    return [(group, [case for case in cases if case.group == group]) for group in groups]


def as_json(book: Casebook, limit: int) -> str:
    """The cases with all that is known of their calls, as one document."""
    shown = limited(book, limit)
    record = {
        "figures": [
            {
                "key": key,
                "cases": len(book.cases[key]),
                "groups": dict(book.groups.get(Key.parse(key).axis, {})),
                "worst": [_case(case, book) for case in cases],
            }
            for key, cases in shown.cases.items()
        ],
        "none": dict(book.none),
    }
    return json.dumps(record, indent=2, ensure_ascii=False)


def _case(case: Case, book: Casebook) -> dict[str, Any]:
    calls = [_call(book.answers[call]) for call in case.calls]
    return {"why": case.why, "severity": case.severity, "group": case.group, "calls": calls}


def _call(answer: ShownCall) -> dict[str, Any]:
    call = answer.call
    return {
        "call_id": call.id,
        "axis": call.axis,
        "stimulus": call.stimulus,
        "cell": dict(call.cell),
        "repeat": call.repeat,
        "outcome": answer.ended,
        "shape": answer.shape or None,
        "verdict": answer.verdict,
        "reply": answer.text,
        "messages": list(call.messages),
    }


# -- lines -----------------------------------------------------------------------------------------


def as_lines(book: Casebook, limit: int, width: int) -> Iterator[Line]:
    """The worst cases of each figure, for a terminal of this width."""
    for place, (key, cases) in enumerate(book.cases.items()):
        plural = "case" if len(cases) == 1 else "cases"
        if place:
            yield _plain("")
        yield _plain(f"{key}: {len(cases)} {plural}, the worst first")
        headings = book.groups.get(Key.parse(key).axis, {})
        for group, members in _by_group(cases):
            if group:
                yield _plain("")
                yield from _filled(headings.get(group, group), width)
            for number, case in enumerate(members[:limit], start=1):
                yield _plain("")
                yield from _lines_of(case, f"{number}. ", book.answers, width)
            if len(members) > limit:
                yield _plain(f"… {len(members) - limit} more (--limit)")
    yield from (_plain(sentence) for sentence in book.none.values())


def _plain(text: str) -> Line:
    return ((text, False),)


def _filled(text: str, width: int, begin: str = "", rest: str = "") -> Iterator[Line]:
    # An option that is broken at a hyphen cannot be copied.
    lines = wrap(
        one_line(text), width, initial_indent=begin, subsequent_indent=rest, break_on_hyphens=False
    )
    return (_plain(line) for line in lines)


def _lines_of(
    case: Case, number: str, answers: Mapping[str, ShownCall], width: int
) -> Iterator[Line]:
    calls = [answers[call] for call in case.calls]
    same = _same(calls)
    if not case.group:
        yield from _filled(case.why, width, number, INDENT)
    if len(calls) == 2:
        yield from _pair(calls[0], calls[1], width)
    elif len(calls) == 1:
        begin = number if case.group else INDENT
        yield from _filled(f"{calls[0].call.id[:8]}  {_shown(calls[0])}", width, begin, INDENT)
        yield from (_plain(f"{INDENT}| {line}") for line in _reply(calls[0], width - 5))
    else:
        for answer in calls[:ROWS]:
            row = f"{INDENT}{answer.call.id[:8]}  {_shown(answer, same)}  {_excerpt(answer, width)}"
            yield _plain(one_line(row)[:width])
        if len(calls) > ROWS:
            yield _plain(f"{INDENT}… {len(calls) - ROWS} more calls (--json, --html)")


def _same(calls: Sequence[ShownCall]) -> set[str]:
    """The names under which the cells of all these calls hold the same."""
    first, *others = (answer.call.cell for answer in calls)
    return {n for n in first if others and all(one.get(n) == first[n] for one in others)}


def _shown(answer: ShownCall, without: set[str] | frozenset[str] = frozenset()) -> str:
    """Which call it is and what was read: `order 5 4 3 2 1, arm fixed: 4`."""
    cell = {"order": answer.call.cell.get("order"), **answer.call.cell}
    named = [f"{name} {written(cell[name])}" for name in cell if cell[name] and name not in without]
    if answer.call.repeat:
        named.append(f"repeat {answer.call.repeat}")
    verdict = answer.ended if answer.verdict is None else written(answer.verdict)
    return f"{', '.join(named)}: {verdict}"


def written(value: Any) -> str:
    """A value of a cell or a verdict in one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {written(part)}" for name, part in value.items())
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _excerpt(answer: ShownCall, width: int) -> str:
    """The end of a reply, where the verdict stands."""
    text = " ".join(answer.text.split())
    return text if len(text) <= width // 2 else f"…{text[-width // 2 :]}"


def _reply(answer: ShownCall, width: int) -> list[str]:
    lines = [part for line in answer.text.splitlines() for part in wrap(one_line(line), width)]
    more = [f"… {len(lines) - REPLY_LINES} more lines"] if len(lines) > REPLY_LINES else []
    return lines[:REPLY_LINES] + more


# -- two calls -------------------------------------------------------------------------------------


def _pair(one: ShownCall, other: ShownCall, width: int) -> Iterator[Line]:
    """Two calls side by side: what differs in their cells, verdicts, replies and prompts."""
    column, same = (width - len(INDENT) - len(BETWEEN)) // 2, _same([one, other])
    heads = [[f"{answer.call.id[:8]}  {_shown(answer, same)}"] for answer in (one, other)]
    replies = [_reply(answer, column) for answer in (one, other)]
    for texts in (heads, replies):
        yield from _beside([[(text, False) for text in lines] for lines in texts], column)
    spans = changed_lines(*(_prompt(answer).split("\n") for answer in (one, other)))
    if any(spans):
        yield _plain(f"{INDENT}in the prompt ({MARK.strip()} differs):")
        yield from _beside(spans, column)


def _prompt(answer: ShownCall) -> str:
    return "\n".join(str(message.get("content", "")) for message in answer.call.messages)


def changed_lines(one: Sequence[str], other: Sequence[str]) -> tuple[list[Part], list[Part]]:
    """The lines of two prompts from the first to the last difference, those that differ marked."""
    if one == other:
        return [], []
    # Comparing takes quadratic time: what both begin and end with is left out first.
    start = _alike(one, other)
    end = _alike(one[start:][::-1], other[start:][::-1])
    a, b = (lines[start : len(lines) - end][:MOST_COMPARED_LINES] for lines in (one, other))
    # Else lines that a long prompt repeats would count as noise.
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    left = {block.a + at for block in blocks for at in range(block.size)}
    right = {block.b + at for block in blocks for at in range(block.size)}
    return _marked(a, left), _marked(b, right)


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _marked(lines: Sequence[str], alike: set[int]) -> list[Part]:
    return [(line, at not in alike) for at, line in enumerate(lines)]


def _beside(columns: Sequence[Sequence[Part]], width: int) -> Iterator[Line]:
    """Two columns of texts, each wrapped to its width."""
    left, right = (list(_wrapped(column, width)) for column in columns)
    rows = list(zip_longest(left, right, fillvalue=("", False)))
    for one, other in rows[:PROMPT_LINES]:
        room = " " * (width - len(one[0]))
        yield (INDENT, False), one, (f"{room}{BETWEEN}", False), other
    if len(rows) > PROMPT_LINES:
        yield _plain(f"{INDENT}… {len(rows) - PROMPT_LINES} more lines (--json, --html)")


def _wrapped(parts: Sequence[Part], width: int) -> Iterator[Part]:
    for text, marked in parts:
        begin = MARK if marked else ""
        for line in wrap(begin + one_line(text), width) or [begin]:
            yield line, marked
