"""Two sheets are compared whatever the calls that gave no verdict would have said."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from judgesheet.axes import get_axis
from judgesheet.axis import Readings
from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import (
    AxisResult,
    Characteristic,
    Datasheet,
    Estimate,
    Imputed,
    MeasuredSheet,
    Verdict,
)
from judgesheet.decide import decide
from judgesheet.decide.baseline import against
from judgesheet.decide.compare import Comparison, Difference, compare
from judgesheet.decide.paired import Drawn, pairings
from judgesheet.decide.policy import parse
from judgesheet.measuring.measure import measure_axis
from judgesheet.sheet import comparison
from judgesheet.sheet.index import Listed, grouped
from tests.simulate import parsed

PAIRS = "candidate_order"
CHANGES = f"{PAIRS}.order_inconsistent[set=same_subset]"
FAMILIES = frozenset({"order_inconsistent"})


def unread(every: int, verdict: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def edit(frame: pd.DataFrame) -> pd.DataFrame:
        mine = np.flatnonzero(frame["text"].str.contains(verdict))[::every]
        frame.loc[frame.index[mine], "text"] = ""
        return frame

    return edit


Run = tuple[Datasheet, Readings]


@cache
def run(spec: str, every: int = 0, verdict: str = "") -> Run:
    """A judge that loses the first of so many calls, of those with this verdict.

    It was asked nothing but what the figure is about.
    """
    plan, rows = parsed(spec, "quick", PAIRS, edit=unread(every, verdict) if every else None)
    rows = rows[rows["condition"] == "delta0_same"].reset_index(drop=True)
    texts = pd.Series("", index=rows["call_id"])
    readings = Readings(rows, plan.labels, 0.0, 0, FAMILIES, texts)
    result = measure_axis(get_axis(PAIRS), readings)
    made = MeasuredSheet(
        "2.0", JudgeIdentity(spec), RunFacts(complete=True), Provenance(), (result,)
    )
    return decide(made), readings


def paired(old: Run, new: Run) -> Comparison:
    keys = {row.key for row in compare(old[0], new[0]).differences if row.low is not None}
    return compare(old[0], new[0], pairings({PAIRS: old[1]}, {PAIRS: new[1]}, keys))


def row(made: Comparison, key: str = CHANGES) -> Difference:
    return next(one for one in made.differences if one.key == key)


def gated(made: Comparison, margin: float) -> Verdict:
    policy = parse(f'name = "x"\n[[regression]]\nkey = "{CHANGES}"\nmargin = {margin}', "x.toml")
    (verdict,) = decide(made.new, policy, against(made, policy)).verdicts
    return verdict


@pytest.mark.parametrize("how", [paired, lambda old, new: compare(old[0], new[0])])
def test_a_regression_counts_lost_calls_against_the_margin(
    how: Callable[[Run, Run], Comparison],
) -> None:
    """A judge that loses 1 of 6 calls, compared with what it says when it loses none."""
    whole, lossy, few = run("good"), run("good", 6), run("good", 40)
    much, little = how(whole, lossy), how(whole, few)
    assert gated(how(whole, whole), 0.3).status == "pass"
    assert gated(much, 0.3).status == "invalid"
    # Few lost calls widen the bound, and say what would decide.
    sentences = gated(little, read_alone(little) + 0.001)
    assert sentences.status == "inconclusive"
    assert "lost call" in sentences.why
    assert "lost calls" in sentences.needed


def read_alone(made: Comparison) -> float:
    """The one-sided upper bound of the worsening by the calls read alone."""
    worsening = row(made).worsening
    assert worsening is not None
    return worsening.value + 1.645 / 1.96 * (worsening.high - worsening.value)


def test_the_difference_that_all_calls_show_lies_within() -> None:
    """Although what is lost is all of one verdict."""
    specs = ("good", "first-biased")
    truth = row(compare(run(specs[0])[0], run(specs[1])[0]))
    found = row(paired(*(run(spec, 8, "tie") for spec in specs)))
    assert found.lost > 10
    assert found.low is not None
    assert found.high is not None
    assert truth.value is not None
    assert found.low < truth.value < found.high


def test_the_same_replies_differ_only_by_what_nobody_read() -> None:
    """Both lost the same calls; had they words, they said the same, else nobody knows."""
    sheet, readings = run("good", 6)
    known = (sheet, replace(readings, texts=pd.Series("so", index=readings.frame["call_id"])))
    silent = (replace(sheet, run=RunFacts(complete=True, wall_s=1.0)), readings)
    same = row(paired(known, known))
    assert (same.low, same.high) == (0.0, 0.0)
    found = row(paired(silent, (sheet, readings)))
    assert found.value == 0.0
    assert found.low is not None
    assert found.high is not None
    assert found.low < -0.1 < 0.1 < found.high


def share(value: float, low: float, high: float, worst: float | None = None,
          unit: str = "share") -> Estimate:  # fmt: skip
    lost = None if worst is None else Imputed(9, low, worst)
    return Estimate(CHANGES, CHANGES, value, low, high, unit=unit, imputed=lost)


def change(old: Estimate, new: Estimate, better: str = "lower", null: float | None = None,
           drawn: Drawn | None = None) -> Difference:  # fmt: skip
    rows = (Characteristic(CHANGES, better=better, null=null),)  # type: ignore[arg-type]
    olds, news = (
        Datasheet("2.0", JudgeIdentity(), RunFacts(), Provenance(),
                  (AxisResult(PAIRS, "", "", 1, 1, 0, 0, 0, (one,), (),
                                                characteristics=rows),))
        for one in (old, new)
    )  # fmt: skip
    return row(compare(olds, news, {CHANGES: drawn} if drawn else None))


def test_what_is_worse_by_the_calls_read_alone_is_not_proven() -> None:
    old, new = share(0.1, 0.05, 0.15), share(0.4, 0.35, 0.45)
    assert change(old, new).verdict == "worse"
    assert change(share(0.1, 0.05, 0.15, worst=0.4), new).verdict == "no_change_proven"
    assert change(share(0.1, 0.05, 0.15, worst=0.2), new).verdict == "worse"
    hidden = change(new, share(0.1, 0.05, 0.15, worst=0.5))
    assert hidden.verdict == "no_change_proven"
    assert hidden.high == pytest.approx(change(new, old).high + 0.35)  # type: ignore[operator]
    assert hidden.detectable is not None


def test_lost_calls_may_put_a_figure_on_the_value_of_no_effect() -> None:
    """Old .3 or, with lost calls, .7: so perhaps .5, from which .4 is farther."""
    old, new = share(0.3, 0.25, 0.35, worst=0.75), share(0.4, 0.35, 0.45)
    found = change(old, new, "nearer", 0.5)
    assert found.verdict == "no_change_proven"
    assert found.worsening is not None
    assert found.worsening.high + found.room[1] > 0.1


def test_an_unbounded_figure_has_no_verdict() -> None:
    none = replace(share(0.1, 0.05, 0.15), imputed=Imputed(9, None, None))
    found = change(none, share(0.4, 0.35, 0.45))
    assert (found.verdict, found.p) == ("", None)
    assert "9 lost calls" in found.note


# -- the scale of a difference ---------------------------------------------------------------------


def wide(old: float, new: float) -> Drawn:
    """Twelve stimuli of which half say .66 more of a new figure and half .66 less."""
    parts = new + np.array([0.66, -0.66] * 6)
    drawn = np.random.default_rng(0).choice(parts, (1000, 12)).mean(axis=1)
    without = np.stack([np.full(12, old), (parts.sum() - parts) / 11])
    return Drawn(np.full(1000, old), drawn, without, 12)


@pytest.mark.parametrize(
    ("unit", "old", "new", "most"),
    [
        ("share", 0.0, 0.9, 1.0),
        ("V", 0.1, 0.9, 1.0),
        ("share", -0.1, 0.8, None),  # a difference of shares, which may lie 2 apart
        ("r", -0.8, 0.9, 2.0),
        ("kappa", 0.9, -0.9, 2.0),
        ("points", 0.0, 0.9, None),  # no scale has an end there
    ],
)
def test_a_difference_is_none_that_its_scale_cannot_have(
    unit: str, old: float, new: float, most: float | None
) -> None:
    """A bootstrap knows no ends: of these twelve stimuli it makes ± .44."""
    one, other = (share(v, v, v, unit=unit) for v in (old, new))
    found = change(one, other, drawn=wide(old, new))
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    near, far = sorted((found.low, found.high), key=abs)
    assert abs(near) == pytest.approx(abs(found.value) - 0.44, abs=0.02)
    assert abs(far) == pytest.approx(most or abs(found.value) + 0.44, abs=0.02 if not most else 0)
    assert found.worsening is not None
    assert (found.worsening.low, found.worsening.high) == (found.low, found.high)


def test_the_distance_from_no_effect_has_ends_too() -> None:
    figures = share(0.5, 0.45, 0.55), share(0.95, 0.9, 1.0)
    found = change(*figures, "nearer", 0.5, wide(0.5, 0.95))
    assert found.worsening is not None
    assert found.worsening.high == 0.5


# -- what is told ----------------------------------------------------------------------------------


def counted_losses(rate: float, lost: int) -> Datasheet:
    """A sheet that lost so many of 100 calls."""
    key = f"{PAIRS}.loss_rate"
    estimates = (
        share(0.1, 0.05, 0.15),
        Estimate(key, "Calls without a verdict", rate, max(0.0, rate - 0.04), rate + 0.04,
                 unit="rate"),
    )  # fmt: skip
    rows = (Characteristic(CHANGES, better="lower"),)
    axis = AxisResult(PAIRS, "", "", 100, 100 - lost, lost, 0, 0, estimates, (),
                      characteristics=rows)  # fmt: skip
    return Datasheet("2.0", JudgeIdentity(), RunFacts(), Provenance(), (axis,))


def test_a_comparison_shows_what_was_lost() -> None:
    made = compare(counted_losses(0.0, 0), counted_losses(0.19, 19))
    assert row(made, f"{PAIRS}.loss_rate").verdict == "worse"
    page = comparison.render([made], "md", "a4").decode()
    assert f"`{PAIRS}.loss_rate`" in page
    assert "0 % (0 of 100) in the old sheet, 19 % (19 of 100) in the new one" in page
    quiet = compare(counted_losses(0.0, 0), counted_losses(0.0, 0))
    assert "loss_rate" not in comparison.render([quiet], "md", "a4").decode()
    assert not any("verdict" in one for one in quiet.remarks)


def test_the_index_shows_how_far_lost_calls_reach() -> None:
    lossy = share(0.0, 0.0, 0.13, worst=0.43)
    whole = share(0.0, 0.0, 0.13)
    rows = (Characteristic(CHANGES, better="lower"),)
    sheets = [
        Listed("", Datasheet("2.0", JudgeIdentity(name), RunFacts(), Provenance(), (
            AxisResult(PAIRS, "", "", 1, 1, 0, 0, 0, (one,), (), characteristics=rows),)))
        for name, one in (("a", lossy), ("b", whole))
    ]  # fmt: skip
    (group,) = grouped(sheets)
    assert [one.cells[0][1] for one in group.rows] == ["0–13; lost calls counted: 0–43", "0–13"]
