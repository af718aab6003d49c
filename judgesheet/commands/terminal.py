"""The one place that prints: what others wrote is shown there, never obeyed."""

import json
import shutil
import sys
from pathlib import Path
from threading import Lock
from typing import Any

import click

from judgesheet.base.sanitize import one_line, tame_json

COLUMNS = 79
"""Those of the narrowest usual terminal, without the last, which would begin a new line."""


class LiveLine:
    """A line at the end of a terminal's standard error that is overwritten, and then cleared."""

    def __init__(self) -> None:
        self.shown, self._lock = "", Lock()

    @property
    def is_watched(self) -> bool:
        """Whether somebody sees it."""
        return sys.stderr.isatty()

    def show(self, text: str) -> None:
        """Put this in the place of what it was."""
        with self._lock:
            self.shown = one_line(text)[:COLUMNS]
            sys.stderr.write(f"\r\x1b[2K{self.shown}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Leave the place to what is printed."""
        if self.shown:
            self.show("")


LIVE = LiveLine()


def _echo(text: str, *, err: bool = False) -> None:
    LIVE.clear()
    click.echo(text, err=err)


def say(line: str | Path, *, err: bool = False) -> None:
    """Print one line, whatever line ends it holds."""
    _echo(one_line(str(line)), err=err)


def note(sentence: str) -> None:
    """Print a sentence that is not the result, on standard error."""
    say(f"note: {sentence}", err=True)


def say_lines(text: str) -> None:
    """Print a text of several lines, each of which was put together with `one_line`."""
    for line in text.rstrip("\n").split("\n"):
        say(line)


def say_markdown(text: str) -> None:
    """Print Markdown: as it is where a program reads it, without escapes on a terminal."""
    if sys.stdout.isatty():
        from judgesheet.sheet.markdown import for_terminal

        text = for_terminal(text)
    say_lines(text)


def say_json(document: str) -> None:
    """Print a JSON document; only how its characters are written changes."""
    _echo(tame_json(document.rstrip("\n")))


def say_command(line: str, *, err: bool) -> None:
    """Print a command to the runner of a workflow, whose parts are escaped already."""
    _echo(line, err=err)


def say_record(document: Any, *, ensure_ascii: bool = True) -> None:
    """Print a record as a JSON document."""
    say_json(json.dumps(document, indent=2, ensure_ascii=ensure_ascii))


def width(most: int) -> int:
    """Columns of the terminal, up to `most`; 100 where there is none."""
    return max(40, min(shutil.get_terminal_size((100, 24)).columns, most))
