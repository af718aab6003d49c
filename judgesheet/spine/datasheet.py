"""For stage four: `datasheet.json`, written, read back and described by a schema.

The file is the record `records.Datasheet`, nothing more. What is checked is checked here, at the
edge; the rest of the code trusts the record.

`python -m judgesheet.spine.datasheet` prints the schema.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgesheet.errors import RunError
from judgesheet.keys import Key
from judgesheet.reasons import NO_FINITE_NUMBER
from judgesheet.records import Datasheet, Estimate

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

SCHEMA_VERSION = "1.3"
"""Raised in its first part when old readers would misread a sheet, in its second for additions."""
# History
# 1.0: the first.
# 1.1: one-sided bounds of estimates, limits and needs of verdicts, the decision, `better`.
# 1.2: `reason` and `given` of estimates, `proves` of bounds, `code` of controls, `having` (for
#      `only`), `even` and `names` of plots; the unit `chi-square, 4 df` is `chi-square`, given df.
# 1.3: `imputed` of estimates; their bounds then allow for lost calls.


def by_key(sheet: Datasheet) -> dict[str, Estimate]:
    """Every estimate of the sheet by its key, in the sheet's order."""
    return {estimate.key: estimate for axis in sheet.axes for estimate in axis.estimates}


def to_json(sheet: Datasheet) -> str:
    """The sheet as indented JSON: the same record gives the same text, and no NaN is in it."""
    text = json.dumps(_finite(asdict(sheet)), indent=2, ensure_ascii=False, allow_nan=False)
    # A lone surrogate has no UTF-8; written as \\udXXX it survives the way there and back.
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def from_json(source: str | Path) -> Datasheet:
    """The sheet in a file (`Path`) or in a text (`str`).

    Raises
    ------
    RunError
        one sentence that names the file and the field that is wrong.
    """
    where, text = _read(source)
    try:
        data = _as_written_today(json.loads(text, parse_constant=_refuse_constant))
    except (ValueError, RecursionError) as error:
        raise RunError(f"{where} is no JSON: {error}") from None
    _check_version(data, where)
    return _validate(data, where)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of `datasheet.json` (`docs/datasheet.schema.json` is its printed form)."""
    schema = _adapter().json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"judgesheet datasheet {SCHEMA_VERSION}",
        **{name: part for name, part in schema.items() if name != "title"},
    }


def schema_text() -> str:
    """The schema as it is committed."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _finite(value: Any) -> Any:
    """Replace numbers that JSON does not have; an estimate that loses its value says why."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        clean = {str(name): _finite(part) for name, part in value.items()}
        if "key" in clean and clean.get("value", 0) is None and not clean.get("note", ""):
            clean["note"], clean["reason"] = NO_FINITE_NUMBER.sentence, NO_FINITE_NUMBER.code
        return clean
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value


def _read(source: str | Path) -> tuple[str, str]:
    if isinstance(source, str):
        return "the datasheet", source
    try:
        return str(source), source.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RunError(f"there is no file {source}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{source} cannot be read: {error}") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _check_version(data: Any, where: str) -> None:
    version = data.get("schema_version") if isinstance(data, dict) else None
    if not isinstance(version, str):
        raise RunError(f"{where} is no datasheet: it has no schema_version")
    if version.partition(".")[0] != SCHEMA_VERSION.partition(".")[0]:
        raise RunError(
            f"{where} has schema version {version[:20]}, this judgesheet reads {SCHEMA_VERSION}: "
            "render it with the judgesheet that made it"
        )


def _as_written_today(data: Any) -> Any:
    """What a sheet before 1.2 wrote as text, as data."""
    if isinstance(data, list):
        return [_as_written_today(part) for part in data]
    if not isinstance(data, dict):
        return data
    today = {name: _as_written_today(part) for name, part in data.items()}
    rules, unit = today.get("only"), str(today.get("unit"))
    if isinstance(rules, list) and "families" in today:
        today["having"] = dict(str(rule).partition("=")[::2] for rule in rules)
    if {"name", "passed", "evidence"} <= today.keys():  # a control was known by its name
        today.setdefault("code", today["name"])
    if df := re.fullmatch(r"chi-square, (\d+) df", unit):
        today |= {"unit": "chi-square", "given": {"df": int(df[1])}}
    return today


def _validate(data: Any, where: str) -> Datasheet:
    from pydantic import ValidationError

    try:
        sheet = _adapter().validate_python(data)
    except ValidationError as error:
        raise RunError(f"{where}: {_first_problem(error)}") from None
    for key in by_key(sheet):
        Key.parse(key)
    return sheet


def _first_problem(error: "ValidationError") -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    field = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in problem["loc"])
    return f"{field.lstrip('.') or 'the document'}: {problem['msg']}"


@cache
def _adapter() -> "TypeAdapter[Datasheet]":
    from pydantic import TypeAdapter

    return TypeAdapter(Datasheet)


if __name__ == "__main__":
    import sys

    sys.stdout.write(schema_text())
