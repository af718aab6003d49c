"""From the ledger's replies to estimates. No call is made; it can be repeated."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import getfile
from itertools import chain, count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from judgesheet.axes import all_axes
from judgesheet.axis import Axis, Readings, anchors, headline, hosts, repeats
from judgesheet.axis.items import codes, firsts
from judgesheet.base.clusters import Clusters
from judgesheet.base.errors import RunError
from judgesheet.base.estimates import Estimates
from judgesheet.base.files import decoded
from judgesheet.base.keys import Key
from judgesheet.base.limits import MOST_IN_A_LIST
from judgesheet.base.missing_reasons import NOT_RECORDED
from judgesheet.base.records import (
    BATCH,
    LEVEL,
    RECORDED,
    Control,
    Estimate,
    Label,
    MeasuredAxis,
    ReplyFormat,
    digest,
)
from judgesheet.base.resources import PACKAGE, require_memory, uncollected
from judgesheet.base.sanitize import listed
from judgesheet.measuring.impute import with_imputed
from judgesheet.measuring.parsing import Parser, from_records, reading
from judgesheet.measuring.scale import in_keys, in_points_of, on_scale, scale_of
from judgesheet.measuring.slices import with_slices
from judgesheet.reading.reasons import CUT_PROMPT, of_outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from judgesheet.ledger.ledger import Ledger

COLUMNS = ("call_id", "axis", "stimulus", "cell", "repeat", "reply", "outcome", "text")
"""What the ledger gives per call; `cell` is JSON, `outcome` None where nothing was asked yet."""
PAGE = 50_000
"""Rows of a ledger that are held as objects at once."""
UNTIMED = (BATCH, RECORDED)
"""Providers of judges of which nobody knows in which order they answered."""
ADVICE = "the same probe with --fresh starts over"


@dataclass(frozen=True, slots=True)
class Measured:
    """The estimates of every axis, and the readings behind them by the axis's name."""

    results: tuple[MeasuredAxis, ...]
    readings: Mapping[str, Readings]


def measure(ledger: "Ledger") -> Measured:
    """Read, parse and estimate everything that the ledger holds.

    RunError if the ledger holds an axis that this installation does not know, or no probe at all.
    """
    readings = read_all(ledger)
    require_memory()
    levels = ledger.looks.levels if ledger.looks else {}
    results = [
        measure_axis(all_axes()[name], replace(one, level=levels.get(name, LEVEL)))
        for name, one in readings.items()
    ]
    anchored = [*_by_anchors(readings)]
    results = [replace(one, controls=(*one.controls, *anchored)) for one in results]
    in_time = ledger.get_meta("judge", {}).get("provider") not in UNTIMED
    located = with_slices(results, readings, in_time=in_time)
    return Measured(tuple(located), readings)


def _by_anchors(readings: Mapping[str, Readings]) -> Iterator[Control]:
    """Whether the judge stayed the same while the run lasted, a control of every axis."""
    for name, one in readings.items():
        failing = all_axes()[name].FAILING
        if failing is not None and one.anchors is not None:
            yield from anchors.control(failing, replace(one, frame=one.anchors))


def read_all(ledger: "Ledger") -> dict[str, Readings]:
    """The readings of every axis of a ledger; RunError as from `measure`."""
    command = ledger.provenance.get("command")
    if command is not None:
        raise RunError(
            f"{ledger.path.parent} was made by `judgesheet {command}` and holds nothing to measure"
        )
    frame = with_distributions(answers(ledger), ledger.bodies())
    if frame.empty:
        raise RunError(f"{ledger.path} holds no calls; {ADVICE}")
    for name in frame["axis"].unique():
        if name not in all_axes():
            raise RunError(f"the run holds the axis {name!r}, which this installation lacks")
    return readings_of(ledger, frame)


def read_known(ledger: "Ledger") -> dict[str, Readings]:
    """The readings of the axes of a ledger that this installation knows, if there are any."""
    return readings_of(ledger, with_distributions(answers(ledger), ledger.bodies()))


