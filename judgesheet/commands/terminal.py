"""The one place that prints: what others wrote is shown there, never obeyed."""

import json
import shutil
import sys
import textwrap
from pathlib import Path
from typing import Any

import click

from judgesheet.base.sanitize import one_line, tame_json


def say(line: str | Path, *, err: bool = False) -> None:
    """Print one line, whatever line ends it holds."""
    click.echo(one_line(str(line)), err=err)


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
    click.echo(tame_json(document.rstrip("\n")))


def say_command(line: str, *, err: bool) -> None:
    """Print a command to the runner of a workflow, whose parts are escaped already."""
    click.echo(line, err=err)


def say_record(document: Any, *, ensure_ascii: bool = True) -> None:
    """Print a record as a JSON document."""
    say_json(json.dumps(document, indent=2, ensure_ascii=ensure_ascii))


def width(most: int) -> int:
    """Columns of the terminal, up to `most`; 100 where there is none."""
    return max(40, min(shutil.get_terminal_size((100, 24)).columns, most))


def say_wrapped(mark: str, text: str) -> None:
    """Print a sentence in the width of the terminal; in one line where a program reads it."""
    text = one_line(text)
    if not sys.stdout.isatty():
        say(f"  {mark} {text}")
        return
    # An option that is broken at a hyphen cannot be copied.
    lines = textwrap.wrap(text, width(100), initial_indent=f"  {mark} ", subsequent_indent="    ",
                          break_on_hyphens=False)  # fmt: skip
    for line in lines:
        say(line)
