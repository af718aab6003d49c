"""`datasheet.json`, written, read back and described by a schema.

The file is exactly the record `records.Datasheet`. It is validated only here; the rest of the code
trusts the record.

`python -m judgesheet.base.datasheet` prints the schema.
"""

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgesheet.base.errors import ContradictionError, RunError
from judgesheet.base.facts import JudgeIdentity
from judgesheet.base.files import adapter, checked, decoded, text_of
from judgesheet.base.keys import Key
from judgesheet.base.limits import LARGEST_SHEET, LARGEST_WHOLE, MOST_PARTS_OF_A_SHEET
from judgesheet.base.missing_reasons import NO_FINITE_NUMBER
from judgesheet.base.records import Datasheet, Estimate, Verdict, VerdictStatus
from judgesheet.base.remembered import remembered

SCHEMA_VERSION = "3.2"
"""Raised in its first part when old readers would misread a sheet, in its second for additions."""
# History
# 1.0: the first.
# 1.1: one-sided bounds of estimates, limits and needs of verdicts, the decision, `better`.
# 1.2: `reason` and `given` of estimates, `proves` of bounds, `code` of controls, `having` (for
#      `only`), `even` and `names` of plots; the unit `chi-square, 4 df` is `chi-square`, given df.
# 1.3: `imputed` of estimates; their bounds then allow for lost calls.
# 2.0: what was decided stands in the sheet: the run's controls, `void`, `statuses` and `summary` of
#      an axis, `rank`, `stops` and `void` of findings, `status` of verdicts (for `passed`), counts
#      and `needed` of the decision. Older sheets have none of it; `load` decides them anew.
# 2.1: `why` of a figure's status.
# 2.2: `policy_digest` of the decision, and how many stimuli its policy required.
# 2.3: `order_dependence_p` is what was `anywhere_p`; the older tests of that name are not read.
# 3.0: `declared` and `effects` of an axis; limits `pass`, `fail`, are `inconclusive` or `invalid`;
#      `invalid` of an axis (for `void`); conditions with remedies, `not_settled` and
#      `what_would_decide` (for `needed`) of the decision, counts by status; every field of `run`
#      and `provenance`, and every known one of `judge`, stands in each sheet.
# 3.1: no `findings`, `ratings`, `statuses` and `summary` of an axis, no `gained` of remedies:
#      effects and limits say all of it. `recommendations` are conditions, made anew for older ones.
#      `seen` of bounds.
# 3.2: `departs` of declared effects, `example` of these and of effects.
OTHER_ORDER_TESTS = ("1.0", "1.1", "1.2", "1.3", "2.0", "2.1", "2.2")
"""Versions in which `order_dependence_p` was another test on every axis."""
READABLE = ("1", "2", "3")
"""First parts of the versions that are read."""


ROUNDING = 1e-9
"""By how much a value may lie outside its interval, as a part of its ends."""


def by_key(sheet: Datasheet) -> dict[str, Estimate]:
    """Every estimate of the sheet by its key, in the sheet's order."""
    return {estimate.key: estimate for axis in sheet.axes for estimate in axis.estimates}


def named(found: Mapping[str, Estimate], key: str) -> str:
    """A figure as a sentence names it: by its label, or by its key where there is none."""
    return f"“{found[key].label}”" if key in found and found[key].label else key


WORST: tuple[VerdictStatus, ...] = ("fail", "invalid", "inconclusive", "pass")
"""Of several verdicts on one figure, or on one axis, the first counts."""


def worst_verdicts(sheet: Datasheet) -> dict[str, Verdict]:
    """The verdict on each key; where two rules limit one figure, the worse outcome counts.

    Where both came out alike, it is that on the figure itself and not that on its change.
    """
    # What comes last is kept.
    ranked = sorted(
        sheet.verdicts, key=lambda one: (-WORST.index(one.status), not one.against_baseline)
    )
    return {verdict.key: verdict for verdict in ranked}


@remembered  # every page of the sheet asks for it
def to_json(sheet: Datasheet) -> str:
    """The sheet as indented JSON: the same record gives the same text, and no NaN is in it."""
    content = adapter(Datasheet).dump_python(sheet) | {"judge": sheet.judge.spread}
    text = json.dumps(_finite(content), indent=2, ensure_ascii=False, allow_nan=False)
    # A lone surrogate has no UTF-8; written as \\udXXX it survives the way there and back.
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"


