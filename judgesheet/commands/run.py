"""What a command that measures gives back."""

from dataclasses import dataclass
from pathlib import Path

from judgesheet.base.records import Datasheet
from judgesheet.collect.collect import Progress


@dataclass(frozen=True, slots=True)
class Run:
    """A run directory with its datasheet; `progress` is None where no call was made."""

    directory: Path
    datasheet: Datasheet
    progress: Progress | None = None
