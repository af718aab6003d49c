"""Whether a mitigation helps is said of the difference it makes, never of two values alone."""

from dataclasses import replace

import pytest

from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts, StimulusPool
from judgesheet.base.records import (
    AxisResult,
    Characteristic,
    Control,
    Datasheet,
    Estimate,
    Mitigation,
)
from judgesheet.decide import decide
from judgesheet.sheet.page import build
from judgesheet.sheet.page.remedies import Remedy


def sheet(gain: Estimate | None, *, before: float = 0.3, after: float = 0.1) -> Datasheet:
    def rate(name: str, value: float) -> Estimate:
        return Estimate(f"toy.{name}", name, value, value - 0.05, value + 0.05, unit="share")

    remedy = Mitigation("swap", "toy.before", "toy.after", 2, "toy.gain" if gain else "")
    axis = AxisResult(
        name="toy",
        title="Toy",
        question="?",
        planned=9,
        answered=9,
        unreadable=0,
        refused=0,
        failed=0,
        estimates=(rate("before", before), rate("after", after), *([gain] if gain else [])),
        caveats=(),
        characteristics=(Characteristic("toy.before", better="lower"),),
        mitigations=(remedy,),
    )
    return decide(Datasheet("1", JudgeIdentity("sim/x"), RunFacts(), Provenance(), (axis,)))


def remedy_of(made: Datasheet) -> Remedy:
    """The only remedy on the page."""
    (remedy,) = build(made).remedies.shown
    return remedy


def gained(value: float, low: float, high: float) -> Estimate:
    return Estimate("toy.gain", "gain", value, low, high, unit="share")


@pytest.mark.parametrize(
    ("gain", "word"),
    [
        (gained(0.2, 0.1, 0.3), "helps"),
        (gained(0.2, -0.1, 0.5), "not shown"),
        (gained(-0.2, -0.3, -0.1), "makes it worse"),
        (gained(0.0, -0.01, 0.01), "gains almost nothing"),
    ],
)
def test_the_interval_of_the_gain_decides(gain: Estimate, word: str) -> None:
    remedy = remedy_of(sheet(gain))
    assert remedy.mark.word == word
    assert remedy.gain.startswith(
        f"{gain.value:.0%}".replace("%", " percentage points").replace("-", "\N{MINUS SIGN}")
    )


def test_without_a_figure_of_the_gain_the_intervals_must_lie_apart() -> None:
    remedy = remedy_of(sheet(None))
    assert (remedy.gain, remedy.mark.word) == ("20 percentage points (10\N{EN DASH}30)", "helps")
    assert remedy_of(sheet(None, before=0.1, after=0.3)).mark.word == "makes it worse"
    assert remedy_of(sheet(None, after=0.25)).mark.word == "not shown"


@pytest.mark.parametrize("touches", ["*", "after"])
def test_no_remedy_helps_whose_figures_must_not_be_used(touches: str) -> None:
    sound = sheet(gained(0.2, 0.1, 0.3))
    failed = Control("one form of reply", False, "They differ.", touches=(touches,), of="run")
    made = decide(replace(sound, axes=(replace(sound.axes[0], controls=(failed,)),)))
    assert made.axes[0].mitigations[0].outcome == "void"
    assert remedy_of(made).is_void


def test_a_gain_that_was_not_measured_is_not_shown() -> None:
    unknown = Estimate("toy.gain", "gain", None, note="no pair was asked twice")
    remedy = remedy_of(sheet(unknown))
    assert (remedy.gain, remedy.mark.word) == ("", "not shown")


def test_a_sheet_says_what_was_tested_and_what_was_not() -> None:
    told = build(replace(sheet(None), run=RunFacts(profile="quick"))).front.tested
    assert told.value.startswith("9 calls")
    assert "several turns" in told.why
    own = Provenance(stimuli=(StimulusPool("toy", "mine"),))
    assert "several turns" not in build(replace(sheet(None), provenance=own)).front.tested.why
