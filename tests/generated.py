"""The parts of README and docs that are written by the code itself (see `make docs`)."""

import re
from collections.abc import Iterator

import click

from judgesheet.axes import all_axes, prompt
from judgesheet.cli import main
from judgesheet.spine.ledger import SCHEMA, SCHEMA_VERSION


def axes_table() -> str:
    """One row an axis: its question and its estimates."""
    lines = ["", "| axis | question | figures |", "|---|---|---|"]
    for axis in all_axes().values():
        names = ", ".join(f"`{name}`" for name in getattr(axis, "ESTIMATES", {}))
        lines.append(f"| `{axis.NAME}` | {axis.QUESTION} | {names} |")
    return "\n".join([*lines, "", ""])


def help_texts() -> str:
    """Every command with its help."""
    return "\n".join(f"\n## {name}\n\n```text\n{text}\n```" for name, text in _helps()) + "\n\n"


def _helps() -> Iterator[tuple[str, str]]:
    with click.Context(main, info_name="judgesheet") as context:
        yield from _tree(main, context)


def _tree(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    context.max_content_width = context.terminal_width = 100
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from _tree(child, click.Context(child, info_name=name, parent=context))


def prompt_variables() -> str:
    """What the built-in templates say of their variables, one section an axis."""
    sections = []
    for axis in all_axes().values():
        head = re.match(r"\{#-?(.*?)-?#\}", prompt(axis), re.DOTALL)
        assert head is not None, f"the prompt of {axis.NAME} does not say what its variables are"
        sections.append(f"\n### {axis.NAME}\n\n{' '.join(head[1].split())}\n")
    return "".join(sections) + "\n"


def ledger_schema() -> str:
    """The schema as SQLite gets it, with its comments."""
    return f"\nSchema version {SCHEMA_VERSION}.\n\n```sql{SCHEMA}```\n\n"
