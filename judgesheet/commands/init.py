"""`judgesheet init`: the files of a judge's own repository, and whether they are ready for CI."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgesheet.base.errors import UsageError
from judgesheet.commands import NAMES, find
from judgesheet.commands.options import PATH, choice, option
from judgesheet.commands.terminal import say

if TYPE_CHECKING:
    from judgesheet.commands.scaffold import Placed
    from judgesheet.commands.scaffold_check import Fault

KINDS = ("scores", "pairs")
"""Kinds of judges; the first is the usual one."""


def init(
    directory: str | Path = ".", *, kind: str = KINDS[0], force: bool = False
) -> "list[Placed]":
    """Put stimuli, prompt, parser, policy and jobs for CI into a repository, to be filled in.

    Existing files are left alone, unless `force` is given. `kind` is `scores` for a judge
    that grades single responses, `pairs` for one that compares two.

    UsageError for another kind.
    """
    from judgesheet.commands import scaffold

    return list(scaffold.write(Path(directory), kind, force=force))


def check_init(directory: str | Path = ".") -> "list[Fault]":
    """What is wrong with the files of `init` in a repository, by file and line. No call is made."""
    from judgesheet.commands.scaffold_check import check

    if not Path(directory).is_dir():
        raise UsageError(f"there is no folder {directory}")
    options = {
        name: {option for parameter in find(name).params for option in parameter.opts}
        for name in NAMES
    }
    return check(Path(directory), options)


@click.command("init")
@click.argument("directory", type=PATH, default=".")
@choice("--kind", *KINDS, default=KINDS[0],
        help="Whether your judge grades single responses or compares two.")  # fmt: skip
@option("--force", is_flag=True, help="Overwrite existing files.")
@option("--check", is_flag=True, help="Write nothing; report what is wrong with the files.")
def command(directory: Path, kind: str, force: bool, check: bool) -> None:
    """Put a judge's files into a repository: stimuli, prompt, parser, policy, jobs for CI.

    They are examples to fill in; existing files are not changed. `--check` lists what is left to
    do, with file and line, and exits 1 if anything is.
    """
    if check:
        faults = check_init(directory)
        problems = [fault for fault in faults if not fault.is_note]
        for fault in faults:
            say(f"note: {fault}" if fault.is_note else str(fault), err=fault.is_note)
        say(f"problems: {len(problems)}" if problems else "ready", err=True)
        raise SystemExit(bool(problems))
    for placed in init(directory, kind=kind, force=force):
        say(f"{'wrote' if placed.written else 'kept '} {placed.path}")
    say("fill them in; `judgesheet init --check` says what is left to do", err=True)
