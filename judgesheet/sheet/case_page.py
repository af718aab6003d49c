"""`cases.html`: every call of a run, and the cases behind every figure, in one file to browse.

Texts are kept once: prompts share most of their lines. What others wrote stands in one block of
JSON; a script of ours shows it as text, and a content policy lets nothing else run.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from judgesheet.base.digits import counted
from judgesheet.base.limits import LONGEST_ANSWER, MOST_CASES
from judgesheet.base.records import Casebook, Datasheet, ShownCall
from judgesheet.base.sanitize import spelled
from judgesheet.sheet import show
from judgesheet.sheet.cases import written
from judgesheet.sheet.html import filled

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


def render(book: Casebook, sheet: Datasheet) -> bytes:
    """The page; it needs no network and no other file."""
    model = show.judge(sheet)
    page = filled(
        TEMPLATE,
        "cases.css",
        scripts=("cases.js",),
        title=f"{model}: replies",
        model=model,
        about=f"{counted(len(book.answers), 'call')}. Choose a figure to see the replies that it "
        "rests on.",
        data=Markup(_harmless(_data(book, sheet))),  # noqa: S704 (no sign of markup is left in it)
    )
    # Replies may hold halves of surrogate pairs, which have no UTF-8.
    return page.encode("utf-8", "replace")


def _harmless(data: Mapping[str, Any]) -> str:
    """JSON in which no text can end the block that it stands in, or begin a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _data(book: Casebook, sheet: Datasheet) -> dict[str, Any]:
    names, cells, lines, prompts, replies, sets = (_Once() for _ in range(6))
    names.number("")

    def row(answer: ShownCall) -> list[Any]:
        call = answer.call
        cell = tuple((name, _text(value)) for name, value in call.cell.items() if value is not None)
        verdict = "" if answer.verdict is None else _text(answer.verdict)
        text = "\n".join(str(message.get("content", "")) for message in call.messages)
        prompt = tuple(lines.number(line) for line in text.split("\n"))
        told = (answer.ended, answer.shape, verdict)
        return [
            call.id,
            *(names.number(_text(one)) for one in (call.axis, call.stimulus)),
            cells.number(cell),
            call.repeat,
            *map(names.number, told),
            replies.number(answer.text),
            prompts.number(prompt),
        ]

    calls = [row(answer) for answer in book.answers.values()]
    place = {call: at for at, call in enumerate(book.answers)}
    figures = {
        key: sets.number(
            tuple(
                (_text(case.why), tuple(place[call] for call in case.calls))
                for case in cases[:MOST_CASES]  # the worst ones
            )
        )
        for key, cases in book.cases.items()
    }
    return {
        "calls": calls,
        "names": list(names),
        "cells": list(cells),
        "lines": [spelled(line[:LONGEST_ANSWER]) for line in lines],
        "prompts": list(prompts),
        "replies": [spelled(text[:LONGEST_ANSWER]) for text in replies],
        "sets": list(sets),
        "figures": figures,
        "about": dict(_figures(sheet, book)),
        "none": dict(book.none),
        "groups": {
            axis: {code: spelled(text) for code, text in told.items()}
            for axis, told in book.groups.items()
        },
    }


def _text(value: Any) -> str:
    return spelled(written(value))[:LONGEST_ANSWER]


def _figures(sheet: Datasheet, book: Casebook) -> Iterator[tuple[str, str]]:
    """Each figure of the sheet that the book knows by its key, in words."""
    for axis in sheet.axes:
        for estimate in axis.estimates:
            cases = len(book.cases.get(estimate.key, ()))
            if cases or estimate.key in book.none:
                label, value = show.visible(estimate.label, 200), show.estimate(estimate).sentence
                more = f" The worst {MOST_CASES:,} of {cases:,}." if cases > MOST_CASES else ""
                if void := axis.void_reason(estimate.key):
                    more = f" Not usable: {show.visible(void, 200)}.{more}"
                yield estimate.key, f"{label}: {value}.{more}"
