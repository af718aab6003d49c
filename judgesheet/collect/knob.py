"""The parameter of a sweep (the knob): its name, its values, their folders, the note on disk."""

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from judgesheet.base.errors import DamagedError, OtherRunError, RunError, UsageError
from judgesheet.base.files import slug, write_lines
from judgesheet.judges.redaction import is_secret_name
from judgesheet.ledger.run_directory import LEDGER, SWEEP, settings_of

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
# Parameters that make up the question; another value would ask something else.
_FIXED = frozenset({"model", "messages", "system", "response_format", "stream", "n"})


@dataclass(frozen=True, slots=True)
class Knob:
    """A request parameter and its values, as they were typed and in that sequence."""

    name: str
    values: tuple[str, ...]

    @property
    def is_numeric(self) -> bool:
        """Whether every value is a number."""
        return all(number(value) is not None for value in self.values)

    @property
    def places(self) -> tuple[float, ...]:
        """Where the values stand for the trend: at their numbers, else 0, 1, 2, …"""
        return tuple(map(float, self.values if self.is_numeric else range(len(self.values))))

    @property
    def unit(self) -> str:
        """What a slope is counted per."""
        return f"per {'1' if self.is_numeric else 'step'} of {self.name}"

    def folder(self, value: str) -> str:
        """The folder of a value: letters, digits, dots and dashes, nothing else."""
        place = self.values.index(value) + 1
        return f"{place:02d}-{self.name}-{slug(value) or 'empty'}"[:80]

    def begun(self, directory: Path) -> dict[str, Path]:
        """Value -> the folder of its run, where that was begun: its ledger holds a plan."""
        folders = {value: self.place(directory, value) for value in self.values}
        return {value: path for value, path in folders.items() if settings_of(path)}

    def place(self, directory: Path, value: str) -> Path:
        """Where the run of a value lies in the folder of the sweep.

        RunError if a link lies there, which may lead anywhere.
        """
        path = directory / self.folder(value)
        # Folders of a run may come from elsewhere, and are written to.
        if path.is_symlink():
            raise RunError(f"{path} is a link; each run of a sweep must be in its own folder")
        return path


def parse_knob(text: str) -> Knob:
    """The knob of `--sweep NAME=VALUE,VALUE,…`.

    UsageError if it is not valid, names what must not vary, or has fewer than two values.
    """
    name, separator, rest = text.partition("=")
    if is_secret_name(name):  # its values become names of folders
        raise UsageError(f"--sweep cannot vary {name}: secrets stay out of the record")
    values = tuple(value.strip() for value in rest.split(","))
    if not separator or not _NAME.fullmatch(name):
        raise UsageError(f"--sweep {text[:80]}: write NAME=VALUE,VALUE, such as temperature=0,0.5")
    if name in _FIXED:
        raise UsageError(f"--sweep cannot vary {name}: it is part of the question")
    if len(values) < 2 or "" in values or len(set(map(typed, values))) < len(values):
        raise UsageError(f"--sweep {name} needs two or more different values, such as 0,0.5,1")
    places = [number(value) for value in values]
    if name == "temperature" and any(place is None or not 0 <= place <= 5 for place in places):
        raise UsageError("--sweep temperature takes numbers from 0 to 5")
    if name == "max_tokens" and not all(value.isdecimal() and int(value) for value in values):
        raise UsageError("--sweep max_tokens takes whole numbers from 1")
    return Knob(name, values)


def number(text: str) -> float | None:
    """The finite number that a text is, or None."""
    with suppress(ValueError):
        return value if isfinite(value := float(text)) else None
    return None


def typed(text: str) -> int | float | bool | str:
    """The value that is sent: a JSON number or truth value where it is one, else the word."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, int | float | bool) else text


def remember(directory: Path, knob: Knob) -> None:
    """Note on disk that a folder holds a sweep.

    OtherRunError if it holds another one, RunError if a single run.
    """
    if (directory / LEDGER).exists():
        raise RunError(f"{directory} holds a single run; choose another --out, or --fresh")
    file = directory / SWEEP
    if file.exists() and recall(directory) != knob:
        raise OtherRunError(f"{directory} holds another sweep; choose another --out, or --fresh")
    write_lines(file, [json.dumps({"knob": knob.name, "values": knob.values})])


def recall(directory: Path) -> Knob | None:
    """The knob of a folder that holds a sweep, or None.

    DamagedError if the note is damaged.
    """
    file = directory / SWEEP
    if not file.is_file():
        return None
    try:
        note = json.loads(file.read_text(encoding="utf-8"))
        return parse_knob(f"{note['knob']}={','.join(note['values'])}")
    except (OSError, ValueError, KeyError, TypeError, RecursionError, UsageError):
        raise DamagedError(
            f"{file} is damaged; run the sweep again, its replies are kept"
        ) from None
