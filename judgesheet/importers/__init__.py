"""Public data sets, and anybody's tables, as stimuli.

A format is a module with the names of `Importer`; it makes pieces of rows. Pieces are grouped by
prompt on disk, shaped by the axis, checked against its schema and written. An output file is whole
or it is not there.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from judgesheet.axes import all_axes, get_axis
from judgesheet.axis.shaping import Holds, NotAStimulusError, Prompt, Shaping
from judgesheet.errors import RunError, StimuliError, UsageError
from judgesheet.files import MAX_LINE, write_lines
from judgesheet.importers import (
    _grouping,
    hanna,
    judgebench,
    mt_bench,
    plain,
    prometheus,
    rewardbench2,
    summeval,
)
from judgesheet.importers._piece import Choice, Importer, Skip, chosen, read_rubric
from judgesheet.importers._report import Imported, Tally
from judgesheet.importers._rows import Row, kind_of, read_rows
from judgesheet.spine.stimuli import validated

FORMATS: Mapping[str, Importer] = {
    "hanna": cast("Importer", hanna),
    "summeval": cast("Importer", summeval),
    "prometheus": cast("Importer", prometheus),
    "mt-bench": cast("Importer", mt_bench),
    "judgebench": cast("Importer", judgebench),
    "rewardbench2": cast("Importer", rewardbench2),
    **dict.fromkeys(plain.KINDS, cast("Importer", plain)),
}
"""Every format by the name that the command line gives it."""


def run(name: str, files: Sequence[Path], out: Path, choice: Choice) -> Imported:
    """Read `files` of a format and write the stimuli of one axis to `out`.

    Raises
    ------
    UsageError
        if the choice does not fit the format.
    StimuliError
        if a file or a line of it cannot be used; nothing is written then.
    RunError
        if the output cannot be written.
    """
    if name not in FORMATS:
        raise UsageError(f"there is no format {name!r}; the formats are {', '.join(FORMATS)}")
    importer = FORMATS[name]
    axis = _axis(name, importer.HOLDS, choice.axis)
    for file in files:
        if out.exists() and file.exists() and out.samefile(file):
            raise UsageError(f"--out {out} is one of the files to read; name another")
    tally = Tally()
    pieces = tally.kept(importer.read(_rows(name, files), choice))
    rubrics = chosen(choice.rubrics or importer.RUBRICS, choice.criterion)
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        # Beside the output, where there is room: the usual folder for such files may be in memory.
        with (
            TemporaryDirectory(dir=out.parent, prefix=".import-") as scratch,
            closing(sqlite3.connect(Path(scratch) / "pieces.sqlite")) as db,
        ):
            _grouping.store(db, pieces)
            _grouping.refuse_mixed_scales(db, choice.scale or importer.SCALE)
            prompts = _grouping.prompts(db, rubrics, _panel(db, tally))
            write_lines(out, _lines(axis, prompts, tally))
    except sqlite3.Error as error:
        raise RunError(f"{out.parent} cannot hold the rows to be grouped: {error}") from None
    return Imported(
        path=out, format=name, axis=axis, licence=importer.LICENCE,
        attribution=importer.ATTRIBUTION, **tally.figures(),
    )  # fmt: skip


def _axis(form: str, holds: Holds | None, asked: str | None) -> str:
    """The axis that was asked for, else the one that what the format holds suits best."""
    ranks = {
        name: 0 if holds is None else axis.TAKES[holds]
        for name, axis in _shapers().items()
        if holds is None or holds in axis.TAKES
    }
    serves = sorted(ranks, key=ranks.__getitem__)
    if asked is None and holds is None:
        raise UsageError(f"{form} can hold anything; say --axis: {', '.join(serves)}")
    if asked is not None and asked not in serves:
        raise UsageError(f"{form} serves {', '.join(serves)}, not {asked}")
    return asked or serves[0]


def _shapers() -> dict[str, Shaping]:
    return {name: axis for name, axis in all_axes().items() if isinstance(axis, Shaping)}


def _rows(form: str, files: Sequence[Path]) -> Iterator[Row]:
    for file in files:
        yield from read_rows(file, form if form in plain.KINDS else kind_of(file))


def _panel(db: sqlite3.Connection, tally: Tally) -> Sequence[str]:
    raters = _grouping.panel(db)
    if raters is None:
        tally.notes.append(
            f"more than {_grouping.CROWD} raters: a response's ratings are listed in the order of "
            "the file, and a place in the list is nobody's own"
        )
    return raters or []


def _lines(axis: str, prompts: Iterable[Prompt | Skip], tally: Tally) -> Iterator[str]:
    """The stimuli of an axis, counted as they are made."""
    for record, where in _shaped(_shapers()[axis], prompts, tally):
        validated(get_axis(axis), record, where)
        line = json.dumps(record, ensure_ascii=False)
        if len(line) > MAX_LINE:
            raise StimuliError(f"{where}: the stimulus has {len(line):,} characters; split it")
        tally.count(record)
        yield line
    if not tally.stimuli:
        raise StimuliError(tally.nothing())


def _shaped(
    axis: Shaping, prompts: Iterable[Prompt | Skip], tally: Tally
) -> Iterator[tuple[dict[str, Any], str]]:
    for prompt in prompts:
        if isinstance(prompt, Skip):
            tally.skip(prompt)
            continue
        try:
            yield axis.shape(prompt), prompt.where
        except NotAStimulusError as reason:
            tally.skip(Skip(prompt.where, str(reason)))


__all__ = ["FORMATS", "Choice", "Imported", "read_rubric", "run"]
