"""Stimuli, read, validated, picked and digested.

Content is data; only the axis knows what it means.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from judgesheet.axes import all_axes, axis_names, pool
from judgesheet.axis import Axis, Problem
from judgesheet.axis.material import identical
from judgesheet.base.errors import StimuliError, UsageError
from judgesheet.base.files import checked, kind_of, records
from judgesheet.base.limits import MOST_IN_A_LIST
from judgesheet.base.records import Stimulus, canonical_json, digest
from judgesheet.base.sanitize import listed


def load(axis: Axis, path: Path | None = None) -> list[Stimulus]:
    """The stimuli of an axis: the built-in pool, or the user's file or folder.

    A folder holds one `<axis>.jsonl` per axis. A StimuliError names the file and the line;
    UsageError if the file is missing.
    """
    file = file_of(axis, path)
    stimuli = [validated(axis, record, where) for record, where in _records(file)]
    if not stimuli:
        raise StimuliError(f"{file} holds no stimuli; put one JSON object on each line")
    reject_duplicates(stimuli)
    return stimuli


def _records(file: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """The lines of a file of stimuli; of a table, a StimuliError that says how to import it."""
    if (kind := kind_of(file)) != "jsonl":
        raise StimuliError(
            f"{file} is a table, and stimuli are JSONL: `judgesheet stimuli import {kind} {file} "
            f"--axis AXIS --map FIELD=COLUMN,… --out {file.stem}.jsonl` makes them of it"
        )
    return records(file)


def reject_duplicates(stimuli: Sequence[Stimulus]) -> None:
    """Refuse two stimuli with the same id; the StimuliError names both places."""
    seen: dict[str, str] = {}
    for stimulus in stimuli:
        if stimulus.id in seen:
            raise StimuliError(
                f"{stimulus.source}: id {stimulus.id!r} is already used at {seen[stimulus.id]}; "
                "ids must be unique"
            )
        seen[stimulus.id] = stimulus.source


def problems(axis: Axis, stimuli: Sequence[Stimulus]) -> Iterator[Problem]:
    """What is wrong with stimuli that fit the schema: what the axis finds, and repetitions."""
    yield from identical(stimuli)
    yield from axis.check(stimuli)


def pool_digest(stimuli: Sequence[Stimulus]) -> str:
    """SHA-256 over the content of these stimuli, independent of where the file lies.

    An absent field and a null field are equal, so that new fields in a schema change no digest.
    """
    return digest(
        "\n".join(canonical_json(_without_nulls(stimulus.fields)) for stimulus in stimuli)
    )


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_nulls(part) for name, part in value.items() if part is not None}
    if isinstance(value, list | tuple):
        return [_without_nulls(part) for part in value]
    return value


def _in_folder(axis: Axis, folder: Path) -> Path:
    return folder / f"{axis.NAME}.jsonl"


def file_of(axis: Axis, path: Path | None) -> Path:
    """The file of an axis's stimuli: the built-in ones, a file, or the axis's own in a folder."""
    file = pool(axis) if path is None else path
    if file.is_dir():
        file = _in_folder(axis, file)
        if not file.is_file():
            others = sorted(one.name for one in file.parent.glob("*.jsonl"))
            known = [f"--axis {one.NAME}" for one in all_axes().values()
                     if _in_folder(one, file.parent).is_file()]  # fmt: skip
            way = f"take {' '.join(known)}" if known else "rename one, or name the file"
            held = f"; it holds {listed(others, MOST_IN_A_LIST)}: {way}" if others else ""
            raise UsageError(f"the folder {file.parent} has no {file.name}{held}")
    if not file.is_file():
        raise UsageError(f"{file} does not exist")
    return file


def pools(path: Path | None, axis: Axis | None) -> dict[str, list[Stimulus]]:
    """The stimuli of an axis, or without one of every axis that `path` (None: built-in) is for.

    A folder is for the axes of its files, a file for the axis whose schema its first line fits.
    """
    if axis is not None:
        return {axis.NAME: load(axis, path)}
    if path is not None and not path.is_dir():
        return {(only := _axis_of(path)).NAME: load(only, path)}
    held = [
        axis for axis in all_axes().values() if path is None or _in_folder(axis, path).is_file()
    ]
    if not held:
        raise StimuliError(f"{path} holds no stimuli; it takes one file per axis, AXIS.jsonl")
    return {axis.NAME: load(axis, path) for axis in held}


def _axis_of(file: Path) -> Axis:
    record, where = next(_records(file), (None, ""))
    if record is None:
        raise StimuliError(f"{file} holds no stimuli; put one JSON object on each line")
    # Every schema is tried: a table of which axis has which fields would go out of date.
    fitting = []
    for axis in all_axes().values():
        with suppress(StimuliError):
            validated(axis, record, where)
            fitting.append(axis)
    if not fitting:
        held = f" (its fields: {listed([*record], MOST_IN_A_LIST)})" if record else ""
        raise StimuliError(
            f"{where} matches no axis{held}; `judgesheet stimuli show AXIS` prints an example: "
            f"{', '.join(axis_names())}"
        )
    if len(fitting) > 1:
        named = " and ".join(axis.NAME for axis in fitting)
        raise UsageError(f"{where} fits {named}; say which with --axis")
    return fitting[0]


def validated(axis: Axis, record: Any, source: str) -> Stimulus:
    """The record as a stimulus of the axis; StimuliError if it breaks the axis's schema."""
    fields = checked(axis.material(), record, source, StimuliError).model_dump(mode="json")
    return Stimulus(id=fields["id"], pool=axis.NAME, fields=fields, source=source)


def only_file_needs_one_axis(path: Path | None, axes: Sequence[Axis]) -> None:
    """Refuse a single stimuli file for several axes, since their schemas differ."""
    if path is not None and path.is_file() and len(axes) > 1:
        raise UsageError("--stimuli FILE needs exactly one --axis; give a folder for several")
