"""Control checks: questions with a known answer, on which the other figures depend."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from judgesheet.base.records import AxisResult, Control, Datasheet
from judgesheet.base.units import unit
from judgesheet.sheet import show
from judgesheet.sheet.page.identity import mixed
from judgesheet.sheet.page.parts import OUTCOMES, Mark, losses, total

READABLE = 0.95
"""Share of calls that must be readable; below it the rest may be another population."""
_TONES = {False: "bad", None: "unknown", True: "good"}
"""What failed comes first."""


@dataclass(frozen=True, slots=True)
class ControlCheck:
    """One control with its outcome; `scope` is the axis, or "" for the run."""

    passed: bool | None
    code: str
    name: str
    text: str
    scope: str

    @property
    def mark(self) -> Mark:
        """How the outcome is marked."""
        return OUTCOMES[self.passed]

    @property
    def tone(self) -> str:
        """The class that colours it."""
        return _TONES[self.passed]


def checks(sheet: Datasheet) -> list[ControlCheck]:
    """All controls: of the run, then of each axis; those that failed first."""
    asked = [(control, "") for control in _of_run(sheet)]
    asked += [(control, axis.title) for axis in sheet.axes for control in _of_axis(axis)]
    every = [
        ControlCheck(c.passed, c.code, *map(show.visible, (c.name, c.text, scope), (80, 300, 80)))
        for c, scope in asked
    ]
    return sorted(_passes_together(every), key=lambda check: [*_TONES].index(check.passed))


def void(sheet: Datasheet) -> Mapping[str, str]:
    """Why the figures of an axis are invalid: name -> reason, for axes with a failed control."""
    reasons = {}
    for axis in sheet.axes:
        controls = (*_of_run(sheet), *_of_axis(axis))
        failed = next((control.name for control in controls if control.passed is False), None)
        if failed is not None:
            reasons[axis.name] = f"control failed: {show.visible(failed, 80)}"
    return reasons


def _passes_together(every: Iterable[ControlCheck]) -> Iterator[ControlCheck]:
    """One line for a control that several axes passed; one without a code is like no other."""
    passed: dict[str, list[ControlCheck]] = {}
    for number, check in enumerate(every):
        if check.passed:
            passed.setdefault(check.code or str(number), []).append(check)
        else:
            yield check
    for same in passed.values():
        text = " ".join(dict.fromkeys(check.text for check in same))
        scope = f"{len(same)} axes" if len(same) > 1 else same[0].scope
        yield replace(same[0], scope=scope, text=text)


def _of_run(sheet: Datasheet) -> Iterator[Control]:
    if not sheet.axes:
        yield Control("run complete", False, "This run measured no axis: nothing to read here.")
    else:
        # Only a plain no counts: a sheet that does not say may be whole.
        done = sheet.run.get("complete") is not False
        settled, planned = (
            show.count(total(sheet, "made")),
            show.count(total(sheet, "planned")),
        )
        rest = "; what follows describes those only, resume the run for the rest"
        text = f"{settled} of {planned} planned calls were made{'' if done else rest}."
        yield Control("run complete", done, text)
    served = sheet.judge.get("served_models")
    names = len(served) if isinstance(served, Mapping) else 0
    passed, text = None, "The endpoint does not say which model answered."
    if names:
        passed, text = names == 1, "Every reply names the same model."
    yield Control("one served model", passed, mixed(sheet.judge) or text)


def _of_axis(axis: AxisResult) -> Iterator[Control]:
    passed, text = _readable(axis)
    yield Control("replies readable", passed, text, code="readable")
    yield from axis.controls


def _readable(axis: AxisResult) -> tuple[bool, str]:
    calls, lost = axis.made, losses(axis)
    if not calls:
        return False, "No call was made."
    if not axis.answered:
        none = f"None of {show.count(calls)} calls gave a readable answer ({lost})"
        return False, f"{none}: nothing about the judge was measured."
    share = f"{show.share(axis.answered, calls)} of {show.count(calls)} calls"
    needed = f"{show.number(READABLE, unit('share'))} are needed."
    return axis.answered / calls >= READABLE, f"{share}{f' ({lost})' if lost else ''}; {needed}"