def from_json(source: str | Path) -> Datasheet:
    """The sheet in a file (`Path`) or a text (`str`); a RunError names the field that is wrong."""
    if isinstance(source, str):
        where, text = "the datasheet", source
        if len(text) > LARGEST_SHEET:
            raise RunError(
                f"the datasheet has more than {LARGEST_SHEET:,} bytes, more than any datasheet"
            )
    else:
        _require_plain(source)
        where, text = str(source), text_of(source, "the datasheet", RunError)
    if text.count("{") > MOST_PARTS_OF_A_SHEET:
        raise RunError(
            f"{where} has more than {MOST_PARTS_OF_A_SHEET:,} objects, more than any datasheet"
        )
    try:
        data = _as_written_today(decoded(text.removeprefix("\ufeff"), unique=True))
        if isinstance(data, dict) and data.get("schema_version") in OTHER_ORDER_TESTS:
            _rename_order_tests(data)
    except ValueError as error:
        raise RunError(f"{where} is not valid JSON: {error}") from None
    _check_version(data, where)
    # Before the record is made: pydantic would take NaN for a float like any other.
    _reject_endless_numbers(data, where)
    sheet = checked(Datasheet, _gathered(data), where, RunError, strict=True)
    for fault in _contradictions(sheet):
        raise ContradictionError(
            f"{where} contradicts itself: {fault}; use the file as judgesheet wrote it"
        )
    return sheet


def _require_plain(path: Path) -> None:
    """RunError for what would be waited for without end, or would not fit into memory."""
    # `/dev/stdin` and `/dev/fd/63` are the user's own pipes; in a run folder nobody writes to one.
    is_own_pipe = path.is_fifo() and path.absolute().is_relative_to("/dev")
    if path.exists() and not (path.is_file() or is_own_pipe):
        raise RunError(f"the datasheet {path} is a folder, a pipe or a device, not a file")
    if path.is_file() and path.stat().st_size > LARGEST_SHEET:
        raise RunError(
            f"the datasheet {path} has more than {LARGEST_SHEET:,} bytes, more than any datasheet"
        )


def schema_text() -> str:
    """The JSON Schema of `datasheet.json`, as it is committed in `docs/datasheet.schema.json`."""
    title = f"judgesheet datasheet {SCHEMA_VERSION}"
    known = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    document = {**known, **adapter(Datasheet).json_schema(), "title": title}
    judge = document["$defs"][JudgeIdentity.__name__]
    judge["additionalProperties"] = judge["properties"].pop("details")["additionalProperties"]
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _finite(value: Any) -> Any:
    """Replace numbers that JSON cannot hold; an estimate that loses its value says why."""
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


def _reject_endless_numbers(value: Any, where: str) -> None:
    """RunError for NaN, infinity, and whole numbers beyond what a float holds."""
    if isinstance(value, float) and not math.isfinite(value):
        raise RunError(f"{where}: {json.dumps(value)} is not a number")
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        raise RunError(
            f"{where}: a number of {len(str(value))} digits cannot be a figure of a datasheet"
        )
    if isinstance(value, dict) and isinstance(value.get("key"), str):
        where = f"{where}: {value['key'][:200]}"
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        _reject_endless_numbers(part, where)


def _check_version(data: Any, where: str) -> None:
    version = data.get("schema_version") if isinstance(data, dict) else None
    if not isinstance(version, str):
        raise RunError(f"{where} is not a datasheet: it has no schema_version")
    if version.partition(".")[0] not in READABLE:
        raise RunError(
            f"{where} has schema version {version[:20]}, this judgesheet reads {SCHEMA_VERSION}: "
            "render it with the judgesheet that made it"
        )


def _gathered(data: dict[str, Any]) -> dict[str, Any]:
    """A sheet with what its judge says of itself where the record has it."""
    judge = data.get("judge")
    return data | {"judge": JudgeIdentity.gathered(judge)} if isinstance(judge, dict) else data


def _mappings(value: Any) -> Sequence[Mapping[str, Any]]:
    """The mappings in a list that was not validated."""
    listed = value if isinstance(value, list | tuple) else ()
    return [part for part in listed if isinstance(part, Mapping)]


def _rename_order_tests(data: Mapping[str, Any]) -> None:
    """Give the test of the order its name of today in an older sheet, and take others away.

    The sheet is decided anew, and its sentences would read another test as this one.
    """
    for axis in _mappings(data.get("axes")):
        old, new = (f"{axis.get('name')}.{name}" for name in ("anywhere_p", "order_dependence_p"))
        if not isinstance(estimates := axis.get("estimates"), list):
            continue
        others = [one for one in _mappings(estimates) if str(one.get("key")).startswith(new)]
        estimates[:] = [one for one in estimates if one not in others]
        for one in _mappings(estimates):
            if isinstance(one, dict) and one.get("key") == old:
                one["key"] = new


