"""The charts: what is drawn is what was measured, in words that a screen reader says."""

import re
from collections import Counter
from dataclasses import replace
from html import unescape
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from judgesheet.base.facts import JudgeIdentity, Provenance, RunFacts
from judgesheet.base.records import STATUS_WORDS, AxisResult, Datasheet, Estimate
from judgesheet.sheet.charts import (
    Point,
    Scale,
    charts,
    intervals,
    judges_map,
    limits,
    lines,
    stacked,
    ticks,
)
from judgesheet.sheet.context import context
from judgesheet.sheet.pdf import painted
from judgesheet.sheet.templates import text_of
from tests.sheet import sheets
from tests.sheet.sheets import Outcome

SVG = "{http://www.w3.org/2000/svg}"


def share(key: str, value: float = 0.2) -> Estimate:
    return Estimate(key, key, value, value - 0.1, value + 0.1, unit="share", n=80, clusters=40)


def of(axis: str, *estimates: Estimate) -> Datasheet:
    result = AxisResult(axis, axis, "?", 9, 9, 0, 0, 0, estimates, ())
    return Datasheet("1", JudgeIdentity(axis), RunFacts(), Provenance(), (result,))


MEASURED = {
    "pairs": of("candidate_order", *(
        share(f"candidate_order.{name}[set=same_subset]")
        for name in ("stable_cross_sensitivity", "positional_false_preference", "one_sided_commit",
                     "other_conflict", "no_preference"))),
    "ladder": of("candidate_order", *(
        share(f"candidate_order.target_sensitivity[delta={step}]") for step in (0.5, 1, 5))),
    "places": of("score_order", *(
        share(f"score_order.position_share[position={place}]") for place in range(1, 6))),
    "criteria": of("criterion_order", *(
        share(f"criterion_order.position_shift[criterion={name},position={place}]", 0.1 * place)
        for name in ("clear, short", "right") for place in (1, 2, 3))),
    "budget": of("score_order", *(
        share(f"score_order.budget_r[k={k},arm={arm}]")
        for k in (1, 5) for arm in ("balanced", "random"))),
    "lists": of("listwise_consensus", share("listwise_consensus.accuracy[arm=direct,k=1]"), *(
        share(f"listwise_consensus.accuracy[arm=permuted,k={k}]") for k in (3, 7))),
    "looks": of("presentation", *(
        share(f"presentation.preference[kind={kind}]", 0.5) for kind in ("length", "format"))),
}  # fmt: skip


@pytest.mark.parametrize("name", MEASURED)
def test_what_was_measured_is_drawn_and_what_was_not_is_not(name: str) -> None:
    sheet = MEASURED[name]
    assert [chart.name for chart in charts(sheet)] == [name]
    (axis,) = sheet.axes
    void = replace(sheet, axes=(replace(axis, invalid="a control failed"),))
    assert charts(void) == ()
    lost = tuple(
        replace(one, value=None, low=None, high=None, note="lost") for one in axis.estimates
    )
    assert charts(replace(sheet, axes=(replace(axis, estimates=lost),))) == ()


@pytest.mark.parametrize("name", MEASURED)
def test_a_chart_is_sound_and_has_a_title(name: str) -> None:
    (chart,) = charts(MEASURED[name])
    root = ElementTree.fromstring(chart.svg)
    assert root.find(f"{SVG}title") is not None
    assert root.get("role") == "img"
    assert not re.search(r"nan|inf\b|style=", chart.svg)


def test_colours_and_type_are_names_of_the_theme() -> None:
    theme = text_of("theme.css")
    used = {name for sheet in MEASURED.values() for chart in charts(sheet)
            for name in re.findall(r"var\((--[\w-]+)\)", chart.svg)}  # fmt: skip
    assert used
    assert all(f"{name}:" in theme for name in used)
    for sheet in MEASURED.values():
        assert not re.search("#[0-9a-f]{6}", charts(sheet)[0].svg)


def test_on_paper_they_have_the_values_of_the_page_and_not_those_of_the_dark() -> None:
    (chart,) = charts(MEASURED["places"])
    page = painted(f"<style>{text_of('theme.css')} :root {{ --rule: #abcdef }}</style>{chart.svg}")
    drawn = page.partition("</style>")[2]
    assert "var(" not in drawn
    assert "#abcdef" in drawn
    assert "#14171b" not in drawn


def test_a_bar_ends_where_its_share_is() -> None:
    parts = [("a", "var(--series-1)"), ("b", "var(--series-2)")]
    root = ElementTree.fromstring(stacked("t", {"bar": [0.25, 0.75]}, parts))
    first, second, *_ = (one for one in root.iter(f"{SVG}rect") if one.get("height") == "20")
    assert float(second.get("width", 0)) == pytest.approx(3 * float(first.get("width", 0)), abs=0.3)


def test_what_is_beyond_a_scale_stands_at_its_end() -> None:
    scale = Scale(0.0, 1.0, 10.0, 110.0)
    assert [scale(number) for number in (-5.0, 0.0, 0.5, 1.0, 1e9)] == [10, 10, 60, 110, 110]


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-0.003, 0.0021), (17.0, 23_000.0)])
def test_ticks_are_even_and_few(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 2 <= len(found) <= 6
    steps = {round((b - a) / (high - low), 6) for a, b in pairwise(found)}
    assert len(steps) == 1


def test_one_value_or_equal_ones_are_drawn() -> None:
    for points in (
        [Point(1, 0.5)],
        [Point(1, 0.5), Point(2, 0.5)],
        [Point(1, 0.0), Point(9, 1e-9)],
    ):
        assert "<path" in lines("t", {"a": points}, "x")
        assert "<path" in intervals("t", [("a", point) for point in points], "x")


def test_words_of_others_are_words() -> None:
    evil = '<script>alert(1)</script>" onload="x'
    svg = intervals(evil, [(evil, Point(0, 0.5, 0.1, 0.9))], evil)
    assert "<script" not in svg
    ElementTree.fromstring(svg)
    assert "<script" not in limits(evil, [], evil)


@pytest.mark.parametrize(("verdict", "drawn"), [("reject", "fail"), ("adopt", "inconclusive")])
def test_the_picture_of_page_one_draws_what_decides_and_counts_the_rest(
    verdict: Outcome, drawn: str
) -> None:
    page = context(sheets.judged(verdict))
    assert page.limits is not None
    svg = unescape(page.limits.svg)
    left = [one for one in page.sheet.verdicts
            if page.figures[one.key].estimate.label[:20] not in svg]  # fmt: skip
    assert not any(one.status == drawn for one in left)
    for status, count in Counter(one.status for one in left).items():
        assert f"{count} {STATUS_WORDS[status]}" in svg


def test_judges_are_mapped_where_there_are_several() -> None:
    sheet = of("candidate_order", share("candidate_order.dark_current"),
               share("candidate_order.target_sensitivity[delta=1]", 0.8))  # fmt: skip
    assert judges_map([("a", sheet)]) is None
    chart = judges_map([("first", sheet), ("second", sheet), ("third", MEASURED["places"])])
    assert chart is not None
    assert ("first" in chart.svg, "second" in chart.svg, "third" in chart.svg) == (
        True,
        True,
        False,
    )
