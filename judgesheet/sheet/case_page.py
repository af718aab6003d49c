"""`cases.html`: every call of a run, and which of them each figure reads, in one file to browse.

Texts are kept once: prompts share most of their lines. What others wrote stands in one block of
JSON; a script of ours shows it as text, and a content policy lets nothing else run.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from judgesheet.base.digits import counted
from judgesheet.base.limits import LONGEST_ANSWER
from judgesheet.base.records import Datasheet, ShownCall
from judgesheet.base.sanitize import spelled
from judgesheet.sheet import show
from judgesheet.sheet.cases import prompt, why_lost, written
from judgesheet.sheet.templates import filled

TEMPLATE = "cases.html.jinja"


class _Once:
    """Values in the order in which they first come; each has a number."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        """The number of a value, the same whenever it comes."""
        return self._numbers.setdefault(value, len(self._numbers))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._numbers)


def render(
    calls: Sequence[ShownCall], read_by: Mapping[str, Sequence[str]], sheet: Datasheet
) -> bytes:
    """The page, with the ids of the calls that each figure reads; it needs no other file."""
    model = show.judge(sheet)
    page = filled(
        TEMPLATE,
        "screen.css",
        "cases.css",
        scripts=("cases.js",),
        title=f"{model}: replies",
        model=model,
        about=f"{counted(len(calls), 'call')}. Choose a figure to see the replies that it reads.",
        data=Markup(_harmless(_data(calls, read_by, sheet))),  # noqa: S704 (no markup is left in it)
    )
    # Replies may hold halves of surrogate pairs, which have no UTF-8.
    return page.encode("utf-8", "replace")


def _harmless(data: Mapping[str, Any]) -> str:
    """JSON in which no text can end the block that it stands in, or begin a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _data(
    calls: Sequence[ShownCall], read_by: Mapping[str, Sequence[str]], sheet: Datasheet
) -> dict[str, Any]:
    names, cells, lines, prompts, replies, sets = (_Once() for _ in range(6))

    def row(shown: ShownCall) -> list[Any]:
        call = shown.call
        cell = tuple((name, _text(value)) for name, value in call.cell.items() if value is not None)
        verdict = "" if shown.verdict is None else _text(shown.verdict)
        words = (_text(call.axis), _text(call.stimulus), shown.ended, why_lost(shown), verdict)
        return [
            call.id,
            *map(names.number, words),
            int(shown.is_lost),
            cells.number(cell),
            call.repeat,
            replies.number(shown.text),
            prompts.number(tuple(lines.number(line) for line in prompt(shown).split("\n"))),
        ]

    rows = [row(one) for one in calls]
    place = {one.call.id: at for at, one in enumerate(calls)}
    figures = {
        key: sets.number(tuple(place[call] for call in ids if call in place))
        for key, ids in read_by.items()
    }
    return {
        "calls": rows,
        "names": list(names),
        "cells": list(cells),
        "lines": [spelled(line[:LONGEST_ANSWER]) for line in lines],
        "prompts": list(prompts),
        "replies": [spelled(text[:LONGEST_ANSWER]) for text in replies],
        "sets": list(sets),
        "figures": figures,
        "about": dict(_figures(sheet, read_by)),
    }


def _text(value: Any) -> str:
    return spelled(written(value))[:LONGEST_ANSWER]


def _figures(sheet: Datasheet, read_by: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each figure of the sheet whose calls are known by its key, in words."""
    for axis in sheet.axes:
        for estimate in axis.estimates:
            if estimate.key in read_by:
                label, value = show.visible(estimate.label, 200), show.estimate(estimate).sentence
                void = axis.void_reason(estimate.key)
                more = f" Not usable: {show.visible(void, 200)}." if void else ""
                yield estimate.key, f"{label}: {value}.{more}"
