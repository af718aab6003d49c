"""A corrected evaluation in words: one page as Markdown, HTML or PDF, and its figures as CSV."""

from collections.abc import Iterator
from itertools import pairwise

from judgesheet.base.sanitize import capital
from judgesheet.correcting.result import ReportedNumber, Result, System, SystemDifference
from judgesheet.sheet import Paper, report, show
from judgesheet.sheet.csv import cell, written
from judgesheet.sheet.report import DASH, Report, ReportTable, worded

FORMATS = (*report.FORMATS, "csv")
HEAD = ("system", "other", "figure", "value", "low", "high", "level", "n", "clusters", "method",
        "note")  # fmt: skip
PAIRS_SHOWN = 45
"""Differences that are all shown, those of ten systems; of more only those of neighbours."""
_HOW = {
    "random": "a random sample of the rows has labels",
    "chosen": "selected rows have labels",
}
_NAMES = {
    "corrected": "Corrected",
    "ppi": "Prediction-powered (PPI++)",
    "rogan_gladen": "Rogan-Gladen",
    "labels_only": "Labelled rows alone",
    "raw": "The judge's verdicts alone",
    "sensitivity": "The judge's sensitivity",
    "specificity": "The judge's specificity",
}


def render(result: Result, name: str, paper: Paper) -> bytes:
    """The result in a format of `FORMATS`."""
    if name == "csv":
        return written(HEAD, _lines(result))
    return report.render(page(result), result.as_record(), name, paper)


def page(result: Result) -> Report:
    """The page of a result."""
    facts = [("Rows", show.count(result.rows)), ("Labelled", show.count(result.labelled))]
    if result.clusters != result.rows:
        facts.append(("Groups", show.count(result.clusters)))
    facts.append(("Labels", _HOW[result.labels]))
    return Report(
        kicker="Results corrected for the judge",
        title=f"{show.visible(result.table, 80)}: {show.visible(result.about, 160)}",
        facts=tuple(facts),
        lead=tuple(_lead(result)),
        warnings=tuple(capital(show.visible(one)) for one in result.warnings),
        grids=tuple(_grids(result)),
        notes=(
            _READING[result.labels],
            "docs/correct.md has the formulae, docs/proof/correct.md how often the intervals hold.",
        ),
    )


def _unit(result: Result) -> str:
    return "" if result.kind == "mean" else "share"


def _lead(result: Result) -> Iterator[str]:
    unit = _unit(result)
    about, note = capital(show.visible(result.about, 160)), show.visible(result.corrected.note)
    if result.corrected.value is None:
        yield f"{about}: {note}. The judge alone says {worded(result.raw, unit)}."
    else:
        corrected, raw = worded(result.corrected, unit), worded(result.raw, unit)
        yield f"{about}: {corrected}. The judge alone says {raw}."
        if note:
            yield f"{capital(note)}."
    if result.differences:
        yield _standing(result)


def _standing(result: Result) -> str:
    """How many differences are proven."""
    proven, every = sum(one.stands for one in result.differences), len(result.differences)
    if every == 1:
        return f"The difference between the systems is {'' if proven else 'not '}proven."
    return f"{show.count(proven)} of {show.count(every)} differences between systems are proven."


def _grids(result: Result) -> Iterator[ReportTable]:
    unit = _unit(result)
    if len(result.systems) == 1:
        yield _estimates(result.systems[0], unit)
    else:
        yield _systems(result, unit)
        yield _differences(result)


def _estimates(system: System, unit: str) -> ReportTable:
    rows = []
    for field, name in _NAMES.items():
        figure: ReportedNumber | None = getattr(system, field)
        if figure is not None:
            how = "; ".join(filter(None, (figure.method, figure.note)))
            rows.append((name, worded(figure, unit), show.count(figure.n), show.visible(how)))
    reading = (
        "With 95 % intervals; both corrections are shown, and which one counts depends only on how "
        "the labelled rows were selected."
    )
    return ReportTable("Estimates", reading, ("Figure", "Value", "n", "How"), "lrrl", tuple(rows))


