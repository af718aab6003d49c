"""`judgesheet policy`: the limits that `gate` checks, shipped ones and one made from a run."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from judgesheet.commands.options import EXISTING
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


def suggest_policy(source: str | Path) -> str:
    """A policy made from a finished run or datasheet, a reason with each limit; for later runs.

    RunError if there is no sheet.
    """
    from judgesheet.decide.suggest import suggest

    return suggest(load(source))


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
def policy_suggest(source: Path) -> None:
    """Suggest a policy for later runs from a finished one (directory or datasheet.json).

    Each limit is that of a shipped policy if the run meets it, else the nearest that the run meets;
    its reason says which. A policy proves nothing about the run that it was suggested from.
    """
    from judgesheet.decide.suggest import PROVES_NOTHING

    say_lines(suggest_policy(source).rstrip("\n"))
    note(PROVES_NOTHING)
