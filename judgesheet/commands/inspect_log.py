"""`judgesheet inspect-log`: what a log holds and which figures it allows."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from judgesheet.base.arguments import checked
from judgesheet.commands.options import EXISTING, JSON, reading_a_log
from judgesheet.commands.terminal import say, say_record

if TYPE_CHECKING:
    from judgesheet.commands.log_report import LogReport


def inspect_log(file: str | Path, **options: Any) -> "LogReport":
    """What a log holds, which figures it allows, and what is missing. Nothing is written.

    `options` are those of `ingest` that say how to read a log: `form`, `columns`, `where`, `scale`,
    `nearest`, `human_scale` and `unreadable`.

    StimuliError, with the line, if the file cannot be read so.
    """
    from judgesheet.commands.log_report import report
    from judgesheet.importers import logs

    return report(Path(file), logs.LogOptions(**checked(logs.LogOptions, options)))


@click.command("inspect-log")
@click.argument("file", type=EXISTING)
@reading_a_log
@JSON
def command(as_json: bool, **options: Any) -> None:
    """Show what a log holds, which figures it allows, what is missing, and the next command.

    FILE is recorded judgments, batch answers, or a log of a tool that `judgesheet ingest` knows, or
    any table. Nothing is written. A log that `ingest` would refuse ends in exit 1.
    """
    found = inspect_log(**options)
    if as_json:
        say_record(found.as_record())
    else:
        for line in found.as_lines():
            say(line)
    if found.fault:
        raise SystemExit(1)