@uncollected()
def answers(ledger: "Ledger") -> pd.DataFrame:
    """The planned calls of a ledger with their answers, in order.

    `COLUMNS`, `finish_reason`, and `question`, a number that calls with the same prompt share;
    where several hosts answered, `host`. An answer to a cut prompt has the outcome `CUT_PROMPT`.
    """
    columns, rows = [*COLUMNS, "finish_reason", "question"], ledger.answers()
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    # A page at a time: as objects, millions of rows take many times the room of their columns.
    pages = [
        pd.DataFrame(page, columns=columns).assign(question=[numbers[row[-1]] for row in page])
        for page in _pages(rows)
    ]
    frame = pd.concat(pages, ignore_index=True).infer_objects()
    if cut := ledger.cut_calls():
        frame.loc[frame["call_id"].isin(cut), "outcome"] = CUT_PROMPT
    answered_by = ledger.hosts()
    if len({*answered_by.values()}) > 1:
        frame["host"] = frame["call_id"].map(answered_by)
    return frame


def _pages(rows: Iterator[Any]) -> Iterator[list[Any]]:
    """Some rows at a time; one page without any where there are none."""
    page = list(islice(rows, PAGE))
    yield page
    while page := list(islice(rows, PAGE)):
        yield page


def readings_of(ledger: "Ledger", frame: pd.DataFrame) -> dict[str, Readings]:
    """The parsed `answers` of a ledger for each axis that this installation knows."""
    parsers, labels = from_records(ledger.parsers()), ledger.labels()
    temperature, seed, known = ledger.temperature, ledger.get_meta("seed", 0), ledger.provenance
    return {
        str(name): _apart(
            parse_rows(
                all_axes()[str(name)], rows, parsers.get(str(name)), Clusters.of(known, str(name))
            ),
            rows.index.to_numpy() / len(frame),
            tuple(label for label in labels if label.axis == name),
            temperature,
            seed,
            texts=rows.set_index("call_id")["text"],
            scale=scale_of(known, str(name)),
        )
        for name, rows in frame.groupby("axis", sort=False)
        if name in all_axes()
    }


def _apart(
    frame: pd.DataFrame,
    asked: "NDArray[np.float64]",
    labels: tuple[Label, ...],
    temperature: float | None,
    seed: int,
    **more: Any,
) -> Readings:
    """The readings of a table with the rows of anchors apart; `asked` is when each row was."""
    if "anchor" not in frame:
        return Readings(frame, labels, temperature, seed, **more)
    is_anchor = frame["anchor"].notna()
    anchors = frame[is_anchor].assign(asked=asked[is_anchor]).reset_index(drop=True)
    rest = frame[~is_anchor].drop(columns="anchor").reset_index(drop=True)
    return Readings(rest, labels, temperature, seed, anchors=anchors, **more)


def with_distributions(frame: pd.DataFrame, bodies: Iterable[tuple[str, str]]) -> pd.DataFrame:
    """The table with the column `distribution`: what each axis reads in the bodies it asked for.

    `bodies` are (call_id, body as received) pairs; they are read one by one and not kept, and
    without any the table stays as it is.
    """
    reading_them = {name: read for name, axis in all_axes().items() if (read := axis.distribution)}
    first = next(bodies := iter(bodies), None)
    if first is None:
        return frame
    columns = zip(frame["axis"], frame["text"], frame["reply"], frame["cell"], strict=True)
    calls = dict(zip(frame["call_id"], columns, strict=True))
    read_bodies: dict[str, object] = {}
    for call_id, raw in chain([first], bodies):
        name, text, reply, cell = calls[call_id]
        if name in reading_them:
            read_bodies[call_id] = reading_them[name](
                raw, text, reply, _cell(all_axes()[name], cell)
            )
    if not read_bodies:
        return frame
    values = [read_bodies.get(call_id) for call_id in frame["call_id"]]
    return frame.assign(distribution=pd.Series(values, index=frame.index, dtype=object))


def _estimates(axis: Axis, readings: Readings) -> Estimates:
    """The figures of an axis, with how far lost calls could move them."""
    measured = Estimates(axis.NAME, axis.measure(readings))
    return in_points_of(readings.scale, with_imputed(axis, readings, measured))