def _systems(result: Result, unit: str) -> ReportTable:
    plugged = [one.rogan_gladen for one in result.systems]
    why = dict.fromkeys(show.visible(one.note) for one in plugged if one.value is None)
    rows = tuple(
        (
            show.visible(one.name, 60), worded(one.raw, unit), worded(one.corrected, unit),
            worded(one.rogan_gladen, unit), show.count(one.labelled),
        )
        for one in result.systems
    )  # fmt: skip
    return ReportTable(
        "Systems", "With a 95 % interval for each system, best first."
        + "".join(f" A dash under Rogan-Gladen means {note}." for note in why),
        ("System", "The judge alone", "Corrected", "Rogan-Gladen", "Labels"), "lrrrr", rows,
    )  # fmt: skip


def _differences(result: Result) -> ReportTable:
    unit = "" if result.kind == "mean" else "difference"
    shown = _shown(result)
    noted = any(one.figure.note for one in shown)
    rows = tuple(
        (
            f"{show.visible(one.first, 60)} less {show.visible(one.second, 60)}",
            DASH if one.raw is None else _as_finely(one.raw, one.figure, unit),
            worded(one.figure, unit), "✓ stands" if one.stands else "? not proven",
            *((show.visible(one.figure.note),) * noted),
        )
        for one in shown
    )  # fmt: skip
    left_out = len(result.differences) - len(shown)
    return ReportTable(
        "Differences",
        "Paired by what was judged, with 95 % intervals that hold all together."
        f"{_LEFT_OUT.format(count=show.count(left_out)) if left_out else ''}",
        ("Difference", "The judge alone", "Corrected", "Stands?", *(("Note",) * noted)),
        "lrrl" + "l" * noted, rows,
    )  # fmt: skip


_LEFT_OUT = (
    " With so many systems only neighbours in the table are compared here; {count} "
    "more differences are in the JSON and the CSV."
)


def _shown(result: Result) -> tuple[SystemDifference, ...]:
    """The differences of a page: all of few systems, of many those of neighbours."""
    if len(result.differences) <= PAIRS_SHOWN:
        return result.differences
    neighbours = set(pairwise(one.name for one in result.systems))
    return tuple(one for one in result.differences if (one.first, one.second) in neighbours)


def _as_finely(value: float, as_figure: ReportedNumber, unit: str) -> str:
    """A number with as many digits as a figure beside it."""
    if as_figure.low is None or as_figure.high is None:
        return show.quantity(value, given_in=unit).bare
    half = (as_figure.high - as_figure.low) / 2
    return show.quantity(value, value - half, value + half, unit).bare


_READING = {
    "random": "Prediction-powered inference holds for any judge if the labelled rows are a "
    "random sample.",
    "chosen": "With selected rows only Rogan-Gladen can hold: it is about the rows without a "
    "label, and the judge must make errors at the same rate on rows with the same label, "
    "whether labelled or not.",
}


def _lines(result: Result) -> Iterator[list[str]]:
    """Every figure of the result, in the columns of `HEAD`."""
    yield _line("", "", "corrected", result.corrected)
    yield _line("", "", "raw", result.raw)
    for system in result.systems:
        for field in _NAMES:
            figure_of: ReportedNumber | None = getattr(system, field)
            if figure_of is not None:
                yield _line(system.name, "", field, figure_of)
    for difference in result.differences:
        yield _line(difference.first, difference.second, "difference", difference.figure)


def _line(system: str, other: str, name: str, figure: ReportedNumber) -> list[str]:
    given = (system, other, name, figure.value, figure.low, figure.high, figure.level, figure.n,
             figure.clusters, figure.method, figure.note)  # fmt: skip
    return [cell(one) for one in given]
