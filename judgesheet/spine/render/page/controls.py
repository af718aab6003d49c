"""Control checks: questions with a known answer come before everything that rests on them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from judgesheet.records import AxisResult, Control, Datasheet
from judgesheet.spine.render import show
from judgesheet.spine.render.page.parts import OUTCOMES, Mark, losses, made, total
from judgesheet.units import unit

READABLE = 0.95
"""Share of calls that must be readable; below it the rest may be another population."""
_TONES = {False: "bad", None: "unknown", True: "good"}
_ORDER = list(_TONES)
"""What failed comes first."""


@dataclass(frozen=True, slots=True)
class Check:
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


def checks(sheet: Datasheet) -> tuple[Check, ...]:
    """All controls: of the run, then of each axis; those that failed first."""
    found = [_check(control, "") for control in _of_run(sheet)]
    for axis in sheet.axes:
        found += [_check(one, show.visible(axis.title, 80)) for one in _of_axis(axis)]
    return tuple(sorted(_passes_together(found), key=lambda check: _ORDER.index(check.passed)))


def void(sheet: Datasheet) -> Mapping[str, str]:
    """Why the figures of an axis do not hold: name -> reason, for the axes where they do not."""
    run = [control.name for control in _of_run(sheet) if control.passed is False]
    reasons = {
        axis.name: run or [control.name for control in _of_axis(axis) if control.passed is False]
        for axis in sheet.axes
    }
    return {
        name: f"control failed: {show.visible(failed[0], 80)}"
        for name, failed in reasons.items()
        if failed
    }


def _passes_together(found: list[Check]) -> Iterator[Check]:
    """One line for a control that several axes passed; one without a code is like no other."""
    passed: dict[str, list[Check]] = {}
    for number, check in enumerate(found):
        if check.passed:
            passed.setdefault(check.code or str(number), []).append(check)
        else:
            yield check
    for same in passed.values():
        text = " ".join(dict.fromkeys(check.text for check in same))
        scope = f"{len(same)} axes" if len(same) > 1 else same[0].scope
        yield replace(same[0], scope=scope, text=text)


def _check(control: Control, scope: str) -> Check:
    name, text = show.visible(control.name, 80), show.visible(control.text, 300)
    return Check(control.passed, control.code, name, text, scope)


def _of_run(sheet: Datasheet) -> Iterator[Control]:
    yield _complete(sheet)
    yield _one_model(sheet)


def _of_axis(axis: AxisResult) -> Iterator[Control]:
    passed, text = _readable(axis)
    yield Control("replies readable", passed, text, code="readable")
    yield from axis.controls


def _complete(sheet: Datasheet) -> Control:
    planned, settled = total(sheet, "planned"), sum(map(made, sheet.axes))
    if not sheet.axes:
        return Control("run complete", False, "This run measured no axis: nothing to read here.")
    done = sheet.run.get("complete") is not False
    of = f"{show.count(settled)} of {show.count(planned)} planned calls were made"
    rest = "" if done else "; what follows describes those only, resume the run for the rest"
    return Control("run complete", done, f"{of}{rest}.")


def _one_model(sheet: Datasheet) -> Control:
    served = sheet.judge.get("served_models")
    names = len(served) if isinstance(served, Mapping) else 0
    passed, text = None, "The endpoint does not say which model answered."
    if names:
        passed, text = names == 1, "Every reply names the same model."
    if names > 1:
        text = f"{names} models answered under one name: the figures mix them. Pin one version."
    return Control("one served model", passed, text)


def _readable(axis: AxisResult) -> tuple[bool, str]:
    calls, lost = made(axis), losses(axis)
    if not calls:
        return False, "No call was made."
    if not axis.answered:
        none = f"None of {show.count(calls)} calls gave a readable answer ({lost})"
        return False, f"{none}: nothing about the judge was measured."
    share = f"{show.share(axis.answered, calls)} of {show.count(calls)} calls"
    needed = f"{show.number(READABLE, unit('share'))} are needed."
    return axis.answered / calls >= READABLE, f"{share}{f' ({lost})' if lost else ''}; {needed}"
