"""Every figure of a sheet and of `correct`: where it is proven, or why it is not."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, get_args, get_type_hints

from judgesheet.axes import all_axes
from judgesheet.base.units import unit
from judgesheet.correcting import result as correction
from judgesheet.correcting.result import ReportedNumber
from proof.lines import COVER, REJECT, Line
from proof.runner import Result, committed
from proof.tables import grid

DEPENDS_ON = ()
SEVERAL_AXES = ("agreement", "losses", "page_one", "where")
"""Pages whose rows name the axis of a figure."""
RESULTS: Mapping[str, type] = {"correct": correction.Result}
"""Commands with figures of their own, whose results are records and have a page of that name."""


_SAMPLE = "describes the sample at hand; a count or a rank, no estimate"
_BY_CHANCE = "what chance alone would give in this sample, to compare the figure with"
_CHOICES = "its ends are a range over choices of orders, and `Bounds.proves` says that"
_DESIGN = "follows from the design or the stimuli alone"
UNPROVEN: dict[str, str] = {
    "score_order.scores_used": _SAMPLE,
    "criterion_order.scores_used": _SAMPLE,
    **dict.fromkeys(
        ("score_order.commonest_score", "criterion_order.commonest_score"),
        "a rate over stimuli as those of `order_change_rate`, which is proven",
    ),
    "candidate_order.excess_change_rate": (
        "that of `score_order.excess_change_rate`, which is proven, on winners of pairs"
    ),
    "score_order.chi2": "the statistic of `chi2_p`, no estimate",
    "score_order.min_bias_order": "the name of an order; `min_bias_confidence` is proven",
    "score_order.default_order_rank": _SAMPLE,
    "score_order.budget_r": _CHOICES,
    "criterion_order.mean_delta_pos_null": _BY_CHANCE,
    "criterion_order.max_delta_pos_null": _BY_CHANCE,
    "criterion_order.significant_criteria": f"{_SAMPLE}; `friedman_p` is proven",
    "criterion_order.budget_r": _CHOICES,
    "listwise_consensus.chance_accuracy": _DESIGN,
    "listwise_consensus.calls_per_decision": _DESIGN,
    "listwise_consensus.place_v": "that of `score_order.cramers_v`, which is proven, on winners",
    "listwise_consensus.improved": f"{_SAMPLE}; `gain` is proven",
    "listwise_consensus.regressed": f"{_SAMPLE}; `gain` is proven",
    "listwise_consensus.unchanged": f"{_SAMPLE}; `gain` is proven",
    "listwise_consensus.independent_error_bound": (
        "what a model of independent errors would give, without an interval"
    ),
}
"""By key without dimensions."""
UNPROVEN |= {
    "presentation.loss_rate": "that of the other axes, which are proven: it knows calls alone",
}
UNPROVEN |= {
    "presentation.slice_p": "part of the test of a sheet, which is proven; twelve of its calls "
    "have a known right answer, too few to be asked alone",
    **{
        f"{axis}.slice": "chosen as the worst of several, no estimate; `slice_p` tests it"
        for axis in all_axes()
    },
}
UNPROVEN |= {
    "correct.corrected": "`ppi` or `rogan_gladen`, which are proven, by `--labels` alone",
    "correct.raw": "the judge's own verdicts, no estimate of the truth; their interval is that of "
    "every mean and rate (`gate`, `edges`)",
    "correct.shift": "a warning of the judge's verdicts, no result: margins of both means combined",
}


def declared() -> Iterator[str]:
    """Every figure of every axis and every result, as a key without dimensions."""
    for name, axis in all_axes().items():
        yield from (f"{name}.{figure}" for figure in axis.ESTIMATES)
    for name, record in RESULTS.items():
        yield from dict.fromkeys(f"{name}.{figure}" for figure in _figures(record))


def _figures(record: Any, within: str = "") -> Iterator[str]:
    """The fields with a figure, of a record and of the records in it.

    A field `figure` goes by the name of the list that its record stands in.
    """
    for name, hint in get_type_hints(record).items():
        kinds = {hint, *get_args(hint)}
        if ReportedNumber in kinds:
            yield within if name == "figure" else name
        for kind in kinds:
            if is_dataclass(kind) and kind is not ReportedNumber:
                yield from _figures(kind, name)


def proven() -> dict[str, Counter[str]]:
    """Figures with a coverage or a size among the committed results -> lines of each page."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    figures = set(declared())
    for page in (*all_axes(), *SEVERAL_AXES, *RESULTS):
        for record in committed(page).values():
            for key in figures & {_key(page, row) for row in _measured(record.get("rows", {}))}:
                found[key][page] += 1
    return dict(found)


def _measured(rows: Mapping[str, Any]) -> Iterator[str]:
    """The rows with a coverage or a size."""
    return (name for name, row in rows.items() if {COVER, REJECT} & row.get("shares", {}).keys())


def _key(page: str, row: str) -> str:
    """The key of a row without its dimensions; a page of one axis does not name it."""
    name = row.partition("[")[0]
    return name if "." in name else f"{page}.{name}"


def lines() -> Iterator[Line]:
    """None: this page reads the results of the others."""
    return iter(())


def fields(results: Sequence[Result]) -> dict[str, str]:  # noqa: ARG001
    """What the text of the page leaves open."""
    rows, known = [], proven()
    for key in declared():
        axis, name = key.split(".")
        what = _unit(all_axes()[axis].ESTIMATES[name].unit) if axis in all_axes() else ""
        pages: Mapping[str, int] = known.get(key, {})
        where = "; ".join(f"{count} in [{page}]({page}.md)" for page, count in pages.items())
        rows.append([f"`{key}`", what, where, UNPROVEN.get(key, "")])
    return {"table": grid(["figure", "unit", "lines", "why not"], rows)}


def _unit(name: str) -> str:
    kind = unit(name)
    return kind.name if kind.kind == "quantity" else kind.kind