def measure_axis(axis: Axis, readings: Readings) -> MeasuredAxis:
    """What the calls of one axis say."""
    estimates = _estimates(axis, readings)
    is_recorded = bool((readings.frame["reply"] == "recorded").all())
    if is_recorded:
        estimates = estimates.with_more(_missing(axis, estimates))
    blind = tuple(name for name, figure in axis.ESTIMATES.items() if figure.passes_blind)
    return MeasuredAxis(
        name=axis.NAME,
        title=axis.TITLE,
        question=axis.QUESTION,
        **_counts(readings.every),
        estimates=tuple(estimates.values()),
        caveats=(
            *axis.warn(readings, estimates),
            *in_keys(readings.scale),
            *(_not_estimable(axis, estimates.values()) if is_recorded else ()),
        ),
        declared=on_scale(readings.scale, axis.EFFECTS),
        characteristics=tuple(row for row in headline(axis) if row.key in estimates),
        mitigations=tuple(
            remedy
            for remedy in axis.mitigate(estimates)
            if {remedy.before, remedy.after} <= set(estimates)
        ),
        controls=(
            *(replace(one, touches=blind or one.touches) for one in axis.control(estimates)),
            *repeats.control(readings, estimates),
            *hosts.control(readings),
        ),
    )


def measure_wanted(axis: Axis, readings: Readings) -> MeasuredAxis:
    """The figures of `readings.families` alone, as a sheet has them."""
    estimates = _estimates(axis, readings)
    names = axis.NAME, axis.TITLE, axis.QUESTION
    return MeasuredAxis(
        *names, **_counts(readings.frame), estimates=tuple(estimates.values()), caveats=()
    )


def _missing(axis: Axis, estimates: Estimates) -> Iterator[Estimate]:
    """The headline figures that the records do not allow, each with what is missing."""
    for row in headline(axis):
        if row.key not in estimates:
            key = Key.parse(row.key)
            note = f"the records lack {axis.ESTIMATES[key.name].missing(key.dims)}"
            yield Estimate(row.key, _label(key), None, note=note, reason=NOT_RECORDED.code)


def _label(key: Key) -> str:
    dims = ",".join(f"{dim}={value}" for dim, value in key.dims.items())
    return key.name.replace("_", " ").capitalize() + (f" ({dims})" if dims else "")


def _not_estimable(axis: Axis, estimates: Iterable[Estimate]) -> Iterator[str]:
    """One sentence per reason why figures have no value, in the words of the first of them."""
    groups: dict[tuple[str, str], list[Estimate]] = {}
    for estimate in estimates:
        if estimate.value is None:
            key, is_lacking = Key.parse(estimate.key), estimate.reason == NOT_RECORDED.code
            lacks = axis.ESTIMATES[key.name].missing(key.dims) if is_lacking else ""
            groups.setdefault((estimate.reason, lacks), []).append(estimate)
    for group in groups.values():
        names, reason = [Key.parse(estimate.key).local for estimate in group], group[0].note
        figures = listed(names, MOST_IN_A_LIST)
        yield f"Not estimable from these records, because {reason}: {figures}."


def code_digest(name: str) -> str:
    """SHA-256 over the source of an axis, of `judgesheet.axis` and of `stats`.

    Equal digests read the same replies and compute the same figures.
    """
    own = Path(getfile(type(all_axes()[name])))
    files = sorted(own.parent.glob("*.py")) if own.stem == "__init__" else [own]
    for shared in ("axis", "stats"):
        files += sorted((PACKAGE / shared).glob("*.py"))
    return digest("\n".join(file.read_text(encoding="utf-8") for file in files))


