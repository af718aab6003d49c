"""The figures of several runs by the value of the request parameter that a sweep varies."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgesheet.axes import all_axes
from judgesheet.axis import sweep_keys
from judgesheet.base.datasheet import by_key
from judgesheet.base.digits import percent, two_digits
from judgesheet.base.keys import Key
from judgesheet.base.records import Datasheet, Estimate
from judgesheet.base.units import unit
from judgesheet.sheet import report, show
from judgesheet.sheet.charts import Chart, Point, lines
from judgesheet.sheet.report import DASH, Report, ReportTable


def parameter(sheets: Sequence[Datasheet]) -> str:
    """The parameter that all these runs of one judge vary; "" where they are not of one sweep."""
    of = {(sheet.judge.model, sheet.run.sweep and sheet.run.sweep.name) for sheet in sheets}
    values = {_value(sheet) for sheet in sheets}
    is_one = len(of) == 1 and len(values) == len(sheets)
    sweep = sheets[0].run.sweep
    return sweep.name if is_one and sweep else ""


def _value(sheet: Datasheet) -> str:
    return next(iter(sheet.run.sweep.values), "") if sheet.run.sweep else ""


def _followed(sheets: Sequence[Datasheet]) -> Iterator[tuple[str, dict[str, dict[str, Estimate]]]]:
    """Per axis: key -> value -> estimate, of those that any run has with a value."""
    tables = {_value(sheet): by_key(sheet) for sheet in sheets}
    for name, axis in all_axes().items():
        found = {
            key: {value: table[key] for value, table in tables.items() if key in table}
            for key in sweep_keys(axis)
        }
        known = {
            key: under
            for key, under in found.items()
            if any(one.value is not None for one in under.values())
        }
        if known:
            yield name, known


def tables(sheets: Sequence[Datasheet]) -> Iterator[ReportTable]:
    """One of all axes: a row per figure, a column per value."""
    name = parameter(sheets)
    if not name:
        return
    values = [_value(sheet) for sheet in sheets]
    rows = [
        (
            show.visible(f"{all_axes()[axis].TITLE}: {next(iter(under.values())).label}", 120),
            *(show.estimate(under[one]).with_interval if one in under else DASH for one in values),
        )
        for axis, figures in _followed(sheets)
        for under in figures.values()
    ]
    yield ReportTable(
        f"By {show.visible(name, 60)}",
        "With 95 % intervals over stimuli, which are the same for all values.",
        ("Figure", *(show.visible(value, 60) for value in values)),
        "l" + "r" * len(values),
        tuple(rows),
    )


def charts(sheets: Sequence[Datasheet]) -> tuple[Chart, ...]:
    """A line per figure against the values of a sweep; none where the runs are of no sweep."""
    name, values = parameter(sheets), [_value(sheet) for sheet in sheets]
    found = (under for _, figures in _followed(sheets) if name for under in figures.values())
    return tuple(_chart(under, values, name) for under in found)


def _chart(under: Mapping[str, Estimate], values: Sequence[str], name: str) -> Chart:
    points = [
        Point(float(at), one.value, one.low, one.high)
        for at, value in enumerate(values)
        if (one := under.get(value)) is not None and one.value is not None
    ]
    first = next(iter(under.values()))
    title = show.visible(first.label, 120)
    says = percent if unit(first.unit).percent else two_digits
    drawn = lines(title, {"": points}, show.short(name, 40), says, names=values)
    return Chart(f"by-value-{Key.parse(first.key).name}", title, "With intervals.", drawn)


def as_record(sheets: Sequence[Datasheet]) -> dict[str, Any]:
    """Every figure of the tables by value, as JSON."""
    return {
        "parameter": parameter(sheets),
        "figures": {
            key: {
                value: {part: getattr(one, part) for part in ("value", "low", "high", "n")}
                for value, one in under.items()
            }
            for _, figures in _followed(sheets)
            for key, under in figures.items()
        },
    }


def as_markdown(sheets: Sequence[Datasheet]) -> str:
    """The tables alone, for a terminal."""
    judge = show.short(show.judge(sheets[0]), 60)
    title = f"{judge}, by {show.visible(parameter(sheets), 60)}"
    page = Report("A judge under several settings", title, (), (), (), (*tables(sheets),))
    return report.as_markdown(page).decode()
