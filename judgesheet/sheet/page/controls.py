"""The control checks of a sheet in words, those that failed first."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from judgesheet.base.records import Control, Datasheet
from judgesheet.base.sanitize import capital
from judgesheet.sheet import show
from judgesheet.sheet.page.parts import FAILED, PASSED, UNTOLD, Mark
from judgesheet.sheet.page.printed import stopped

MARKS = {False: FAILED, None: UNTOLD, True: PASSED}
"""How an outcome is marked; what failed comes first."""


@dataclass(frozen=True, slots=True)
class ControlCheck:
    """One control with its outcome; `scope` names the axes, "" for all of them."""

    mark: Mark
    name: str
    text: str
    scope: str
    passed: bool | None


def checks(sheet: Datasheet) -> tuple[ControlCheck, ...]:
    """Every control; one line for those that came out alike on several axes."""
    return tuple(_check(alike, sheet) for outcome in MARKS for alike in _alike(sheet, outcome))


def _alike(sheet: Datasheet, outcome: bool | None) -> Iterator[list[tuple[str, Control]]]:
    """(title of the axis, control) of controls with one code that came out so."""
    groups: dict[str, list[tuple[str, Control]]] = {}
    for axis in sheet.axes:
        for number, control in enumerate(axis.controls):
            if control.passed is outcome:
                # One without a code is like no other.
                code = control.code or f"{axis.name} {number}"
                groups.setdefault(code, []).append((axis.title, control))
    yield from groups.values()


def _check(alike: Sequence[tuple[str, Control]], sheet: Datasheet) -> ControlCheck:
    control = alike[0][1]
    titles = list(dict.fromkeys(title for title, _ in alike))
    everywhere = len(titles) == len(sheet.axes) > 1
    texts = dict.fromkeys(control.text for _, control in alike)
    return ControlCheck(
        mark=MARKS[control.passed],
        name=show.visible(control.name, 80),
        # What failed is told among the findings, axis by axis, with how to correct it.
        text="" if control.passed is False else _sentences(texts),
        scope="" if everywhere else show.visible(", ".join(titles), 160),
        passed=control.passed,
    )


def _sentences(texts: Iterable[str]) -> str:
    """What the axes say, as sentences that follow each other."""
    first, *others = map(stopped, texts)
    return show.visible(" ".join((first, *map(capital, others))), 400)
