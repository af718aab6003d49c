"""Datasheets as commands return them: of a run or of a file."""

from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from judgesheet.base.datasheet import from_json
from judgesheet.base.errors import RunError
from judgesheet.base.records import Datasheet

if TYPE_CHECKING:
    from judgesheet.collect.collect import Progress


@dataclass(frozen=True, slots=True)
class Run:
    """A run directory with its datasheet; `progress` is None where no call was made."""

    directory: Path
    datasheet: Datasheet
    progress: "Progress | None" = None


def load(source: str | Path) -> Datasheet:
    """The datasheet of a run directory, or of a datasheet.json, decided anew from its figures.

    RunError if there is none, or if it cannot be read.
    """
    from judgesheet.decide import decide

    file = sheet_of(source)
    if not file.exists():
        raise RunError(f"{file} does not exist; {_how_to_make(Path(source))}")
    return decide(from_json(file))


def _how_to_make(source: Path) -> str:
    """How a datasheet that is not there comes to be, or what to give in its place."""
    from judgesheet.ledger.run_directory import LEDGER

    if not (source / LEDGER).is_file():
        return "give a run directory or a datasheet.json"
    return (
        "the run was ended before it was written: the same probe command finishes the run, "
        f"`judgesheet measure {quote(str(source))}` makes a sheet from the replies so far"
    )


def sheet_of(source: str | Path) -> Path:
    """The file of a datasheet that is named by itself or by its run directory."""
    from judgesheet.ledger.run_directory import DATASHEET

    return Path(source) / DATASHEET if Path(source).is_dir() else Path(source)