_OLD_STATUSES = {
    "proven": "pass",
    "broken": "fail",
    "not proven": "inconclusive",
    "void": "invalid",
}
_STATUSES = {True: "pass", False: "fail", None: "inconclusive"}


def _in_words_of_today(part: dict[str, Any]) -> dict[str, Any]:
    """A part of a sheet with what limits and axes are called since 3.0."""
    if {"rule", "observed", "passed"} <= part.keys():  # a verdict of the first sheets
        part["status"] = _STATUSES.get(part.pop("passed"), "inconclusive")
    if {"rule", "observed", "status"} <= part.keys():  # a verdict
        part["status"] = _OLD_STATUSES.get(str(part["status"]), part["status"])
    if {"estimates", "void"} <= part.keys():  # an axis
        part["invalid"] = part.pop("void")
    if isinstance(made := part.get("decision"), dict) and "what_would_decide" not in made:
        part["decision"] = None  # it is made anew
    if "schema_version" in part and part["schema_version"] != SCHEMA_VERSION:
        part.pop("recommendations", None)  # they are made anew
    return part


def _as_written_today(data: Any) -> Any:
    """A sheet of an older version in today's form."""
    if isinstance(data, list):
        return [_as_written_today(part) for part in data]
    if not isinstance(data, dict):
        return data
    today = {name: _as_written_today(part) for name, part in data.items()}
    rules, unit, given = today.get("only"), str(today.get("unit")), today.get("given")
    if isinstance(rules, list) and "families" in today:
        today["having"] = dict(str(rule).partition("=")[::2] for rule in rules)
    if isinstance(today.get("sweep"), str):  # what a sheet of a whole sweep had there
        today["sweep"] = None
    today = _in_words_of_today(today)
    if {"name", "passed", "evidence"} <= today.keys():  # a control was known by its name
        today.setdefault("code", today["name"])
    if df := re.fullmatch(r"chi-square, (\d+) df", unit):
        today |= {"unit": "chi-square", "given": {"df": int(df[1])}}
    twin, ending, rest = str(today.get("key")).partition("_debiased")
    if ending and not rest and isinstance(given, dict):  # was known by its name's ending
        today["given"] = {**given, "debiases": twin}
    return today


# -- what no sheet can say -------------------------------------------------------------------------


def _contradictions(sheet: Datasheet) -> Iterator[str]:
    """What no judgesheet writes: somebody, or something, has changed the file."""
    seen: set[str] = set()
    for axis in sheet.axes:
        counts = (axis.planned, axis.answered, axis.unreadable, axis.refused, axis.failed)
        if min(counts) < 0 or axis.made > axis.planned:
            yield f"{axis.name} has {axis.made} of {axis.planned} calls"
        for name in (axis.name, *(estimate.key for estimate in axis.estimates)):
            if name in seen:
                yield f"{name} occurs twice"
            seen.add(name)
        for estimate in axis.estimates:
            if Key.parse(estimate.key).axis != axis.name:
                yield f"{estimate.key} is listed under {axis.name}"
            yield from (f"{estimate.key}: {fault}" for fault in _faults(estimate))


def _faults(estimate: Estimate) -> Iterator[str]:
    """How the numbers of an estimate exclude each other."""
    bounds = estimate.bounds
    if bounds is not None and (estimate.low is None or estimate.high is None):
        yield "it has bounds, but no interval"
    if min(estimate.n, estimate.clusters) < 0:
        yield "it has a negative count"
    # The percentiles over subsets, which prove nothing, need not hold the mean of all.
    value = None if bounds is not None and not bounds.proves else estimate.value
    for what, low, high, confidence in _spans(estimate):
        if not 0 < confidence < 1:
            yield f"the level of its {what} is not between 0 and 1"
        if low is None or high is None:
            continue
        if low > high:
            yield f"its {what} ends before it begins"
        slack = ROUNDING * max(1.0, abs(low), abs(high))
        if value is not None and not low - slack <= value <= high + slack:
            yield f"its value {value:g} is outside its {what}"


def _spans(estimate: Estimate) -> Iterator[tuple[str, float | None, float | None, float]]:
    """The ends that hold the value, each pair with its confidence."""
    bounds, imputed = estimate.bounds, estimate.imputed
    yield "interval", estimate.low, estimate.high, estimate.level
    if bounds is not None:
        yield "range of bounds", bounds.low, bounds.high, bounds.level
        yield "range of bounds without room", *(bounds.seen or (None, None)), bounds.level
    if imputed is not None:
        yield "range with lost calls", imputed.low, imputed.high, estimate.level


if __name__ == "__main__":
    sys.stdout.write(schema_text())
