"""Stage three: from the ledger's replies to estimates. No call is made; it can be repeated."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from judgesheet import axes
from judgesheet.axes import Axis, Distributing, Readings, all_axes, explain
from judgesheet.errors import RunError
from judgesheet.records import AxisResult, Bounds, Estimate, Label, Recommendation, digest
from judgesheet.spine.parsing import Parser, from_records, read
from judgesheet.stats.bounds import one_sided

if TYPE_CHECKING:
    from judgesheet.spine.ledger import Ledger

COLUMNS = ("call_id", "axis", "stimulus", "cell", "repeat", "reply", "outcome", "text")
"""What the ledger gives per call; `cell` is JSON, `outcome` None where nothing was asked yet."""
MOST_NAMES = 12
"""Figures that a sentence about missing ones names."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The estimates of every axis and the parsed table behind them (one row a call)."""

    results: tuple[AxisResult, ...]
    recommendations: tuple[Recommendation, ...]
    judgments: pd.DataFrame


def measure(ledger: "Ledger", temperature: float | None, seed: int) -> Measured:
    """Read, parse and estimate everything that the ledger holds.

    Raises
    ------
    RunError
        if the ledger holds an axis that this installation does not know, or no probe at all.
    """
    command = ledger.get_meta("provenance", {}).get("command")
    if command is not None:
        raise RunError(
            f"{ledger.path.parent} was made by `judgesheet {command}` and holds nothing to measure"
        )
    frame = pd.DataFrame(ledger.answers(), columns=list(COLUMNS))
    frame = with_distributions(frame, ledger.bodies())
    labels = tuple(ledger.labels())
    parsers = from_records(ledger.parsers())
    results, recommendations, tables = [], [], []
    for name, rows in frame.groupby("axis", sort=False):
        axis = all_axes().get(str(name))
        if axis is None:
            raise RunError(f"the run holds the axis {name!r}, which this installation lacks")
        mine = tuple(label for label in labels if label.axis == name)
        result, advice, table = measure_axis(
            axis, rows, mine, temperature, seed, parsers.get(axis.NAME)
        )
        results.append(result)
        recommendations.extend(advice)
        tables.append(table)
    judgments = pd.concat(tables, ignore_index=True) if tables else frame
    return Measured(tuple(results), tuple(recommendations), judgments)


def with_distributions(frame: pd.DataFrame, bodies: Iterable[tuple[str, str]]) -> pd.DataFrame:
    """The table with the column `distribution`: what each axis reads in the bodies it asked for.

    `bodies` are (call_id, body as received) pairs; they are read one by one and not kept, and
    without any the table stays as it is.
    """
    axes: Mapping[str, object] = all_axes()
    columns = zip(frame["axis"], frame["text"], frame["reply"], frame["cell"], strict=True)
    calls = dict(zip(frame["call_id"], columns, strict=True))
    found: dict[str, object] = {}
    for call_id, raw in bodies:
        name, text, reply, cell = calls[call_id]
        axis = axes.get(name)
        if isinstance(axis, Distributing):
            found[call_id] = axis.distribution(raw, text, reply, json.loads(cell))
    if not found:
        return frame
    values = [found.get(call_id) for call_id in frame["call_id"]]
    return frame.assign(distribution=pd.Series(values, index=frame.index, dtype=object))


def measure_axis(
    axis: Axis,
    rows: pd.DataFrame,
    labels: tuple[Label, ...],
    temperature: float | None,
    seed: int,
    parser: Parser | None = None,
) -> tuple[AxisResult, list[Recommendation], pd.DataFrame]:
    """One axis: its result, its recommendations and its parsed table."""
    table = parse_rows(axis, rows, parser)
    readings = Readings(table, labels, temperature, seed)
    estimates = {estimate.key: bounded(estimate) for estimate in axis.measure(readings)}
    is_recorded = bool((rows["reply"] == "recorded").all())
    if is_recorded:
        estimates.update(_missing(axis, estimates))
    result = AxisResult(
        name=axis.NAME,
        title=axis.TITLE,
        question=axis.QUESTION,
        **_counts(table),
        estimates=tuple(estimates.values()),
        caveats=(
            *axis.warn(readings, estimates),
            *(_not_estimable(estimates.values()) if is_recorded else ()),
        ),
        findings=tuple(axis.find(estimates)),
        characteristics=tuple(row for row in axis.HEADLINE if row.key in estimates),
        mitigations=tuple(
            one for one in axis.mitigate(estimates) if {one.before, one.after} <= set(estimates)
        ),
        ratings=tuple(axis.rate(readings)),
        controls=tuple(axis.control(estimates)),
        glossary=_glossary(axis, estimates),
        figures=tuple(
            figure
            for figure in axis.figures(estimates)
            if any(_family(key) in figure.families for key in estimates)
        ),
    )
    return result, list(axis.recommend(estimates)), table


