"""The figures of criterion order."""

from collections.abc import Iterator
from typing import Any

from judgesheet import axis, stats
from judgesheet.axes import criterion_order as room
from judgesheet.axes.criterion_order.figures import FIGURES
from proof.criteria import Judge
from proof.lines import LEAST_AT_EDGES, Case, Line, Part
from proof.lines import lines as cut
from proof.tables import figures

DEPENDS_ON = (room, axis, stats)


SLOW = (
    *("pearson_r", "single_read_r"),
    "delta_r",
)
NO_INTERVAL = (
    *("mean_delta_pos_null", "max_delta_pos_null"),
    "significant_criteria",
    "budget_r",
)


def _parts() -> Iterator[Part]:
    # Tests of the order, losses and slices read single calls, which these judges do not give.
    every = {name: one for name, one in FIGURES.items() if name not in NO_INTERVAL}
    quick = {name: one for name, one in every.items() if name not in SLOW}
    slow = {name: one for name, one in every.items() if name in SLOW}
    yield Part("counts", quick, {12: 200, 24: 130, 100: 70}, (2000, 3))
    yield Part("resampled", slow, {12: 80, 24: 50, 100: 25}, (500, 3))
    tests = {name: one for name, one in every.items() if name in NO_PLACE}
    yield Part("tests", tests, {12: 1000, 24: 1000}, (2, 1))


NO_PLACE = frozenset({"friedman_p"})


def _cases() -> Iterator[tuple[str, Case]]:
    first = (0.4, 0, 0, 0, 0)
    yield "fair, prompts alike", _case(Judge(), "counts", "resampled", "tests", nulls=NO_PLACE)
    yield "fair, prompts differ", _case(Judge(taste=0.5), "counts", "tests", nulls=NO_PLACE)
    yield "fair, few prompts move", _case(Judge(noise=0.15, taste=1.5, rare=0.025), nulls=NO_PLACE)
    yield "first place +.15", _case(Judge(shift=(0.15, 0, 0, 0, 0)))
    yield (
        "first place +.4, prompts differ",
        _case(Judge(shift=first, taste=0.3), "counts", "resampled"),
    )
    yield "slope of .8 points", _case(Judge(shift=(0.4, 0.2, 0, -0.2, -0.4), taste=0.3))
    yield "perfect", _case(Judge(noise=1e-3), nulls=NO_PLACE)
    yield "always the same score", _case(Judge(noise=1e-3, level=3.0), nulls=NO_PLACE)
    for share in (0.05, 0.1, 0.2):
        yield (
            f"1 % slips, {share:.0%} of prompts favour the first place",
            _case(Judge(noise=1e-3, slips=0.01, always=share), least=LEAST_AT_EDGES),
        )
    slip = 1 / (12 * 2 * 10 * 5)
    yield (
        "always the same score but for one score",
        _case(Judge(noise=1e-3, level=3.0, slips=slip), nulls=NO_PLACE),
    )


def _case(judge: Judge, *parts: str, **more: Any) -> Case:
    draw = dict.fromkeys(("counts", "resampled", "tests"), judge.scores)
    return Case(draw, judge.truths, frozenset(parts or ("counts",)), **more)


def lines() -> Iterator[Line]:
    """Every judge at every size."""
    return cut(dict(_cases()), list(_parts()))


fields = figures
