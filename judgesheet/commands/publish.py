"""From a ledger to the files of its run directory: the sheet in every format, and the table."""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, is_dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow.parquet import write_table

from judgesheet.axis import Readings
from judgesheet.base.files import remove, write_whole
from judgesheet.base.limits import MOST_CALLS_OF_A_PAGE
from judgesheet.base.records import Datasheet
from judgesheet.collect.knob import Knob
from judgesheet.decide import decide
from judgesheet.decide.policy import Policy
from judgesheet.ledger.ledger import Ledger
from judgesheet.ledger.run_directory import CASES, JUDGMENTS, LEDGER
from judgesheet.measuring.assemble import assemble
from judgesheet.measuring.cases import of_sheet
from judgesheet.measuring.measure import measure
from judgesheet.sheet import FORMATS, case_page, write
from judgesheet.sweep.combine import combine
from judgesheet.sweep.estimates import Setting


def publish(
    ledger: Ledger,
    directory: Path,
    policy: Policy | None,
    *,
    to: Collection[str] = FORMATS,
    pdf: bool = True,
    cases: bool = True,
) -> Datasheet:
    """Measure the ledger, apply the policy, and write the sheet, the table and the cases.

    The page of the cases belongs to the sheet in HTML, which links to it.
    """
    forms = formats(directory, to, pdf=pdf)
    measured = measure(ledger)
    sheet = decide(assemble(ledger, measured), policy)
    table = judgments(measured.readings)
    write_whole(directory / JUDGMENTS, table.to_parquet(index=False))
    if cases and "html" in forms and sheet.run["planned"] <= MOST_CALLS_OF_A_PAGE:
        write_cases(ledger, measured.readings, sheet, directory / CASES)
    else:
        remove(directory / CASES)  # that of an earlier sheet
    write(sheet, directory, forms)
    return sheet


def publish_sweep(
    knob: Knob, directory: Path, *, to: Collection[str] = FORMATS, pdf: bool = True
) -> Datasheet:
    """Measure the settings that were started and write the sheet that compares them."""
    settings = []
    for value, folder in knob.begun(directory).items():
        with Ledger.open(folder / LEDGER) as ledger:
            measured = measure(ledger)
            settings.append(Setting(value, assemble(ledger, measured), measured.readings))
    sheet = decide(combine(knob, settings))
    write(sheet, directory, formats(directory, to, pdf=pdf))
    return sheet


def formats(directory: Path, to: Collection[str], *, pdf: bool) -> list[str]:
    """What to write: the sheet, and what else is wanted; the rest of an earlier sheet goes."""
    sheet, *others = FORMATS
    wanted = [form for form in others if form in to and (pdf or form != "pdf")]
    for form in others:
        if form not in wanted:
            remove(directory / f"datasheet.{form}")
    return [sheet, *wanted]


def judgments(readings: Mapping[str, Readings]) -> pd.DataFrame:
    """The table of `judgments.parquet`, one row per call.

    `value` is the reading as JSON, `score` the same where it is a number, `distribution` the second
    reading, from log-probabilities, or the reason why there is none.
    """
    table = pd.concat([read.frame for read in readings.values()], ignore_index=True)
    numbers = [v if isinstance(v, int) else None for v in table["value"]]
    if "distribution" in table:
        table["distribution"] = [_as_text(v) for v in table["distribution"]]
    for column in table:
        if column in ("order", "value") or not _is_of_one_type(table[column]):
            table[column] = _as_json(table[column])
    table["score"] = numbers
    return table.astype({"score": "Int64"})


def _as_json(values: pd.Series) -> list[str | None]:
    """The values as JSON; what recurs as the same object is written once."""
    # By identity: equal cells are one object here, and comparing would take longer than writing.
    things = values.to_numpy(dtype=object)
    texts: dict[int, str | None] = {id(None): None}
    for thing in things:
        if id(thing) not in texts:
            texts[id(thing)] = json.dumps(thing)
    return [texts[id(thing)] for thing in things]


def _is_of_one_type(values: pd.Series) -> bool:
    """Whether a table can hold the values as they are; recorded cells may hold anything."""
    try:
        array = pa.array(values, from_pandas=True)
        if pa.types.is_nested(array.type):  # an object without fields is an array, but no column
            write_table(pa.table({"values": array}), BytesIO())
    except (pa.ArrowException, OverflowError):  # the second: whole numbers of more than 64 bits
        return False
    return True


def _as_text(value: Any) -> str | None:
    """A record as JSON, a text as it is; None for what is missing."""
    if is_dataclass(value) and not isinstance(value, type):
        return json.dumps(asdict(value))
    return value if isinstance(value, str) else None


def write_cases(
    ledger: Ledger, readings: Mapping[str, Readings], sheet: Datasheet, path: Path
) -> None:
    """The page on which the replies behind every figure of a sheet can be looked at."""
    write_whole(path, case_page.render(of_sheet(ledger, readings, sheet), sheet))
