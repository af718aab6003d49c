"""The figures of score order."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from judgesheet import axis, stats
from judgesheet.axes import score_order as room
from judgesheet.axes.score_order.figures import EXPECTED, SAMPLED
from judgesheet.axis.figure import Figure
from proof.lines import LEAST_AT_EDGES, Case, Line, Part
from proof.lines import lines as cut
from proof.rubric import Judge, with_v
from proof.tables import figures

DEPENDS_ON = (room, axis, stats)


SLOW = (
    "selection",
    *("pearson_r", "spearman_r", "delta_r", "per_order_r"),
    *("rater_ceiling_r", "min_bias_confidence"),
)
"""Figures that resample or are many: a data set takes a second."""
ELSEWHERE = (
    *("chi2", "bias_cost", "min_bias_order", "default_order_rank", "budget_r"),
    "quality_kappa",
)
"""Figures without an interval, and those of another page."""


def _parts() -> Iterator[Part]:
    sampled = {name: one for name, one in SAMPLED.items() if name not in ELSEWHERE}
    quick = _only(sampled, lambda name: name not in SLOW)
    slow = _only(sampled, lambda name: name in SLOW)
    yield Part("counts", quick, {12: 300, 24: 240, 100: 160}, (2000, 3))
    yield Part("resampled", slow, {12: 120, 24: 80, 100: 50}, (1000, 3))
    yield Part("log-probabilities", EXPECTED, {12: 300, 24: 200, 100: 100}, (1000, 3))


def _only(figures: Mapping[str, Figure[Any]], wanted: Any) -> dict[str, Figure[Any]]:
    return {name: one for name, one in figures.items() if wanted(name)}


NO_ORDER = frozenset({"min_bias_confidence"})
EVERYTHING = ("counts", "resampled", "log-probabilities")
PERFECT = Judge(width=1e-3)
CONSTANT = Judge(width=1e-3, level=3.0)
ONE_SLIP = 1 / (12 * 4 * 10)


def _cases() -> Iterator[tuple[str, Case]]:
    mixed = {"cluster_place": 0.6, "item_place": 0.6}
    yield "fair, does not see the order", _case(Judge(), *EVERYTHING, nulls=NO_ORDER)
    own_places = _case(Judge(**mixed), "counts")
    yield "fair, stimuli prefer places of their own", own_places
    yield "V = .05, stimuli differ", _case(with_v(0.05, **mixed))
    yield "V = .2, stimuli differ", _case(with_v(0.2, cluster_place=0.6), *EVERYTHING)
    yield "perfect", _case(PERFECT, *EVERYTHING, nulls=NO_ORDER)
    yield "always the same score", _case(CONSTANT, nulls=NO_ORDER)
    yield "always the same score but for a call", _case(replace(CONSTANT, slips=ONE_SLIP))
    for share in (0.05, 0.1, 0.2):
        judge = replace(PERFECT, slips=0.01, always=share)
        yield (
            f"1 % slips, {share:.0%} of stimuli always the first position",
            _case(judge, "counts", *(["resampled"] if share == 0.1 else []), least=LEAST_AT_EDGES),
        )


def _case(judge: Judge, *parts: str, nulls: frozenset[str] = frozenset(), **more: Any) -> Case:
    def scores(stimuli: int, rng: Any) -> Any:
        return judge.draw(stimuli, rng).scores()

    def expected(stimuli: int, rng: Any) -> Any:
        return judge.draw(stimuli, rng).expected()

    draw = {**dict.fromkeys(("counts", "resampled"), scores), "log-probabilities": expected}
    return Case(draw, judge.truths, frozenset(parts or ("counts",)), nulls, **more)


def lines() -> Iterator[Line]:
    """Every judge at every size."""
    return cut(dict(_cases()), list(_parts()))


fields = figures
