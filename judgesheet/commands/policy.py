"""`judgesheet policy`: the limits that `gate` checks, shipped ones and one made from a run."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgesheet.base.files import refuse_existing, write_whole
from judgesheet.commands.options import EXISTING, FORCE, PATH, option
from judgesheet.commands.sheets import load
from judgesheet.commands.terminal import note, say, say_lines

if TYPE_CHECKING:
    from judgesheet.decide.policy import Policy


def load_policy(source: str | Path | None) -> "Policy | None":
    """The policy of an option that may be left out; UsageError or PolicyError as `policy.load`.

    Asked for before anything is paid: a figure that this version does not know can decide nothing.
    """
    if source is None:
        return None
    from judgesheet.decide import policy

    return policy.load(source, policy.known_figures())


def suggest_policy(source: str | Path, out: str | Path | None = None) -> str:
    """A policy made from a finished run or datasheet, each limit with its reason; for later runs.

    `out` names a file for it.
    """
    from judgesheet.decide.suggest import suggest

    text = suggest(load(source))
    if out is not None:
        write_whole(Path(out), text.encode())
    return text


@click.group("policy")
def command() -> None:
    """List, show and suggest policies, the limits that `gate` checks."""


@command.command("list")
def policy_list() -> None:
    """List the shipped policies."""
    from judgesheet.decide import policy as policies

    for name in policies.shipped():
        say(f"{name}  {policies.load(name).title}")


@command.command("show")
@click.argument("name")
def policy_show(name: str) -> None:
    """Print a shipped policy with its reasons, to start your own from."""
    from judgesheet.decide.policy import text_of_shipped

    say_lines(text_of_shipped(name).rstrip("\n"))


@command.command("suggest")
@click.argument("source", type=EXISTING)
@option("--out", type=PATH, help="File to write. [standard output]")
@FORCE
def policy_suggest(source: Path, out: Path | None, force: bool) -> None:
    """Suggest a policy for later runs from a finished one (directory or datasheet.json).

    Each limit is that of a shipped policy if the run meets it, else the nearest that the run meets;
    its reason says which. A policy proves nothing about the run that it was suggested from.
    """
    from judgesheet.decide.suggest import PROVES_NOTHING

    if out is not None and not force:
        refuse_existing(out)
    text = suggest_policy(source, out)
    if out is None:
        say_lines(text.rstrip("\n"))
    else:
        say(out)
    note(PROVES_NOTHING)
