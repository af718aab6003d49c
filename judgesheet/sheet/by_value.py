"""The figures of several runs by the value of the request parameter that a sweep varies."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from judgesheet.axes import all_axes
from judgesheet.axis import sweep_keys
from judgesheet.base.datasheet import by_key
from judgesheet.base.keys import Key
from judgesheet.base.records import Datasheet, Estimate, Plot
from judgesheet.sheet import report, show
from judgesheet.sheet.plots import Drawing, draw
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


def drawings(sheets: Sequence[Datasheet]) -> Iterator[Drawing]:
    """A line per figure, against the values."""
    name = parameter(sheets)
    for _, figures in _followed(sheets) if name else ():
        for key, under in figures.items():
            figure = Key.parse(key)
            levels = [
                replace(one, key=str(figure.at(**{**figure.dims, name: value})))
                for value, one in under.items()
            ]
            plot = Plot(
                "line",
                show.visible(levels[0].label, 120),
                "With 95 % intervals.",
                (figure.name,),
                x=name,
                having=figure.dims,
                x_label=name,
            )
            yield draw(plot, levels, f"by-value-{figure.axis}-{figure.name}")


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
