"""A comparison of datasheets: Markdown (also for terminals), JSON, and one HTML page."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judgesheet.records import Datasheet, Estimate, Plot, digest
from judgesheet.spine.compare import Comparison, Difference
from judgesheet.spine.datasheet import to_json
from judgesheet.spine.render import show
from judgesheet.spine.render.markdown import code, escape, table

if TYPE_CHECKING:
    from judgesheet.spine.render.figures import Drawing

FORMATS = ("md", "html", "json")
TEMPLATE = "compare.html.jinja"
SIGNS = {"worse": "✗ worse", "better": "✓ better", "no change proven": "? no change proven", "": ""}


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of every sheet, one per judge, the first being the old one; `cells` in words."""

    key: str
    label: str
    estimates: tuple[Estimate | None, ...]
    cells: tuple[str, ...]
    differences: tuple[str, ...]
    verdicts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """What every format prints; a comparison per judge after the first."""

    judges: tuple[str, ...]
    documents: tuple[str, ...]
    summary: tuple[str, ...]
    warnings: tuple[str, ...]
    rows: tuple[Row, ...]


def render(comparisons: Sequence[Comparison], name: str) -> str:
    """The comparisons in a format of `FORMATS`; all have the same old sheet."""
    if name == "json":
        return json.dumps([as_record(one) for one in comparisons], indent=2) + "\n"
    return as_html(comparisons) if name == "html" else as_markdown(comparisons)


def as_markdown(comparisons: Sequence[Comparison]) -> str:
    """GitHub-flavoured Markdown that also reads well in a terminal."""
    page = build(comparisons)
    blocks = [f"# {escape(' → '.join(page.judges))}"]
    blocks += [f"> [!WARNING]\n> {escape(warning)}" for warning in page.warnings]
    blocks.append("\n".join(f"- {escape(line)}" for line in page.summary))
    judges = [escape(judge) for judge in page.judges]
    head = ["Key", judges[0]]
    for judge in judges[1:]:
        head += [judge, "Difference", "Verdict"]
    rows = []
    for row in page.rows:
        cells = [code(row.key), escape(row.cells[0])]
        for parts in zip(row.cells[1:], row.differences, row.verdicts, strict=True):
            cells += [escape(part) or "–" for part in parts]
        rows.append(tuple(cells))
    blocks.append(table(tuple(head), "lr" + "rrl" * len(comparisons), rows))
    blocks.append(READING)
    return "\n\n".join(blocks) + "\n"


READING = (
    "Differences are new minus old with 95 % intervals. A verdict takes Holm's correction over all "
    "figures that have one; “no change proven” is not “no change”: the smallest difference that "
    "would have been seen four times in five stands beside it."
)


def as_record(one: Comparison) -> dict[str, Any]:
    """A comparison as one JSON document, every figure of the sheets included."""
    return {
        "old": _identity(one.old),
        "new": _identity(one.new),
        "forced": list(one.forced),
        "remarks": list(one.remarks),
        "worse": one.count("worse"),
        "better": one.count("better"),
        "no_change_proven": one.count("no change proven"),
        "differences": [_difference_record(row) for row in one.differences],
    }


def _identity(sheet: Datasheet) -> dict[str, Any]:
    return {"judge": sheet.judge.get("model"), "datasheet_sha256": digest(to_json(sheet))}


def _difference_record(row: Difference) -> dict[str, Any]:
    plain = ("key", "label", "unit", "value", "low", "high", "level", "better", "null", "p",
             "p_holm", "verdict", "detectable", "correlation", "method", "note")  # fmt: skip
    known = ("value", "low", "high", "n", "clusters")
    either = {
        name: estimate and {part: getattr(estimate, part) for part in known}
        for name, estimate in (("old", row.old), ("new", row.new))
    }
    return {name: getattr(row, name) for name in plain} | either


# -- the table in words --------------------------------------------------------------------------


def build(comparisons: Sequence[Comparison]) -> Table:
    """Names, sentences and rows of a comparison."""
    first = comparisons[0]
    sheets = [first.old, *(one.new for one in comparisons)]
    return Table(
        judges=tuple(_names(sheets)),
        documents=tuple(digest(to_json(sheet))[:12] for sheet in sheets),
        summary=tuple(_summary(comparisons)),
        warnings=tuple(dict.fromkeys(_warnings(comparisons))),
        rows=tuple(_rows(comparisons)),
    )


