"""Control checks: questions with a known answer come before everything that rests on them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from judgesheet.records import AxisResult, Control, Datasheet
from judgesheet.spine.render import show
from judgesheet.spine.render.page.parts import FAIL, OPEN, PASS, losses, made, total

READABLE = 0.95
"""Share of calls that must be readable; below it the rest may be another population."""


@dataclass(frozen=True, slots=True)
class Check:
    """One control with its outcome in symbol and word; `scope` is the axis, or "" for the run."""

    symbol: str
    word: str
    name: str
    text: str
    scope: str

    @property
    def tone(self) -> str:
        """The class that colours it."""
        return {PASS[0]: "good", FAIL[0]: "bad"}.get(self.symbol, "unknown")


def checks(sheet: Datasheet) -> tuple[Check, ...]:
    """All controls: of the run, then of each axis; those that failed first."""
    found = [_check(control, "") for control in _of_run(sheet)]
    for axis in sheet.axes:
        title = show.visible(axis.title, 80)
        found += [_check(control, title) for control in (*_readable(axis), *axis.controls)]
    order = {FAIL[0]: 0, OPEN[0]: 1, PASS[0]: 2}
    return tuple(sorted(_passes_together(found), key=lambda check: order[check.symbol]))


def void(sheet: Datasheet) -> Mapping[str, str]:
    """Why the figures of an axis do not hold: name -> reason, for the axes where they do not."""
    run = [control.name for control in _of_run(sheet) if control.passed is False]
    reasons = {
        axis.name: run or [c.name for c in (*_readable(axis), *axis.controls) if c.passed is False]
        for axis in sheet.axes
    }
    return {
        name: f"control failed: {show.visible(failed[0], 80)}"
        for name, failed in reasons.items()
        if failed
    }


def _passes_together(found: list[Check]) -> Iterator[Check]:
    """One line for a control that several axes passed."""
    passed: dict[str, list[Check]] = {}
    for check in found:
        if check.symbol == PASS[0]:
            passed.setdefault(check.name, []).append(check)
        else:
            yield check
    for same in passed.values():
        text = " ".join(dict.fromkeys(check.text for check in same))
        scope = f"{len(same)} axes" if len(same) > 1 else same[0].scope
        yield replace(same[0], scope=scope, text=text)


def _check(control: Control, scope: str) -> Check:
    symbol, word = OPEN if control.passed is None else PASS if control.passed else FAIL
    name, text = show.visible(control.name, 80), show.visible(control.text, 300)
    return Check(symbol, word, name, text, scope)


def _of_run(sheet: Datasheet) -> Iterator[Control]:
    yield _complete(sheet)
    yield _one_model(sheet)


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
    if not names:
        text = "The endpoint does not say which model answered."
        return Control("one served model", None, text)
    if names > 1:
        text = f"{names} models answered under one name: the figures mix them. Pin one version."
        return Control("one served model", False, text)
    return Control("one served model", True, "Every reply names the same model.")


def _readable(axis: AxisResult) -> Iterator[Control]:
    calls = made(axis)
    if not calls:
        yield Control("replies readable", False, "No call was made.")
        return
    if not axis.answered:
        yield Control(
            "replies readable",
            False,
            f"None of {show.count(calls)} calls gave a readable answer ({losses(axis)}): nothing "
            "about the judge was measured.",
        )
        return
    lost = f" ({losses(axis)})" if losses(axis) else ""
    yield Control(
        "replies readable",
        axis.answered / calls >= READABLE,
        f"{show.share(axis.answered, calls)} of {show.count(calls)} calls{lost}; "
        f"{READABLE:.0%} are needed.".replace("%", " %"),
    )
