"""Options from a file: the few that a folder may choose by itself, or all of a file that is named.

A folder may come from a stranger. It chooses no address, key, code, template or place to write to.
"""

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from judgesheet.base.errors import UsageError
from judgesheet.base.files import text_of, toml
from judgesheet.commands.terminal import note

FILE = Path("judgesheet.toml")
"""Read by itself where it lies in the working directory."""
OF_A_FOLDER = frozenset({"axis", "profile", "stimuli", "policy", "prices", "concurrency"})


def read(ctx: click.Context, _param: click.Parameter, given: Path | None) -> None:
    """Take defaults of the command's options from `given`, else from `FILE` if there is one.

    What is typed wins. UsageError for a name that no option has, or a value that none can have.
    """
    file = given or FILE
    if ctx.resilient_parsing or (given is None and not file.is_file()):
        return
    content = toml(text_of(file, "the settings", UsageError), str(file), UsageError)
    known = {flag.removeprefix("--"): one for one in ctx.command.params for flag in one.opts
             if flag.startswith("--") and flag != "--config"}  # fmt: skip
    for name in content:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "names are those of the long options"
            raise UsageError(f"{file}: there is no option {name[:60]!r}; {hint}")
    taken = {name: content[name] for name in content if given or name in OF_A_FOLDER}
    left = [name for name in content if name not in taken]
    not_read = f"; not {', '.join(left)}: name it with --config {file} for these" if left else ""
    note(f"{file} sets {', '.join(taken) or 'nothing'}{not_read}")
    ctx.default_map = dict(_defaults(file, taken, known))


def _defaults(
    file: Path, content: Mapping[str, Any], known: Mapping[str, click.Parameter]
) -> Iterator[tuple[str, Any]]:
    """Name of a parameter -> what click is to read as if it had been typed."""
    for name, value in content.items():
        option = known[name]
        if getattr(option, "is_flag", False):
            if not isinstance(value, bool):
                raise UsageError(f"{file}: {name} must be true or false")
            if value:
                yield str(option.name), getattr(option, "flag_value", True)
        elif option.multiple:
            yield str(option.name), [*_each(value)]
        else:
            yield str(option.name), _text(value)


def _each(value: Any) -> Iterator[str]:
    """The values of an option that repeats; a table is `NAME=VALUE` of each."""
    if isinstance(value, dict):
        yield from (f"{name}={_text(one)}" for name, one in value.items())
    else:
        yield from map(_text, value if isinstance(value, list) else [value])


def _text(value: Any) -> str:
    """A value as it would be typed."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ",".join(map(_text, value))
    return json.dumps(value) if isinstance(value, dict) else str(value)