def _names(sheets: Sequence[Datasheet]) -> Iterator[str]:
    """The judges' names; numbered where two are the same."""
    models = [show.short(str(sheet.judge.get("model") or "unnamed judge"), 60) for sheet in sheets]
    for number, model in enumerate(models, start=1):
        yield model if models.count(model) == 1 else f"{model} ({number})"


def _summary(comparisons: Sequence[Comparison]) -> Iterator[str]:
    names = list(_names([comparisons[0].old, *(one.new for one in comparisons)]))
    for name, one in zip(names[1:], comparisons, strict=True):
        paired = any(row.correlation is not None for row in one.differences)
        yield (
            f"{name} against {names[0]}: {one.count('worse')} worse, {one.count('better')} better, "
            f"{one.count('no change proven')} without a proven change; "
            f"{'paired by stimulus' if paired else 'taken as independent'}."
        )


def _warnings(comparisons: Sequence[Comparison]) -> Iterator[str]:
    for one in comparisons:
        if one.forced:
            yield f"Compared by force although {'; '.join(map(show.visible, one.forced))}."
        yield from map(show.visible, one.remarks)


def _rows(comparisons: Sequence[Comparison]) -> Iterator[Row]:
    tables = [{row.key: row for row in one.headline} for one in comparisons]
    for key in dict.fromkeys(key for rows in tables for key in rows):
        mine = [rows.get(key) for rows in tables]
        known = next(row for row in mine if row is not None)
        estimates = (known.old, *(row.new if row else None for row in mine))
        yield Row(
            key=show.visible(key, 120),
            label=show.visible(known.label, 120),
            estimates=estimates,
            cells=tuple(map(_value, estimates)),
            differences=tuple("" if row is None else _change(row) for row in mine),
            verdicts=tuple("" if row is None else _verdict(row) for row in mine),
        )


def _value(estimate: Estimate | None) -> str:
    if estimate is None:
        return "–"
    shown = show.estimate(estimate)
    sign = " %" if shown.percent else ""
    return f"{shown.value}{sign}{_interval(shown)}" if shown.measured else show.NOT_MEASURED


def _change(row: Difference) -> str:
    if row.value is None:
        return ""
    shown = show.quantity(row.value, row.low, row.high, row.unit)
    return f"{'+' if row.value > 0 else ''}{_points(shown)}{_interval(shown)}"


def _interval(shown: show.Shown) -> str:
    return f" ({shown.interval})" if shown.interval else ""


def _points(shown: show.Shown) -> str:
    """A difference, of shares in points."""
    return f"{shown.value} points" if shown.percent else shown.value


def _verdict(row: Difference) -> str:
    if row.verdict != "no change proven" or row.detectable is None:
        return SIGNS[row.verdict] or show.short(row.note, 70)
    shown = show.quantity(row.detectable, 0.0, row.detectable, row.unit)
    return f"{SIGNS[row.verdict]} (seen from {_points(shown)})"


# -- the page ------------------------------------------------------------------------------------


def as_html(comparisons: Sequence[Comparison]) -> str:
    """One page without network or script: the table, and a small figure per parameter."""
    from markupsafe import Markup

    from judgesheet.spine.render.html import inline, style, template, tight

    css = Markup("\n".join((style("sheet.css"), style("screen.css"))))  # noqa: S704 (ours)
    page = build(comparisons)
    drawings = list(_multiples(page))
    return tight(
        template(TEMPLATE).render(
            page=page, css=css, drawings=drawings, place=inline, reading=READING
        )
    )


def _multiples(page: Table) -> "Iterator[Drawing]":
    """One small figure per parameter that at least two judges have: a dot with interval each."""
    from judgesheet.spine.render.figures import draw

    for number, row in enumerate(page.rows, start=1):
        judged = [
            replace(estimate, key=f"compare.judge[place={place}]", label=name, note="")
            for place, (name, estimate) in enumerate(zip(page.judges, row.estimates, strict=True))
            if estimate is not None and estimate.value is not None
        ]
        if len(judged) > 1:
            plot = Plot("intervals", row.label, row.key, ("judge",), series="place")
            yield draw(plot, judged, f"multiple-{number}", themed=True)