def _missing(axis: Axis, estimates: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """The headline figures that the records do not allow, each with what they lack."""
    keys = [row.key for row in axis.HEADLINE if row.key not in estimates]
    return {key: Estimate(key, _label(key), None, note=_lack(axis, key)) for key in keys}


def _label(key: str) -> str:
    name, _, dims = key.split(".", 1)[1].partition("[")
    of = f" ({dims.rstrip(']')})" if dims else ""
    return name.replace("_", " ").capitalize() + of


def _lack(axis: Axis, key: str) -> str:
    what = next((words for part, words in axis.NEEDS if part in key), "calls of this axis")
    return f"the records lack {what}"


def _not_estimable(estimates: Iterable[Estimate]) -> Iterator[str]:
    """One sentence per reason why figures have no value."""
    reasons: dict[str, list[str]] = {}
    for estimate in estimates:
        if estimate.value is None:
            reasons.setdefault(estimate.note, []).append(estimate.key.split(".", 1)[1])
    for reason, names in reasons.items():
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        listed = ", ".join(names[:MOST_NAMES])
        yield f"Not estimable from these records, because {reason}: {listed}{more}."


def bounded(estimate: Estimate) -> Estimate:
    """The estimate with the one-sided bounds that gates read, where its interval gives any."""
    found = one_sided(
        estimate.value,
        estimate.low,
        estimate.high,
        unit=estimate.unit,
        n=estimate.n,
        clusters=estimate.clusters,
        method=estimate.method,
        level=estimate.level,
    )
    if found is None or estimate.bounds is not None:
        return estimate
    bounds = Bounds(found.low, found.high, found.level, found.method)
    return replace(estimate, bounds=bounds)


def code_digest(name: str) -> str:
    """SHA-256 over the source of an axis and of what axes share: the same reads the same.

    It also changes with the axis's estimates; it never stays when the parser changes.
    """
    module = sys.modules[all_axes()[name].parse.__module__]
    own = Path(str(module.__file__))
    files = sorted(own.parent.glob("*.py")) if own.stem == "__init__" else [own]
    files += sorted(Path(axes.__file__).parent.glob("_*.py"))
    return digest("\n".join(file.read_text(encoding="utf-8") for file in files))


def parse_rows(axis: Axis, rows: pd.DataFrame, parser: Parser | None = None) -> pd.DataFrame:
    """The ledger's rows of one axis with the cell as columns and the reading as `value`.

    `parser` is the user's own, None for the axis's.
    """
    decode = lru_cache(maxsize=4096)(json.loads)  # cells recur; decode each text once
    cells: list[Mapping[str, Any]] = [decode(cell) for cell in rows["cell"]]
    columns = list(zip(rows["text"], rows["reply"], rows["outcome"], cells, strict=True))
    values = [
        read(axis, text, reply, cell, parser) if outcome == "ok" else None
        for text, reply, outcome, cell in columns
    ]
    table = rows[["call_id", "stimulus", "repeat", "reply", "outcome"]].reset_index(drop=True)
    table.insert(0, "axis", axis.NAME)
    for name in dict.fromkeys(key for cell in cells for key in cell):
        table[name] = [cell.get(name) for cell in cells]
    table["value"] = pd.Series(values, index=table.index, dtype=object)
    if "distribution" in rows:
        table["distribution"] = rows["distribution"].to_numpy()
    return table


def _counts(table: pd.DataFrame) -> dict[str, int]:
    asked = table["outcome"].notna()
    ok = table["outcome"] == "ok"
    readable = table["value"].notna()
    return {
        "planned": len(table),
        "answered": int((ok & readable).sum()),
        "unreadable": int((ok & ~readable).sum()),
        "refused": int((table["outcome"] == "refused").sum()),
        "failed": int((asked & ~ok & (table["outcome"] != "refused")).sum()),
    }


def _family(key: str) -> str:
    return key.split(".", 1)[1].split("[", 1)[0]


def _glossary(axis: Axis, estimates: Mapping[str, Estimate]) -> dict[str, str]:
    names = dict.fromkeys(_family(key) for key in estimates)
    texts = {name: explain(axis.NAME, name) for name in names}
    return {name: _first_paragraph(text) for name, text in texts.items() if text}


def _first_paragraph(docstring: str) -> str:
    return " ".join(docstring.strip().split("\n\n", 1)[0].split())
