"""What else a table allows than a sheet: other commands, each as it was tried on its first rows."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from judgesheet.axes import axis_names
from judgesheet.base.errors import JudgesheetError
from judgesheet.base.limits import MOST_ROWS_TRIED
from judgesheet.commands.correct import correct
from judgesheet.commands.stimuli import import_stimuli
from judgesheet.importers import plain, tables
from judgesheet.importers.logs import UNKNOWN, Row, are_names


def other_commands(path: Path, columns: Mapping[str, str], rows: Sequence[Row]) -> Iterator[str]:
    """The commands that read a table with this proposed map, but for `ingest`."""
    with TemporaryDirectory(prefix="judgesheet-") as folder:
        sample = Path(folder) / "sample.jsonl"
        tried = rows[:MOST_ROWS_TRIED]
        sample.write_text("".join(f"{_line(row)}\n" for row in tried), encoding="utf-8")
        yield from _correct(path, sample, columns, rows)
        yield from _stimuli(path, sample, rows[0].cells if rows else {})


def _line(row: Row) -> str:
    return json.dumps(dict(row.cells), default=str)


def _correct(
    path: Path, sample: Path, columns: Mapping[str, str], rows: Sequence[Row]
) -> Iterator[str]:
    known = {field: column for field, column in columns.items() if column != UNKNOWN}
    label, name = known.get("human") or known.get("better"), known.get("item")
    sides = [known[side] for side in ("first", "second") if side in known]
    if not label or "verdict" not in known or (sides and not are_names(rows, sides)):
        return
    mapped = {"id": name or known.get("stimulus", ""), "verdict": known["verdict"], "label": label}
    mapped |= {side: known[side] for side in ("first", "second") if side in known}
    question, _, system = (name or "").partition("+")
    if system:
        mapped |= {"id": question, "system": system}
    with suppress(JudgesheetError):
        correct(sample, "random", columns=mapped)
        yield shlex.join(["judgesheet", "correct", str(path), "--labels", "random", *_map(mapped)])


def _stimuli(path: Path, sample: Path, cells: Mapping[str, object]) -> Iterator[str]:
    columns = {field: one for field, one in plain.proposed(cells).items() if one != UNKNOWN}
    if "prompt" not in columns or not ({"text", "u"} & columns.keys()):
        return
    name = path.name.split(".")[0] or "table"
    for axis in axis_names():
        with suppress(JudgesheetError):
            out = sample.with_name(f"{axis}.jsonl")
            import_stimuli("jsonl", sample, out, axis=axis, columns=columns)
            words = ["judgesheet", "stimuli", "import", tables.kind_of(path), str(path)]
            words += ["--axis", axis, *_map(columns), "--out", f"stimuli/{name}-{axis}.jsonl"]
            yield shlex.join(words)


def _map(columns: Mapping[str, str]) -> list[str]:
    return ["--map", ",".join(f"{field}={column}" for field, column in columns.items())]