@uncollected()
def parse_rows(
    axis: Axis, rows: pd.DataFrame, parser: Parser | None = None, clusters: Clusters | None = None
) -> pd.DataFrame:
    """The ledger's rows of one axis with the cell as columns and the reading as `value`.

    `cluster` is that of the stimulus in `clusters`, without them the stimulus itself.

    `shape` says what came instead, where a call was made and gave none. `question` is taken over
    where the rows have it.

    `parser` is the user's own, None for the axis's.
    """
    cell, texts = pd.factorize(rows["cell"])  # cells recur, and so do replies: each is read once
    cells = _Cells.of(axis, texts)
    asked = rows[["text", "reply", "outcome"]].reset_index(drop=True)
    asked["why"] = rows["finish_reason"].to_numpy() if "finish_reason" in rows else None
    asked["alike"] = cells.alike[cell]
    same = codes(asked)
    first = firsts(same)
    read = [
        _read(axis, text, reply, outcome, why, _cell(axis, texts[place]), parser)
        for text, reply, outcome, why, place in zip(
            *(asked[name].iloc[first] for name in ("text", "reply", "outcome", "why")),
            cell[first].tolist(),
            strict=True,
        )
    ]
    table = rows[["call_id", "stimulus", "repeat", "reply", "outcome"]].reset_index(drop=True)
    table.insert(0, "axis", axis.NAME)
    # Where none is another's copy the two are one column, also in memory.
    table["cluster"] = table["stimulus"].map(clusters) if clusters else table["stimulus"]
    for name, values in cells.columns.items():
        if name not in table:
            table[name] = values.iloc[cell].array
    for name, parts in zip(("value", "shape"), zip(*read, strict=True), strict=False):
        table[name] = pd.Series(_objects(parts)[same], index=table.index, dtype=object)
    for name in ("distribution", "question", "host"):
        if name in rows:
            table[name] = rows[name].to_numpy()
    return table


def _read(
    axis: Axis,
    text: str,
    reply: ReplyFormat,
    outcome: str | None,
    why: str | None,
    cell: Mapping[str, Any],
    parser: Parser | None,
) -> tuple[Any, str | None]:
    """What a reply says, and why where it says nothing; neither of a call that was not made."""
    if outcome != "ok":
        return None, outcome and of_outcome(outcome)
    found = reading(axis, text, reply, cell, parser, why)
    # A log holds no words that could say why.
    return found.verdict, "recorded" if found.reason and reply == "recorded" else found.reason


@dataclass(frozen=True, slots=True)
class _Cells:
    """Different cells: their values by key, and a code for those in which replies read alike."""

    columns: Mapping[str, pd.Series]
    alike: "NDArray[np.int64]"

    @classmethod
    def of(cls, axis: Axis, texts: pd.Index) -> "_Cells":
        """The cells in these texts, which are not kept: a long run has millions."""
        columns: defaultdict[str, list[Any]] = defaultdict(list)
        shared: dict[str, Any] = {}
        for done in range(0, len(texts), PAGE):
            cells = [_cell(axis, text) for text in texts[done : done + PAGE].tolist()]
            for name in {**columns, **dict.fromkeys(chain.from_iterable(cells))}:
                columns[name] += [None] * (done - len(columns[name]))
                columns[name] += [
                    # There are few different lists.
                    shared.setdefault(repr(value), value) if isinstance(value, list) else value
                    for value in (cell.get(name) for cell in cells)
                ]
        series = {name: pd.Series(values) for name, values in columns.items()}
        by = axis.READ_BY
        if by is None:
            return cls(series, np.arange(len(texts)))
        telling = pd.DataFrame({name: series[name] for name in sorted(by) if name in series})
        return cls(series, codes(telling.reindex(range(len(texts)))))


def _objects(values: Sequence[Any]) -> "NDArray[np.object_]":
    """The values as they are, whatever they hold."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _cell(axis: Axis, text: str) -> dict[str, Any]:
    """The condition that a call was made under; RunError if the axis has no such condition."""
    try:
        cell = decoded(text)
    except ValueError as error:
        raise RunError(f"the run holds a cell that is not valid JSON ({error}); {ADVICE}") from None
    fault = axis.fault(cell) if isinstance(cell, dict) else "a cell must be an object"
    if fault:
        raise RunError(f"the run holds a cell that {axis.NAME} does not know: {fault}; {ADVICE}")
    return cast("dict[str, Any]", cell)


def _counts(table: pd.DataFrame) -> dict[str, Any]:
    """How the calls of a table ended, by the fields of `MeasuredAxis`."""
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
